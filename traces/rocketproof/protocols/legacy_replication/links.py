"""The connections of LegacyReplication: `link` and `stale`, seen from both ends of the real ones.

A link appears when the slave has reported its log end over a new connection, and goes when it gives
the connection up; the master's end is stale then, until the master notices. A connection that the
master has lost before the slave's first report is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketha.legacy_ha.state import LegacySlave, MasterEnd
from rocketha.sim.legacy_replication.cluster import LegacyCluster
from rocketha.types import BrokerId, ConnectionId
from rocketproof.protocols.epoch_truncation.values import index_or_minus_one
from tlatrace.values import Value, record

__all__ = ["LegacyLinks", "Link"]

_NO_LINK = record({"held": False})


@dataclass(slots=True)
class Link:
    """A connection that a slave holds, as its ends said last."""

    conn: ConnectionId
    down: list[Value] = field(default_factory=list)
    """Batches in flight."""
    served: bool = True
    reported: int = 0
    ack: int = -1
    next: int = -1

    def look(self, cluster: LegacyCluster, slave: BrokerId) -> None:
        """Take over what the two ends say now."""
        state, end = cluster.nodes[slave].running(), _end(cluster, self.conn)
        assert isinstance(state, LegacySlave)
        assert state.client is not None
        assert state.client.id == self.conn
        self.reported = index_or_minus_one(state.client.reported)
        self.served = end is not None
        if end is not None:
            self.ack = index_or_minus_one(end.slave_ack)
            self.next = index_or_minus_one(end.next_offset)

    def value(self) -> Value:
        """Return a `Link`."""
        return record(
            {
                "held": True,
                "served": self.served,
                "reported": self.reported,
                "ack": self.ack,
                "next": self.next,
                "down": tuple(self.down),
            }
        )


@dataclass(frozen=True, slots=True)
class _Stale:
    conn: ConnectionId
    reported: int


class LegacyLinks:
    """The link of each slave, if it has one, and the master's ends of those it had."""

    __slots__ = ("_by_slave", "_stale")

    def __init__(self) -> None:
        """Begin without connections."""
        self._by_slave: dict[BrokerId, Link] = {}
        self._stale: dict[BrokerId, list[_Stale]] = {}

    def connected(self, cluster: LegacyCluster, slave: BrokerId, conn: ConnectionId) -> bool:
        """Begin a link; False if the master's end is gone already."""
        if _end(cluster, conn) is None:
            return False
        self._by_slave[slave] = Link(conn)
        return True

    def of(self, slave: BrokerId) -> Link | None:
        """Return a slave's link."""
        return self._by_slave.get(slave)

    def on(self, conn: ConnectionId) -> tuple[BrokerId, Link] | None:
        """Return the slave that holds this connection, and its link."""
        for slave, link in self._by_slave.items():
            if link.conn == conn:
                return slave, link
        return None

    def stale_on(self, conn: ConnectionId) -> tuple[BrokerId, int] | None:
        """Return the slave that has given this connection up, and its place among those, from 1."""
        for slave, ends in self._stale.items():
            for place, end in enumerate(ends, start=1):
                if end.conn == conn:
                    return slave, place
        return None

    def give_up(self, cluster: LegacyCluster, slave: BrokerId) -> bool:
        """End a slave's link; False if it has none."""
        link = self._by_slave.pop(slave, None)
        if link is None:
            return False
        if _end(cluster, link.conn) is not None:
            self._stale.setdefault(slave, []).append(_Stale(link.conn, link.reported))
        return True

    def drop_stale(self, conn: ConnectionId) -> None:
        """Forget an end that the master has noticed to be stale."""
        for ends in self._stale.values():
            ends[:] = [end for end in ends if end.conn != conn]

    def drop_all_stale(self) -> None:
        """Forget all stale ends: the master is down."""
        self._stale.clear()

    def value(self, cluster: LegacyCluster, slave: BrokerId) -> Value:
        """Return `link[slave]` as it is now."""
        link = self._by_slave.get(slave)
        if link is None:
            return _NO_LINK
        link.look(cluster, slave)
        return link.value()

    def stale_value(self, cluster: LegacyCluster, slave: BrokerId) -> Value:
        """Return `stale[slave]` as it is now."""
        values: list[Value] = []
        for one in self._stale.get(slave, []):
            end = _end(cluster, one.conn)
            assert end is not None, "the master has noticed"
            ack = index_or_minus_one(end.slave_ack)
            values.append(record({"reported": one.reported, "ack": ack}))
        return tuple(values)


def _end(cluster: LegacyCluster, conn: ConnectionId) -> MasterEnd | None:
    state = cluster.master()
    return None if state is None else state.ends.get(conn)
