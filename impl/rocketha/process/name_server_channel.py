"""A broker's registration with its name servers, each over a connection that stays.

A name server forgets a broker whose connection is closed.

Source: broker `BrokerController.registerBrokerAll`, namesrv/routeinfo `BrokerHousekeepingService`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rocketha.formats.broker_requests import NameServerRegistration, push_registration
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import command_stream, push_command
from rocketha.process.clock import ProcessClock
from rocketha.process.event_loop import EventLoop, Link
from rocketha.process.packets import PacketHandler

__all__ = ["NameServerChannel"]

_AGAIN_S: Final = 0.5


class NameServerChannel:
    """Says what a broker is to all name servers, again and again, and at once when it changes."""

    def __init__(
        self,
        loop: EventLoop,
        clock: ProcessClock,
        name_servers: Sequence[str],
        *,
        says: Callable[[], NameServerRegistration | None],
        period_s: float,
    ) -> None:
        """Take where name servers are, `host:port`, and what is to be said; None: nothing yet."""
        self._loop = loop
        self._clock = clock
        self._says = says
        self._period_s = period_s
        self._links: dict[str, Link | None] = dict.fromkeys(name_servers)
        self._opaque = 0

    def start(self) -> None:
        """Register from time to time."""
        self.register()
        self._loop.after(self._period_s, self.start)

    def register(self) -> None:
        """Register now."""
        for address in self._links:
            self._register(address)

    def _register(self, address: str) -> None:
        said = self._says()
        if said is None:
            return
        link = self._links[address]
        if link is None or link.is_closed:
            handler = PacketHandler(command_stream(), received=self._heard, lost=self._lost)
            link = self._links[address] = self._loop.connect(address, handler)
        self._opaque += 1
        now_ms = self._clock.now_ms()
        link.send(push_command(push_registration(said, opaque=self._opaque, now_ms=now_ms)))

    def _heard(self, link: Link, command: RemotingCommand) -> None:
        if command.is_response and command.code:
            self._loop.log(f"the name server at {link.peer} says {command.code} {command.remark}")

    def _lost(self, link: Link, reason: str) -> None:
        self._loop.log(f"the name server at {link.peer} is gone: {reason}")
        self._loop.after(_AGAIN_S, lambda: self._register_again(link.peer))

    def _register_again(self, address: str) -> None:
        link = self._links[address]
        if link is None or link.is_closed:
            self._register(address)
