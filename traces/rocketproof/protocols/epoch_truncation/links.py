"""The connections of EpochTruncation: `link[s]`, seen from both ends of a real connection.

A link appears when the master answers the handshake, and goes when its slave loses the connection
or gives it up. The packets in flight are those that the master sent and the slave has not
processed. The master's part is read from its end of the connection as long as that is there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketha.ha.state import NOT_YET, BrokerState, Phase
from rocketha.sim.engine.node import Node
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
    served_by: tuple[int, int]
    """Incarnation and tenure of the master when it answered."""
    down: list[Value] = field(default_factory=list)
    reported: Offset = NOT_YET
    phase: Phase = Phase.HANDSHAKE
    ack: Offset = NOT_YET
    next_offset: Offset = NOT_YET
    cur: EpochEntry | None = None
    is_open: bool = True
    seen: tuple[object, ...] = ()
    """What the value was made from."""
    value: Value = NO_LINK


def _incarnation_and_epoch(node: Node[BrokerState]) -> tuple[int, int] | None:
    state = node.state
    return None if state is None else (node.incarnation, state.tenure)


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

    def answered(self, cluster: Cluster, conn: ConnectionId, master: BrokerId) -> None:
        """Begin a link, unless the slave has given the connection up."""
        connection = cluster.network.find(conn)
        if connection is None:
            return
        state = cluster.nodes[connection.client].state
        if state is None or state.client is None or state.client.id != conn:
            return
        served_by = _incarnation_and_epoch(cluster.nodes[master])
        assert served_by is not None, "a broker that is down answers nothing"
        self._by_slave[connection.client] = Link(conn=conn, master=master, served_by=served_by)

    def drop(self, slave: BrokerId) -> None:
        """End the link of a slave."""
        self._by_slave.pop(slave, None)

    def drop_given_up(self, cluster: Cluster) -> None:
        """End the links whose slave does not hold the connection any more."""
        for slave, link in list(self._by_slave.items()):
            state = cluster.nodes[slave].state
            if state is None or state.client is None or state.client.id != link.conn:
                self.drop(slave)

    def value(self, cluster: Cluster, slave: BrokerId) -> Value:
        """Return `link[slave]` as it is now."""
        link = self._by_slave.get(slave)
        if link is None:
            return NO_LINK
        _look(link, slave=cluster.nodes[slave].running(), master=cluster.nodes[link.master])
        parts = (
            link.is_open,
            link.phase,
            tuple(link.down),
            link.reported,
            link.ack,
            link.next_offset,
            link.cur,
        )
        if parts != link.seen:
            link.seen = parts
            link.value = _value(link)
        return link.value


def _look(link: Link, *, slave: BrokerState, master: Node[BrokerState]) -> None:
    """Take over what the two ends say now."""
    client = slave.client
    assert client is not None
    assert client.id == link.conn
    link.phase, link.reported = client.phase, client.reported
    if _incarnation_and_epoch(master) != link.served_by:
        link.is_open = False
        return
    end = master.running().servers.get(link.conn)
    if end is not None:
        link.ack, link.next_offset, link.cur = end.slave_ack, end.next_offset, end.cur


def _value(link: Link) -> Value:
    return link_value(
        peer=broker_name(link.master),
        is_open=link.is_open,
        phase=link.phase.value,
        down=link.down,
        reported=link.reported,
        ack=link.ack,
        next_offset=link.next_offset,
        cur=link.cur,
    )
