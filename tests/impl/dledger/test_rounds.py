"""Rounds of a candidate: when it asks, what the answers come to, and what it does then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.dledger.config import ROUND_MS
from rocketha.dledger.elector import next_timer_ms, started
from rocketha.dledger.member_state import Role
from rocketha.dledger.state import (
    ElectorActionName,
    ElectorState,
    ElectorStepped,
    KeepTermAndVote,
    ParseResult,
)
from rocketha.dledger.votes import parsed
from rocketha.formats.dledger_codes import VoteResult
from rocketha.formats.dledger_requests import VoteRequest
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.types import LogIndex, Term, TimestampMs
from tests.impl.dledger.scene import (
    NOW,
    answered,
    asked,
    beat,
    candidate,
    config,
    log,
    maintained,
    raised,
    requests_of,
    take,
    vote,
    vote_answer,
)

FIVE = ("n0", "n1", "n2", "n3", "n4")
YES, NO, HAS = (
    VoteResult.ACCEPT,
    VoteResult.REJECT_ALREADY_VOTED,
    VoteResult.REJECT_ALREADY_HAS_LEADER,
)
OLDER, SHORTER = (
    VoteResult.REJECT_EXPIRED_LEDGER_TERM,
    VoteResult.REJECT_SMALL_LEDGER_END_INDEX,
)
LATER, TAKING = VoteResult.REJECT_TERM_NOT_READY, VoteResult.REJECT_TAKING_LEADERSHIP
EXPIRED, SMALL = (
    VoteResult.REJECT_EXPIRED_VOTE_TERM,
    VoteResult.REJECT_TERM_SMALL_THAN_LEDGER,
)


def name_of(stepped: ElectorStepped) -> ElectorActionName | None:
    return None if stepped.action is None else stepped.action.name


def told(results: list[VoteResult | None], term: int = 3) -> ElectorStepped:
    """A candidate of five, its own vote first, hears these answers; None: nobody answers."""
    stepped = maintained(candidate(peers=FIVE))
    number = stepped.state.last_number
    for peer, result in zip(FIVE[1:], results, strict=False):
        message = None if result is None else vote_answer(result, term)
        stepped = take(stepped.state, answered(number, peer, message))
    return stepped


PARSED = [
    ([YES, YES], ParseResult.PASSED, None),
    ([YES, LATER], ParseResult.REVOTE_IMMEDIATELY, None),
    ([LATER, LATER], ParseResult.REVOTE_IMMEDIATELY, None),
    ([NO, NO, NO, YES], ParseResult.WAIT_TO_VOTE_NEXT, 300),
    ([TAKING, NO, NO, NO], ParseResult.WAIT_TO_VOTE_NEXT, 300),
    ([HAS], ParseResult.WAIT_TO_REVOTE, 300 + 3 * 2_000),
    ([OLDER, SHORTER, OLDER, YES], ParseResult.WAIT_TO_REVOTE, 300 + 1_000),
    ([SHORTER, OLDER, YES, LATER], ParseResult.REVOTE_IMMEDIATELY, None),
    ([SHORTER, OLDER, NO, YES], ParseResult.WAIT_TO_VOTE_NEXT, 300),
    ([None, None, None, YES], ParseResult.WAIT_TO_REVOTE, 300),
    ([VoteResult.UNKNOWN] * 4, ParseResult.WAIT_TO_REVOTE, 300),
    ([EXPIRED, EXPIRED, NO, NO], ParseResult.WAIT_TO_VOTE_NEXT, 300),
]


@pytest.mark.parametrize(("results", "result", "waits"), PARSED)
def test_a_round_comes_to_something(
    results: list[VoteResult | None], result: ParseResult, waits: int | None
) -> None:
    stepped = told(results)

    assert name_of(stepped) is ElectorActionName.PARSE_VOTES
    assert stepped.state.last_parse_result is result
    assert stepped.state.round is None
    assert (stepped.state.member.role is Role.LEADER) == (result is ParseResult.PASSED)
    until = stepped.state.next_time_to_request_vote_ms
    assert until == (None if waits is None else NOW + waits)


def test_all_results_of_rounds_are_tested() -> None:
    assert {result for _, result, _ in PARSED} == set(ParseResult)


@pytest.mark.parametrize("result", [EXPIRED, SMALL])
def test_a_larger_term_comes_before_all_else(result: VoteResult) -> None:
    stepped = told([None, result], term=8)
    assert stepped.state.round is not None, "it is not decided yet"
    number = stepped.state.round.number
    stepped = take(stepped.state, answered(number, "n3", vote_answer(HAS)))

    assert stepped.state.last_parse_result is ParseResult.WAIT_TO_VOTE_NEXT
    assert stepped.state.member.known_max_term_in_group == 8
    stepped = maintained(stepped.state, 300)
    assert name_of(stepped) is ElectorActionName.INCREASE_TERM
    assert stepped.state.member.curr_term == 8


@pytest.mark.parametrize("few", [[YES], [LATER], [NO, NO, NO], [None, None, None], [OLDER] * 3])
def test_a_round_waits_for_more_until_its_time_is_up(few: list[VoteResult | None]) -> None:
    state = told(few).state
    round_ = state.round
    assert round_ is not None
    assert next_timer_ms(state) == NOW + ROUND_MS

    assert maintained(state, ROUND_MS - 1).state == state
    over = maintained(state, ROUND_MS)
    assert name_of(over) is ElectorActionName.PARSE_VOTES
    assert over.state.last_parse_result is parsed(state, round_)


def test_the_time_of_a_round_is_drawn() -> None:
    round_ = maintained(candidate(), drawn=2_999).state.round
    assert round_ is not None
    assert round_.ends_ms == NOW + ROUND_MS + 999


def test_the_first_answer_of_a_member_counts_and_only_in_its_round() -> None:
    state = maintained(candidate(peers=FIVE)).state
    again = take(state, answered(state.last_number, "n1", vote_answer(NO))).state
    assert take(again, answered(state.last_number, "n1", vote_answer(YES))).state == again
    assert take(again, answered(state.last_number - 1, "n2", vote_answer(YES))).state == again
    silent = take(again, answered(state.last_number, "n2", None)).state
    assert take(silent, answered(state.last_number, "n2", vote_answer(YES))).state == silent


def test_a_candidate_asks_all_with_its_own_vote_on_the_disk() -> None:
    stepped = maintained(candidate())
    first, *others = stepped.effects

    assert first == KeepTermAndVote(kept=TermAndVote(curr_term=Term(3), vote_leader="n0"))
    assert name_of(stepped) is ElectorActionName.ASK_VOTES
    asks = requests_of(stepped)
    assert len(others) == len(asks) == 2
    assert asks["n1"] == replace(vote(3, of="n0"), remote_id="n1")


def test_a_candidate_that_has_voted_for_another_asks_without_its_own_vote() -> None:
    stepped = maintained(candidate(vote="n1"))
    assert not any(isinstance(effect, KeepTermAndVote) for effect in stepped.effects)
    assert stepped.state.round is not None
    assert stepped.state.round.answers["n0"].vote_result is NO


def test_a_candidate_whose_term_was_lost_goes_to_that_of_its_log() -> None:
    state = maintained(log(candidate(peers=("n0",)), 0, 9)).state
    state = maintained(maintained(state).state, 300).state
    assert state.member.curr_term == 9


def test_a_node_on_its_own_leads_in_its_second_step() -> None:
    state = maintained(candidate(peers=("n0",))).state
    assert state.member.role is Role.CANDIDATE
    assert maintained(state).state.member.role is Role.LEADER


@pytest.mark.parametrize(("early", "asks"), [(1, False), (0, True)])
def test_a_candidate_asks_when_it_is_time(early: int, asks: bool) -> None:
    state = replace(candidate(), next_time_to_request_vote_ms=TimestampMs(NOW + early))
    assert (name_of(maintained(state)) is ElectorActionName.ASK_VOTES) == asks


def test_who_is_made_to_goes_to_a_larger_term_at_once_and_waits_before_it_asks() -> None:
    state = replace(candidate(), next_time_to_request_vote_ms=TimestampMs(NOW + 999_999))
    state = take(state, asked(vote(6))).state
    stepped = maintained(state, drawn=1_400)

    assert name_of(stepped) is ElectorActionName.INCREASE_TERM
    assert stepped.effects == (KeepTermAndVote(kept=TermAndVote(curr_term=Term(6))),)
    assert not raised(stepped.state)
    assert stepped.state.next_time_to_request_vote_ms == NOW + 300 + 0
    assert maintained(stepped.state).state == stepped.state


def test_who_shall_lead_and_is_preferred_waits_less() -> None:
    state = candidate(preferred_leader_ids=("n0",))
    member = replace(state.member, term_to_take_leadership=Term(4))
    state = replace(state, member=member, need_increase_term_immediately=True)
    assert maintained(state, drawn=69).state.next_time_to_request_vote_ms == NOW + 99
    assert maintained(state, drawn=70).state.next_time_to_request_vote_ms == NOW + 30


def passed_late(state: ElectorState) -> ElectorStepped:
    return take(state, answered(state.last_number, "n1", vote_answer(YES)))


def test_who_heard_of_a_larger_term_meanwhile_does_not_lead() -> None:
    state = maintained(candidate()).state
    heard = take(state, asked(beat(5, "n2"))).state
    assert heard.round is not None, "its round goes on"
    assert maintained(heard).state == heard, "it goes to no term before its round is over"
    stepped = passed_late(heard)

    assert stepped.state.last_parse_result is ParseResult.WAIT_TO_VOTE_NEXT
    assert stepped.state.member.role is Role.CANDIDATE
    assert name_of(maintained(stepped.state)) is ElectorActionName.INCREASE_TERM


def test_who_was_told_of_a_larger_term_by_a_follower_does_not_lead_but_goes_there() -> None:
    state = candidate()
    known = replace(state.member, known_max_term_in_group=Term(5))
    stepped = passed_late(maintained(replace(state, member=known)).state)

    assert stepped.state.member.role is Role.CANDIDATE
    assert next_timer_ms(stepped.state) == NOW + 300
    assert maintained(stepped.state, 300).state.member.curr_term == 5


def test_who_has_a_leader_meanwhile_has_no_round_and_forgets_what_one_came_to() -> None:
    state = maintained(candidate()).state
    state = replace(state, last_parse_result=ParseResult.WAIT_TO_VOTE_NEXT)
    state = take(state, asked(beat(3))).state

    assert state.round is None
    assert state.last_parse_result is ParseResult.WAIT_TO_REVOTE
    assert passed_late(state).state == state


# ---- starts ----


def test_a_node_that_starts_for_the_first_time_asks_in_the_first_term() -> None:
    state = started(config(), None, end_index=LogIndex(-1), end_term=Term(-1))

    asks = requests_of(maintained(state))
    assert {one.term for one in asks.values()} == {0}
    assert all(isinstance(one, VoteRequest) for one in asks.values())


def test_a_node_that_was_here_before_goes_to_a_term_of_its_own_first() -> None:
    kept = TermAndVote(curr_term=Term(4), vote_leader="n0")
    state = started(config(), kept, end_index=LogIndex(0), end_term=Term(4))

    assert state.member.curr_vote_for == "n0"
    stepped = maintained(state)
    assert name_of(stepped) is ElectorActionName.INCREASE_TERM
    assert stepped.effects == (KeepTermAndVote(kept=TermAndVote(curr_term=Term(5))),)
    assert {one.term for one in requests_of(maintained(stepped.state)).values()} == {5}
