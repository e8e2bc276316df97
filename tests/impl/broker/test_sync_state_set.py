"""The SyncStateSet of a master: who joins, who goes, and what becomes of a proposal."""

from __future__ import annotations

import pytest

from rocketha.broker.events import ExpandDue
from rocketha.broker.sync_state_set import ack_set
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import AlterSyncStateSet, GetReplicaInfo, Incarnation
from rocketha.formats.controller_responses import SyncStateSetAltered
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.types import BrokerId
from tests.impl.broker.bench import options_of
from tests.impl.broker.lone import Lone, identified, set_of, with_master

CHECK_MS = 5_000
LATE_MS = 15_000
REFUSALS = [
    ResponseCode.INVALID_MASTER,
    ResponseCode.FENCED_MASTER_EPOCH,
    ResponseCode.FENCED_SYNC_STATE_SET_EPOCH,
    ResponseCode.INVALID_REPLICAS,
    ResponseCode.BROKER_NOT_ALIVE,
    ResponseCode.ALTER_SYNC_STATE_SET_FAILED,
    ResponseCode.SYSTEM_ERROR,
]


def with_bug(*bugs: Bug) -> Bugs:
    return frozenset(bugs)


def expanding(bugs: Bugs = NO_BUGS) -> Lone:
    """Make master 1 with the set {1}, to which it has proposed to add 2."""
    lone = with_master(options=options_of(bugs=bugs))
    lone.put()
    lone.slave(2, lone.end, incarnation=4)
    assert lone.actions[-1] == "MaybeExpand"
    return lone


# ---- who joins ----


def test_a_slave_that_has_caught_up_is_proposed_with_its_incarnation() -> None:
    lone = expanding()
    [request] = lone.asked(AlterSyncStateSet)
    assert request == AlterSyncStateSet(
        broker_name="broker-a",
        master_broker_id=BrokerId(1),
        master_epoch=lone.state.ha.known_epoch,
        sync_state_set=set_of(1, 1, 2),
        joining={BrokerId(2): Incarnation(4)},
        invoke_time_ms=request.invoke_time_ms,
    )
    assert lone.state.local == set_of(1, 1)
    assert ack_set(lone.state) == {1, 2}


@pytest.mark.parametrize(
    ("bugs", "joins"), [(NO_BUGS, False), (with_bug(Bug.EXPAND_CONFIRM), True)]
)
def test_a_slave_that_lacks_what_is_confirmed_does_not_join(bugs: Bugs, joins: bool) -> None:
    lone = with_master(options=options_of(bugs=bugs))
    lone.put()
    lone.slave(2, 0)
    assert ("MaybeExpand" in lone.actions) == joins


@pytest.mark.parametrize(("bugs", "joins"), [(NO_BUGS, False), (with_bug(Bug.EXPAND_EPOCH), True)])
def test_a_slave_that_has_not_reached_the_epoch_does_not_join(bugs: Bugs, joins: bool) -> None:
    lone = with_master(options=options_of(bugs=bugs))
    lone.put()
    lone.notice(2, 2, set_of(2, 2))
    lone.notice(1, 3, set_of(4, 1, 3))
    assert lone.state.confirm == 0
    lone.slave(2, 0)
    assert ("MaybeExpand" in lone.actions) == joins


def test_a_slave_that_has_not_reported_does_not_join() -> None:
    lone = with_master()
    lone.slave(2)
    lone.take(ExpandDue(slave=BrokerId(2)))
    lone.take(ExpandDue(slave=BrokerId(9)))
    assert "MaybeExpand" not in lone.actions


def test_a_learner_a_member_and_the_master_itself_do_not_join() -> None:
    lone = with_master(1, 2)
    lone.slave(3, 0, learner=True)
    lone.slave(2, 0)
    lone.take(ExpandDue(slave=BrokerId(1)))
    assert "MaybeExpand" not in lone.actions


@pytest.mark.parametrize("bugs", [NO_BUGS, with_bug(Bug.B79)])
def test_there_is_one_proposal_at_a_time(bugs: Bugs) -> None:
    lone = expanding(bugs)
    lone.slave(3, lone.end)
    assert lone.actions.count("MaybeExpand") == (2 if bugs else 1)
    assert ack_set(lone.state) == ({1, 3} if bugs else {1, 2})


def test_who_could_not_join_yet_is_proposed_after_its_next_report() -> None:
    lone = expanding()
    conn = lone.slave(3, lone.end)
    lone.notice(1, 1, set_of(2, 1, 2))
    lone.report(conn, lone.end)
    assert lone.asked(AlterSyncStateSet)[-1].sync_state_set == set_of(2, 1, 2, 3)


