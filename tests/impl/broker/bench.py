"""Brokers and their controller, joined by hand: nothing travels, and no time passes, by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rocketha.broker.connections import GroupCore
from rocketha.broker.core import new_broker
from rocketha.broker.effects import AnswerPull, AnswerPut, GroupAction, GroupStepped
from rocketha.broker.events import CommandReceived, GroupEvent, PullRequested, PutRequested, Started
from rocketha.broker.options import GroupOptions
from rocketha.broker.state import GroupBroker, PullId, Registration
from rocketha.controller.applied import ControllerEvent
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import Entry
from rocketha.controller.host import ControllerHost, ControllerPorts
from rocketha.controller.state import Group
from rocketha.formats.controller_request_codec import pull_request, push_request
from rocketha.formats.controller_requests import ControllerRequest, ElectMaster, Incarnation
from rocketha.formats.controller_responses import MetadataInfo
from rocketha.formats.ha_packets import MasterPacket, SlavePacket
from rocketha.formats.message import Message
from rocketha.formats.packet_stream import PacketStream, master_stream, slave_stream
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.ha.effects import SpecAction
from rocketha.ha.events import PacketReceived
from rocketha.ha.state import HaOptions
from rocketha.known_bugs import NO_BUGS, Bugs
from rocketha.known_bugs.epoch_truncation import ha_rules
from rocketha.known_bugs.replica_group import broker_rules
from rocketha.runtime.broker_files import BrokerName
from rocketha.runtime.effects import (
    CloseConnection,
    Connect,
    SendPacket,
    SendToController,
)
from rocketha.runtime.events import (
    ConnectionLost,
    PeerAccepted,
    PeerConnected,
    TimerFired,
    TransferDue,
)
from rocketha.storage.commit_log import CommitLog
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import (
    BrokerId,
    ConnectionId,
    HaAddress,
    Identity,
    Offset,
    PutId,
    SizeBytes,
    TimestampMs,
)
from tests.impl.manual_node import ManualNode

SEGMENT_SIZE = SizeBytes(1024)
ROUNDS_MAX = 10_000
NAME = "broker-a"


def options_of(
    *,
    all_ack: bool = True,
    copies: int = 1,
    least: int = 1,
    sync_flush: bool = False,
    learner: bool = False,
    last_file: bool = False,
    batch: int = 32 * 1024,
    tells_incarnation: bool = True,
    bugs: Bugs = NO_BUGS,
) -> GroupOptions:
    """Make the settings of a broker."""
    return GroupOptions(
        broker_name=NAME,
        ha=HaOptions(
            transfer_batch_bytes=SizeBytes(batch),
            tells_incarnation=tells_incarnation,
            is_async_learner=learner,
            is_sync_from_last_file=last_file,
            rules=ha_rules(bugs),
        ),
        rules=broker_rules(bugs),
        all_ack_in_sync_state_set=all_ack,
        in_sync_replicas=copies,
        min_in_sync_replicas=least,
        sync_flush=sync_flush,
    )


class Replica:
    """One broker: its core, its disk, and what it did so far."""

    def __init__(self, number: int, options: GroupOptions) -> None:
        self.address = HaAddress(f"b{number}")
        self.options = options
        self.node: ManualNode[GroupBroker, GroupEvent, SpecAction | GroupAction] = ManualNode(
            GroupCore(),
            segment_size=SEGMENT_SIZE,
            name=BrokerName(cluster_name=options.cluster_name, broker_name=options.broker_name),
        )
        self.state = new_broker(address=self.address, options=options)
        self.starts = 0

    @property
    def id(self) -> BrokerId:
        return self.state.broker_id

    @property
    def state(self) -> GroupBroker:
        assert self.node.host.state is not None
        return self.node.host.state

    @state.setter
    def state(self, state: GroupBroker) -> None:
        self.node.host.state = state

    @property
    def log(self) -> CommitLog:
        return self.node.log

    @property
    def identity(self) -> Identity | None:
        """What the identity files say."""
        return self.node.files.identity.load()

    @identity.setter
    def identity(self, identity: Identity | None) -> None:
        assert identity is not None, "no file says that a broker is nobody"
        self.node.files.identity.store(identity)

    @property
    def actions(self) -> list[str]:
        return [action.name for action in self.node.actions]

    @property
    def answers(self) -> dict[PutId, AnswerPut]:
        """What producers heard; nobody hears two answers."""
        found = [one for one in self.node.answers if isinstance(one, AnswerPut)]
        answers = {one.put: one for one in found}
        assert len(answers) == len(found)
        return answers

    @property
    def pulled(self) -> dict[PullId, bytes | None]:
        """What consumers heard."""
        return {one.pull: one.data for one in self.node.answers if isinstance(one, AnswerPull)}

    def start(self, now_ms: int, *, torn: bool = False) -> None:
        """Come up with what is on the disk."""
        event = Started(
            incarnation=Incarnation(self.starts),
            entries=self.node.files.epochs.load(),
            identity=self.identity,
            log_torn=torn,
        )
        self.starts += 1
        self.state = new_broker(address=self.address, options=self.options)
        self.take(event, now_ms)

    def take(self, event: GroupEvent, now_ms: int) -> GroupStepped:
        """Take an event, and all that follow from it."""
        stepped = self.node.take(event, now_ms)
        assert isinstance(stepped, GroupStepped)
        return stepped


@dataclass
class Link:
    """A connection: its two ends, and the bytes on the way."""

    slave: Replica
    master: Replica
    up: bytearray = field(default_factory=bytearray)
    down: bytearray = field(default_factory=bytearray)
    heard_by_master: PacketStream[SlavePacket] = field(default_factory=slave_stream)
    heard_by_slave: PacketStream[MasterPacket] = field(default_factory=master_stream)


class _AroundController:
    """The ports of the controller: nobody scans, and no channel ends."""

    def __init__(self, bench: Bench) -> None:
        self.notices: list[tuple[str, bytes]] = []
        """Addresses, and frames that are to be heard there."""
        self.answers: list[bytes] = []
        self._bench = bench

    def now_ms(self) -> TimestampMs:
        return TimestampMs(self._bench.now_ms)

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        """Do nothing."""

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        del channel
        self.answers.append(data)

    def notify(self, address: str, data: bytes) -> None:
        self.notices.append((address, data))

    def scan_soon(self) -> None:
        """Do nothing."""

    def applied(self, entry: Entry, events: tuple[ControllerEvent, ...]) -> None:
        """Do nothing."""


class Bench:
    """A group: brokers, links and a controller."""

    def __init__(self, count: int = 2, options: GroupOptions | None = None) -> None:
        self.options = options_of() if options is None else options
        self.replicas = [Replica(number, self.options) for number in range(1, count + 1)]
        self.links: dict[ConnectionId, Link] = {}
        controller = ControllerOptions(
            metadata=MetadataInfo(
                group="g", leader_id="n0", leader_address="h:1", is_leader=True, peers="n0-h:1"
            ),
        )
        self._around = around = _AroundController(self)
        self.controller = ControllerHost(
            MemoryDisk(),
            controller,
            ControllerPorts(clock=around, channels=around, timer=around, recorder=around),
        )
        self.loses: Callable[[Replica, ControllerRequest], bool] = lambda _, __: False
        """Which requests never arrive."""
        self.deaf: set[int] = set()
        """Brokers to which the controller's answers do not come."""
        self.down: set[int] = set()
        self.now_ms = 1_000
        self._conns = 0
        self._puts = 0
        self.controller.start()

    def __getitem__(self, number: int) -> Replica:
        return self.replicas[number - 1]

    @property
    def group(self) -> Group:
        return self.controller.node.state.groups[NAME]

    # ---- what a test does ----

    def start(self, *numbers: int, torn: bool = False) -> None:
        """Let brokers come up one after the other, and all that follows happen."""
        for number in numbers or range(1, len(self.replicas) + 1):
            self.down.discard(number)
            self[number].start(self.now_ms, torn=torn)
            self.settle()

    def stop(self, number: int, *, power: bool = False) -> None:
        """Stop a broker; its peers see their connections end."""
        self.down.add(number)
        for conn, link in list(self.links.items()):
            if self[number] in (link.slave, link.master):
                self.cut(conn, by=self[number])
        self[number].node.out.clear()
        if power:
            self[number].node.lose_power()

    def put(self, number: int, body: bytes = b"body") -> PutId:
        """Send a message to a broker; nothing else happens."""
        self._puts += 1
        put = PutId(self._puts)
        self.take(self[number], PutRequested(put=put, message=Message(topic="t", body=body)))
        return put

    def pull(self, number: int, offset: int = 0) -> bytes | None:
        """Read from a broker."""
        self._puts += 1
        pull = PullId(self._puts)
        self.take(self[number], PullRequested(pull=pull, offset=Offset(offset)))
        return self[number].pulled[pull]

    def status(self, put: PutId) -> str | None:
        """Return what a producer was told."""
        found = [r.answers[put].status.value for r in self.replicas if put in r.answers]
        return found[0] if found else None

    def designate(self, number: int) -> None:
        """Let an operator name a master; everybody is told."""
        request = ElectMaster(broker_name=NAME, broker_id=self[number].id, designate_elect=True)
        self._serve(self[number], push_command(push_request(request, opaque=1)))

    def take(self, replica: Replica, event: GroupEvent) -> GroupStepped:
        """Let a broker take an event, and carry on what it does outside."""
        stepped = replica.take(event, self.now_ms)
        self._carry(replica)
        return stepped

    def pass_time(self, ms: int = 1_000, *, times: int = 1) -> None:
        """Move the clock and fire all timers."""
        for _ in range(times):
            self.now_ms += ms
            for replica in self._running():
                self.take(replica, TimerFired())
            self.settle()

    def settle(self) -> None:
        """Carry and send until nothing happens any more."""
        for _ in range(ROUNDS_MAX):
            for replica in self._running():
                self._carry(replica)
            if not (self._deliver_all() or self._send_all()):
                return
        raise AssertionError("the brokers do not come to rest")

    def cut(self, conn: ConnectionId, by: Replica | None = None) -> None:
        """End a connection; both brokers see it, except the one that did it."""
        link = self.links.pop(conn)
        for end in (link.slave, link.master):
            if end is not by and end in self._running():
                self.take(end, ConnectionLost(conn=conn))

    # ---- how it gets there ----

    def _running(self) -> list[Replica]:
        return [r for n, r in enumerate(self.replicas, 1) if n not in self.down and r.starts]

    def _number(self, replica: Replica) -> int:
        return self.replicas.index(replica) + 1

    def _carry(self, replica: Replica) -> None:
        for effect in replica.node.taken():
            match effect:
                case SendPacket() if effect.conn in self.links:
                    link = self.links[effect.conn]
                    (link.up if replica is link.slave else link.down).extend(effect.data)
                case CloseConnection() if effect.conn in self.links:
                    self.cut(effect.conn, by=replica)
                case Connect():
                    self._connect(replica, effect.peer)
                case SendToController():
                    self._serve(replica, effect.data)
                case _:
                    pass

    def _connect(self, slave: Replica, peer: HaAddress) -> None:
        found = [r for r in self._running() if r.address == peer]
        if not found:
            return
        self._conns += 1
        conn = ConnectionId(self._conns)
        self.links[conn] = Link(slave, found[0])
        self.take(found[0], PeerAccepted(conn=conn))
        self.take(slave, PeerConnected(conn=conn, peer=peer))

    def _serve(self, replica: Replica, data: bytes) -> None:
        pulled = pull_command(data)
        assert pulled is not None
        if self.loses(replica, pull_request(pulled[0])):
            return
        self.controller.received(ConnectionId(self._number(replica)), data)
        notices, self._around.notices = self._around.notices, []
        answers, self._around.answers = self._around.answers, []
        for answer in answers:
            self.tell(replica, answer)
        for address, notice in notices:
            for one in [r for r in self._running() if r.address == address]:
                self.tell(one, notice)

    def tell(self, replica: Replica, data: bytes) -> None:
        """Let a broker hear a frame of the controller."""
        pulled = pull_command(data)
        assert pulled is not None
        if self._number(replica) not in self.deaf and replica in self._running():
            self.take(replica, CommandReceived(command=pulled[0]))

    def _send_all(self) -> bool:
        sent = False
        for replica in self._running():
            for conn in list(replica.state.ha.servers):
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
        stream.feed(bytes(way))
        way.clear()
        while conn in self.links and (packet := stream.next_packet()) is not None:
            self.take(receiver, PacketReceived(conn=conn, packet=packet))


def running(count: int = 2, options: GroupOptions | None = None) -> Bench:
    """Make a group of which the first broker is master and all are in its SyncStateSet."""
    bench = Bench(count, options)
    bench.start()
    assert all(r.state.registration is Registration.REGISTERED for r in bench.replicas)
    bench.pass_time(times=8)
    return bench
