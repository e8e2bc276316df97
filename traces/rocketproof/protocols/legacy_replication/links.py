"""The connections of LegacyReplication: `link` and `stale`, read from frames and from the network.

A link appears when the slave sends its first report over a connection, and goes when its end is
closed; the master's end is stale then, until that is closed, too. A connection that the master has
lost before the slave's first report is none. A first report that ends within a record says nothing.

| of a link  | read from                                                                      |
|------------|--------------------------------------------------------------------------------|
| held       | the slave's end, as the network has it                                         |
| served     | the master's end, as the network has it                                        |
| reported   | the last report that the slave has sent                                        |
| ack        | the last report that the master has received and not refused                   |
| next       | the end of the last batch that was sent; before the first one the master's core |
| down       | the batches that were sent and not received                                    |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from rocketha.formats.legacy_ha_packets import LegacyTransfer
from rocketha.ha.state import NOT_YET
from rocketha.sim.engine.network import End
from rocketha.sim.engine.records import RECORD_SIZE, SEGMENT_SIZE
from rocketha.sim.legacy_replication.cluster import LegacyCluster
from rocketha.types import BrokerId, ConnectionId, Offset
from rocketproof.protocols.epoch_truncation.values import index_or_minus_one
from tlatrace.values import Value, record

__all__ = ["LegacyLinks", "Link", "LinkParts", "link_value", "stale_value"]

_NO_LINK: Final = record({"held": False})

LinkParts: TypeAlias = tuple[bool, Offset, Offset, Offset, tuple[Value, ...]]
"""Whether the master has its end, what was reported, acknowledged, and sent, and the batches."""


@dataclass(slots=True)
class Link:
    """A connection over which a slave has reported: what both ends have sent and received."""

    conn: ConnectionId
    reported: Offset
    reports: set[Offset]
    """All that the slave has sent: a report that is none of them comes from a stranger."""
    ack: Offset = NOT_YET
    sent_end: Offset = NOT_YET
    """Where the last batch ended."""
    down: list[tuple[LegacyTransfer, Value]] = field(default_factory=list)
    """The batches in flight: what was sent, and what it is to the specification."""

    def report(self, offset: Offset) -> None:
        """Note a report that the slave sends."""
        self.reported = offset
        self.reports.add(offset)

    def is_held(self, cluster: LegacyCluster) -> bool:
        """Tell whether the slave has its end."""
        return cluster.network.holds(self.conn, End.CLIENT)

    def is_served(self, cluster: LegacyCluster) -> bool:
        """Tell whether the master has its end."""
        return cluster.network.holds(self.conn, End.SERVER)

    def parts(self, cluster: LegacyCluster) -> LinkParts:
        """Return what a `Link` is made of, as it is now."""
        down = tuple([value for _, value in self.down])
        return self.is_served(cluster), self.reported, self.ack, self.next_offset(cluster), down

    def next_offset(self, cluster: LegacyCluster) -> Offset:
        """Return the next byte to send; before the first batch only the master's core knows."""
        if self.sent_end == NOT_YET and self.ack != NOT_YET:
            state = cluster.master()
            end = None if state is None else state.ends.get(self.conn)
            if end is not None:
                self.sent_end = end.next_offset
        return self.sent_end


def link_value(parts: LinkParts | None) -> Value:
    """Return a `Link`."""
    if parts is None:
        return _NO_LINK
    is_served, reported, ack, next_offset, down = parts
    return record(
        {
            "held": True,
            "served": is_served,
            "reported": index_or_minus_one(reported),
            "ack": index_or_minus_one(ack),
            "next": index_or_minus_one(next_offset),
            "down": down,
        }
    )


def stale_value(ends: Sequence[tuple[Offset, Offset]]) -> Value:
    """Return the ends that a slave has given up and the master has."""
    return tuple(
        [
            record({"reported": index_or_minus_one(reported), "ack": index_or_minus_one(ack)})
            for reported, ack in ends
        ]
    )


def _whole(report: Offset) -> Offset:
    """Return a report of whole records as it is, and NOT_YET in the place of another."""
    ends_a_record = report % SEGMENT_SIZE % RECORD_SIZE == 0
    return report if ends_a_record else NOT_YET


class LegacyLinks:
    """The link of each slave, if it has one, and those it had that the master still has."""

    __slots__ = ("_by_slave", "_ended", "_stale")

    def __init__(self) -> None:
        """Begin without connections."""
        self._by_slave: dict[BrokerId, Link] = {}
        self._stale: dict[BrokerId, list[Link]] = {}
        self._ended: dict[ConnectionId, tuple[BrokerId, Link]] = {}
        """Those of which nobody has an end any more."""

    def reported(
        self, cluster: LegacyCluster, slave: BrokerId, conn: ConnectionId, report: Offset
    ) -> bool:
        """Note a report that a slave sends; True if a link begins with it."""
        link = self._by_slave.get(slave)
        if link is not None and link.conn == conn:
            link.report(report)
            return False
        if link is not None or not cluster.network.holds(conn, End.SERVER):
            return False
        self._by_slave[slave] = Link(conn, _whole(report), {report})
        return True

    def of(self, slave: BrokerId) -> Link | None:
        """Return a slave's link."""
        return self._by_slave.get(slave)

    def on(self, conn: ConnectionId) -> tuple[BrokerId, Link] | None:
        """Return the slave whose link is on this connection, and it."""
        for slave, link in self._by_slave.items():
            if link.conn == conn:
                return slave, link
        return None

    def stale_on(self, conn: ConnectionId) -> tuple[BrokerId, int, Link] | None:
        """Return the slave that has given this connection up, its place among those, and it."""
        for slave, ends in self._stale.items():
            for place, end in enumerate(ends, start=1):
                if end.conn == conn:
                    return slave, place, end
        return None

    def ended_on(self, conn: ConnectionId) -> tuple[BrokerId, Link] | None:
        """Return the slave that once had a link on a connection that is no more, and it."""
        return self._ended.get(conn)

    def served(self, cluster: LegacyCluster) -> list[ConnectionId]:
        """Return the connections of which the master has its end, links and others."""
        links = [link for link in self._by_slave.values() if link.is_served(cluster)]
        return [link.conn for link in (*links, *(one for s in self._stale.values() for one in s))]

    def give_up(self, cluster: LegacyCluster, slave: BrokerId) -> bool:
        """End a slave's link of which its end is closed; False if it has none such."""
        link = self._by_slave.get(slave)
        if link is None or link.is_held(cluster):
            return False
        del self._by_slave[slave]
        if link.is_served(cluster):
            self._stale.setdefault(slave, []).append(link)
        else:
            self._ended[link.conn] = slave, link
        return True

    def drop_stale(self, conn: ConnectionId) -> None:
        """Forget a stale end that the master has closed."""
        for slave, ends in self._stale.items():
            self._ended |= {end.conn: (slave, end) for end in ends if end.conn == conn}
            ends[:] = [end for end in ends if end.conn != conn]

    def drop_all_stale(self) -> None:
        """Forget all stale ends: the master is down."""
        self._stale.clear()

    def parts(self, cluster: LegacyCluster, slave: BrokerId) -> LinkParts | None:
        """Return what `link[slave]` is made of, as it is now; None: it has none."""
        link = self._by_slave.get(slave)
        return None if link is None else link.parts(cluster)

    def stale_ends(self, slave: BrokerId) -> list[tuple[Offset, Offset]]:
        """Return what was reported and acknowledged over each end of `stale[slave]`."""
        return [(end.reported, end.ack) for end in self._stale.get(slave, ())]
