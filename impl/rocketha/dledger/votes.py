"""Votes: those that a node gives, and the rounds in which it asks for them.

Where the specification departs from DLedger it is followed:
a round that goes to the next term asks in its next step, not in the same one; who has heard of a
larger term meanwhile does not lead, but goes there (DLedger looks at its own term only); a round is
over when the node follows somebody; who waits for this node to lead hears at its next change of
role that it is in a larger term, and not already when it hears of one; and a node whose log was
thrown away votes for nobody, as if it had voted, until a leader has sent it again.

Source: DLedgerLeaderElector (`handleVote`, `maintainAsCandidate`, `voteForQuorumResponses`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from rocketha.dledger.config import ROUND_MS
from rocketha.dledger.roles import become_candidate, become_leader, is_taking_leadership
from rocketha.dledger.state import (
    Answered,
    ElectorAction,
    ElectorActionName,
    ElectorState,
    ElectorStepped,
    KeepTermAndVote,
    ParseResult,
    RequestNumber,
    SendElectorAnswer,
    SendElectorRequest,
    VoteRound,
)
from rocketha.formats.dledger_codes import VoteResult
from rocketha.formats.dledger_requests import VoteRequest, VoteResponse
from rocketha.runtime.effects import Effect
from rocketha.types import RequestId, Term, TimestampMs

__all__ = [
    "ask_votes",
    "candidate_timer_ms",
    "count_vote",
    "handle_vote",
    "increase_term",
    "maintain_as_candidate",
    "parse_votes",
    "parsed",
]

_LARGER_TERM = frozenset(
    {VoteResult.REJECT_EXPIRED_VOTE_TERM, VoteResult.REJECT_TERM_SMALL_THAN_LEDGER}
)
_LONGER_LOG = frozenset(
    {VoteResult.REJECT_EXPIRED_LEDGER_TERM, VoteResult.REJECT_SMALL_LEDGER_END_INDEX}
)


# ---- voters ----


def _claimed(state: ElectorState) -> Term:
    """Return the term that a node claims of its log."""
    return state.config.rules.end_term(state.member.ledger_end_term, state.member.curr_term)


def _vote_result(state: ElectorState, asked: VoteRequest) -> VoteResult:
    """Decide, in DLedger's order: logs before terms.

    Spec: DLedger!VoteAnswer
    Source: DLedgerLeaderElector.handleVote
    """
    config, member, rules = state.config, state.member, state.config.rules
    candidate, own_term, own_index = asked.leader_id, _claimed(state), member.ledger_end_index
    itself = candidate == config.self_id
    if candidate is None or candidate not in config.peers:
        return VoteResult.REJECT_UNKNOWN_LEADER
    refused = rules.refuses_log(asked.ledger_end_term, asked.ledger_end_index, own_term, own_index)
    if refused is not None:
        return refused
    if asked.term < member.curr_term:
        return VoteResult.REJECT_EXPIRED_VOTE_TERM
    gives = rules.may_vote(own_term, member.refill_term)
    voted = rules.has_voted(member.curr_vote_for, candidate)
    if asked.term == member.curr_term and (voted or not gives):
        led = member.leader_id is not None
        return VoteResult.REJECT_ALREADY_HAS_LEADER if led else VoteResult.REJECT_ALREADY_VOTED
    if not rules.is_ready(asked.term, member.curr_term):
        return VoteResult.REJECT_TERM_NOT_READY
    if asked.term < own_term:
        return VoteResult.REJECT_TERM_SMALL_THAN_LEDGER
    same_log = asked.ledger_end_term == own_term and asked.ledger_end_index <= own_index
    if not itself and is_taking_leadership(state) and same_log:
        return VoteResult.REJECT_TAKING_LEADERSHIP
    return VoteResult.ACCEPT


def _vote_answer(state: ElectorState, asked: VoteRequest, result: VoteResult) -> VoteResponse:
    """Say it, with the term that is the reason; the rest is what the request had."""
    small = result is VoteResult.REJECT_TERM_SMALL_THAN_LEDGER
    return VoteResponse(
        group=asked.group,
        local_id=asked.local_id,
        remote_id=asked.remote_id,
        code=asked.code,
        leader_id=asked.leader_id,
        term=_claimed(state) if small else state.member.curr_term,
        vote_result=result,
    )


def _voted(state: ElectorState, candidate: str) -> tuple[ElectorState, tuple[Effect, ...]]:
    """Give the vote of the present term; a repeated one is on the disk already."""
    if state.member.curr_vote_for == candidate:
        return state, ()
    state = replace(state, member=state.member.voted(candidate))
    return state, (KeepTermAndVote(kept=state.member.kept),)


def handle_vote(state: ElectorState, request: RequestId, asked: VoteRequest) -> ElectorStepped:
    """Answer another candidate. The vote is on the disk before the answer goes out.

    Who hears of a larger term does not vote: it becomes a candidate, and goes there first.

    Spec: DLedger!HandleVote
    Source: DLedgerLeaderElector.handleVote
    """
    result = _vote_result(state, asked)
    if asked.leader_id == state.config.self_id:
        result = VoteResult.REJECT_UNEXPECTED_LEADER
    message = _vote_answer(state, asked, result)
    answer: tuple[Effect, ...] = (SendElectorAnswer(request=request, message=message),)
    action = ElectorAction(ElectorActionName.HANDLE_VOTE)
    if result in (VoteResult.REJECT_UNKNOWN_LEADER, VoteResult.REJECT_UNEXPECTED_LEADER):
        return ElectorStepped(state, answer)
    if result is VoteResult.REJECT_TERM_NOT_READY:
        state, effects = become_candidate(state, asked.term)
        state = replace(state, need_increase_term_immediately=True)
        return ElectorStepped(state, (*effects, *answer), action)
    if result is VoteResult.ACCEPT:
        assert asked.leader_id is not None
        state, kept = _voted(state, asked.leader_id)
        first = state.config.rules.on_disk_first()
        return ElectorStepped(state, (*kept, *answer) if first else (*answer, *kept), action)
    return ElectorStepped(state, answer, action)


# ---- candidates ----


def maintain_as_candidate(
    state: ElectorState, drawn: int, *, now_ms: TimestampMs
) -> ElectorStepped:
    """End a round whose time is up; else go to a larger term, or ask for votes, if it is time.

    Source: DLedgerLeaderElector.maintainAsCandidate
    """
    due = candidate_timer_ms(state)
    if due is not None and now_ms < due:
        return ElectorStepped(state)
    if state.round is not None:
        return parse_votes(state, state.round, drawn, now_ms=now_ms)
    to_next = state.last_parse_result is ParseResult.WAIT_TO_VOTE_NEXT
    if to_next or state.need_increase_term_immediately:
        return increase_term(state, drawn, now_ms=now_ms)
    return ask_votes(state, drawn, now_ms=now_ms)


def candidate_timer_ms(state: ElectorState) -> TimestampMs | None:
    """Return when a candidate has something to do; None: now."""
    if state.round is not None:
        return None if _decided(state, state.round) else state.round.ends_ms
    return None if state.need_increase_term_immediately else state.next_time_to_request_vote_ms


def increase_term(state: ElectorState, drawn: int, *, now_ms: TimestampMs) -> ElectorStepped:
    """Go to a larger term. Who was made to waits before it asks, so that who made it can.

    Spec: DLedger!IncreaseTerm
    Source: DLedgerLeaderElector.maintainAsCandidate
    """
    member, rules = state.member, state.config.rules
    term = rules.next_term(member.known_max_term_in_group, member.curr_term)
    made_to = state.need_increase_term_immediately
    state = replace(
        state,
        member=member.next_term(term),
        last_parse_result=ParseResult.WAIT_TO_REVOTE,
        need_increase_term_immediately=False,
    )
    if made_to:
        state = replace(state, next_time_to_request_vote_ms=_next_time(state, drawn, now_ms))
    effects = (KeepTermAndVote(kept=state.member.kept),)
    return ElectorStepped(state, effects, ElectorAction(ElectorActionName.INCREASE_TERM))


def ask_votes(state: ElectorState, drawn: int, *, now_ms: TimestampMs) -> ElectorStepped:
    """Ask all members in the present term, itself first.

    Spec: DLedger!AskVotes
    Source: DLedgerLeaderElector.voteForQuorumResponses
    """
    config = state.config
    own = _request(state, config.self_id)
    result = _vote_result(state, own)
    answers = MappingProxyType({config.self_id: _vote_answer(state, own, result)})
    number = RequestNumber(state.last_number + 1)
    ends = TimestampMs(now_ms + ROUND_MS + drawn % config.max_vote_interval_ms)
    kept: tuple[Effect, ...] = ()
    if result is VoteResult.ACCEPT:
        state, kept = _voted(state, config.self_id)
    round_ = VoteRound(number=number, ends_ms=ends, answers=answers)
    state = replace(state, last_number=number, round=round_)
    asks: tuple[Effect, ...] = tuple(
        [
            SendElectorRequest(number=number, peer=peer, message=_request(state, peer))
            for peer in config.others
        ]
    )
    effects = (*kept, *asks) if config.rules.on_disk_first() else (*asks, *kept)
    return ElectorStepped(state, effects, ElectorAction(ElectorActionName.ASK_VOTES))


def _request(state: ElectorState, peer: str) -> VoteRequest:
    config, member = state.config, state.member
    return VoteRequest(
        group=config.group,
        local_id=config.self_id,
        remote_id=peer,
        leader_id=config.self_id,
        term=member.curr_term,
        ledger_end_index=member.ledger_end_index,
        ledger_end_term=_claimed(state),
    )


def count_vote(state: ElectorState, event: Answered, *, now_ms: TimestampMs) -> ElectorStepped:
    """Count an answer of the present round, the first one of each member; end it if that decides.

    Source: DLedgerLeaderElector.maintainAsCandidate
    """
    round_ = state.round
    if round_ is None or event.peer in round_.answers or event.peer in round_.silent:
        return ElectorStepped(state)
    if isinstance(event.message, VoteResponse):
        answers = MappingProxyType({**round_.answers, event.peer: event.message})
        round_ = replace(round_, answers=answers)
    else:
        round_ = replace(round_, silent=round_.silent | {event.peer})
    state = replace(state, round=round_)
    if _decided(state, round_):
        return parse_votes(state, round_, event.drawn, now_ms=now_ms)
    return ElectorStepped(state)


def _count(answers: Mapping[str, VoteResponse], *results: VoteResult) -> int:
    return sum(answer.vote_result in results for answer in answers.values())


def _decided(state: ElectorState, round_: VoteRound) -> bool:
    """Tell whether no further answer is waited for."""
    answers, is_quorum = round_.answers, state.config.is_quorum
    accepted = _count(answers, VoteResult.ACCEPT)
    return (
        len(answers) + len(round_.silent) >= len(state.config.peers)
        or _count(answers, VoteResult.REJECT_ALREADY_HAS_LEADER) > 0
        or is_quorum(accepted)
        or is_quorum(accepted + _count(answers, VoteResult.REJECT_TERM_NOT_READY))
    )


def _larger_term(round_: VoteRound, term: Term) -> Term | None:
    """Return the largest term above its own that a candidate has heard of."""
    terms = [one.term for one in round_.answers.values() if one.vote_result in _LARGER_TERM]
    largest = max(terms, default=term)
    return largest if largest > term else None


def parsed(state: ElectorState, round_: VoteRound) -> ParseResult:
    """Say what the answers come to that have come.

    Spec: DLedger!Parsed
    Source: DLedgerLeaderElector.maintainAsCandidate, VoteResponse.ParseResult
    """
    answers, is_quorum = round_.answers, state.config.is_quorum
    valid = len(answers) - _count(answers, VoteResult.UNKNOWN)
    accepted = _count(answers, VoteResult.ACCEPT)
    if _larger_term(round_, state.member.curr_term) is not None:
        return ParseResult.WAIT_TO_VOTE_NEXT
    if _count(answers, VoteResult.REJECT_ALREADY_HAS_LEADER):
        return ParseResult.WAIT_TO_REVOTE
    if not is_quorum(valid) or not is_quorum(valid - _count(answers, *_LONGER_LOG)):
        return ParseResult.WAIT_TO_REVOTE
    if is_quorum(accepted):
        return ParseResult.PASSED
    if is_quorum(accepted + _count(answers, VoteResult.REJECT_TERM_NOT_READY)):
        return ParseResult.REVOTE_IMMEDIATELY
    return ParseResult.WAIT_TO_VOTE_NEXT


def parse_votes(
    state: ElectorState, round_: VoteRound, drawn: int, *, now_ms: TimestampMs
) -> ElectorStepped:
    """End the round, and lead, or say when to ask again.

    Spec: DLedger!ParseVotes, DLedger!MayLead
    Source: DLedgerLeaderElector.maintainAsCandidate
    """
    action = ElectorAction(ElectorActionName.PARSE_VOTES)
    result = parsed(state, round_)
    later = _later_ms(state, round_, result)
    state = replace(state, round=None, last_parse_result=result)
    if later is not None:
        next_ms = TimestampMs(_next_time(state, drawn, now_ms) + later)
        state = replace(state, next_time_to_request_vote_ms=next_ms)
    larger = _larger_term(round_, state.member.curr_term)
    if larger is not None:
        state = replace(state, member=state.member.change_to_candidate(larger))
    if result is ParseResult.PASSED:
        known, term = state.member.known_max_term_in_group, state.member.curr_term
        if state.config.rules.may_lead(state.need_increase_term_immediately, known, term):
            state, effects = become_leader(state)
            return ElectorStepped(state, effects, action)
        state = replace(
            state,
            last_parse_result=ParseResult.WAIT_TO_VOTE_NEXT,
            next_time_to_request_vote_ms=_next_time(state, drawn, now_ms),
        )
    return ElectorStepped(state, (), action)


def _later_ms(state: ElectorState, round_: VoteRound, result: ParseResult) -> int | None:
    """Return by how much the next round is later than usual; None: there is no time to wait."""
    config, answers = state.config, round_.answers
    if result in (ParseResult.PASSED, ParseResult.REVOTE_IMMEDIATELY):
        return None
    if result is ParseResult.WAIT_TO_VOTE_NEXT:
        return 0
    if _count(answers, VoteResult.REJECT_ALREADY_HAS_LEADER):
        return config.lease_ms
    valid = len(answers) - _count(answers, VoteResult.UNKNOWN)
    return config.max_vote_interval_ms if config.is_quorum(valid) else 0


def _next_time(state: ElectorState, drawn: int, now_ms: TimestampMs) -> TimestampMs:
    taking = is_taking_leadership(state)
    return TimestampMs(now_ms + state.config.vote_interval_ms(drawn, taking=taking))
