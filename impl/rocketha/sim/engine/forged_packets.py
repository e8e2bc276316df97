"""Packets that no honest peer sends: which end of which connection takes one.

What is in them is the protocol's; its cluster has the forgeries.
"""

from __future__ import annotations

from typing import Final, Protocol

from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.network import End, Network
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import Injection
from rocketha.types import BrokerId, ConnectionId

__all__ = ["forge_packet"]

_KINDS: Final = 12
"""Among so many numbers one is drawn; a cluster has fewer forgeries, and takes them in turn."""


class _Cluster(Protocol):
    @property
    def network(self) -> Network: ...

    @property
    def counts(self) -> FaultCounts: ...

    def has(self, conn: ConnectionId, broker: BrokerId) -> bool: ...

    def forge(self, conn: ConnectionId, broker: BrokerId, which: int) -> None: ...


def forge_packet(cluster: _Cluster, injection: Injection) -> None:
    """Let an end of a connection take what no honest peer sends, if any broker has one."""
    ends = [
        (conn.id, conn.broker_at(end))
        for conn in cluster.network.connections()
        for end in End
        if conn.client_open and conn.server_open
    ]
    held = [(conn, broker) for conn, broker in ends if cluster.has(conn, broker)]
    if held:
        cluster.counts.add(Fault.FORGED_PACKET)
        conn, broker = injection.rng.choice(held)
        injection.note(f"{broker_address(broker)} takes a packet that nobody has sent")
        cluster.forge(conn, broker, injection.rng.randrange(_KINDS))
