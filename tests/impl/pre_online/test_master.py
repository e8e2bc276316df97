"""A master that comes back, step by step."""

from __future__ import annotations

from dataclasses import replace

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.ha_packets import (
    Ack,
    Handshake,
)
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import TableKind, pull_offsets
from rocketha.ha.events import PacketReceived
from rocketha.pre_online.due import (
    GoOn,
    RegisterDue,
    RegisterNow,
    ReportOver,
    TransferDue,
)
from rocketha.pre_online.events import (
    Decide,
    MessageDue,
    PreOnlineActionName,
    StoreTable,
)
from rocketha.runtime.effects import (
    CloseConnection,
    SendPacket,
)
from rocketha.runtime.events import (
    ConnectionLost,
    ResponseArrived,
)
from rocketha.types import (
    MASTER,
    BrokerId,
    ConnectionId,
    Offset,
)
from tests.impl.pre_online.brokers import (
    CONN,
    NAME_SERVER,
    QUEUE,
    answer,
    asks,
    broker,
    codes,
    commit,
    connected,
    given,
    group,
    offset_of,
    request,
    run,
    table,
    waiting,
)


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


def test_a_report_of_what_was_sent_before_is_not_what_it_waits_for() -> None:
    state, done = run(connected(waiting(1), 1), TransferDue())
    assert len([one for one in done if isinstance(one, SendPacket)]) == 1
    state = given(state, 1, theirs=table(9))
    report = PacketReceived(conn=CONN, packet=Ack(max_phy_offset=Offset(0)))

    state, _ = run(state, report)
    assert (offset_of(state), state.done) == (3, frozenset())
    state, _ = run(state, report)
    assert (offset_of(state), set(map(int, state.done))) == (9, {1})
    again, _ = run(state, report)
    assert again.unreported == state.unreported == {CONN: 0}
    assert run(state, ConnectionLost(conn=CONN))[0].unreported == {}


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
