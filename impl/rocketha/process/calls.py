"""Requests over one connection at a time, and their answers: how a process asks another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import command_stream, push_command
from rocketha.process.event_loop import Alarm, EventLoop, Link
from rocketha.process.packets import PacketHandler

__all__ = ["OnAnswer", "ask_once"]

OnAnswer: TypeAlias = Callable[[RemotingCommand | None], None]
"""Hears the answer, or None: there will be none."""

_PATIENCE_S: Final = 3.0


@dataclass(slots=True)
class _Asked:
    link: Link | None
    alarm: Alarm | None
    answered: OnAnswer | None

    def end(self, answer: RemotingCommand | None) -> None:
        """Tell the answer, once, and hang up."""
        hearer, self.answered = self.answered, None
        if self.link is not None:
            self.link.close()
        if self.alarm is not None:
            self.alarm.cancel()
        if hearer is not None:
            hearer(answer)


def ask_once(
    loop: EventLoop,
    address: str,
    request: RemotingCommand,
    answered: OnAnswer,
    *,
    patience_s: float = _PATIENCE_S,
) -> Callable[[], None]:
    """Connect, ask, tell the answer and hang up; nothing is told before this returns.

    What is returned gives it up: then nothing is told at all.
    """
    asked = _Asked(None, None, answered)

    def heard(link: Link, command: RemotingCommand) -> None:
        del link
        if command.is_response and command.opaque == request.opaque:
            asked.end(command)

    def lost(link: Link, reason: str) -> None:
        del link, reason
        asked.end(None)

    def give_up() -> None:
        asked.answered = None
        asked.end(None)

    handler = PacketHandler(command_stream(), received=heard, lost=lost)
    asked.link = loop.connect(address, handler, timeout_s=patience_s)
    asked.link.send(push_command(request))
    asked.alarm = loop.after(patience_s, lambda: asked.end(None))
    return give_up
