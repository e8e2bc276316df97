"""Requests of peers of which some are in one process: between these no network is.

Source: container `BrokerContainer`, broker `BrokerController.peekMasterBroker`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.formats.remoting_command import FLAG_RESPONSE
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.remoting_calls import (
    Arrived,
    Content,
    OnAnswer,
    OnLost,
    RemotingCalls,
    Servers,
)
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import BrokerId, ConnectionId

__all__ = ["ContainerCalls"]

_IN_PROCESS: Final = ConnectionId(-3)
"""No connection of the network has this number, nor has a client's or an outsider's."""


@dataclass(frozen=True, slots=True)
class _Waits:
    sender: BrokerId
    receiver: BrokerId
    on_answer: OnAnswer


class ContainerCalls(RemotingCalls):
    """Connections for requests, and calls within a process, which are lost when it ends."""

    def __init__(
        self,
        network: Network,
        servers: Servers,
        scheduler: Scheduler,
        container: frozenset[BrokerId],
        *,
        on_lost: OnLost,
    ) -> None:
        """Take who is in one process."""
        super().__init__(network, servers, on_lost=on_lost)
        self._peers = servers
        self._scheduler = scheduler
        self._container = container
        self._calls: dict[int, _Waits] = {}
        self._last = 0

    def ask(
        self, sender: BrokerId, receiver: BrokerId, content: Content, on_answer: OnAnswer
    ) -> str:
        """Send a request and wait for its answer; return what both ends call it."""
        if not self.is_within(sender, receiver):
            return super().ask(sender, receiver, content, on_answer)
        self._last += 1
        number = self._last
        self._calls[number] = _Waits(sender, receiver, on_answer)
        arrived = Arrived(_IN_PROCESS, content.command(number))
        self._scheduler.after(0, lambda: self._arrive(number, arrived))
        return arrived.message

    def is_within(self, sender: BrokerId, receiver: BrokerId) -> bool:
        """Tell whether no network is between two peers; there is none to oneself."""
        return sender == receiver or {sender, receiver} <= self._container

    def _arrive(self, number: int, arrived: Arrived) -> None:
        waits = self._calls.get(number)
        if waits is None:
            return
        if self._peers.is_up(waits.receiver):
            self._peers.asked(waits.receiver, arrived)
        else:
            self._end(number)

    def answer(self, peer: BrokerId, arrived: Arrived, content: Content) -> None:
        """Answer a request; it is lost if the connection is, or who has asked."""
        if arrived.conn != _IN_PROCESS:
            super().answer(peer, arrived, content)
            return
        number = arrived.command.opaque
        response = content.command(number, flag=FLAG_RESPONSE)

        def come() -> None:
            waits = self._calls.pop(number, None)
            if waits is not None:
                waits.on_answer(response)

        self._scheduler.after(0, come)

    def hang_up(self, sender: BrokerId, receiver: BrokerId) -> None:
        """Expect nothing more of what a peer has asked another one."""
        super().hang_up(sender, receiver)
        for number, waits in list(self._calls.items()):
            if (waits.sender, waits.receiver) == (sender, receiver):
                self._end(number)

    def stop(self, peer: BrokerId, *, silent: bool) -> None:
        """A peer is gone, with all that it waited for, and who waits for it hears that."""
        super().stop(peer, silent=silent)
        for number, waits in list(self._calls.items()):
            if waits.sender == peer:
                del self._calls[number]
            elif waits.receiver == peer:
                self._end(number)

    def _end(self, number: int) -> None:
        waits = self._calls.pop(number)
        self._scheduler.after(0, lambda: waits.on_answer(None))
