"""A network on which brokers have two kinds of connections: requests, and replication.

Source: remoting/netty `NettyRemotingClient`, store/ha `HAService`, which have a port each
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rocketha.runtime.performers import ConnectionPerformer
from rocketha.sim.engine.network import Network, Sockets
from rocketha.sim.engine.node import broker_address
from rocketha.types import BrokerId, ConnectionId

__all__ = ["ReplicationSockets", "SharedNetwork"]


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


class ReplicationSockets:
    """Who is told of connections between brokers (rocketha.sim.engine.network.Sockets)."""

    def __init__(
        self,
        network: SharedNetwork,
        connections: Callable[[BrokerId], ConnectionPerformer[Any, Any]],
    ) -> None:
        """Take the network, and what has the connections of a broker."""
        self._network = network
        self._connections = connections

    def accepted(self, conn: ConnectionId, server: BrokerId) -> bool:
        """Tell a master that a slave is there; False if it is down."""
        found = self._network.find(conn)
        host = None if found is None else broker_address(found.client)
        return self._connections(server).accepted(conn, host)

    def connected(self, conn: ConnectionId, client: BrokerId) -> None:
        """Tell a slave that its connection stands."""
        self._connections(client).connected(conn)

    def received(self, conn: ConnectionId, broker: BrokerId, data: bytes) -> None:
        """Hand over bytes that arrived."""
        self._connections(broker).received(conn, data)

    def lost(self, conn: ConnectionId, broker: BrokerId) -> None:
        """Tell an end that the connection is gone."""
        self._connections(broker).lost(conn)
