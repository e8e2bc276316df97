"""A master that comes back, and its slaves, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.ha_packets import (
    Ack,
    Handshake,
    HandshakeReply,
    Transfer,
    push_handshake,
    push_handshake_reply,
    push_transfer,
)
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import DataVersion
from rocketha.formats.offset_tables import OffsetTable, TableKind, pull_offsets, push_offsets
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.ha.events import PacketReceived
from rocketha.known_bugs import Bug
from rocketha.known_bugs.pre_online import pre_online_rules
from rocketha.pre_online.core import PreOnlineCore, fresh, started
from rocketha.pre_online.due import (
    CopyDue,
    GoOn,
    PersistDue,
    PollDue,
    RegisterDue,
    RegisterNow,
    ReportOver,
)
from rocketha.pre_online.events import (
    Decide,
    ForgetMaster,
    MessageDue,
    PreOnlineActionName,
    PreOnlineDone,
    PreOnlineEvent,
    StoreTable,
)
from rocketha.pre_online.rules import RULES, put
from rocketha.pre_online.state import PreOnlineOptions, PreOnlineState
from rocketha.runtime.effects import (
    CloseConnection,
    Connect,
    Respond,
    SendPacket,
    SendRequest,
    Then,
)
from rocketha.runtime.events import (
    ConnectionLost,
    PeerAccepted,
    PeerConnected,
    RequestArrived,
    ResponseArrived,
)
from rocketha.types import (
    MASTER,
    BrokerId,
    ConnectionId,
    Epoch,
    HaAddress,
    Offset,
    RequestId,
    TimestampMs,
)

CORE = PreOnlineCore()
NAME_SERVER = BrokerId(201)
QUEUE = ("orders@audit", 0)
CONN = ConnectionId(7)
NOW = TimestampMs(1_000)


def options(broker: int) -> PreOnlineOptions:
    return PreOnlineOptions(
        cluster_name="cluster",
        broker_name="broker",
        address=f"b{broker}",
        broker_id=BrokerId(broker),
        ha_address=HaAddress(f"b{broker}:ha"),
        name_server=NAME_SERVER,
        topics=MappingProxyType({}),
        steps={TableKind.CONSUMER: 2, TableKind.DELAY: 0},
    )


def table(offset: int, counter: int = 0) -> OffsetTable:
    version = DataVersion(0, counter, TimestampMs(1))
    return OffsetTable(offsets={QUEUE: offset} if offset else {}, version=version)


def broker(number: int, offset: int = 0, counter: int = 0) -> PreOnlineState:
    files = {TableKind.CONSUMER: table(offset, counter), TableKind.DELAY: None}
    return fresh(options(number), files, now_ms=NOW)


def step(state: PreOnlineState, event: PreOnlineEvent) -> PreOnlineDone:
    return CORE.step(state, event, now_ms=NOW)


def run(state: PreOnlineState, *events: PreOnlineEvent) -> tuple[PreOnlineState, list[Any]]:
    """Take events and all that follows from each; return what was done."""
    done: list[Any] = []
    for event in events:
        due: list[Any] = [event]
        while due:
            stepped = step(state, due.pop(0))
            state = stepped.state
            due += [one.event for one in stepped.effects if isinstance(one, Then)]
            done += [one for one in stepped.effects if not isinstance(one, Then)]
            done += [] if stepped.action is None else [stepped.action.name]
    return state, done


def answer(
    state: PreOnlineState, body: bytes = b"", fields: dict[str, str] | None = None, code: int = 0
) -> ResponseArrived:
    """Answer what a broker has asked last."""
    assert state.waits is not None
    command = RemotingCommand(
        code=code, opaque=1, flag=FLAG_RESPONSE, ext_fields=fields or {}, body=body
    )
    return ResponseArrived(reference=(state.waits.what, state.waits.number), command=command)


def group(*brokers: int) -> bytes:
    addresses = ",".join(f'{one}:"b{one}"' for one in brokers)
    members = f'{{"brokerAddrs":{{{addresses}}},"brokerName":"broker","cluster":"cluster"}}'
    return f'{{"brokerMemberGroup":{members}}}'.encode()


def asks(effects: Sequence[Any]) -> list[tuple[int, int]]:
    return [(int(one.peer), one.code) for one in effects if isinstance(one, SendRequest)]


def request(code: int, fields: dict[str, str] | None = None) -> RequestArrived:
    command = RemotingCommand(code=code, opaque=1, ext_fields=fields or {})
    return RequestArrived(request=RequestId(1), command=command)


def commit(offset: int) -> RequestArrived:
    fields = {"consumerGroup": "audit", "topic": "orders", "queueId": "0"}
    return request(BrokerCode.UPDATE_CONSUMER_OFFSET, fields | {"commitOffset": str(offset)})


def codes(effects: Sequence[Any]) -> list[int]:
    return [one.code for one in effects if isinstance(one, Respond)]


def offset_of(state: PreOnlineState) -> int:
    return state.tables[TableKind.CONSUMER].present.offsets.get(QUEUE, 0)


# ---- the master ----


def waiting(*members: int, offset: int = 3) -> PreOnlineState:
    """Return a master that has heard who is there, and has told the first of them."""
    state, done = run(broker(MASTER, offset), GoOn())
    assert asks(done) == [(NAME_SERVER, NameServerCode.GET_BROKER_MEMBER_GROUP)]
    state, done = run(state, answer(state, group(*members)))
    assert asks(done) == [(members[0], BrokerCode.EXCHANGE_BROKER_HA_INFO)]
    return run(state, answer(state))[0]


def connected(state: PreOnlineState, slave: int, conn: ConnectionId = CONN) -> PreOnlineState:
    state, done = run(
        state,
        PeerAccepted(conn=conn),
        PacketReceived(conn=conn, packet=Handshake(broker_id=BrokerId(slave))),
    )
    assert PreOnlineActionName.HANDSHAKE in done
    return state


def given(state: PreOnlineState, *members: int, theirs: OffsetTable) -> PreOnlineState:
    """Let the master ask again, and its slave give both tables."""
    state, _ = run(state, GoOn())
    state, done = run(state, answer(state, group(*members)))
    assert asks(done) == [(members[0], BrokerCode.GET_ALL_DELAY_OFFSET)]
    delays = push_offsets(TableKind.DELAY, OffsetTable(offsets={}, version=theirs.version))
    state, done = run(state, answer(state, delays))
    assert asks(done) == [(members[0], BrokerCode.GET_ALL_CONSUMER_OFFSET)]
    state, done = run(state, answer(state, push_offsets(TableKind.CONSUMER, theirs)))
    assert [one for one in done if isinstance(one, SendPacket)], "it wants a report"
    return state


def test_a_master_that_is_alone_is_online_once_it_has_asked() -> None:
    state, _ = run(broker(MASTER, 3), GoOn())
    assert (state.isolated, state.serves) == (True, False)
    state, done = run(state, answer(state, group()))

    assert (state.isolated, state.serves, offset_of(state)) == (False, True, 3)
    assert PreOnlineActionName.GO_ONLINE in done
    assert asks(done) == [(NAME_SERVER, NameServerCode.REGISTER_BROKER)]


def test_a_master_does_not_wait_for_its_own_registration() -> None:
    state, _ = run(broker(MASTER), GoOn())

    assert not run(state, answer(state, group(0)))[0].isolated


def test_a_master_takes_of_each_queue_the_larger_offset_once_its_slave_has_reported() -> None:
    for offset, theirs, kept in ((3, 9, 9), (9, 3, 9)):
        state = given(connected(waiting(1, offset=offset), 1), 1, theirs=table(theirs, 4))
        assert offset_of(state) == offset
        assert state.done == frozenset()

        state, done = run(state, PacketReceived(conn=CONN, packet=Ack(max_phy_offset=Offset(0))))
        stored = [one for one in done if isinstance(one, StoreTable)]
        assert (offset_of(state), set(map(int, state.done)), state.asked) == (kept, {1}, False)
        assert state.tables[TableKind.CONSUMER].present.version.counter == 4
        files = {one.kind: pull_offsets(one.kind, one.data) for one in stored}
        assert files[TableKind.CONSUMER].offsets == {QUEUE: kept}
        assert asks(done) == [(NAME_SERVER, NameServerCode.GET_BROKER_MEMBER_GROUP)], (
            "it asks again"
        )

        assert not run(state, answer(state, group(1)))[0].isolated


def test_a_master_waits_for_who_came_meanwhile() -> None:
    state = given(connected(waiting(1), 1), 1, theirs=table(5))
    state, _ = run(state, PacketReceived(conn=CONN, packet=Ack(max_phy_offset=Offset(0))))
    state, done = run(state, answer(state, group(1, 2)))

    assert state.isolated
    assert asks(done) == [(2, BrokerCode.EXCHANGE_BROKER_HA_INFO)]


def test_a_connection_that_breaks_takes_with_it_what_its_slave_has_given() -> None:
    state = given(connected(waiting(1), 1), 1, theirs=table(9))
    state, done = run(state, ConnectionLost(conn=CONN))
    assert PreOnlineActionName.DISCONNECT in done
    state, _ = run(state, PacketReceived(conn=CONN, packet=Ack(max_phy_offset=Offset(0))))

    assert (offset_of(state), state.done, state.waits) == (3, frozenset(), None)


def test_a_slave_that_does_not_report_has_no_connection() -> None:
    state = given(connected(waiting(1), 1), 1, theirs=table(9))
    assert state.waits is not None
    other, _ = run(state, ReportOver(state.waits.number + 1))
    assert other == state
    state, done = run(state, ReportOver(state.waits.number))

    assert [one.conn for one in done if isinstance(one, CloseConnection)] == [CONN]
    assert (dict(state.links), offset_of(state)) == ({}, 3)


def test_a_slaves_new_connection_takes_the_place_of_its_old_one() -> None:
    state = given(connected(waiting(1), 1), 1, theirs=table(9))
    state, done = run(
        state, PacketReceived(conn=ConnectionId(8), packet=Handshake(broker_id=BrokerId(1)))
    )

    assert [one.conn for one in done if isinstance(one, CloseConnection)] == [CONN]
    assert (dict(state.links), state.waits) == ({1: 8}, None)


def test_a_table_that_is_none_or_refused_is_asked_for_again() -> None:
    for body, code in ((b"{", 0), (b"", BrokerResponse.SYSTEM_ERROR)):
        state, _ = run(connected(waiting(1), 1), GoOn())
        state, _ = run(state, answer(state, group(1)))
        state, done = run(state, answer(state, body, code=code))

        assert (state.waits, state.done) == (None, frozenset())
        assert any(getattr(one, "event", None) == GoOn() for one in done)


def test_in_isolation_a_master_neither_serves_nor_registers_nor_gives_its_tables() -> None:
    state, done = run(
        broker(MASTER, 3), commit(4), request(BrokerCode.GET_ALL_CONSUMER_OFFSET), RegisterDue()
    )
    state, more = run(state, MessageDue(1), RegisterNow())

    assert codes(done) == [BrokerResponse.SERVICE_NOT_AVAILABLE, BrokerResponse.SYSTEM_ERROR]
    assert (asks([*done, *more]), offset_of(state)) == ([], 3)


def test_what_a_name_server_does_not_answer_is_asked_again() -> None:
    state, _ = run(broker(MASTER), GoOn())
    assert state.waits is not None
    lost = ResponseArrived(reference=(state.waits.what, state.waits.number), command=None)
    for event in (lost, answer(state, b"{"), answer(state, code=1)):
        after, done = run(state, event)
        assert (after.isolated, after.asked, after.waits) == (True, False, None)
        assert any(getattr(one, "event", None) == GoOn() for one in done)
    assert run(state, replace(lost, reference=(3, 99)))[0] == state, "an answer to something else"
    assert run(replace(state, waits=None, isolated=False), Decide())[1] == []


# ---- slaves ----


def slave_with(offset: int, *, serves: bool = False, master: str | None = "b0") -> PreOnlineState:
    return replace(broker(1, offset), serves=serves, master_address=master)


@pytest.mark.parametrize(("brokers", "serves"), [((1, 2), True), ((0, 1), False), ((1,), True)])
def test_a_slave_acts_if_nobody_smaller_is_there(brokers: Sequence[int], serves: bool) -> None:
    state, done = run(broker(1), PollDue())
    assert asks(done) == [(NAME_SERVER, NameServerCode.GET_BROKER_MEMBER_GROUP)]

    assert run(state, answer(state, group(*brokers)))[0].serves is serves


def test_a_slave_that_hears_that_its_master_is_gone_neither_copies_nor_connects() -> None:
    state = slave_with(3)
    info = {"masterHaAddress": "b0:ha", "masterAddress": "b0", "masterFlushOffset": "0"}
    state, _ = run(state, request(BrokerCode.EXCHANGE_BROKER_HA_INFO, info))
    state, _ = run(state, PeerConnected(conn=CONN, peer=HaAddress("b0:ha")), PollDue())
    state, done = run(state, answer(state, group(1)))

    assert (state.master_address, state.ha.address, state.serves) == (None, None, True)
    assert [one.conn for one in done if isinstance(one, CloseConnection)] == [CONN]
    assert asks(run(state, CopyDue())[1]) == []


def test_a_slave_copies_its_master_and_one_that_acts_does_not() -> None:
    state, done = run(slave_with(9), CopyDue())
    assert asks(done) == [(0, BrokerCode.GET_ALL_CONSUMER_OFFSET)]
    state, done = run(state, answer(state, push_offsets(TableKind.CONSUMER, table(3, 5))))
    copied = state.tables[TableKind.CONSUMER]

    assert (offset_of(state), copied.present.version.counter) == (3, 5)
    assert copied.saved == copied.present
    assert asks(run(state, CopyDue())[1]) == [(0, BrokerCode.GET_ALL_DELAY_OFFSET)]
    assert asks(run(slave_with(9, serves=True), CopyDue())[1]) == []
    assert put({QUEUE: 3}, {}) == put({QUEUE: 3}, {QUEUE: 0}) == {QUEUE: 3}


def test_a_slave_writes_what_it_copies_at_once_unless_it_deletes_first() -> None:
    state, _ = run(slave_with(9), CopyDue())
    copies = answer(state, push_offsets(TableKind.CONSUMER, table(3, 5)))
    with_bug = replace(state.options, rules=pre_online_rules(frozenset({Bug.B51})))

    assert written(run(state, copies)[1]) == [{QUEUE: 3}]
    assert written(run(replace(state, options=with_bug), copies)[1]) == [{}, {QUEUE: 3}]


def written(done: Sequence[Any]) -> list[dict[Any, int]]:
    stores = [one for one in done if isinstance(one, StoreTable)]
    return [dict(pull_offsets(one.kind, one.data).offsets) for one in stores]


def test_a_slave_that_is_told_connects_and_answers_its_master() -> None:
    info = {"masterHaAddress": "b0:ha", "masterAddress": "b0", "masterFlushOffset": "0"}
    told = request(BrokerCode.EXCHANGE_BROKER_HA_INFO, info)
    state, done = run(broker(1), told)
    assert [one.peer for one in done if isinstance(one, Connect)] == ["b0:ha"]
    state, done = run(state, PeerConnected(conn=CONN, peer=HaAddress("b0:ha")))
    (packet,) = [one for one in done if isinstance(one, SendPacket)]
    assert packet.data == push_handshake(Handshake(broker_id=BrokerId(1)))
    again, done = run(state, told)
    assert (again, codes(done)) == (state, [BrokerResponse.SUCCESS]), "it is under way"

    state, _ = run(
        state, PacketReceived(conn=CONN, packet=HandshakeReply(max_phy_offset=Offset(0)))
    )
    again, done = run(state, told)
    assert [one.conn for one in done if isinstance(one, CloseConnection)] == [CONN]
    state, done = run(state, ConnectionLost(conn=CONN))
    assert (state.ha.address, state.ha.conn) == ("b0:ha", None)


def test_what_arrives_over_connections_is_read() -> None:
    from_slave = CORE.inbox(CONN, accepted=True)
    from_slave.feed(push_handshake(Handshake(broker_id=BrokerId(1))))
    from_master = CORE.inbox(CONN, accepted=False)
    from_master.feed(push_handshake_reply(HandshakeReply(max_phy_offset=Offset(0))))
    beat = Transfer(
        offset=Offset(0), epoch=Epoch(0), epoch_start_offset=Offset(0), confirm_offset=Offset(0)
    )
    from_master.feed(push_transfer(beat))

    assert from_slave.next_event() == PacketReceived(
        conn=CONN, packet=Handshake(broker_id=BrokerId(1))
    )
    assert from_master.next_event() == PacketReceived(
        conn=CONN, packet=HandshakeReply(max_phy_offset=Offset(0))
    )
    heard = from_master.next_event()
    assert heard is not None
    state = replace(broker(1), ha=replace(broker(1).ha, conn=CONN))
    (ack,) = [one for one in run(state, heard)[1] if isinstance(one, SendPacket)]
    from_slave.feed(ack.data)
    assert from_slave.next_event() == PacketReceived(
        conn=CONN, packet=Ack(max_phy_offset=Offset(0))
    )
    assert from_slave.next_event() is from_master.next_event() is None


# ---- tables ----


def test_a_version_moves_with_each_second_commit_and_not_of_a_table_without_step() -> None:
    state = slave_with(0, serves=True)
    counters = []
    for offset in (1, 2, 3, 4):
        state, done = run(state, commit(offset), MessageDue(1))
        assert codes(done) == [BrokerResponse.SUCCESS]
        counters.append(state.tables[TableKind.CONSUMER].present.version.counter)

    assert (counters, offset_of(state)) == ([0, 1, 1, 2], 4)
    assert state.tables[TableKind.DELAY].present.offsets == {("", 1): 4}
    assert state.tables[TableKind.DELAY].present.version.counter == 0


def test_a_table_is_written_when_it_has_changed_and_a_start_reads_it() -> None:
    state, _ = run(slave_with(0, serves=True), commit(1))
    state, done = run(state, PersistDue())
    (stored,) = [one for one in done if isinstance(one, StoreTable)]
    assert not [one for one in run(state, PersistDue())[1] if isinstance(one, StoreTable)]

    files = {TableKind.CONSUMER: pull_offsets(TableKind.CONSUMER, stored.data)}
    assert offset_of(fresh(options(1), files, now_ms=NOW)) == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, BrokerResponse.SYSTEM_ERROR),
        ({"consumerGroup": "g", "topic": "t", "queueId": "-1"}, BrokerResponse.SYSTEM_ERROR),
        ({"consumerGroup": "g", "topic": "t", "queueId": "0"}, BrokerResponse.SYSTEM_ERROR),
    ],
)
def test_a_commit_that_is_none_is_refused(fields: dict[str, str], code: int) -> None:
    state = slave_with(0, serves=True)
    after, done = run(state, request(BrokerCode.UPDATE_CONSUMER_OFFSET, fields))

    assert (codes(done), after) == ([code], state)


def test_a_consumer_is_told_how_far_it_is() -> None:
    fields = {"consumerGroup": "audit", "topic": "orders", "queueId": "0"}
    asked = request(BrokerCode.QUERY_CONSUMER_OFFSET, fields)
    (told,) = run(slave_with(5, serves=True), asked)[1]
    (none,) = run(slave_with(0, serves=True), asked)[1]

    assert (told.code, dict(told.ext_fields)) == (BrokerResponse.SUCCESS, {"offset": "5"})
    assert none.code == BrokerResponse.QUERY_NOT_FOUND


def test_who_asks_for_where_a_master_is_is_told_by_the_master_alone() -> None:
    asked = request(BrokerCode.EXCHANGE_BROKER_HA_INFO)
    (told,) = run(broker(MASTER), asked)[1]
    (not_told,) = run(broker(1), asked)[1]
    (wrong,) = run(broker(1), request(asked.command.code, {"masterHaAddress": " "}))[1]
    (unknown,) = run(broker(1), request(999))[1]

    assert told.ext_fields["masterHaAddress"] == "b0:ha"
    assert (not_told.code, dict(not_told.ext_fields)) == (BrokerResponse.SUCCESS, {})
    assert wrong.code == BrokerResponse.SYSTEM_ERROR
    assert unknown.code == BrokerResponse.REQUEST_CODE_NOT_SUPPORTED


def test_what_is_due_while_a_broker_waits_comes_when_it_waits_no_more() -> None:
    state, _ = run(slave_with(3), PollDue())
    for event in (CopyDue(), RegisterDue(), CopyDue(), PersistDue()):
        state, done = run(state, event)
        assert done == []
    assert state.due == (CopyDue(), RegisterDue(), PersistDue())
    state, done = run(state, answer(state, group(0, 1)))

    assert asks(done) == [(0, BrokerCode.GET_ALL_CONSUMER_OFFSET)]
    assert state.due == (RegisterDue(), PersistDue())


def test_a_slave_learns_its_master_when_it_registers() -> None:
    state, done = run(slave_with(3, master=None), RegisterDue())
    assert asks(done) == [(NAME_SERVER, NameServerCode.REGISTER_BROKER)]
    state, _ = run(state, answer(state, fields={"masterAddr": "b0", "haServerAddr": "b0:ha"}))

    assert state.master_address == "b0"
    assert run(state, ForgetMaster())[0].ha.address is None


def test_each_kind_of_broker_begins_with_what_it_has_to_do() -> None:
    first = {type(one.event).__name__ for one in started(options(MASTER))}
    other = {type(one.event).__name__ for one in started(options(1))}

    assert first - other == {"GoOn"}
    assert other - first == {"PollDue", "CopyDue", "ReconnectDue"}
    assert options(0).rules == RULES
