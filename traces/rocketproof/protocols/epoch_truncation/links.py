"""The connections of EpochTruncation: `link[s]`, read from frames and from the network.

A link appears when the master answers the handshake, and goes when its slave loses the connection
or gives it up.

| of a link  | read from                                                                      |
|------------|--------------------------------------------------------------------------------|
| peer       | where the connection leads                                                     |
| open       | the master's end, as the network has it                                        |
| phase      | whether the slave has acknowledged anything over it                            |
| down       | the packets that were sent and not received                                    |
| reported   | the last acknowledgement that the slave has sent                               |
| ack        | the last one that the master has received                                      |
| next       | the end of the last batch that was sent; before the first one the master's core |
| cur        | the master's core: headers, which carry it, are in `down`                      |
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketha.formats.ha_packets import MasterPacket
from rocketha.ha.state import NOT_YET, Phase
from rocketha.sim.engine.network import End
from rocketha.sim.epoch_truncation.cluster import Cluster
from rocketha.types import BrokerId, ConnectionId, EpochEntry, Offset
from rocketproof.protocols.epoch_truncation.values import NO_LINK, broker_name, link_value
from tlatrace.values import Value

__all__ = ["Link", "Links"]


@dataclass(slots=True)
class Link:
    """One connection, from the answer to the handshake on."""

    conn: ConnectionId
    master: BrokerId
    down: list[tuple[MasterPacket, Value]] = field(default_factory=list)
    """What was sent, and what it is to the specification."""
    reported: Offset = NOT_YET
    reports: set[Offset] = field(default_factory=set)
    """All acknowledgements of the slave: one that is none of them comes from a stranger."""
    ack: Offset = NOT_YET
    sent_end: Offset = NOT_YET
    """Where the last batch ended."""
    cur: EpochEntry | None = None
    seen: tuple[object, ...] = ()
    """What the value was made from."""
    value: Value = NO_LINK

    def acknowledged(self, offset: Offset) -> None:
        """Note what the slave sends."""
        self.reported = offset
        self.reports.add(offset)

    def is_held(self, cluster: Cluster) -> bool:
        """Tell whether the slave has its end."""
        return cluster.network.holds(self.conn, End.CLIENT)

    def is_open(self, cluster: Cluster) -> bool:
        """Tell whether the master has its end."""
        return cluster.network.holds(self.conn, End.SERVER)

    def took(self) -> None:
        """Note that the slave has processed a packet: it is not in flight any more."""
        del self.down[:1]


class Links:
    """The link of each slave, if it has one."""

    __slots__ = ("_by_slave",)

    def __init__(self) -> None:
        """Begin without links."""
        self._by_slave: dict[BrokerId, Link] = {}

    def on(self, conn: ConnectionId) -> tuple[BrokerId, Link] | None:
        """Return the slave and its link on this connection, if there is one."""
        for slave, link in self._by_slave.items():
            if link.conn == conn:
                return slave, link
        return None

    def of(self, slave: BrokerId) -> Link | None:
        """Return a slave's link."""
        return self._by_slave.get(slave)

    def answered(self, cluster: Cluster, conn: ConnectionId, master: BrokerId) -> None:
        """Begin a link, unless the slave has given the connection up."""
        connection = cluster.network.find(conn)
        if connection is not None and cluster.network.holds(conn, End.CLIENT):
            self._by_slave[connection.client] = Link(conn=conn, master=master)

    def drop(self, slave: BrokerId) -> None:
        """End the link of a slave."""
        self._by_slave.pop(slave, None)

    def drop_given_up(self, cluster: Cluster) -> None:
        """End the links of which the slave's end is closed."""
        for slave, link in list(self._by_slave.items()):
            if not link.is_held(cluster):
                self.drop(slave)

    def value(self, cluster: Cluster, slave: BrokerId) -> Value:
        """Return `link[slave]` as it is now."""
        link = self._by_slave.get(slave)
        if link is None:
            return NO_LINK
        is_open = link.is_open(cluster)
        state = cluster.nodes[link.master].state
        end = None if state is None else state.servers.get(link.conn)
        if end is not None:
            link.cur = end.cur
            if link.sent_end == NOT_YET and link.ack != NOT_YET:
                link.sent_end = end.next_offset
        down = [value for _, value in link.down]
        parts = (is_open, tuple(down), link.reported, link.ack, link.sent_end, link.cur)
        if parts != link.seen:
            link.seen = parts
            link.value = link_value(
                peer=broker_name(link.master),
                is_open=is_open,
                phase=(Phase.TRANSFER if link.reports else Phase.HANDSHAKE).value,
                down=down,
                reported=link.reported,
                ack=link.ack,
                next_offset=link.sent_end,
                cur=link.cur,
            )
        return link.value
