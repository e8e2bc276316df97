"""Votes that an elector gives: every answer, in the order in which they are decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocketha.dledger.member_state import Role
from rocketha.dledger.state import (
    ElectorActionName,
    ElectorState,
    KeepTermAndVote,
    RoleChanged,
    SendElectorAnswer,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode, VoteResult
from rocketha.formats.dledger_requests import VoteRequest, VoteResponse
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.types import Term
from tests.impl.dledger.scene import (
    asked,
    candidate,
    follower,
    leader,
    log,
    maintained,
    only_answer,
    raised,
    requests_of,
    take,
    vote,
)


def taking(term: int = 3) -> ElectorState:
    """A preferred candidate that shall lead in this term."""
    state = candidate(term, preferred_leader_ids=("n0",))
    return replace(state, member=replace(state.member, term_to_take_leadership=Term(term)))


def thrown_away(state: ElectorState, refill_term: int) -> ElectorState:
    """A member that has thrown its log away, and has some of it again."""
    return replace(state, member=replace(state.member, refill_term=Term(refill_term)))


ANSWERS = {
    "nobody's": (candidate(), vote(3, of="n9"), VoteResult.REJECT_UNKNOWN_LEADER, 3),
    "its own": (candidate(), vote(3, of="n0"), VoteResult.REJECT_UNEXPECTED_LEADER, 3),
    "older entry": (
        candidate(),
        vote(9, end_term=1, index=5),
        VoteResult.REJECT_EXPIRED_LEDGER_TERM,
        3,
    ),
    "shorter": (candidate(), vote(9, index=-1), VoteResult.REJECT_SMALL_LEDGER_END_INDEX, 3),
    "old term": (candidate(), vote(2), VoteResult.REJECT_EXPIRED_VOTE_TERM, 3),
    "voted": (candidate(vote="n2"), vote(3), VoteResult.REJECT_ALREADY_VOTED, 3),
    "thrown away": (thrown_away(candidate(), 3), vote(3), VoteResult.REJECT_ALREADY_VOTED, 3),
    "thrown away, and led": (
        thrown_away(follower(leads="n2"), 3),
        vote(3),
        VoteResult.REJECT_ALREADY_HAS_LEADER,
        3,
    ),
    "thrown away, new term": (
        thrown_away(candidate(), 3),
        vote(4),
        VoteResult.REJECT_TERM_NOT_READY,
        3,
    ),
    "filled again": (thrown_away(candidate(), 2), vote(3), VoteResult.ACCEPT, 3),
    "led": (leader(), vote(3), VoteResult.REJECT_ALREADY_HAS_LEADER, 3),
    "new term": (candidate(vote="n2"), vote(4), VoteResult.REJECT_TERM_NOT_READY, 3),
    "lost term": (
        log(candidate(), 0, 5),
        vote(3, end_term=5),
        VoteResult.REJECT_TERM_SMALL_THAN_LEDGER,
        5,
    ),
    "taking": (taking(), vote(3), VoteResult.REJECT_TAKING_LEADERSHIP, 3),
    "taking, longer": (taking(), vote(3, index=1), VoteResult.ACCEPT, 3),
    "taking, newer": (taking(), vote(3, end_term=3), VoteResult.ACCEPT, 3),
    "taking in an earlier term": (
        replace(taking(2), member=replace(taking(2).member, curr_term=Term(3))),
        vote(3),
        VoteResult.ACCEPT,
        3,
    ),
    "first": (candidate(), vote(3), VoteResult.ACCEPT, 3),
    "again": (candidate(vote="n1"), vote(3), VoteResult.ACCEPT, 3),
    "follower without a vote": (follower(leads="n2"), vote(3), VoteResult.ACCEPT, 3),
}


@pytest.mark.parametrize(("state", "request_", "result", "term"), ANSWERS.values(), ids=ANSWERS)
def test_a_vote_is_answered(
    state: ElectorState, request_: VoteRequest, result: VoteResult, term: int
) -> None:
    stepped = take(state, asked(request_))
    answer = only_answer(stepped, VoteResponse)

    assert (answer.vote_result, answer.term) == (result, term)
    assert (answer.group, answer.remote_id, answer.leader_id) == ("g", "n0", request_.leader_id)
    assert (stepped.action is None) == (
        result in (VoteResult.REJECT_UNKNOWN_LEADER, VoteResult.REJECT_UNEXPECTED_LEADER)
    )
    if result not in (VoteResult.ACCEPT, VoteResult.REJECT_TERM_NOT_READY):
        assert stepped.state == state


def test_all_answers_are_tested() -> None:
    assert {case[2] for case in ANSWERS.values()} == set(VoteResult) - {VoteResult.UNKNOWN}


def test_a_vote_is_on_the_disk_before_it_is_given() -> None:
    keep, answer = take(candidate(), asked(vote(3))).effects

    assert keep == KeepTermAndVote(kept=TermAndVote(curr_term=Term(3), vote_leader="n1"))
    assert isinstance(answer, SendElectorAnswer)


def test_a_repeated_vote_is_not_kept_again() -> None:
    (answer,) = take(candidate(vote="n1"), asked(vote(3))).effects
    assert isinstance(answer, SendElectorAnswer)


def test_logs_are_compared_before_terms() -> None:
    """A request of a short log takes nobody to its term."""
    stepped = take(leader(), asked(vote(9, index=-1)))
    assert stepped.state.member.role is Role.LEADER


def test_who_hears_of_a_larger_term_does_not_vote_and_has_no_leader() -> None:
    stepped = take(leader(), asked(vote(9)))
    member = stepped.state.member

    assert (member.role, member.leader_id, member.curr_term) == (Role.CANDIDATE, None, 3)
    assert member.known_max_term_in_group == 9
    assert raised(stepped.state)
    assert stepped.effects[0] == RoleChanged(term=Term(9), role=Role.CANDIDATE, leader_id=None)
    assert stepped.action is not None
    assert stepped.action.name is ElectorActionName.HANDLE_VOTE


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"remote_id": "n1"}, DLedgerResponseCode.UNKNOWN_MEMBER),
        ({"group": "other"}, DLedgerResponseCode.UNKNOWN_GROUP),
    ],
)
def test_a_request_for_somebody_else_is_refused(
    changed: dict[str, Any], code: DLedgerResponseCode
) -> None:
    state = follower()
    stepped = take(state, asked(replace(vote(9), **changed)))
    answer = only_answer(stepped, VoteResponse)

    assert (answer.response_code, answer.vote_result) == (code, VoteResult.UNKNOWN)
    assert (answer.leader_id, answer.term) == ("n1", 9)
    assert stepped.state == state
    assert stepped.action is None


def test_who_has_thrown_its_log_away_does_not_vote_for_itself() -> None:
    state = thrown_away(candidate(), 3)
    stepped = maintained(state, 0)

    assert not [one for one in stepped.effects if isinstance(one, KeepTermAndVote)]
    assert stepped.state.member.curr_vote_for is None
    assert stepped.state.round is not None
    own = stepped.state.round.answers["n0"]
    assert own.vote_result is VoteResult.REJECT_ALREADY_VOTED
    assert set(requests_of(stepped)) == {"n1", "n2"}


def test_what_was_thrown_away_is_remembered_with_term_and_vote() -> None:
    stepped = take(thrown_away(candidate(), 2), asked(vote(3)))
    (kept,) = [one.kept for one in stepped.effects if isinstance(one, KeepTermAndVote)]
    assert kept == TermAndVote(curr_term=Term(3), vote_leader="n1", refill_term=Term(2))
