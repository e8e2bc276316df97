"""Connections of replication, as sockets: the `Transport` of a broker, and its HA server.

The controller says where a master takes requests; where it replicates the master itself is asked.

Source: store/ha/autoswitch `AutoSwitchHAService`, `AutoSwitchHAClient`; broker/out
`BrokerOuterAPI.retrieveBrokerHaInfo`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from rocketha.errors import RequestError
from rocketha.formats.broker_requests import ha_question, pull_ha_answer
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.process.calls import ask_once
from rocketha.process.event_loop import EventLoop, Link
from rocketha.types import ConnectionId, HaAddress

__all__ = ["ReplicationHearer", "ReplicationSockets"]

_QUESTION: Final = 1


class ReplicationHearer(Protocol):
    """Who is told what becomes of connections: `ConnectionPerformer`."""

    def accepted(self, conn: ConnectionId, host: HaAddress | None) -> bool:
        """Hear that somebody connected."""
        ...

    def connected(self, conn: ConnectionId) -> None:
        """Hear that a connection stands that was asked for."""
        ...

    def received(self, conn: ConnectionId, data: bytes) -> None:
        """Take what arrived."""
        ...

    def lost(self, conn: ConnectionId) -> None:
        """Hear that a connection is gone, or will never stand."""
        ...


class ReplicationSockets:
    """All connections of replication of a broker."""

    def __init__(self, loop: EventLoop) -> None:
        """Begin without any; `hearer` is to be set before the first one."""
        self.hearer: ReplicationHearer
        self._loop = loop
        self._links: dict[ConnectionId, Link] = {}
        self._questions: dict[ConnectionId, Callable[[], None]] = {}
        self._last = 0

    def backlog(self, conn: ConnectionId) -> int:
        """Return how many bytes the network has not taken yet."""
        link = self._links.get(conn)
        return 0 if link is None else link.backlog

    # ---- what the performer asks for (rocketha.runtime.ports.Transport) ----

    def connect(self, peer: HaAddress) -> ConnectionId:
        """Ask the master where it replicates, and connect there."""
        conn = self._next()

        def answered(command: RemotingCommand | None) -> None:
            del self._questions[conn]
            address = None if command is None else _address(command)
            if address is None:
                self._loop.log(f"{peer} does not say where it replicates")
                self.hearer.lost(conn)
            else:
                self._links[conn] = self._loop.connect(address, _Hears(self, conn))

        question = ha_question(opaque=_QUESTION)
        self._questions[conn] = ask_once(self._loop, peer, question, answered)
        return conn

    def send(self, conn: ConnectionId, data: bytes) -> None:
        """Send one packet."""
        link = self._links.get(conn)
        if link is not None:
            link.send(data)

    def close(self, conn: ConnectionId, *, reason: str, action: object) -> None:
        """Close a connection."""
        del action
        link = self._links.pop(conn, None)
        if link is not None:
            self._loop.log(f"closes the replication with {link.peer}: {reason}")
            link.close()

    def abandon(self, conn: ConnectionId, *, is_open: bool) -> None:
        """Close a connection that nobody wants any more."""
        del is_open
        give_up = self._questions.pop(conn, None)
        if give_up is not None:
            give_up()
        link = self._links.pop(conn, None)
        if link is not None:
            link.close()

    # ---- what sockets tell ----

    def accept(self, link: Link) -> _Hears | None:
        """Take a slave that connects."""
        conn = self._next()
        self._links[conn] = link
        if self.hearer.accepted(conn, HaAddress(link.peer)):
            return _Hears(self, conn)
        del self._links[conn]
        return None

    def connected(self, conn: ConnectionId) -> None:
        """Hear that a link stands."""
        self.hearer.connected(conn)

    def received(self, conn: ConnectionId, data: bytes) -> None:
        """Hear bytes."""
        self.hearer.received(conn, data)

    def lost(self, conn: ConnectionId, reason: str) -> None:
        """Hear that a link is gone."""
        link = self._links.pop(conn, None)
        if link is not None:
            self._loop.log(f"no longer replicates with {link.peer}: {reason}")
            self.hearer.lost(conn)

    def _next(self) -> ConnectionId:
        self._last += 1
        return ConnectionId(self._last)


class _Hears:
    """The handler of the link of a connection."""

    def __init__(self, sockets: ReplicationSockets, conn: ConnectionId) -> None:
        self._sockets = sockets
        self._conn = conn

    def connected(self, link: Link) -> None:
        del link
        self._sockets.connected(self._conn)

    def received(self, link: Link, data: bytes) -> None:
        del link
        self._sockets.received(self._conn, data)

    def lost(self, link: Link, reason: str) -> None:
        del link
        self._sockets.lost(self._conn, reason)


def _address(command: RemotingCommand) -> str | None:
    try:
        return pull_ha_answer(command)
    except RequestError:
        return None
