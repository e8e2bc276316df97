"""The host of a node, with a core that does what an event says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from rocketha.errors import DiskError, PacketError
from rocketha.formats.message import Message
from rocketha.runtime import effects
from rocketha.runtime.broker_files import BrokerFiles, FileOptions
from rocketha.runtime.core import Core, Sender
from rocketha.runtime.effects import (
    After,
    AnswerClient,
    AppendLog,
    AppendMessage,
    CloseConnection,
    Connect,
    Effect,
    FlushLog,
    RequestFlush,
    Respond,
    SendOneWay,
    SendPacket,
    SendRequest,
    SendToController,
    StoreEpochs,
    Then,
    TruncateLog,
)
from rocketha.runtime.events import (
    ConnectionLost,
    HostEvent,
    LogFlushed,
    MessageAppended,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
    RequestEvent,
    ResponseArrived,
)
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.performer import Performer
from rocketha.runtime.performers import (
    ClientPerformer,
    ConnectionPerformer,
    ControllerPerformer,
    FilePerformer,
    RequestPerformer,
)
from rocketha.sim.engine.hosts import HostedCluster
from rocketha.sim.engine.request_ports import CallingNode
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import (
    BrokerId,
    ConnectionId,
    Epoch,
    EpochEntry,
    HaAddress,
    Offset,
    PutId,
    RequestId,
    RequestReference,
    SizeBytes,
    TimestampMs,
)

ROOT: Final = Path(__file__).parents[3]
PEER: Final = HaAddress("b2")
OTHER: Final = HaAddress("b3")


@dataclass(frozen=True)
class Do:
    """The event of this core: what it is to do, and what the step is called."""

    effects: tuple[Effect | Then[Do] | After[Do], ...] = ()
    action: str | None = None


@dataclass(frozen=True)
class Stepped:
    state: int
    effects: tuple[Effect | Then[Do] | After[Do], ...] = ()
    action: str | None = None


@dataclass
class LineInbox:
    """Every byte is a packet; an exclamation mark is none."""

    data: bytes = b""

    def feed(self, data: bytes) -> None:
        self.data += data

    def next_event(self) -> Do | None:
        if not self.data:
            return None
        first, self.data = self.data[:1], self.data[1:]
        if first == b"!":
            raise PacketError("letter", offset=0, reason="shouts")
        return Do(action=first.decode())


NodeEvents: TypeAlias = Do | HostEvent | RequestEvent


class Obedient(Core[int, NodeEvents, str, CommitLog]):
    """Counts its steps."""

    effects = tuple([getattr(effects, name) for name in effects.__all__ if name != "Effect"])

    def step(
        self,
        state: int,
        event: NodeEvents,
        *,
        now_ms: TimestampMs,
        log: CommitLog,
    ) -> Stepped:
        del now_ms, log
        if isinstance(event, Do):
            return Stepped(state + 1, event.effects, event.action)
        return Stepped(state + 1)

    def next_timer_ms(self, state: int) -> TimestampMs | None:
        return TimestampMs(100 * state)

    def senders(self, state: int, log: CommitLog) -> Iterable[Sender]:
        return [Sender(conn=ConnectionId(state), behind=log.max_phy_offset > 0, heartbeat_at_ms=7)]

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> LineInbox:
        del conn, accepted
        return LineInbox()


Entry: TypeAlias = tuple[object, ...]


@dataclass
class World:
    """Writes down all that a host calls."""

    calls: list[Entry] = field(default_factory=list)
    events: list[object] = field(default_factory=list)
    conns: int = 0

    def now_ms(self) -> TimestampMs:
        return TimestampMs(5)

    def connect(self, peer: HaAddress) -> ConnectionId:
        self.conns += 1
        self.calls.append(("connect", peer))
        return ConnectionId(self.conns)

    def send(self, conn: ConnectionId, data: bytes) -> None:
        self.calls.append(("send", conn, data))

    def close(self, conn: ConnectionId, *, reason: str, action: str | None) -> None:
        self.calls.append(("close", conn, reason, action))

    def abandon(self, conn: ConnectionId, *, is_open: bool) -> None:
        self.calls.append(("abandon", conn, is_open))

    def wake_at(self, at_ms: TimestampMs) -> None:
        self.calls.append(("wake", at_ms))

    def transfer(self, sender: Sender) -> None:
        self.calls.append(("transfer", sender.conn, sender.behind))

    def ask(self, data: bytes, *, controller: int) -> None:
        self.calls.append(("ask", data, controller))

    def answer(self, answer: AnswerClient) -> None:
        self.calls.append(("answer", answer))

    def request(self, request: SendRequest | None = None) -> None:
        self.calls.append(("flush",) if request is None else ("request", request.peer))

    def one_way(self, request: SendOneWay) -> None:
        self.calls.append(("one way", request.peer, request.code, request.body))

    def respond(self, answer: Respond) -> None:
        self.calls.append(("respond", answer.request, answer.code, answer.body))

    def refuse(self, request: RequestId) -> None:
        self.calls.append(("refuse", request))

    def hang_up(self, reference: RequestReference) -> None:
        self.calls.append(("hang up", reference))

    def after(self, wait_ms: int, event: object) -> None:
        self.calls.append(("after", wait_ms, event))

    def sent(self, conn: ConnectionId, data: bytes) -> None:
        self.calls.append(("sent", conn, data))

    def received(self, conn: ConnectionId) -> None:
        self.calls.append(("received", conn))

    def stepped(self, event: object, action: str | None) -> None:
        self.calls.append(("stepped", action))
        self.events.append(event)


class Node:
    """A node that has everything."""

    def __init__(self, world: World, core: Obedient) -> None:
        self.files = BrokerFiles(
            MemoryDisk(), FileOptions(log=CommitLogOptions(segment_size=SizeBytes(1024)))
        )
        self.connections: ConnectionPerformer[NodeEvents, str] = ConnectionPerformer(
            core.inbox, transport=world, recorder=world
        )
        self.writer = FilePerformer(self.files, flushing=world)
        self.performers: tuple[Performer[NodeEvents, str], ...] = (
            self.connections,
            self.writer,
            ControllerPerformer(world),
            ClientPerformer(world),
            RequestPerformer(world),
        )
        self.host = host_of(core, self.performers, world, self.writer)
        self.host.state = 0
        self.take = self.host.take


def host_of(
    core: Obedient,
    performers: Iterable[Performer[NodeEvents, str]],
    world: World,
    writer: FilePerformer,
) -> NodeHost[int, NodeEvents, str]:
    return NodeHost(
        core, performers, clock=world, recorder=world, see=writer.log, timers=world, alarms=world
    )


def node() -> tuple[Node, World]:
    world = World()
    return Node(world, Obedient()), world


def message() -> AppendMessage:
    return AppendMessage(
        message=Message(topic="t", body=b"x"), store_timestamp_ms=TimestampMs(9), put=PutId(4)
    )


def test_effects_are_performed_in_their_order_and_before_the_step_is_recorded() -> None:
    host, world = node()
    conn, answer = ConnectionId(8), AnswerClient()

    host.take(
        Do(
            (
                SendPacket(conn=conn, data=b"a"),
                SendToController(data=b"b", controller=2),
                answer,
                CloseConnection(conn=conn, reason="enough"),
            ),
            "Act",
        )
    )

    assert world.calls == [
        ("sent", 8, b"a"),
        ("send", 8, b"a"),
        ("ask", b"b", 2),
        ("answer", answer),
        ("close", 8, "enough", "Act"),
        ("stepped", "Act"),
        ("wake", 100),
        ("transfer", 1, False),
    ]
    assert host.host.state == 1


def test_what_follows_comes_at_once_the_appended_message_first() -> None:
    host, world = node()
    late = Do(action="late")

    host.take(Do((Then(event=Do((Then(event=late),), "then")), message()), "put"))

    appended = MessageAppended(put=PutId(4), offset=Offset(0), end=host.files.log.max_phy_offset)
    assert appended.end > 0
    assert world.events[1:] == [appended, Do((Then(event=late),), "then"), late]
    assert host.files.log.read(Offset(0), appended.end)
    assert host.files.log_version > 1


def test_a_message_for_which_nobody_waits_is_only_appended() -> None:
    host, world = node()
    host.take(
        Do(
            (
                AppendMessage(
                    message=Message(topic="t", body=b""), store_timestamp_ms=TimestampMs(0)
                ),
            )
        )
    )
    assert len(world.events) == 1
    assert host.files.log.max_phy_offset > 0


def test_files_are_written() -> None:
    host, _ = node()
    host.take(Do((message(), FlushLog())))
    log = host.files.log
    end = log.max_phy_offset
    assert log.flushed_offset == end
    data = log.read(Offset(0), end)

    entries = (EpochEntry(Epoch(3), Offset(0)),)
    host.take(Do((TruncateLog(offset=Offset(0)), StoreEpochs(entries=entries))))
    assert log.max_phy_offset == 0
    assert host.files.load_epochs() == entries

    host.take(Do((AppendLog(offset=Offset(0), data=data),)))
    assert log.read(Offset(0), end) == data


def test_the_flush_service_is_asked_and_the_core_hears_when_it_has_worked() -> None:
    host, world = node()
    host.writer.flush()
    assert world.events == []  # there is nothing to flush

    host.take(Do((message(), RequestFlush())))
    assert ("flush",) in world.calls
    assert host.files.log.flushed_offset == 0

    host.writer.flush()
    assert world.events[-1] == LogFlushed()
    assert host.files.log.flushed_offset == host.files.log.max_phy_offset


def test_one_attempt_to_connect_at_a_time() -> None:
    host, world = node()
    host.take(Do((Connect(peer=PEER), Connect(peer=PEER))))
    assert host.connections.asked == 1
    host.take(Do((Connect(peer=OTHER),)))
    assert [call for call in world.calls if call[0] in ("connect", "abandon")] == [
        ("connect", PEER),
        ("abandon", 1, False),
        ("connect", OTHER),
    ]

    host.connections.connected(ConnectionId(1))  # too late
    assert world.calls[-1] == ("abandon", 1, True)
    host.connections.connected(ConnectionId(2))
    assert world.events[-1] == PeerConnected(conn=ConnectionId(2), peer=OTHER)
    assert host.connections.asked is None


def test_an_attempt_that_fails_may_be_repeated() -> None:
    host, world = node()
    host.take(Do((Connect(peer=PEER),)))
    host.connections.lost(ConnectionId(1))
    assert world.events[-1] == ConnectionLost(conn=ConnectionId(1))
    host.take(Do((Connect(peer=PEER),)))
    assert host.connections.asked == 2


def test_bytes_become_events_until_they_are_no_packet_or_the_connection_ends() -> None:
    host, world = node()
    conn = ConnectionId(1)
    assert host.connections.accepted(conn, PEER)
    assert world.events == [PeerAccepted(conn=conn, host=PEER)]

    host.connections.received(conn, b"ab!c")
    assert world.events[1:3] == [Do(action="a"), Do(action="b")]
    refused = world.events[3]
    assert isinstance(refused, PacketRefused)
    assert refused.error.reason == "shouts"

    host.take(Do((CloseConnection(conn=conn, reason="so"),)))
    host.connections.received(conn, b"d")
    assert world.events[-1] != Do(action="d")


def test_a_node_that_is_down_hears_nothing() -> None:
    host, world = node()
    host.connections.accepted(ConnectionId(1), None)
    host.host.stop()
    world.events.clear()

    assert not host.connections.accepted(ConnectionId(2), None)
    host.connections.received(ConnectionId(1), b"a")
    host.connections.lost(ConnectionId(1))
    host.host.arm()
    assert world.events == []
    with pytest.raises(AssertionError, match="down"):
        host.take(Do())


def test_no_event_comes_in_the_middle_of_another() -> None:
    host, world = node()

    class Impatient(World):
        def ask(self, data: bytes, *, controller: int) -> None:
            host.take(Do(action=f"{data!r} {controller}"))

    world.__class__ = Impatient
    with pytest.raises(AssertionError, match="done with"):
        host.take(Do((SendToController(data=b"x"),)))


def test_what_follows_from_a_step_that_failed_does_not_come_with_the_next_event() -> None:
    host, world = node()
    fails, late = SendToController(data=b"x"), Do(action="late")

    class Broken(World):
        def ask(self, data: bytes, *, controller: int) -> None:
            raise DiskError("disk", reason=f"is full: {data!r} {controller}")

    world.__class__ = Broken
    with pytest.raises(DiskError):
        host.take(Do((Then(event=Do((fails,))), Then(event=late))))
    host.take(Do(action="next"))
    assert [call for call in world.calls if call[0] == "stepped"] == [
        ("stepped", None),
        ("stepped", "next"),
    ]


def test_a_node_has_a_log_connections_and_requests_at_once() -> None:
    host, world = node()
    conn, later = ConnectionId(8), Do(action="later")
    ask = SendRequest(peer=BrokerId(2), code=1, body=b"v", reference=(1,))
    answer = Respond(request=RequestId(3), code=0, body=b"y")

    host.take(
        Do(
            (
                message(),
                ask,
                SendPacket(conn=conn, data=b"a"),
                answer,
                After(wait_ms=9, event=later),
            )
        )
    )

    assert host.files.log.max_phy_offset > 0
    assert [call for call in world.calls if call[0] not in ("stepped", "wake", "transfer")] == [
        ("request", 2),
        ("sent", 8, b"a"),
        ("send", 8, b"a"),
        ("respond", 3, 0, b"y"),
        ("after", 9, later),
    ]

    lost = ResponseArrived(reference=(1,), command=None)
    host.host.hear(lost)
    assert world.events[-1] == lost


def test_effects_that_nobody_or_somebody_else_performs_are_found_before_the_first_step() -> None:
    host, world = node()
    with pytest.raises(AssertionError, match="nobody performs AnswerClient"):
        host_of(Obedient(), host.performers[:3], world, host.writer)
    twice: list[Performer[NodeEvents, str]] = [*host.performers, ControllerPerformer(world)]
    with pytest.raises(AssertionError, match="SendToController has two performers"):
        host_of(Obedient(), twice, world, host.writer)
    with pytest.raises(AssertionError, match="nobody performs After"):
        NodeHost(Obedient(), host.performers, clock=world, recorder=world, see=host.writer.log)


@pytest.mark.parametrize("incomplete", [Core, Performer, HostedCluster, CallingNode])
def test_what_leaves_something_out_cannot_be_made(incomplete: type) -> None:
    with pytest.raises(TypeError, match="abstract"):
        incomplete()


def test_a_performer_has_each_effect_of_its_group() -> None:
    kinds = [kind for performer in node()[0].performers for kind in performer.effects]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) == {
        getattr(effects, name) for name in {*effects.__all__} - {"Effect", "Then", "After"}
    }
