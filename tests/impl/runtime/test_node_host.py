"""The host of a node, with a core that does what an event says."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, get_args

import pytest

from rocketha.controller.applied import ControllerEffect
from rocketha.errors import PacketError
from rocketha.formats.message import Message
from rocketha.locks.consumer import ConsumerEffect
from rocketha.locks.voting import ManagerEffect
from rocketha.runtime import effects
from rocketha.runtime.broker_files import BrokerFiles
from rocketha.runtime.effects import (
    AnswerClient,
    AppendLog,
    AppendMessage,
    CloseConnection,
    Connect,
    FlushLog,
    RequestFlush,
    SendPacket,
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
)
from rocketha.runtime.host import Host
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.ports import HostEffect, Ports, Sender
from rocketha.sim.engine.hosts import HostedCluster
from rocketha.sim.engine.request_ports import CallingNode
from rocketha.storage.commit_log import CommitLog
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import (
    ConnectionId,
    Epoch,
    EpochEntry,
    HaAddress,
    Offset,
    PutId,
    SizeBytes,
    TimestampMs,
)

ROOT: Final = Path(__file__).parents[3]
PEER: Final = HaAddress("b2")
OTHER: Final = HaAddress("b3")


@dataclass(frozen=True)
class Do:
    """The event of this core: what it is to do, and what the step is called."""

    effects: tuple[HostEffect | Then[Do], ...] = ()
    action: str | None = None


@dataclass(frozen=True)
class Stepped:
    state: int
    effects: tuple[HostEffect | Then[Do], ...] = ()
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


class Obedient:
    """Counts its steps."""

    def step(
        self, state: int, event: Do | HostEvent, *, now_ms: TimestampMs, log: CommitLog
    ) -> Stepped:
        del now_ms, log
        if isinstance(event, Do):
            return Stepped(state + 1, event.effects, event.action)
        return Stepped(state + 1)

    def next_timer_ms(self, state: int) -> TimestampMs | None:
        return TimestampMs(100 * state)

    def senders(self, state: int, log_end: Offset) -> Iterable[Sender]:
        return [Sender(conn=ConnectionId(state), behind=log_end > 0, heartbeat_at_ms=7)]

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

    def ask(self, data: bytes) -> None:
        self.calls.append(("ask", data))

    def answer(self, answer: AnswerClient) -> None:
        self.calls.append(("answer", answer))

    def request(self) -> None:
        self.calls.append(("flush",))

    def sent(self, conn: ConnectionId, data: bytes) -> None:
        self.calls.append(("sent", conn, data))

    def stepped(self, event: Do | HostEvent, action: str | None) -> None:
        self.calls.append(("stepped", action))
        self.events.append(event)


def node() -> tuple[NodeHost[int, Do, str], World]:
    world = World()
    ports: Ports[Do, str] = Ports(
        clock=world,
        transport=world,
        timers=world,
        controller=world,
        clients=world,
        flushing=world,
        recorder=world,
    )
    files = BrokerFiles(MemoryDisk(), segment_size=SizeBytes(1024), bugs=frozenset())
    host: NodeHost[int, Do, str] = NodeHost(Obedient(), files, ports)
    host.state = 0
    return host, world


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
                SendToController(data=b"b"),
                answer,
                CloseConnection(conn=conn, reason="enough"),
            ),
            "Act",
        )
    )

    assert world.calls == [
        ("sent", 8, b"a"),
        ("send", 8, b"a"),
        ("ask", b"b"),
        ("answer", answer),
        ("close", 8, "enough", "Act"),
        ("stepped", "Act"),
        ("wake", 100),
        ("transfer", 1, False),
    ]
    assert host.state == 1


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
    host.flush()
    assert world.events == []  # there is nothing to flush

    host.take(Do((message(), RequestFlush())))
    assert ("flush",) in world.calls
    assert host.files.log.flushed_offset == 0

    host.flush()
    assert world.events[-1] == LogFlushed()
    assert host.files.log.flushed_offset == host.files.log.max_phy_offset


def test_one_attempt_to_connect_at_a_time() -> None:
    host, world = node()
    host.take(Do((Connect(peer=PEER), Connect(peer=PEER))))
    assert host.asked == 1
    host.take(Do((Connect(peer=OTHER),)))
    assert [call for call in world.calls if call[0] in ("connect", "abandon")] == [
        ("connect", PEER),
        ("abandon", 1, False),
        ("connect", OTHER),
    ]

    host.connected(ConnectionId(1))  # too late
    assert world.calls[-1] == ("abandon", 1, True)
    host.connected(ConnectionId(2))
    assert world.events[-1] == PeerConnected(conn=ConnectionId(2), peer=OTHER)
    assert host.asked is None


def test_an_attempt_that_fails_may_be_repeated() -> None:
    host, world = node()
    host.take(Do((Connect(peer=PEER),)))
    host.lost(ConnectionId(1))
    assert world.events[-1] == ConnectionLost(conn=ConnectionId(1))
    host.take(Do((Connect(peer=PEER),)))
    assert host.asked == 2


def test_bytes_become_events_until_they_are_no_packet_or_the_connection_ends() -> None:
    host, world = node()
    conn = ConnectionId(1)
    assert host.accepted(conn, PEER)
    assert world.events == [PeerAccepted(conn=conn, host=PEER)]

    host.received(conn, b"ab!c")
    assert world.events[1:3] == [Do(action="a"), Do(action="b")]
    refused = world.events[3]
    assert isinstance(refused, PacketRefused)
    assert refused.error.reason == "shouts"

    host.take(Do((CloseConnection(conn=conn, reason="so"),)))
    host.received(conn, b"d")
    assert world.events[-1] != Do(action="d")


def test_a_node_that_is_down_hears_nothing() -> None:
    host, world = node()
    host.accepted(ConnectionId(1), None)
    host.stop()
    world.events.clear()

    assert not host.accepted(ConnectionId(2), None)
    host.received(ConnectionId(1), b"a")
    host.lost(ConnectionId(1))
    host.arm()
    assert world.events == []
    with pytest.raises(AssertionError, match="down"):
        host.take(Do())


def test_no_event_comes_in_the_middle_of_another() -> None:
    host, world = node()

    class Impatient(World):
        def ask(self, data: bytes) -> None:
            host.take(Do(action=data.decode()))

    world.__class__ = Impatient
    with pytest.raises(AssertionError, match="done with"):
        host.take(Do((SendToController(data=b"x"),)))


@pytest.mark.parametrize("incomplete", [Host, HostedCluster, CallingNode])
def test_a_host_that_leaves_something_out_cannot_be_made(incomplete: type) -> None:
    with pytest.raises(TypeError, match="abstract"):
        incomplete()


def performers(names: set[str]) -> dict[str, set[str]]:
    """Find the modules that take effects apart, in the implementation and in the machines."""
    found: dict[str, set[str]] = {}
    sources = [*ROOT.glob("impl/**/*.py"), *ROOT.glob("model_tests/**/*.py")]
    for path in sources:
        for one in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(one, ast.MatchClass)
                and isinstance(one.cls, ast.Name)
                and one.cls.id in names
            ):
                found.setdefault(one.cls.id, set()).add(path.relative_to(ROOT).as_posix())
    return found


def test_effects_are_performed_in_one_place() -> None:
    requests = {"SendRequest", "SendOneWay", "Respond", "RefuseRequest", "HangUp"}
    names = {name for name in effects.__all__ if name not in {"AnswerClient", "After", *requests}}
    found = performers(names)
    log = {"AppendLog", "TruncateLog", "FlushLog"}
    assert {name: places for name, places in found.items() if name not in log} == {
        name: {"impl/rocketha/runtime/node_host.py"} for name in names - log - {"Then"}
    } | {"Then": {"model_tests/machines/hand_group.py"}}  # which lets questions wait
    for name in log:
        assert found[name] == {
            "impl/rocketha/runtime/node_host.py",
            "impl/rocketha/runtime/broker_files.py",
        }

    places = {name: {"impl/rocketha/runtime/request_host.py"} for name in requests}
    assert performers(requests) == places


def test_effects_of_locks_are_written_as_requests_in_one_place() -> None:
    names = {effect.__name__ for effect in (*get_args(ManagerEffect), *get_args(ConsumerEffect))}
    assert len(names) == 6
    assert performers(names) == {name: {"impl/rocketha/locks/connections.py"} for name in names}


def test_effects_of_a_controller_are_performed_in_one_place() -> None:
    names = {effect.__name__ for effect in get_args(ControllerEffect)}
    assert len(names) == 3
    assert performers(names) == {name: {"impl/rocketha/controller/host.py"} for name in names}
