"""A network in which nothing moves by itself: whoever drives it moves one packet at a time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from rocketha.sim.engine.network import End, Sockets
from rocketha.types import BrokerId, ConnectionId

__all__ = ["ManualNetwork", "Wire"]


@dataclass(slots=True)
class Wire:
    """A connection: packets in flight to the server and to the client."""

    id: ConnectionId
    client: BrokerId
    server: BrokerId
    up: deque[bytes] = field(default_factory=deque)
    down: deque[bytes] = field(default_factory=deque)
    client_open: bool = True
    server_open: bool = True
    lingers: bool = False
    """The server has closed, and what it had sent still arrives."""

    def is_open(self, end: End) -> bool:
        """Tell whether an end is open."""
        return self.client_open if end is End.CLIENT else self.server_open


class ManualNetwork:
    """Has the methods of `rocketha.sim.network.Network` that a cluster calls."""

    def __init__(self, *, half_open: bool = False) -> None:
        """Make a network without connections.

        With `half_open` a server is not told that its client is gone before `tell_server`, and what
        the client had sent still arrives; what the server had sent does not.
        """
        self._half_open = half_open
        self._wires: dict[ConnectionId, Wire] = {}
        self._sockets: Sockets | None = None
        self._last_id = 0

    def attach(self, sockets: Sockets) -> None:
        """Say who is told what arrives."""
        self._sockets = sockets

    def find(self, conn: ConnectionId) -> Wire | None:
        """Return a connection of which an end is open."""
        return self._wires.get(conn)

    def holds(self, conn: ConnectionId, end: End) -> bool:
        """Tell whether an end of a connection is open."""
        wire = self._wires.get(conn)
        return wire is not None and wire.is_open(end)

    def connect(self, client: BrokerId, server: BrokerId) -> ConnectionId:
        """Make a connection; the ends are told by `establish`."""
        self._last_id += 1
        conn = ConnectionId(self._last_id)
        self._wires[conn] = Wire(id=conn, client=client, server=server)
        return conn

    def send(self, conn: ConnectionId, sender: BrokerId, data: bytes) -> None:
        """Put one packet in flight, if there is somebody to receive it."""
        wire = self._wires[conn]
        if sender == wire.client and wire.server_open:
            wire.up.append(data)
        elif sender == wire.server and wire.client_open:
            wire.down.append(data)

    def close(self, conn: ConnectionId, closer: BrokerId, *, lingers: bool) -> None:
        """Close an end; what a server has sent still arrives if it lingers."""
        wire = self._wires.get(conn)
        if wire is None:
            return
        if closer == wire.client:
            self._leave(wire)
        else:
            wire.up.clear()
            wire.server_open = False
            wire.lingers = lingers and not self._half_open
            if not wire.lingers:
                wire.down.clear()

    def _leave(self, wire: Wire) -> None:
        """Close the client's end."""
        wire.client_open = False
        wire.down.clear()
        if not self._half_open:
            wire.up.clear()

    def drop_broker(self, broker: BrokerId, *, silent: bool = False) -> None:
        """Close the ends of a broker that stops; nobody is told before `establish` or `lose`."""
        assert not silent, "a test drives no half-open connections"
        for wire in self._wires.values():
            if broker in (wire.client, wire.server):
                self.close(wire.id, broker, lingers=True)

    # ---- what the driver does ----

    def establish(self, conn: ConnectionId) -> None:
        """Tell both ends that they are connected."""
        assert self._sockets is not None
        wire = self._wires[conn]
        if self._sockets.accepted(conn, wire.server):
            self._sockets.connected(conn, wire.client)

    def to_server(self, conn: ConnectionId) -> None:
        """Let the oldest packet to the server arrive."""
        assert self._sockets is not None
        wire = self._wires[conn]
        self._sockets.received(conn, wire.server, wire.up.popleft())

    def to_client(self, conn: ConnectionId) -> None:
        """Let the oldest packet to the client arrive."""
        assert self._sockets is not None
        wire = self._wires[conn]
        self._sockets.received(conn, wire.client, wire.down.popleft())

    def sever(self, conn: ConnectionId) -> None:
        """Break a connection; the client notices first."""
        assert self._sockets is not None
        wire = self._wires[conn]
        was_open = wire.client_open
        self._leave(wire)
        if was_open:
            self._sockets.lost(conn, wire.client)

    def tell_server(self, conn: ConnectionId) -> None:
        """Break a connection; the server notices first."""
        assert self._sockets is not None
        wire = self._wires[conn]
        wire.server_open = False
        wire.up.clear()
        wire.down.clear()
        self._sockets.lost(conn, wire.server)

    def settle(self) -> None:
        """Tell each end whose peer has closed.

        A client hears of what lingers by `sever` only, a half-open server by `tell_server`.
        """
        assert self._sockets is not None
        for wire in list(self._wires.values()):
            if wire.client_open and not wire.server_open and not wire.lingers:
                self.sever(wire.id)
            if wire.server_open and not wire.client_open and not self._half_open:
                wire.server_open = False
                self._sockets.lost(wire.id, wire.server)
            if not wire.client_open and not wire.server_open:
                del self._wires[wire.id]
