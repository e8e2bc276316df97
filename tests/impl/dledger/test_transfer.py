"""Leadership that is handed over: what is refused, who waits how long, who is preferred."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.dledger.config import TRANSFER_MS
from rocketha.dledger.elector import next_timer_ms
from rocketha.dledger.member_state import NO_TERM, Role
from rocketha.dledger.state import (
    ElectorActionName,
    ElectorState,
    ElectorStepped,
    PreferredLeaderDue,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode, VoteResult
from rocketha.formats.dledger_requests import (
    LeadershipTransferRequest,
    LeadershipTransferResponse,
)
from rocketha.types import LogIndex, RequestId, Term
from tests.impl.dledger.scene import (
    answered,
    answers_of,
    asked,
    beat,
    beat_answer,
    candidate,
    follower,
    leader,
    log,
    maintained,
    only_answer,
    raised,
    requests_of,
    take,
    transfer,
    vote,
    vote_answer,
)

Code = DLedgerResponseCode
MARKS = {"n1": LogIndex(0), "n2": LogIndex(0)}


def name_of(stepped: ElectorStepped) -> ElectorActionName | None:
    return None if stepped.action is None else stepped.action.name


def code_of(stepped: ElectorStepped) -> Code:
    return only_answer(stepped, LeadershipTransferResponse).response_code


def handing(to: str = "n1") -> ElectorState:
    """A leader that has asked a follower to lead."""
    return take(leader(), asked(transfer(3, "n0", to), MARKS)).state


def said(code: Code) -> LeadershipTransferResponse:
    return LeadershipTransferResponse(code=int(code), term=Term(3))


# ---- who leads ----


REFUSED = {
    "to a stranger": (leader(), transfer(3, "n0", "n9"), Code.UNKNOWN_MEMBER),
    "of another term": (leader(), transfer(2, "n0", "n1"), Code.INCONSISTENT_TERM),
    "of no leader": (follower(), transfer(3, "n0", "n1"), Code.NOT_LEADER),
    "to itself": (leader(), transfer(3, "n0", "n0"), Code.UNEXPECTED_ARGUMENT),
    "twice": (handing(), transfer(3, "n0", "n2"), Code.LEADER_TRANSFERRING),
    "neither": (leader(), transfer(3, "n1", "n2"), Code.UNEXPECTED_ARGUMENT),
}


@pytest.mark.parametrize(("state", "message", "code"), REFUSED.values(), ids=REFUSED)
def test_a_transfer_is_refused(
    state: ElectorState, message: LeadershipTransferRequest, code: Code
) -> None:
    stepped = take(state, asked(message, MARKS))
    assert code_of(stepped) is code
    assert (stepped.state, stepped.action) == (state, None)


@pytest.mark.parametrize(("behind", "refused"), [(999, False), (1_000, True)])
def test_nobody_leads_who_is_far_behind(behind: int, refused: bool) -> None:
    state = log(leader(), 2_000, 3)
    marks = {"n1": LogIndex(2_000 - behind)}
    stepped = take(state, asked(transfer(3, "n0", "n1"), marks))
    assert (stepped.action is None) == refused
    if refused:
        assert code_of(stepped) is Code.FALL_BEHIND_TOO_MUCH


def test_a_leader_asks_and_takes_no_entries_meanwhile() -> None:
    stepped = take(leader(), asked(transfer(3, "n0", "n1"), MARKS))

    assert stepped.state.member.transferee == "n1"
    assert stepped.action is not None
    assert (stepped.action.name, stepped.action.peer) == ("TransferLeadership", "n1")
    assert answers_of(stepped) == []
    assert requests_of(stepped)["n1"] == replace(
        transfer(3, "n0", "n1"), local_id="n0", remote_id="n1"
    )


@pytest.mark.parametrize(
    ("heard", "passed_on"),
    [
        (said(Code.TAKE_LEADERSHIP_FAILED), Code.TAKE_LEADERSHIP_FAILED),
        (said(Code.SUCCESS), Code.SUCCESS),
        (None, Code.NETWORK_ERROR),
    ],
)
def test_a_leader_that_is_still_one_goes_on(
    heard: LeadershipTransferResponse | None, passed_on: Code
) -> None:
    state = handing()
    stepped = take(state, answered(state.last_number, "n1", heard))

    assert name_of(stepped) is ElectorActionName.GO_ON_LEADING
    assert stepped.state.member.transferee is None
    assert code_of(stepped) is passed_on


def test_a_leader_that_hears_nothing_goes_on() -> None:
    state = maintained(handing()).state  # heartbeats
    for after in (500, 1_000):
        state = take(state, answered(3, "n1", beat_answer(Code.SUCCESS)), after).state
    state = maintained(state, TRANSFER_MS - 1).state
    assert state.member.transferee == "n1"

    stepped = maintained(state, TRANSFER_MS)
    assert name_of(stepped) is ElectorActionName.GO_ON_LEADING
    assert code_of(stepped) is Code.TIMEOUT


def test_who_leads_no_more_passes_on_how_it_went() -> None:
    state = take(handing(), asked(vote(4))).state
    assert state.member.transferee is None
    stepped = take(state, answered(state.last_number, "n1", said(Code.SUCCESS)))
    assert (code_of(stepped), stepped.action) == (Code.SUCCESS, None)


def test_who_leads_again_in_the_same_term_is_handing_over_no_more() -> None:
    handed = handing()
    state = maintained(handed).state  # heartbeats
    two_leaders = beat_answer(Code.INCONSISTENT_LEADER)
    for peer in ("n1", "n2"):
        state = take(state, answered(state.last_number, peer, two_leaders)).state
    assert state.member.role is Role.CANDIDATE
    state = maintained(state, 1_000).state
    state = take(state, answered(state.last_number, "n2", vote_answer(VoteResult.ACCEPT))).state
    assert (state.member.role, state.member.curr_term) == (Role.LEADER, 3)

    stepped = take(state, answered(handed.last_number, "n1", said(Code.SUCCESS)))
    assert (code_of(stepped), stepped.action) == (Code.SUCCESS, None)


# ---- who is preferred ----


def alive(preferred: tuple[str, ...], *peers: str) -> ElectorState:
    state = maintained(log(leader(preferred_leader_ids=preferred), 2_000, 3)).state
    for peer in peers:
        state = take(state, answered(state.last_number, peer, beat_answer(Code.SUCCESS))).state
    return state


def looked(state: ElectorState, **marks: int) -> str | None:
    """To whom the leadership goes."""
    event = PreferredLeaderDue(water_marks={peer: LogIndex(at) for peer, at in marks.items()})
    stepped = take(state, event)
    assert (name_of(stepped) == "TransferLeadership") == (stepped.state != state)
    return stepped.state.member.transferee


def test_a_preferred_leader_is_one_that_is_alive_and_near() -> None:
    both = alive(("n1", "n2"), "n1", "n2")
    assert looked(both, n1=1_500, n2=1_501) == "n2"
    assert looked(both, n1=1_500, n2=1_500) == "n1"
    assert looked(both, n1=1_000, n2=1_001) == "n2"
    assert looked(both, n1=1_000, n2=1_000) is None
    assert looked(both) is None
    assert looked(alive(("n1", "n2"), "n1"), n1=1_900, n2=2_000) == "n1"


def test_nobody_is_looked_for() -> None:
    marks = {"n1": 2_000, "n2": 2_000}
    assert looked(alive((), "n1"), **marks) is None
    assert looked(alive(("n0", "n1"), "n1"), **marks) is None
    assert looked(alive(("n9",), "n1"), **marks) is None
    assert looked(alive(("n1",)), **marks) is None
    assert looked(follower(preferred_leader_ids=("n1",)), **marks) is None


def test_of_what_nobody_asked_for_nobody_hears() -> None:
    state = alive(("n1",), "n1")
    marks = {"n1": LogIndex(2_000)}
    state = take(state, PreferredLeaderDue(water_marks=marks)).state
    stepped = take(state, answered(state.last_number, "n1", said(Code.SUCCESS)))
    assert (stepped.effects, name_of(stepped)) == ((), ElectorActionName.GO_ON_LEADING)


# ---- who shall lead ----


def test_who_has_all_entries_is_a_candidate_of_the_next_term() -> None:
    stepped = take(follower(), asked(transfer(3, "n1", "n0")))
    member = stepped.state.member

    assert name_of(stepped) is ElectorActionName.TAKE_LEADERSHIP
    assert (member.role, member.curr_term, member.known_max_term_in_group) == (Role.CANDIDATE, 3, 4)
    assert member.term_to_take_leadership == 4
    assert raised(stepped.state)
    assert answers_of(stepped) == []


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (transfer(3, "n2", "n0"), Code.INCONSISTENT_LEADER),
        (transfer(2, "n1", "n0"), Code.INCONSISTENT_TERM),
    ],
)
def test_only_the_leader_of_the_term_hands_over(
    message: LeadershipTransferRequest, code: Code
) -> None:
    state = follower()
    stepped = take(state, asked(message))
    assert code_of(stepped) is code
    assert (stepped.state, stepped.action) == (state, None)


def waiting() -> ElectorState:
    """A follower that shall lead, and lacks an entry."""
    state = take(follower(), asked(transfer(3, "n1", "n0", index=1))).state
    assert state.asked_to_lead is not None
    return state


def test_who_lacks_entries_waits_for_them() -> None:
    assert maintained(waiting(), 10).state == waiting()
    stepped = maintained(log(waiting(), 1, 3), 10)
    assert name_of(stepped) is ElectorActionName.TAKE_LEADERSHIP
    assert stepped.state.asked_to_lead is None


def test_who_lacks_entries_waits_not_for_ever() -> None:
    state = waiting()
    assert maintained(state, 1_000).state == state
    assert next_timer_ms(state) == 101_001
    stepped = maintained(state, 1_001)
    assert code_of(stepped) is Code.TAKE_LEADERSHIP_FAILED
    assert stepped.state.asked_to_lead is None


@pytest.mark.parametrize("role", ["candidate", "in a larger term"])
def test_who_has_another_leader_meanwhile_does_not_take_the_leadership(role: str) -> None:
    state = take(log(waiting(), 1, 3), asked(vote(4, index=1, end_term=3))).state
    code = Code.INCONSISTENT_LEADER
    if role != "candidate":
        state, code = replace(state, member=state.member.next_term(Term(4))), Code.INCONSISTENT_TERM
    stepped = maintained(state)
    assert (code_of(stepped), stepped.action) == (code, None)


def test_the_last_request_counts() -> None:
    again = replace(asked(transfer(3, "n1", "n0", index=1)), request=RequestId(8))
    stepped = take(waiting(), again)
    assert code_of(stepped) is Code.TAKE_LEADERSHIP_FAILED
    assert stepped.state.asked_to_lead is not None
    assert stepped.state.asked_to_lead.request == 8


def taking() -> ElectorState:
    """n0 is in the term in which it shall lead."""
    state = take(follower(), asked(transfer(3, "n1", "n0"))).state
    return maintained(state).state


def test_who_asked_hears_of_success() -> None:
    state = maintained(taking(), 999).state
    stepped = take(state, answered(state.last_number, "n1", vote_answer(VoteResult.ACCEPT, 4)))
    assert code_of(stepped) is Code.SUCCESS
    assert stepped.state.member.term_to_take_leadership == NO_TERM


def test_who_asked_hears_of_another_leader() -> None:
    assert code_of(take(taking(), asked(beat(4, "n2")))) is Code.TAKE_LEADERSHIP_FAILED


def test_who_asked_hears_of_another_leader_of_the_old_term() -> None:
    state = take(follower(), asked(transfer(3, "n1", "n0"))).state
    assert code_of(take(state, asked(beat(3, "n1")))) is Code.TAKE_LEADERSHIP_FAILED


def test_who_asked_hears_of_a_larger_term() -> None:
    stepped = take(taking(), asked(beat(5, "n2")))
    assert code_of(stepped) is Code.EXPIRED_TERM
    assert stepped.state.taking is None


def test_a_second_request_for_votes_keeps_it_waiting() -> None:
    state = taking()
    assert maintained(state, 299).state == state
    assert candidate().taking is None
