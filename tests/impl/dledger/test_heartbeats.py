"""Heartbeats: the answers to them, timers at their borders, and what a leader makes of answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.dledger.elector import next_timer_ms
from rocketha.dledger.member_state import Role
from rocketha.dledger.state import ElectorActionName, ElectorState, ElectorStepped, RoleChanged
from rocketha.formats.dledger_codes import DLedgerResponseCode, VoteResult
from rocketha.formats.dledger_requests import HeartBeatRequest, HeartBeatResponse
from rocketha.types import Term, TimestampMs
from tests.impl.dledger.scene import (
    NOW,
    answered,
    asked,
    beat,
    beat_answer,
    candidate,
    follower,
    leader,
    maintained,
    only_answer,
    raised,
    requests_of,
    take,
    vote_answer,
)

Code = DLedgerResponseCode
FIVE = ("n0", "n1", "n2", "n3", "n4")


def name_of(stepped: ElectorStepped) -> ElectorActionName | None:
    return None if stepped.action is None else stepped.action.name


ANSWERS = {
    "nobody's": (follower(), beat(3, "n9"), Code.UNKNOWN_MEMBER, 3),
    "its own": (follower(), beat(3, "n0"), Code.UNEXPECTED_MEMBER, 3),
    "old": (follower(), beat(2), Code.EXPIRED_TERM, 3),
    "its leader's": (follower(), beat(3), Code.SUCCESS, -1),
    "the first": (candidate(), beat(3), Code.SUCCESS, -1),
    "another's": (follower(), beat(3, "n2"), Code.INCONSISTENT_LEADER, -1),
    "of a second leader": (leader(), beat(3), Code.INCONSISTENT_LEADER, -1),
    "new": (follower(), beat(4, "n2"), Code.TERM_NOT_READY, -1),
}


@pytest.mark.parametrize(("state", "request_", "code", "term"), ANSWERS.values(), ids=ANSWERS)
def test_a_heartbeat_is_answered(
    state: ElectorState, request_: HeartBeatRequest, code: Code, term: int
) -> None:
    stepped = take(state, asked(request_))
    answer = only_answer(stepped, HeartBeatResponse)

    assert (answer.response_code, answer.term) == (code, term)
    assert (stepped.action is not None) == (stepped.state.member != state.member)


def test_a_candidate_follows_the_leader_of_its_term() -> None:
    stepped = take(candidate(), asked(beat(3)))
    assert stepped.effects[0] == RoleChanged(term=Term(3), role=Role.FOLLOWER, leader_id="n1")
    assert name_of(stepped) is ElectorActionName.HANDLE_HEARTBEAT


def test_a_larger_term_is_gone_to_in_the_next_step() -> None:
    state = take(leader(), asked(beat(6))).state
    assert (state.member.role, state.member.curr_term) == (Role.CANDIDATE, 3)
    assert raised(state)
    assert maintained(state).state.member.curr_term == 6


# ---- a follower ----


@pytest.mark.parametrize(("leak", "after"), [(3, 6_000), (1, 4_000), (2, 4_000)])
def test_a_follower_gives_up_after_some_intervals_and_at_least_two(leak: int, after: int) -> None:
    state = follower(max_heart_beat_leak=leak)
    assert next_timer_ms(state) == NOW + after + 1
    assert maintained(state, after).state == state

    stepped = maintained(state, after + 1)
    assert name_of(stepped) is ElectorActionName.BECOME_CANDIDATE
    assert (stepped.state.member.role, stepped.state.member.curr_term) == (Role.CANDIDATE, 3)
    assert not raised(stepped.state)


def test_only_its_leader_keeps_a_follower() -> None:
    state = take(follower(), asked(beat(3, "n2")), 5_000).state
    state = take(state, asked(beat(2)), 5_000).state
    assert next_timer_ms(state) == NOW + 6_001
    assert next_timer_ms(take(state, asked(beat(3)), 5_000).state) == NOW + 11_001


# ---- a leader ----


def beating() -> ElectorState:
    """A leader of five that has just sent heartbeats, and had a majority 5 s before."""
    before = TimestampMs(NOW - 5_000)
    led = take(
        maintained(candidate(peers=FIVE)).state,
        answered(1, "n1", vote_answer(VoteResult.ACCEPT)),
    ).state
    led = take(led, answered(1, "n2", vote_answer(VoteResult.ACCEPT))).state
    assert led.member.is_leader
    return maintained(replace(led, last_succ_heart_beat_ms=before)).state


def heard(state: ElectorState, *codes: Code | None, after_ms: int = 0) -> ElectorStepped:
    stepped = ElectorStepped(state)
    for peer, code in zip(FIVE[1:], codes, strict=False):
        message = None if code is None else beat_answer(code, term=3)
        stepped = take(stepped.state, answered(state.last_number, peer, message), after_ms)
    return stepped


def test_a_leader_sends_at_once_and_then_after_each_interval() -> None:
    stepped = maintained(leader())
    assert stepped.action is None
    assert requests_of(stepped)["n2"] == HeartBeatRequest(
        group="g", local_id="n0", remote_id="n2", leader_id="n0", term=Term(3)
    )
    state = take(stepped.state, answered(2, "n1", beat_answer(Code.SUCCESS))).state
    assert next_timer_ms(state) == NOW + 2_001
    assert requests_of(maintained(state, 2_000)) == {}
    assert len(requests_of(maintained(state, 2_001))) == 2


def test_a_majority_keeps_a_leader() -> None:
    state = heard(beating(), Code.SUCCESS, Code.SUCCESS, after_ms=77).state
    assert state.last_succ_heart_beat_ms == NOW + 77
    assert state.member.is_leader


def test_followers_that_go_to_its_term_are_told_again_at_once() -> None:
    state = heard(beating(), Code.SUCCESS, Code.TERM_NOT_READY).state
    assert next_timer_ms(state) is None
    assert len(requests_of(maintained(state))) == 4


FAILED = [None, Code.NETWORK_ERROR, Code.TIMEOUT]


@pytest.mark.parametrize(("after", "gives_up"), [(1_000, False), (1_001, True)])
@pytest.mark.parametrize("code", FAILED)
def test_a_leader_without_a_majority_gives_up_when_its_lease_is_over(
    code: Code | None, after: int, gives_up: bool
) -> None:
    stepped = heard(beating(), *[code] * 4, after_ms=after)
    assert (name_of(stepped) is ElectorActionName.BECOME_CANDIDATE) == gives_up
    assert stepped.state.member.is_leader == (not gives_up)


def test_heartbeats_are_judged_when_an_interval_is_over() -> None:
    state = heard(beating(), Code.SUCCESS).state
    assert next_timer_ms(state) == NOW + 2_000
    assert maintained(state, 1_999).state == state
    assert name_of(maintained(state, 2_000)) is ElectorActionName.BECOME_CANDIDATE


def test_a_leader_that_never_had_a_majority_gives_up_at_once() -> None:
    state = replace(beating(), last_succ_heart_beat_ms=None)
    assert name_of(heard(state, *[None] * 4)) is ElectorActionName.BECOME_CANDIDATE


def test_two_leaders_of_one_term_are_none() -> None:
    stepped = heard(beating(), Code.INCONSISTENT_LEADER, None, None, None)
    assert name_of(stepped) is ElectorActionName.BECOME_CANDIDATE


@pytest.mark.parametrize("before", [0, 2], ids=["first", "behind a majority"])
def test_a_leader_that_hears_of_a_larger_term_is_none(before: int) -> None:
    state = heard(beating(), *[Code.SUCCESS] * before).state
    answer = beat_answer(Code.EXPIRED_TERM, term=7)
    stepped = take(state, answered(state.last_number, "n4", answer))

    assert stepped.action is not None
    assert (stepped.action.name, stepped.action.peer) == (ElectorActionName.HEAR_TERM, "n4")
    assert stepped.state.member.known_max_term_in_group == 7
    assert not raised(stepped.state)


def test_an_answer_to_heartbeats_of_before_does_not_count() -> None:
    state = beating()
    late = answered(state.last_number - 1, "n1", beat_answer(Code.EXPIRED_TERM, term=7))
    assert take(state, late).state == state


def test_a_leader_knows_who_is_alive() -> None:
    state = heard(beating(), None, Code.NETWORK_ERROR, Code.SUCCESS, Code.EXPIRED_TERM).state
    alive = {"n1": False, "n2": False, "n3": True, "n4": True}
    assert dict(state.member.peers_live_table) == alive
