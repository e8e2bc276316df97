"""A broker's way to the controller that leads: it is found, and found again when it is lost.

It is for a broker that was told where one controller is. Who knows of all of them finds the one
that leads in its core, and has `ControllerChannels`.

Frames for which there is no connection are lost, as on a network: who sent them asks again.

Source: broker/controller `ReplicasManager` (`updateControllerMetadata`,
`schedulingSyncControllerMetadata`), broker/out `BrokerOuterAPI`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rocketha.errors import PacketError, RequestError
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import GetMetadataInfo
from rocketha.formats.controller_responses import MetadataInfo, pull_reply
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import command_stream, push_command
from rocketha.process.calls import ask_once
from rocketha.process.event_loop import EventLoop, Link
from rocketha.process.packets import PacketHandler

__all__ = ["ControllerChannel"]

_AGAIN_S: Final = 0.3
_CHECK_S: Final = 1.0
_CHECKS_MAX: Final = 4
"""So many are due before one that is not answered counts."""


class ControllerChannel:
    """One connection with the leading controller."""

    def __init__(
        self,
        loop: EventLoop,
        controllers: Sequence[str],
        received: Callable[[RemotingCommand], None],
    ) -> None:
        """Take where controllers are, `host:port`, and who hears what the leader says."""
        self._loop = loop
        self._controllers = tuple(controllers)
        self._received = received
        self._link: Link | None = None
        self._asked = 0
        self._waits_for: int | None = None

    @property
    def leader(self) -> str | None:
        """Return the address of the controller that it is connected with."""
        return None if self._link is None else self._link.peer

    def start(self) -> None:
        """Look for the leader, now and from time to time."""
        self._look()

    def ask(self, data: bytes, *, controller: int = 0) -> None:
        """Send a frame, if there is a connection; it finds itself whom to send it to."""
        del controller
        if self._link is not None:
            self._link.send(data)

    # ---- who leads ----

    def _look(self) -> None:
        """Ask who leads: whoever did the last time, else one controller after the other."""
        self._asked += 1
        if self._link is not None:
            self._loop.after(_CHECK_S, self._look)
            self._check(self._link)
            return
        address = self._controllers[self._asked % len(self._controllers)]

        def answered(command: RemotingCommand | None) -> None:
            leader = None if command is None else _leader(command)
            if leader is not None:
                self._connect(leader)
            self._loop.after(_AGAIN_S if leader is None else _CHECK_S, self._look)

        ask_once(self._loop, address, self._question(), answered)

    def _question(self) -> RemotingCommand:
        """Write a question; brokers number theirs with positive numbers."""
        return push_request(GetMetadataInfo(), opaque=-self._asked)

    def _check(self, link: Link) -> None:
        """Ask on the connection itself; whoever does not answer, or says another, leads no more."""
        if self._waits_for is None:
            self._waits_for = self._asked
            link.send(push_command(self._question()))
        elif self._asked - self._waits_for >= _CHECKS_MAX:
            self._hang_up("it does not answer")

    def _connect(self, leader: str) -> None:
        self._waits_for = None
        handler = PacketHandler(command_stream(), received=self._heard, lost=self._lost)
        self._link = self._loop.connect(leader, handler)

    def _heard(self, link: Link, command: RemotingCommand) -> None:
        if link is not self._link:
            return
        if command.is_response and command.opaque == -(self._waits_for or 0):
            self._waits_for = None
            if _leader(command) != link.peer:
                self._hang_up("it leads no more")
            return
        if command.is_response and command.code == ResponseCode.NOT_LEADER:
            self._hang_up("it does not lead")
        self._received(command)

    def _lost(self, link: Link, reason: str) -> None:
        if link is self._link:
            self._hang_up(reason)

    def _hang_up(self, reason: str) -> None:
        if self._link is not None:
            self._loop.log(f"no longer with the controller at {self._link.peer}: {reason}")
            self._link.close()
            self._link = None


def _leader(command: RemotingCommand) -> str | None:
    """Read who leads; None: nobody, or who answers does not know."""
    try:
        content = pull_reply(command, RequestCode.GET_METADATA_INFO).content
    except (PacketError, RequestError):
        return None
    return content.leader_address or None if isinstance(content, MetadataInfo) else None
