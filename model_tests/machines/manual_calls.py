"""Requests and answers of simulated nodes: they move when whoever drives the nodes says so."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from model_tests.machines.manual_rpc import read_command
from rocketha.formats.remoting_command import FLAG_ONEWAY, FLAG_RESPONSE, RemotingCommand
from rocketha.formats.remoting_frame import push_command
from rocketha.sim.engine.remoting_calls import Arrived, Content, OnAnswer
from rocketha.types import BrokerId, ConnectionId

__all__ = ["ManualCalls", "Said"]

_FIRST: Final = 10_000
"""Connections for requests have other numbers than those for replication."""


@dataclass(slots=True)
class Said:
    """A request, until it is answered."""

    sender: BrokerId
    receiver: BrokerId
    conn: ConnectionId
    opaque: int
    frame: bytes
    on_answer: OnAnswer | None
    """None: nobody waits."""
    answer: bytes | None = None
    """Under way, too."""

    @property
    def command(self) -> RemotingCommand:
        """Return what is asked."""
        return read_command(self.frame)

    @property
    def is_answered(self) -> bool:
        """Tell whether an answer is under way for which somebody waits."""
        return self.answer is not None and self.on_answer is not None

    def give(self) -> None:
        """Let who has asked have the answer."""
        assert self.answer is not None
        self._end(read_command(self.answer))

    def fail(self) -> None:
        """Let who has asked hear that the connection is gone; what was said may come yet."""
        self._end(None)

    def _end(self, answer: RemotingCommand | None) -> None:
        on_answer, self.on_answer = self.on_answer, None
        if on_answer is not None:
            on_answer(answer)


class ManualCalls:
    """Has the methods of `rocketha.sim.engine.remoting_calls.Calls` that a cluster calls."""

    def __init__(
        self,
        is_up: Callable[[BrokerId], bool],
        hear: Callable[[BrokerId, Arrived], None],
        stopped: Callable[[BrokerId], None],
    ) -> None:
        """Take who runs, who hears requests, and who else is told of a node that stops."""
        self._is_up = is_up
        self._hear = hear
        self._stopped = stopped
        self.requests: list[Said] = []
        """Those that nobody has heard."""
        self._waiting: dict[int, Said] = {}
        """Opaque -> a request that was heard and is not answered yet."""
        self._lines: dict[tuple[BrokerId, BrokerId], ConnectionId] = {}
        self._last_line = _FIRST
        self._last = 0

    # ---- what a cluster calls ----

    def ask(
        self, sender: BrokerId, receiver: BrokerId, content: Content, on_answer: OnAnswer
    ) -> str:
        """Keep a request; return what both ends call it."""
        return self._say(sender, receiver, content, on_answer)

    def tell(self, sender: BrokerId, receiver: BrokerId, content: Content) -> str:
        """Keep a request that has no answer; return what both ends call it."""
        return self._say(sender, receiver, content, None)

    def _say(
        self, sender: BrokerId, receiver: BrokerId, content: Content, on_answer: OnAnswer | None
    ) -> str:
        self._last += 1
        flag = FLAG_ONEWAY if on_answer is None else 0
        command = content.command(self._last, flag=flag)
        conn, frame = self.line(sender, receiver), push_command(command)
        self.requests.append(Said(sender, receiver, conn, self._last, frame, on_answer))
        return Arrived(conn, command).message

    def answer(self, peer: BrokerId, arrived: Arrived, content: Content) -> None:
        """Keep an answer."""
        del peer
        said = self._waiting.pop(arrived.command.opaque)
        said.answer = push_command(content.command(said.opaque, flag=FLAG_RESPONSE))

    def refuse(self, peer: BrokerId, arrived: Arrived) -> None:
        """Close the connection of a request that is none: there are none such."""
        raise AssertionError(f"{peer} does not understand {arrived}")

    def hang_up(self, sender: BrokerId, receiver: BrokerId) -> None:
        """Wait no longer: time stands still."""
        raise AssertionError(f"{sender} waits no more for {receiver}, and time stands still")

    def drop(self, peer: BrokerId, conn: ConnectionId) -> None:
        """Close a connection of who is silent: time stands still."""
        raise AssertionError(f"{peer} closes {conn}, and nobody is silent")

    def stop(self, peer: BrokerId, *, silent: bool) -> None:
        """Forget the connections of a node that stops."""
        del silent
        for ends in [ends for ends in self._lines if peer in ends]:
            del self._lines[ends]
        self._stopped(peer)

    # ---- what the driver does ----

    def line(self, sender: BrokerId, receiver: BrokerId) -> ConnectionId:
        """Return the connection that a node has for what it asks another one."""
        if (sender, receiver) not in self._lines:
            self._last_line += 1
            self._lines[sender, receiver] = ConnectionId(self._last_line)
        return self._lines[sender, receiver]

    def breaks(self, sender: BrokerId, receiver: BrokerId) -> None:
        """Let a node have another connection from now on."""
        self._lines.pop((sender, receiver), None)

    def hear(self, said: Said) -> None:
        """Have a request heard; its answer is under way when it is given."""
        self.requests.remove(said)
        self._waiting[said.opaque] = said
        self._hear(said.receiver, Arrived(said.conn, said.command))

    def carry(self, lost_to: Collection[BrokerId] = (), *, of: BrokerId | None = None) -> bool:
        """Have all requests heard and answered; tell whether there were any. `of`: those of a node.

        What is asked of who is down is lost, and so is what answers who is in `lost_to`: then it
        hears that its connection is gone.
        """
        are_any = False
        while (said := self._next(of)) is not None:
            are_any = True
            if self._is_up(said.receiver):
                self.hear(said)
            else:
                self.requests.remove(said)
            if said.is_answered and said.sender not in lost_to:
                said.give()
            else:
                said.fail()
        return are_any

    def lose(self, *, of: BrokerId | None = None) -> None:
        """Lose all requests: who has asked hears that its connection is gone."""
        while (said := self._next(of)) is not None:
            self.requests.remove(said)
            said.fail()

    def _next(self, of: BrokerId | None) -> Said | None:
        """Return the oldest request; `of` a node, whether it asks or is asked."""
        return next((s for s in self.requests if of in (None, s.sender, s.receiver)), None)