@pytest.mark.parametrize(
    ("bugs", "tells", "joining"),
    [(NO_BUGS, True, {2: 4}), (NO_BUGS, False, {}), (with_bug(Bug.HALF_OPEN), True, {})],
)
def test_the_incarnation_is_that_of_the_handshake_if_slaves_tell_it(
    bugs: Bugs, tells: bool, joining: dict[int, int]
) -> None:
    options = options_of(bugs=bugs, tells_incarnation=tells)
    lone = with_master(options=options)
    lone.slave(2, lone.end, incarnation=4)
    [request] = lone.asked(AlterSyncStateSet)
    assert request.joining == joining


# ---- who goes ----


def test_a_member_that_was_behind_for_too_long_is_removed_connected_or_not() -> None:
    lone = with_master(1, 2, 3)
    lone.slave(2, 0)
    lone.put()
    lone.pass_time(LATE_MS)
    assert "MaybeShrink" not in lone.actions
    lone.pass_time(CHECK_MS)
    assert lone.actions[-1] == "MaybeShrink"
    assert lone.asked(AlterSyncStateSet)[-1].sync_state_set == set_of(2, 1)
    assert ack_set(lone.state) == {1, 2, 3}


def test_a_member_that_has_everything_stays_though_it_says_nothing_for_long() -> None:
    lone = with_master(1, 2)
    conn = lone.slave(2, 0)
    lone.put()
    lone.report(conn, lone.end)
    lone.pass_time(LATE_MS + 1)
    lone.put()
    lone.pass_time(LATE_MS // 5)
    assert conn in lone.state.ha.servers
    assert "MaybeShrink" not in lone.actions


def test_a_member_that_reports_the_end_of_the_log_stays() -> None:
    lone = with_master(1, 2, 3)
    conn = lone.slave(2, 0)
    for _ in range(5):
        lone.pass_time(CHECK_MS)
        lone.report(conn, lone.end)
    assert lone.asked(AlterSyncStateSet)[0].sync_state_set == set_of(2, 1, 2)


@pytest.mark.parametrize("bugs", [NO_BUGS, with_bug(Bug.B25)])
def test_a_master_never_leaves_its_set_and_who_is_gone_does(bugs: Bugs) -> None:
    lone = with_master(1, 2, 3, options=options_of(bugs=bugs))
    conn = lone.slave(2, 0)
    lone.pass_time(LATE_MS)
    lone.report(conn, 0)
    lone.pass_time(CHECK_MS)
    proposed = {frozenset(r.sync_state_set.members) for r in lone.asked(AlterSyncStateSet)}
    assert proposed == ({frozenset({2, 3})} if bugs else {frozenset({1, 2})})


def test_nobody_is_removed_while_a_proposal_is_undecided() -> None:
    lone = with_master(1, 3)
    lone.slave(2, lone.end)
    lone.pass_time(LATE_MS + CHECK_MS)
    assert lone.actions.count("MaybeShrink") == 0
    assert {r.sync_state_set for r in lone.asked(AlterSyncStateSet)} == {set_of(2, 1, 2, 3)}


def test_who_joins_has_its_full_time_from_then_on() -> None:
    lone = expanding()
    lone.pass_time(LATE_MS)
    lone.notice(1, 1, set_of(2, 1, 2))
    lone.put()
    lone.pass_time(LATE_MS)
    assert "MaybeShrink" not in lone.actions
    lone.pass_time(CHECK_MS)
    assert "MaybeShrink" in lone.actions


@pytest.mark.parametrize(
    ("bugs", "waits_for"),
    [(NO_BUGS, {1, 2}), (with_bug(Bug.W2), {1})],
)
def test_a_master_waits_for_whom_it_has_proposed_to_remove(bugs: Bugs, waits_for: set[int]) -> None:
    lone = with_master(1, 2, options=options_of(bugs=bugs))
    lone.pass_time(LATE_MS + CHECK_MS)
    assert lone.actions[-1] == "MaybeShrink"
    assert ack_set(lone.state) == waits_for


@pytest.mark.parametrize(
    ("bugs", "waits_for"),
    [(NO_BUGS, {1, 2}), (with_bug(Bug.B14), {1})],
)
def test_a_master_waits_for_whom_it_has_proposed_to_add(bugs: Bugs, waits_for: set[int]) -> None:
    assert ack_set(expanding(bugs).state) == waits_for


# ---- what becomes of a proposal ----


def test_the_answer_with_the_new_set_ends_it() -> None:
    lone = expanding()
    lone.answer(AlterSyncStateSet, SyncStateSetAltered(sync_state_set=set_of(2, 1, 2)))
    assert lone.actions[-1] == "LearnSyncStateSet"
    assert (lone.state.local, lone.state.pending) == (set_of(2, 1, 2), None)


def test_a_poll_or_a_notice_with_a_newer_version_ends_it_whatever_the_set_is() -> None:
    lone = expanding()
    lone.show(1, 1, set_of(2, 1))
    assert (lone.state.local, lone.state.pending) == (set_of(2, 1), None)
    lone = expanding()
    lone.notice(1, 1, set_of(3, 1, 3))
    assert (lone.state.local, lone.state.pending) == (set_of(3, 1, 3), None)


@pytest.mark.parametrize(
    ("bugs", "members", "ended"),
    [
        (NO_BUGS, {1}, True),
        (with_bug(Bug.B20), {1}, False),
        (with_bug(Bug.ADOPT), {1, 2}, True),
    ],
)
def test_a_set_that_was_kept_ends_the_proposal_and_is_the_masters(
    bugs: Bugs, members: set[int], ended: bool
) -> None:
    lone = expanding(bugs)
    lone.show(1, 1, set_of(2, 1))
    assert lone.state.local.members == members
    assert (lone.state.pending is None) == ended


@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("bugs", [NO_BUGS, with_bug(Bug.B82), with_bug(Bug.REFUSAL)])
def test_a_refusal_does_not_end_it_and_the_master_asks_for_the_set(
    bugs: Bugs, code: ResponseCode
) -> None:
    lone = expanding(bugs)
    lone.answer(AlterSyncStateSet, code=code)
    assert (lone.state.pending is None) == bool(bugs)
    assert len(lone.asked(GetReplicaInfo)) == 1
    assert ("LearnSyncStateSet" in lone.actions) == bool(bugs)


@pytest.mark.parametrize("bugs", [NO_BUGS, with_bug(Bug.B82)])
def test_silence_does_not_end_it_and_it_is_sent_again(bugs: Bugs) -> None:
    lone = expanding(bugs)
    first = lone.asked(AlterSyncStateSet)
    lone.frames.clear()
    lone.pass_time(lone.state.options.request_timeout_ms)
    copies = [r.sync_state_set for r in lone.asked(AlterSyncStateSet)]
    assert copies == ([] if bugs else [first[0].sync_state_set])
    assert (lone.state.pending is None) == bool(bugs)


def test_it_is_sent_again_at_every_check_until_it_is_decided() -> None:
    lone = expanding()
    for _ in range(4):
        lone.pass_time(CHECK_MS)
    assert len(lone.asked(AlterSyncStateSet)) >= 5
    lone.notice(1, 1, set_of(2, 1, 2))
    lone.frames.clear()
    lone.pass_time(CHECK_MS)
    assert lone.asked(AlterSyncStateSet) == []


def test_a_copy_names_the_version_that_the_proposal_was_made_from() -> None:
    lone = expanding()
    for _ in range(3):
        lone.pass_time(CHECK_MS)
    assert {r.sync_state_set.epoch for r in lone.asked(AlterSyncStateSet)} == {1}


@pytest.mark.parametrize("bugs", [NO_BUGS, with_bug(Bug.LATE_SET)])
def test_a_set_that_was_overtaken_is_not_learnt(bugs: Bugs) -> None:
    lone = expanding(bugs)
    lone.notice(1, 1, set_of(4, 1, 2))
    lone.notice(1, 1, set_of(3, 1, 3))
    assert lone.state.local == (set_of(3, 1, 3) if bugs else set_of(4, 1, 2))


def test_an_answer_to_a_proposal_of_an_earlier_epoch_is_not_one_to_this() -> None:
    lone = expanding()
    lone.notice(1, 2, set_of(5, 1))
    lone.answer(AlterSyncStateSet, SyncStateSetAltered(sync_state_set=set_of(6, 1, 2)))
    assert lone.state.local == set_of(5, 1)


@pytest.mark.parametrize("code", REFUSALS)
def test_answers_to_a_master_that_was_replaced_change_nothing(code: ResponseCode) -> None:
    for content in (None, SyncStateSetAltered(sync_state_set=set_of(2, 1, 2))):
        lone = expanding()
        lone.notice(2, 2, set_of(3, 2))
        before = lone.state.local, lone.state.pending, lone.state.ha
        lone.answer(AlterSyncStateSet, content, ResponseCode.SUCCESS if content else code)
        assert (lone.state.local, lone.state.pending, lone.state.ha) == before


def test_an_answer_that_comes_twice_counts_once() -> None:
    lone = expanding()
    answer = lone.answer(AlterSyncStateSet, SyncStateSetAltered(sync_state_set=set_of(2, 1, 2)))
    before, actions = lone.state, len(lone.actions)
    lone.hear(answer)
    assert (lone.state, len(lone.actions)) == (before, actions)


def test_who_is_no_master_proposes_nothing() -> None:
    lone = identified()
    lone.take(ExpandDue(slave=BrokerId(2)))
    lone.pass_time(LATE_MS + CHECK_MS)
    assert lone.actions == []
