"""Slaves of a master that comes back, and the tables of both, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.ha_packets import (
    Ack,
    Handshake,
    HandshakeReply,
    push_handshake,
    push_handshake_reply,
    push_transfer,
)
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import TableKind, pull_offsets, push_offsets
from rocketha.ha.events import PacketReceived
from rocketha.known_bugs import Bug
from rocketha.known_bugs.pre_online import pre_online_rules
from rocketha.pre_online.core import fresh, started
from rocketha.pre_online.due import (
    CopyDue,
    PersistDue,
    PollDue,
    ReconnectDue,
    RegisterDue,
)
from rocketha.pre_online.events import (
    ForgetMaster,
    MessageDue,
    StoreTable,
)
from rocketha.pre_online.rules import RULES, put
from rocketha.runtime.effects import (
    CloseConnection,
    Connect,
    SendPacket,
)
from rocketha.runtime.events import (
    ConnectionLost,
    PeerConnected,
)
from rocketha.types import (
    MASTER,
    BrokerId,
    ConnectionId,
    HaAddress,
    Offset,
    TimestampMs,
)
from tests.impl.pre_online.brokers import (
    BEAT,
    CONN,
    CORE,
    NAME_SERVER,
    NOW,
    QUEUE,
    answer,
    asks,
    broker,
    codes,
    commit,
    group,
    offset_of,
    options,
    request,
    run,
    slave_with,
    table,
)


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


def test_a_slave_closes_a_connection_over_which_its_master_is_silent() -> None:
    heard = replace(broker(1).ha, address=HaAddress("b0:ha"), conn=CONN, heard_ms=NOW)
    for has_reply, limit_ms in ((False, 5_000), (True, 20_000)):
        state = replace(broker(1), ha=replace(heard, has_reply=has_reply))
        for late_ms, closes in ((limit_ms - 1, []), (limit_ms, [CONN])):
            done = CORE.step(state, ReconnectDue(), now_ms=TimestampMs(NOW + late_ms))
            assert [x.conn for x in done.effects if isinstance(x, CloseConnection)] == closes

    packets = (HandshakeReply(max_phy_offset=Offset(0)), BEAT)
    state = replace(broker(1), ha=replace(heard, heard_ms=0))
    for packet in packets:
        after, _ = run(state, PacketReceived(conn=CONN, packet=packet))
        other, _ = run(state, PacketReceived(conn=ConnectionId(8), packet=packet))
        assert (after.ha.heard_ms, other.ha.heard_ms) == (NOW, 0)


def test_what_arrives_over_connections_is_read() -> None:
    from_slave = CORE.inbox(CONN, accepted=True)
    from_slave.feed(push_handshake(Handshake(broker_id=BrokerId(1))))
    from_master = CORE.inbox(CONN, accepted=False)
    from_master.feed(push_handshake_reply(HandshakeReply(max_phy_offset=Offset(0))))
    from_master.feed(push_transfer(BEAT))

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

    assert first - other == {"GoOn", "TransferDue"}
    assert other - first == {"PollDue", "CopyDue", "ReconnectDue"}
    assert options(0).rules == RULES
