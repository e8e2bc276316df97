"""Producers and consumers: every answer, and what moves confirmOffset."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.broker.confirm import covered
from rocketha.broker.effects import GroupAction, GroupActionName, PutStatus
from rocketha.broker.events import ConfirmDue, PullRequested
from rocketha.broker.options import GroupOptions
from rocketha.broker.state import PullId
from rocketha.formats.ha_packets import Handshake
from rocketha.ha.events import PacketReceived
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.runtime.events import ConnectionLost, LogFlushed, PeerAccepted
from rocketha.types import BrokerId, ConnectionId, Offset
from tests.impl.broker.bench import options_of
from tests.impl.broker.lone import Lone, registered, set_of, with_master


def pulled(lone: Lone, offset: int = 0) -> bytes | None:
    lone.take(PullRequested(pull=PullId(1), offset=Offset(offset)))
    return lone.replica.pulled[PullId(1)]


# ---- statuses ----


def test_a_slave_takes_no_message_and_shows_none() -> None:
    lone = registered()
    put = lone.put()
    assert lone.status(put) == PutStatus.SERVICE_NOT_AVAILABLE
    assert lone.end == 0
    assert pulled(lone) is None


def test_with_too_few_members_nothing_is_written() -> None:
    lone = with_master(1, 2, options=options_of(least=3))
    put = lone.put()
    assert lone.status(put) == PutStatus.IN_SYNC_REPLICAS_NOT_ENOUGH
    assert (lone.end, lone.actions) == (0, [])


def test_a_master_alone_in_its_set_answers_at_once() -> None:
    lone = with_master()
    put = lone.put()
    assert lone.status(put) == PutStatus.PUT_OK
    assert lone.actions == ["PutMessage", "Acknowledge"]
    answer = lone.replica.answers[put]
    assert (answer.offset, answer.end) == (0, lone.end)


def test_a_message_waits_for_the_whole_set() -> None:
    lone = with_master(1, 2, 3)
    second, third = lone.slave(2, 0), lone.slave(3, 0)
    put = lone.put()
    lone.report(second, lone.end)
    assert lone.status(put) is None
    lone.report(third, lone.end)
    assert lone.status(put) == PutStatus.PUT_OK


def test_whoever_waits_below_is_answered_with_the_last_one() -> None:
    lone = with_master(1, 2)
    conn = lone.slave(2, 0)
    puts = [lone.put() for _ in range(3)]
    lone.report(conn, lone.end)
    assert [lone.status(put) for put in puts] == [PutStatus.PUT_OK] * 3
    assert lone.actions.count("Acknowledge") == 1


def test_too_few_slaves_in_time_is_unknown_and_the_message_stays() -> None:
    lone = with_master(1, 2)
    conn = lone.slave(2, 0)
    put = lone.put()
    lone.pass_time(lone.state.options.slave_timeout_ms - 1)
    assert lone.status(put) is None
    lone.pass_time(1)
    assert lone.status(put) == PutStatus.FLUSH_SLAVE_TIMEOUT
    lone.report(conn, lone.end)
    assert lone.state.confirm == lone.end > 0


def test_with_sync_flush_a_message_waits_for_the_disk_too() -> None:
    lone = with_master(options=options_of(sync_flush=True))
    put = lone.put()
    assert lone.status(put) == PutStatus.PUT_OK
    assert lone.replica.log.flushed_offset == lone.end

    lone.replica.node.flushes = False
    slow = lone.put()
    assert lone.actions[-1] == "Acknowledge"
    assert lone.status(slow) is None
    lone.take(LogFlushed())
    assert lone.status(slow) is None
    lone.replica.log.flush()
    lone.take(LogFlushed())
    assert lone.status(slow) == PutStatus.PUT_OK


def test_a_message_that_is_on_the_disk_still_waits_for_slaves() -> None:
    lone = with_master(1, 2, options=options_of(sync_flush=True))
    conn = lone.slave(2, 0)
    put = lone.put()
    assert lone.status(put) is None
    lone.report(conn, lone.end)
    assert lone.status(put) == PutStatus.PUT_OK


def test_a_disk_that_is_too_slow_is_unknown() -> None:
    lone = with_master(options=options_of(sync_flush=True))
    lone.replica.node.flushes = False
    put = lone.put()
    lone.pass_time(lone.state.options.sync_flush_timeout_ms)
    assert lone.status(put) == PutStatus.FLUSH_DISK_TIMEOUT


def test_without_async_flush_nobody_waits_for_the_disk() -> None:
    lone = with_master()
    lone.replica.node.flushes = False
    assert lone.status(lone.put()) == PutStatus.PUT_OK


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (options_of(all_ack=False, copies=2), PutStatus.SLAVE_NOT_AVAILABLE),
        (options_of(all_ack=False, copies=1), PutStatus.PUT_OK),
        (options_of(all_ack=True, copies=2), PutStatus.PUT_OK),
    ],
)
def test_without_enough_slaves_a_producer_hears_so_at_once(
    options: GroupOptions, status: PutStatus
) -> None:
    lone = with_master(options=options)
    put = lone.put()
    assert lone.status(put) == status
    assert lone.end > 0


def test_a_configured_number_of_copies_is_enough_whoever_has_them() -> None:
    lone = with_master(1, 2, 3, options=options_of(all_ack=False, copies=2))
    lone.slave(2, 0)
    other = lone.slave(4, 0)
    put = lone.put()
    assert lone.status(put) is None
    lone.report(other, lone.end)
    assert lone.status(put) == PutStatus.PUT_OK


def test_by_default_a_message_is_safe_in_the_masters_memory() -> None:
    lone = with_master(1, 2, options=options_of(all_ack=False))
    assert lone.status(lone.put()) == PutStatus.PUT_OK


def test_two_connections_of_one_slave_are_one_copy() -> None:
    lone = with_master(1, 2, 3, options=options_of(all_ack=False, copies=3))
    lone.slave(3, 0)
    lone.slave(2, 0)
    put = lone.put()
    lone.slave(2, lone.end)
    lone.slave(2, lone.end)
    assert lone.status(put) is None


def test_who_waits_over_another_election_of_the_master_is_answered_in_its_new_epoch() -> None:
    lone = with_master(1, 2)
    put = lone.put()
    lone.notice(1, 2, set_of(3, 1))
    assert lone.status(put) is None
    lone.put()
    assert lone.status(put) == PutStatus.PUT_OK


# ---- confirmOffset ----


def test_a_member_without_a_connection_has_nothing_and_confirm_stays() -> None:
    lone = with_master(1, 2)
    conn = lone.slave(2, 0)
    lone.put()
    lone.report(conn, lone.end)
    before = lone.state.confirm
    assert before == lone.end > 0
    lone.take(ConnectionLost(conn=conn))
    lone.put()
    assert covered(lone.state, lone.replica.log) == 0
    lone.take(ConfirmDue())
    assert lone.state.confirm == before


def test_a_member_that_has_just_connected_holds_confirm_where_it_is() -> None:
    lone = with_master(1, 2)
    lone.put()
    conn = lone.slave(2)
    lone.take(ConfirmDue())
    assert lone.state.confirm == 0
    lone.report(conn, 0)
    assert lone.state.confirm == 0


def test_a_report_from_the_middle_of_a_message_covers_the_messages_before() -> None:
    lone = with_master(1, 2)
    conn = lone.slave(2, 0)
    lone.put()
    first = lone.end
    lone.put()
    lone.report(conn, lone.end - 1)
    assert lone.state.confirm == first
    assert lone.actions[-1] == "Acknowledge"


def test_a_report_of_what_is_known_is_no_action() -> None:
    lone = with_master(1, 2)
    conn = lone.slave(2, 0)
    lone.put()
    lone.report(conn, lone.end)
    actions = list(lone.actions)
    lone.report(conn, lone.end)
    assert lone.actions == actions


def test_a_smaller_set_lets_confirm_move() -> None:
    lone = with_master(1, 2)
    put = lone.put()
    lone.notice(1, 1, set_of(3, 1))
    assert lone.actions[-2:] == ["LearnSyncStateSet", "Acknowledge"]
    assert lone.status(put) == PutStatus.PUT_OK


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.W2})])
def test_a_set_that_is_only_proposed_lets_nothing_move(bugs: Bugs) -> None:
    lone = with_master(1, 2, options=replace(options_of(bugs=bugs), slave_timeout_ms=60_000))
    put = lone.put()
    lone.pass_time(20_000)
    assert "MaybeShrink" in lone.actions
    assert lone.status(put) == (PutStatus.PUT_OK if bugs else None)


def test_the_report_on_a_new_connection_counts_and_the_old_one_is_dropped() -> None:
    lone = with_master(1, 2)
    lone.put()
    old = lone.slave(2, lone.end, incarnation=1)
    new = lone.slave(2, incarnation=2)
    assert list(lone.state.ha.servers) == [new]
    assert lone.actions[-2:] == ["Handshake", "CloseConnection"]
    assert lone.state.slave_incarnations == {2: 2}
    lone.put()
    lone.report(old, lone.end)
    assert lone.state.confirm < lone.end


def test_what_a_slave_sent_before_its_crash_does_not_count_when_it_comes_late() -> None:
    lone = with_master(1, 2)
    old, new = ConnectionId(101), ConnectionId(102)
    lone.take(PeerAccepted(conn=old))
    lone.take(PeerAccepted(conn=new))
    for conn, incarnation in ((new, 2), (old, 1)):
        hello = Handshake(broker_id=BrokerId(2), incarnation=incarnation)
        lone.take(PacketReceived(conn=conn, packet=hello))
    assert list(lone.state.ha.servers) == [new]
    assert lone.state.slave_incarnations == {2: 2}


# ---- who is not heard ----


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.B15}), frozenset({Bug.COUNTED})])
def test_a_member_without_a_connection_holds_confirm_offset(bugs: Bugs) -> None:
    lone = with_master(1, 2, options=options_of(bugs=bugs))
    lone.put()
    lone.slave(3, lone.end)
    assert (lone.state.confirm == lone.end) == bool(bugs)


@pytest.mark.parametrize(
    ("bugs", "moves"),
    [(NO_BUGS, False), (frozenset({Bug.B15}), False), (frozenset({Bug.B19}), True)],
)
def test_a_member_that_has_just_connected_holds_confirm_offset(bugs: Bugs, moves: bool) -> None:
    lone = with_master(1, 2, options=options_of(bugs=bugs))
    lone.slave(2)
    lone.put()
    assert (lone.state.confirm == lone.end) == moves


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.B16})])
def test_confirm_offset_never_falls(bugs: Bugs) -> None:
    lone = with_master(1, 2, options=options_of(bugs=bugs))
    lone.put()
    lone.slave(2, lone.end)
    confirmed = lone.state.confirm
    assert confirmed == lone.end
    lone.slave(2)
    lone.put()
    assert lone.state.confirm == (0 if bugs else confirmed)


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.ALONE})])
def test_a_master_that_is_alone_shows_nothing_for_which_it_waits(bugs: Bugs) -> None:
    lone = with_master(options=options_of(bugs=bugs))
    lone.slave(2, 0)
    lone.put()
    assert lone.state.pending is not None
    assert (pulled(lone) != b"") == bool(bugs)


# ---- consumers ----


def test_a_consumer_sees_what_is_confirmed_from_its_offset_on() -> None:
    lone = with_master(1, 2)
    conn = lone.slave(2, 0)
    lone.put()
    first = lone.end
    lone.put()
    lone.report(conn, lone.end)
    confirmed = lone.end
    lone.put()
    whole = lone.replica.log.read(Offset(0), confirmed)
    assert pulled(lone) == whole
    assert pulled(lone, first) == whole[first:]
    assert pulled(lone, confirmed) == pulled(lone, confirmed + 1) == b""


def test_a_pull_that_shows_something_is_an_action_with_the_end() -> None:
    lone = with_master()
    lone.put()
    shown = lone.take(PullRequested(pull=PullId(1), offset=Offset(0)))
    end = Offset(lone.end)
    assert shown.action == GroupAction(name=GroupActionName.CONSUME, offset=end)
    nothing = lone.take(PullRequested(pull=PullId(1), offset=end))
    assert nothing.action is None


@pytest.mark.parametrize("bugs", [NO_BUGS, frozenset({Bug.W8})])
def test_a_consumer_does_not_see_what_a_member_that_is_gone_may_lack(bugs: Bugs) -> None:
    lone = with_master(1, 2, options=options_of(bugs=bugs))
    lone.put()
    assert (pulled(lone) != b"") == bool(bugs)


def test_a_master_that_was_replaced_shows_nothing_any_more() -> None:
    lone = with_master()
    lone.put()
    lone.notice(2, 2, set_of(2, 2))
    assert pulled(lone) is None
