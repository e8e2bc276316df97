"""A network on which brokers have two kinds of connections: requests, and replication.

Source: remoting/netty `NettyRemotingClient`, store/ha `HAService`, which have a port each
"""

from __future__ import annotations

from rocketha.sim.engine.network import Network, Sockets
from rocketha.types import BrokerId, ConnectionId

__all__ = ["SharedNetwork"]


class _Router:
    """Tells each kind of what becomes of its connections."""

    def __init__(self) -> None:
        self.requests: Sockets | None = None
        self.replication: Sockets | None = None
        self.replicating: set[ConnectionId] = set()

    def _of(self, conn: ConnectionId) -> Sockets:
        found = self.replication if conn in self.replicating else self.requests
        assert found is not None, "attach both first"
        return found

    def accepted(self, conn: ConnectionId, server: BrokerId) -> bool:
        return self._of(conn).accepted(conn, server)

    def connected(self, conn: ConnectionId, client: BrokerId) -> None:
        self._of(conn).connected(conn, client)

    def received(self, conn: ConnectionId, broker: BrokerId, data: bytes) -> None:
        self._of(conn).received(conn, broker, data)

    def lost(self, conn: ConnectionId, broker: BrokerId) -> None:
        self._of(conn).lost(conn, broker)


class SharedNetwork(Network):
    """A network for both; whoever is attached first has the requests."""

    _router: _Router | None = None

    def attach(self, sockets: Sockets) -> None:
        """Say who is told of requests, and then who of replication."""
        if self._router is None:
            self._router = _Router()
            super().attach(self._router)
            self._router.requests = sockets
        else:
            assert self._router.replication is None
            self._router.replication = sockets

    def connect_to_replicate(self, client: BrokerId, server: BrokerId) -> ConnectionId:
        """Begin to connect to a broker's other port."""
        assert self._router is not None, "attach both first"
        conn = self.connect(client, server)
        self._router.replicating.add(conn)
        return conn
