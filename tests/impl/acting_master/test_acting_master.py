"""A broker of several parts, step by step: what they tell each other, and how it gets its log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

import pytest

from rocketha.acting.core import HeartbeatDue, PollDue, RegisterDue
from rocketha.acting.state import ActingOptions
from rocketha.acting_master.core import BrokerCore, fresh, started
from rocketha.acting_master.events import BrokerDone, BrokerEvent, CopyLogDue
from rocketha.acting_master.replication import GET_LOG
from rocketha.acting_master.state import BrokerOptions, BrokerState
from rocketha.escape.events import CheckDue, PersistDue, RouteDue, ServeDue
from rocketha.escape.master_state import MasterOptions
from rocketha.escape.slave import DELAYED, HALVES
from rocketha.escape.state import HALF_KEY, SlaveOptions, delay_key
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.due_messages import DELAYED_TOPIC, delayed, half
from rocketha.formats.ext_fields import push_fields
from rocketha.formats.message import Message, properties_text
from rocketha.formats.name_server_codec import push_name_server_reply
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import DataVersion, NameServerReply, RegisterBrokerResult
from rocketha.formats.offset_tables import (
    OffsetTable,
    QueueKey,
    TableKind,
    pull_offsets,
    push_offsets,
)
from rocketha.formats.put_requests import PutCode, push_put
from rocketha.formats.remoting_command import NO_FIELDS, RemotingCommand
from rocketha.pre_online.due import GoOn
from rocketha.pre_online.events import StoreTable
from rocketha.pre_online.rules import RULES
from rocketha.pre_online.state import PreOnlineOptions
from rocketha.runtime.broker_files import BrokerFiles, FileOptions
from rocketha.runtime.effects import (
    AppendLog,
    AppendMessage,
    FlushLog,
    Respond,
    SendOneWay,
    SendRequest,
    Then,
)
from rocketha.runtime.events import RequestArrived, ResponseArrived
from rocketha.storage.commit_log import CommitLogOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import (
    MASTER,
    BrokerId,
    ConnectionId,
    HaAddress,
    Offset,
    RequestId,
    SizeBytes,
    TimestampMs,
)

CORE: Final = BrokerCore()
NOW: Final = TimestampMs(100_000)
SLAVE: Final = BrokerId(1)
SERVERS: Final = (BrokerId(201), BrokerId(202))
SOME_SERVER: Final = BrokerId(200)
READERS: Final[QueueKey] = ("orders@readers", 0)


def message(key: str, topic: str = "bills") -> Message:
    return Message(
        topic=topic,
        body=key.encode(),
        store_timestamp_ms=TimestampMs(1_000),
        properties=properties_text({"UNIQ_KEY": key, "PGROUP": "shop"}),
    )


LOG: Final = (
    replace(delayed(message("d1"), 3), queue_offset=0),
    replace(delayed(message("d2"), 3), queue_offset=1),
    replace(half(message("h1")), queue_offset=0),
    replace(half(message("h2")), queue_offset=1),
)


def options(number: int) -> BrokerOptions:
    is_master = number == MASTER
    acting = ActingOptions(
        cluster_name="cluster",
        broker_name="group-1",
        address=f"b1{number}",
        own_id=BrokerId(number) if number else BrokerId(9),
        ha_address=f"b1{number}:ha",
        name_servers=SERVERS,
        topics=MappingProxyType({}),
        acting=True,
    )
    return BrokerOptions(
        services=SlaveOptions(
            acting=acting,
            masters={"group-1": BrokerId(10)} if is_master else {"group-2": BrokerId(20)},
            local=frozenset({"group-1"}) if is_master else frozenset(),
            enable_remote_escape=True,
            topic="tasks",
            consumers="audit",
        ),
        tables=PreOnlineOptions(
            cluster_name="cluster",
            broker_name="group-1",
            address=f"b1{number}",
            broker_id=BrokerId(number),
            ha_address=HaAddress(f"b1{number}:ha"),
            name_server=SOME_SERVER,
            topics=MappingProxyType({}),
            steps=dict.fromkeys(TableKind, 2),
        ),
        store=MasterOptions(acting=acting, producers={"shop": BrokerId(301)}),
    )


@dataclass
class Broker:
    """A broker with a log on a disk in memory; effects of files are performed, others kept."""

    number: int
    files: BrokerFiles = field(
        default_factory=lambda: BrokerFiles(
            MemoryDisk(),
            FileOptions(log=CommitLogOptions(directory="log", segment_size=SizeBytes(4_096))),
        )
    )
    saved: Mapping[TableKind, OffsetTable | None] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    state: BrokerState = field(init=False)
    does: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        chosen = options(self.number)
        rules = replace(RULES, **self.changes)
        chosen = replace(chosen, tables=replace(chosen.tables, rules=rules))
        self.state = fresh(chosen, self.files.log, self.saved, now_ms=NOW)

    def take(self, *events: BrokerEvent) -> list[Any]:
        """Take events and all that follows; return what was done."""
        self.does = []
        for event in events:
            follows: list[Any] = [event]
            while follows:
                done = self._step(follows.pop(0))
                follows += [one.event for one in done.effects if isinstance(one, Then)]
        return self.does

    def _step(self, event: BrokerEvent) -> BrokerDone:
        done = CORE.step(self.state, event, now_ms=NOW, log=self.files.log)
        self.state = done.state
        for effect in done.effects:
            if isinstance(effect, AppendLog):
                self.files.append_raw(effect.offset, effect.data)
            elif isinstance(effect, AppendMessage):
                self.files.append(effect.message)
            elif isinstance(effect, FlushLog):
                self.files.flush()
            self.does.append(effect)
        return done

    def asks(self) -> list[SendRequest]:
        return [one for one in self.does if isinstance(one, SendRequest)]

    def told(self) -> Respond:
        (answer,) = (one for one in self.does if isinstance(one, Respond))
        return answer

    def answered(self, asked: SendRequest, command: RemotingCommand | None) -> list[Any]:
        return self.take(ResponseArrived(reference=asked.reference, command=command))

    def offset(self, kind: TableKind, key: QueueKey) -> int:
        return self.state.tables.tables[kind].present.offsets.get(key, 0)


def with_log(*messages: Message) -> BrokerFiles:
    made = Broker(SLAVE).files
    for one in messages:
        made.append(one)
    made.flush()
    return made


def request(code: int, fields: Mapping[str, str] = NO_FIELDS, body: bytes = b"") -> RequestArrived:
    command = RemotingCommand(code=code, opaque=7, ext_fields=fields, body=body)
    return RequestArrived(request=RequestId(1), command=command, conn=ConnectionId(1))


def says(code: NameServerCode, answer: Any) -> RemotingCommand:
    asked = RemotingCommand(code=code, opaque=7)
    return push_name_server_reply(NameServerReply(answer=answer), asked)


def group(*numbers: int) -> RemotingCommand:
    members = BrokerMemberGroup(
        cluster_name="cluster",
        broker_name="group-1",
        addresses={BrokerId(one): f"b1{one}" for one in numbers},
    )
    return says(NameServerCode.GET_BROKER_MEMBER_GROUP, members)


def commit_of(offset: int) -> RequestArrived:
    fields = push_fields(
        {"consumerGroup": "readers", "topic": "orders", "queueId": 0, "commitOffset": offset}
    )
    return request(BrokerCode.UPDATE_CONSUMER_OFFSET, fields)


def online(broker: Broker) -> Broker:
    """Let a master be online whose group has nobody else."""
    broker.take(GoOn())
    (asked,) = broker.asks()
    broker.answered(asked, group())
    return broker


def acting(broker: Broker) -> Broker:
    """Let a slave hear that it is the smallest."""
    broker.take(PollDue())
    (asked,) = broker.asks()
    broker.answered(asked, group(1))
    return broker


def slave_that_learnt(files: BrokerFiles | None = None) -> Broker:
    broker = Broker(SLAVE) if files is None else Broker(SLAVE, files)
    (role,) = (
        one.event
        for one in started(broker.state.options)
        if one.wait_ms == 1 and type(one.event).__name__ == "RoleLearned"
    )
    broker.take(role)
    return broker


def table(kind: TableKind, offsets: Mapping[QueueKey, int]) -> RemotingCommand:
    made = OffsetTable(offsets=offsets, version=DataVersion(0, 0, NOW))
    body = push_offsets(kind, made)
    return RemotingCommand(code=BrokerResponse.SUCCESS, opaque=7, body=body)


# ---- a master that comes back ----


def test_a_master_in_isolation_says_nothing_and_serves_nobody() -> None:
    broker = Broker(MASTER, with_log(*LOG))
    put = request(BrokerCode.SEND_MESSAGE_V2, push_put(message("m1"), "shop"), b"m1")

    assert not [one for one in started(broker.state.options) if "RoleLearned" in repr(one)]
    broker.take(RegisterDue(), HeartbeatDue())
    assert not [one for one in broker.does if isinstance(one, SendRequest | SendOneWay)]
    for asked in (put, commit_of(3), request(GET_LOG, push_fields({"offset": 0}))):
        broker.take(asked)
        assert broker.told().code == BrokerResponse.SERVICE_NOT_AVAILABLE
    broker.take(ServeDue(DELAYED), CheckDue())
    assert not [one for one in broker.does if isinstance(one, SendRequest | SendOneWay)]


def test_a_master_that_is_online_registers_and_its_services_go_on() -> None:
    broker = online(Broker(MASTER, with_log(*LOG)))

    registered = [one.peer for one in broker.asks() if one.code == NameServerCode.REGISTER_BROKER]
    assert registered == [*SERVERS]
    broker.take(ServeDue(DELAYED))
    (put,) = broker.asks()
    assert (put.peer, put.code, put.body) == (BrokerId(10), BrokerCode.SEND_MESSAGE_V2, b"d1")
    broker.take(CheckDue())
    assert len([one for one in broker.does if isinstance(one, SendOneWay)]) == 2


def test_what_a_master_asks_of_its_group_it_asks_the_name_server_of_now() -> None:
    broker = Broker(MASTER)
    broker.take(GoOn())

    assert [one.peer for one in broker.asks()] == [SOME_SERVER]
    assert broker.state.name_server == SERVERS[0]


def test_where_tables_are_taken_services_go_on_from_there() -> None:
    broker = Broker(MASTER, with_log(*LOG), changes={"is_connected": lambda *_: True})
    broker.take(GoOn())
    broker.answered(broker.asks()[0], group(1))
    (delays,) = broker.asks()
    assert (delays.peer, delays.code) == (SLAVE, BrokerCode.GET_ALL_DELAY_OFFSET)
    broker.answered(delays, table(TableKind.DELAY, {delay_key(3): 1}))
    (consumers,) = broker.asks()
    given = {HALF_KEY: 1, READERS: 5, ("tasks@audit", 0): 0}
    broker.answered(consumers, table(TableKind.CONSUMER, given))
    (again,) = broker.asks()
    broker.answered(again, group(1))

    assert not broker.state.tables.isolated
    assert [one.progress for one in broker.state.services.services] == [1, 1]
    assert broker.offset(TableKind.CONSUMER, READERS) == 5
    broker.take(ServeDue(DELAYED))
    assert [one.body for one in broker.asks()] == [b"d2"]
    broker.take(CheckDue())
    (asked,) = (one for one in broker.does if isinstance(one, SendOneWay))
    assert b"h2" in asked.body, "of the first one a slave has seen to it that it is asked"


# ---- a slave ----


def test_a_slave_that_acts_takes_commits_and_copies_nothing() -> None:
    broker = slave_that_learnt(with_log(*LOG))
    broker.take(commit_of(3))
    assert broker.told().code == BrokerResponse.SERVICE_NOT_AVAILABLE

    acting(broker)
    assert (broker.state.services.acts, broker.state.tables.serves) == (True, True)
    broker.take(commit_of(3))
    assert broker.told().code == BrokerResponse.SUCCESS
    broker.take(CopyLogDue())
    assert broker.asks() == []
    broker.take(PollDue())
    broker.answered(broker.asks()[0], group(0, 1))
    assert (broker.state.services.acts, broker.state.tables.serves) == (False, False)


def test_a_slave_stores_nothing() -> None:
    broker = acting(slave_that_learnt())
    broker.take(request(BrokerCode.SEND_MESSAGE_V2, push_put(message("m1"), "shop"), b"m1"))

    assert broker.told().code == BrokerResponse.SERVICE_NOT_AVAILABLE
    assert broker.state.store is None
    assert broker.take(CheckDue()) == []


def test_how_far_services_are_is_a_commit_and_is_written_with_all_else() -> None:
    broker = acting(slave_that_learnt(with_log(*LOG)))
    broker.take(commit_of(3))
    services = replace(broker.state.services, known=frozenset({"group-2"}))
    broker.state = replace(broker.state, services=services)
    broker.take(ServeDue(DELAYED))
    (put,) = broker.asks()
    assert put.peer == BrokerId(20)
    broker.answered(put, RemotingCommand(code=BrokerResponse.SUCCESS, opaque=7))

    assert broker.offset(TableKind.DELAY, delay_key(3)) == 1
    assert broker.state.tables.tables[TableKind.DELAY].moves == 1
    broker.take(ServeDue(HALVES))
    (asks,) = broker.asks()
    broker.answered(asks, RemotingCommand(code=BrokerResponse.SUCCESS, opaque=7))
    stored = {one.kind: one for one in broker.take(PersistDue()) if isinstance(one, StoreTable)}
    table_of = pull_offsets(TableKind.CONSUMER, stored[TableKind.CONSUMER].data).offsets
    assert (table_of[HALF_KEY], table_of[READERS]) == (1, 3)
    assert broker.state.tables.tables[TableKind.CONSUMER].saved.offsets[READERS] == 3


def test_a_slave_learns_of_its_master_by_registering_and_copies_it() -> None:
    broker = slave_that_learnt()
    asked = broker.asks()[0]
    at = RegisterBrokerResult(master_address="b10", ha_server_address="b10:ha")
    broker.answered(asked, says(NameServerCode.REGISTER_BROKER, at))

    assert broker.state.tables.master_address == "b10"
    broker.take(CopyLogDue())
    (asks,) = broker.asks()
    assert (asks.peer, asks.code, asks.ext_fields) == (MASTER, GET_LOG, {"offset": "0"})
    broker.take(CopyLogDue())
    assert broker.asks() == [], "it waits for an answer"
    broker.answered(asks, None)
    broker.take(CopyLogDue())
    assert len(broker.asks()) == 1


def test_what_a_master_starts_is_not_what_a_slave_starts() -> None:
    of_master, of_slave = (
        {type(one.event) for one in started(options(number))} for number in (MASTER, SLAVE)
    )

    assert {RouteDue, CopyLogDue} <= of_slave - of_master
    assert {CheckDue, GoOn} <= of_master - of_slave
    assert ServeDue(HALVES) not in [one.event for one in started(options(MASTER))]


# ---- the log ----


def given(offset: int, master: Broker) -> Respond:
    master.take(request(GET_LOG, push_fields({"offset": offset})))
    return master.told()


def as_answer(answer: Respond) -> RemotingCommand:
    return RemotingCommand(
        code=answer.code, opaque=7, ext_fields=answer.ext_fields, body=answer.body
    )


def test_a_slave_gets_the_log_piece_by_piece_and_knows_what_is_due() -> None:
    master = online(Broker(MASTER, with_log(*LOG)))
    master.state = replace(master.state, options=replace(master.state.options, log_bytes_max=1))
    broker = slave_that_learnt()
    known = replace(broker.state.tables, master_address="b10")
    broker.state = replace(broker.state, tables=known)
    for records in range(1, len(LOG) + 1):
        broker.take(CopyLogDue())
        (asks,) = broker.asks()
        broker.answered(asks, as_answer(given(int(asks.ext_fields["offset"]), master)))
        assert len(list(broker.files.log.records())) == records
    broker.take(RegisterDue())

    read = [record.message for record in broker.files.log.records()]
    assert read == [record.message for record in master.files.log.records()]
    assert [len(one.records) for one in broker.state.services.services] == [2, 2]
    assert [one.topic for one in read[:2]] == [DELAYED_TOPIC, DELAYED_TOPIC]


@pytest.mark.parametrize(
    ("offset", "code"),
    [
        (1, BrokerResponse.PULL_OFFSET_MOVED),
        (1 << 20, BrokerResponse.PULL_OFFSET_MOVED),
        (-1, BrokerResponse.PULL_OFFSET_MOVED),
    ],
)
def test_a_master_gives_nothing_where_its_log_has_no_record(
    offset: int, code: BrokerResponse
) -> None:
    assert given(offset, online(Broker(MASTER, with_log(*LOG)))).code == code


def test_a_question_without_an_offset_is_none() -> None:
    master = online(Broker(MASTER, with_log(*LOG)))
    master.take(request(GET_LOG))

    assert master.told().code == BrokerResponse.SYSTEM_ERROR


def test_what_power_would_take_is_not_given() -> None:
    files = with_log(*LOG)
    end = files.log.flushed_offset
    files.append(message("m1"))

    answer = given(end, online(Broker(MASTER, files)))

    assert (answer.code, answer.body) == (BrokerResponse.SUCCESS, b"")


def test_an_answer_that_does_not_continue_the_log_is_no_matter() -> None:
    broker = slave_that_learnt()
    broker.state = replace(broker.state, tables=replace(broker.state.tables, master_address="b10"))
    broker.take(CopyLogDue())
    (asks,) = broker.asks()
    strange = RemotingCommand(
        code=BrokerResponse.SUCCESS, opaque=7, ext_fields=push_fields({"offset": 8}), body=b"x"
    )

    assert broker.answered(asks, strange) == []
    assert broker.answered(asks, strange) == [], "nor one that comes again"
    assert broker.files.log.max_phy_offset == Offset(0)


def test_pops_are_refused_by_who_does_not_serve() -> None:
    broker = slave_that_learnt()
    broker.take(request(PutCode.POP_MESSAGE))

    assert broker.told().code == BrokerResponse.SERVICE_NOT_AVAILABLE
