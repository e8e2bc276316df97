"""Brokers joined by byte streams, on real storage; clock and network are in the test's hand.

Bytes arrive in pieces of `fragment` bytes, whatever the packets are. Nothing happens by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketha.errors import PacketError
from rocketha.formats.ha_packets import MasterPacket, SlavePacket
from rocketha.formats.message import Message
from rocketha.formats.packet_stream import PacketStream, master_stream, slave_stream
from rocketha.ha.connections import ReplicationCore
from rocketha.ha.effects import SpecAction, Stepped
from rocketha.ha.events import Event, MasterLearnt, MessagePut, PacketReceived, Restarted
from rocketha.ha.state import BrokerState, HaOptions, Role
from rocketha.known_bugs import NO_BUGS, Bugs
from rocketha.known_bugs.epoch_truncation import ha_rules
from rocketha.runtime.effects import (
    CloseConnection,
    Connect,
    SendPacket,
)
from rocketha.runtime.events import (
    ConnectionLost,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
    TimerFired,
    TransferDue,
)
from rocketha.storage.commit_log import CommitLog
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, ConnectionId, Epoch, HaAddress, SizeBytes
from tests.impl.manual_node import ManualNode

SEGMENT_SIZE = SizeBytes(1024)
WHOLE = 1 << 30
ROUNDS_MAX = 10_000


class Replica:
    """One broker: the core, its storage, and what it did so far."""

    def __init__(self, broker_id: int, options: HaOptions, bugs: Bugs = NO_BUGS) -> None:
        self.address = HaAddress(f"broker-{broker_id}")
        self.node: ManualNode[BrokerState, Event, SpecAction] = ManualNode(
            ReplicationCore(), segment_size=SEGMENT_SIZE, bugs=bugs
        )
        self.node.host.state = BrokerState(broker_id=BrokerId(broker_id), options=options)
        self.closed: list[str] = []

    @property
    def state(self) -> BrokerState:
        assert self.node.host.state is not None
        return self.node.host.state

    @state.setter
    def state(self, state: BrokerState) -> None:
        self.node.host.state = state

    @property
    def disk(self) -> MemoryDisk:
        return self.node.disk

    @property
    def log(self) -> CommitLog:
        return self.node.log

    @property
    def actions(self) -> list[str]:
        return [action.name for action in self.node.actions]

    def take(self, event: Event, now_ms: int) -> Stepped:
        """Let the core take an event, and do to the storage what it says."""
        stepped = self.node.take(event, now_ms)
        assert isinstance(stepped, Stepped)
        left = self.node.out
        self.closed += [one.reason for one in left if isinstance(one, CloseConnection)]
        return stepped

    def lose_power(self, now_ms: int) -> None:
        """Lose what was not synchronized, and come back."""
        self.node.lose_power()
        entries = self.node.files.epochs.load()
        self.take(Restarted(incarnation=self.state.incarnation + 1, entries=entries), now_ms)

    def bytes(self) -> bytes:
        """Return the whole log."""
        return self.log.read(self.log.min_offset, self.log.max_phy_offset)

    def starts(self) -> list[tuple[int, int]]:
        """Return the epoch cache."""
        return [(epoch, start) for epoch, start in self.state.cache.starts()]

    def stored(self) -> list[tuple[int, int]]:
        """Return the epoch file."""
        return [(entry.epoch, entry.start_offset) for entry in self.node.files.epochs.load()]


@dataclass
class Link:
    """A connection: its two ends, and the bytes on the way."""

    slave: Replica
    master: Replica
    up: bytearray = field(default_factory=bytearray)
    down: bytearray = field(default_factory=bytearray)
    heard_by_master: PacketStream[SlavePacket] = field(default_factory=slave_stream)
    heard_by_slave: PacketStream[MasterPacket] = field(default_factory=master_stream)


class Group:
    """The brokers of a group and the connections between them."""

    def __init__(
        self,
        count: int = 2,
        *,
        fragment: int = WHOLE,
        batch: int = 32 * 1024,
        bugs: Bugs = NO_BUGS,
        last_file: bool = False,
        learner: bool = False,
    ) -> None:
        options = HaOptions(
            transfer_batch_bytes=SizeBytes(batch),
            is_sync_from_last_file=last_file,
            is_async_learner=learner,
            rules=ha_rules(bugs),
        )
        self.replicas = [Replica(broker_id, options, bugs) for broker_id in range(1, count + 1)]
        self.links: dict[ConnectionId, Link] = {}
        self.now_ms = 0
        self._fragment = fragment
        self._conns = 0

    def __getitem__(self, broker_id: int) -> Replica:
        return self.replicas[broker_id - 1]

    def take(self, replica: Replica, event: Event) -> Stepped:
        """Let a broker take an event; carry its bytes and its connections."""
        stepped = replica.take(event, self.now_ms)
        for left in replica.node.taken():
            match left:
                case SendPacket() if left.conn in self.links:
                    link = self.links[left.conn]
                    (link.up if replica is link.slave else link.down).extend(left.data)
                case CloseConnection() if left.conn in self.links:
                    self.cut(left.conn, by=replica)
                case Connect():
                    self._open(replica, left.peer)
                case _:
                    pass
        return stepped

    def _open(self, slave: Replica, peer: HaAddress) -> None:
        [master] = [r for r in self.replicas if r.address == peer]
        self._conns += 1
        conn = ConnectionId(self._conns)
        self.links[conn] = Link(slave, master)
        self.take(master, PeerAccepted(conn=conn))
        self.take(slave, PeerConnected(conn=conn, peer=peer))

    def cut(self, conn: ConnectionId, by: Replica | None = None) -> None:
        """End a connection; both brokers see it, except the one that did it."""
        link = self.links.pop(conn)
        for end in (link.slave, link.master):
            if end is not by:
                self.take(end, ConnectionLost(conn=conn))

    def cut_all(self) -> None:
        for conn in list(self.links):
            self.cut(conn)

    def put(self, broker_id: int, *bodies: bytes) -> None:
        """Let a master take messages."""
        for body in bodies:
            self.take(self[broker_id], MessagePut(message=Message(topic="t", body=body)))

    def elect(self, broker_id: int, epoch: int, *, notified: tuple[int, ...] | None = None) -> None:
        """Tell brokers, or all, of a new master."""
        master = self[broker_id]
        learnt = MasterLearnt(
            epoch=Epoch(epoch), master=master.state.broker_id, address=master.address
        )
        for replica in self.replicas:
            if notified is None or replica.state.broker_id in notified:
                self.take(replica, learnt)

    def pass_time(self, ms: int = 5_000) -> None:
        """Move the clock and fire all timers; let masters send heartbeats."""
        self.now_ms += ms
        for replica in self.replicas:
            self.take(replica, TimerFired())
        self.settle()

    def settle(self) -> None:
        """Deliver and send until nothing happens any more."""
        for _ in range(ROUNDS_MAX):
            if not (self._deliver_all() or self._send_all()):
                return
        raise AssertionError("the brokers do not come to rest")

    def _send_all(self) -> bool:
        sent = False
        for replica in self.replicas:
            for conn in list(replica.state.servers):
                sent |= bool(self.take(replica, TransferDue(conn=conn)).effects)
        return sent

    def _deliver_all(self) -> bool:
        delivered = False
        for conn, link in list(self.links.items()):
            while conn in self.links and (link.up or link.down):
                delivered = True
                self._deliver(conn, link.up, link.master, link.heard_by_master)
                if conn in self.links:
                    self._deliver(conn, link.down, link.slave, link.heard_by_slave)
        return delivered

    def _deliver(
        self,
        conn: ConnectionId,
        way: bytearray,
        receiver: Replica,
        stream: PacketStream[SlavePacket] | PacketStream[MasterPacket],
    ) -> None:
        piece = bytes(way[: self._fragment])
        del way[: self._fragment]
        stream.feed(piece)
        try:
            while conn in self.links and (packet := stream.next_packet()) is not None:
                self.take(receiver, PacketReceived(conn=conn, packet=packet))
        except PacketError as error:
            self.take(receiver, PacketRefused(conn=conn, error=error))

    def assert_equal_logs(self) -> None:
        """Assert that all have the same log, epochs and epoch file."""
        first = self.replicas[0]
        for other in self.replicas[1:]:
            assert other.bytes() == first.bytes()
            assert other.starts() == first.starts()
            assert other.stored() == other.starts()


def following(group: Group, broker_id: int) -> int:
    """Return how many connections of a broker's slaves are in transfer."""
    replica = group[broker_id]
    assert replica.state.role is Role.MASTER
    return sum(c.next_offset >= 0 for c in replica.state.servers.values())
