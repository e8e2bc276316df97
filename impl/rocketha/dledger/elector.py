"""Who leads a DLedger group: one event in; a new state, effects and at most one action out.

Pure: the host hands in what was heard, what the clock shows and drawn numbers, and does what the
effects say, in their order, before the next event. A power cut may come between any two: term and
vote are on the disk before anything is said that depends on them.

A node that has been here before starts by going to a term of its own: it may have led the one that
it was in, and have lost entries of it. DLedger asks for votes in that one again.

Source: DLedgerLeaderElector (`maintainState`), DLedgerServer (`handleVote`, `handleHeartBeat`,
`handleLeadershipTransfer`)
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.heartbeats import (
    count_beat,
    follower_timer_ms,
    handle_heart_beat,
    leader_timer_ms,
    maintain_as_follower,
    maintain_as_leader,
)
from rocketha.dledger.member_state import MemberState, Role
from rocketha.dledger.state import (
    Answered,
    Asked,
    ElectorAnswer,
    ElectorEvent,
    ElectorRequest,
    ElectorState,
    ElectorStepped,
    MaintainState,
    ParseResult,
    PreferredLeaderDue,
    SendElectorAnswer,
)
from rocketha.dledger.transfer import (
    check_preferred_leader,
    handle_leadership_transfer,
    hear_of_transfer,
    maintain_transfer,
    transfer_timers_ms,
)
from rocketha.dledger.votes import (
    candidate_timer_ms,
    count_vote,
    handle_vote,
    maintain_as_candidate,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_requests import (
    HeartBeatRequest,
    HeartBeatResponse,
    LeadershipTransferRequest,
    LeadershipTransferResponse,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.types import LogIndex, Term, TimestampMs

__all__ = ["next_timer_ms", "started", "step"]


def started(
    config: DLedgerConfig, kept: TermAndVote | None, *, end_index: LogIndex, end_term: Term
) -> ElectorState:
    """Return a node that has just come up: with what its disk has, or None on an empty one.

    Spec: DLedger!Crash, DLedger!NextAfterCrash
    Source: MemberState.loadPersistentState
    """
    rules, found = config.rules, kept or TermAndVote()
    member = MemberState(
        self_id=config.self_id,
        curr_term=found.curr_term,
        curr_vote_for=rules.vote_after_crash(found.vote_leader),
        refill_term=found.refill_term,
        ledger_end_index=end_index,
        ledger_end_term=end_term,
    )
    to_next = kept is not None and rules.next_after_crash()
    result = ParseResult.WAIT_TO_VOTE_NEXT if to_next else ParseResult.WAIT_TO_REVOTE
    return ElectorState(config=config, member=member, last_parse_result=result)


def step(state: ElectorState, event: ElectorEvent, *, now_ms: TimestampMs) -> ElectorStepped:
    """Take an event."""
    match event:
        case MaintainState():
            return maintain_state(state, event.drawn, now_ms=now_ms)
        case Asked():
            return _receive(state, event, now_ms=now_ms)
        case Answered():
            return _hear(state, event, now_ms=now_ms)
        case PreferredLeaderDue():
            return check_preferred_leader(state, event, now_ms=now_ms)
        case _:
            assert_never(event)


def maintain_state(state: ElectorState, drawn: int, *, now_ms: TimestampMs) -> ElectorStepped:
    """Do what is due in the role that the node has; one thing in each step.

    Source: DLedgerLeaderElector.maintainState
    """
    stepped = maintain_transfer(state, now_ms=now_ms)
    if stepped is not None:
        return stepped
    match state.member.role:
        case Role.LEADER:
            return maintain_as_leader(state, now_ms=now_ms)
        case Role.FOLLOWER:
            return maintain_as_follower(state, now_ms=now_ms)
        case Role.CANDIDATE:
            return maintain_as_candidate(state, drawn, now_ms=now_ms)


def next_timer_ms(state: ElectorState) -> TimestampMs | None:
    """Return when `MaintainState` has something to do. None: now."""
    timer_of = {
        Role.LEADER: leader_timer_ms,
        Role.FOLLOWER: follower_timer_ms,
        Role.CANDIDATE: candidate_timer_ms,
    }
    due = timer_of[state.member.role](state)
    return None if due is None else min((due, *transfer_timers_ms(state)))


def _receive(state: ElectorState, event: Asked, *, now_ms: TimestampMs) -> ElectorStepped:
    """Take a request that is for this node and its group; refuse every other one."""
    message, config = event.message, state.config
    if message.remote_id != config.self_id:
        return _misdirected(state, event, DLedgerResponseCode.UNKNOWN_MEMBER)
    if message.group != config.group:
        return _misdirected(state, event, DLedgerResponseCode.UNKNOWN_GROUP)
    match message:
        case VoteRequest():
            return handle_vote(state, event.request, message)
        case HeartBeatRequest():
            return handle_heart_beat(state, event.request, message, now_ms=now_ms)
        case LeadershipTransferRequest():
            return handle_leadership_transfer(state, event, message, now_ms=now_ms)
        case _:
            assert_never(message)


def _misdirected(state: ElectorState, event: Asked, code: DLedgerResponseCode) -> ElectorStepped:
    """Refuse; what was asked comes back. Source: DLedgerServer.handleVote"""
    asked = event.message
    answer: ElectorAnswer = replace(
        _EMPTY[type(asked)],
        group=asked.group,
        local_id=asked.local_id,
        remote_id=asked.remote_id,
        term=asked.term,
        code=int(code),
        leader_id=state.member.leader_id,
    )
    return ElectorStepped(state, (SendElectorAnswer(request=event.request, message=answer),))


_EMPTY: dict[type[ElectorRequest], ElectorAnswer] = {
    VoteRequest: VoteResponse(),
    HeartBeatRequest: HeartBeatResponse(),
    LeadershipTransferRequest: LeadershipTransferResponse(),
}


def _hear(state: ElectorState, event: Answered, *, now_ms: TimestampMs) -> ElectorStepped:
    """Take an answer to a request of this node, unless nobody waits for it any more."""
    if state.round is not None and event.number == state.round.number:
        return count_vote(state, event, now_ms=now_ms)
    if state.beat is not None and event.number == state.beat.number:
        return count_beat(state, event, now_ms=now_ms)
    if state.transfer is not None and event.number == state.transfer.number:
        return hear_of_transfer(state, event)
    return ElectorStepped(state)
