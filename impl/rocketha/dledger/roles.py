"""A node changes its role, and who waits for it to lead hears of that.

Source: DLedgerLeaderElector (`changeRoleToLeader`, `changeRoleToFollower`, `changeRoleToCandidate`,
`TakeLeadershipTask`)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from rocketha.dledger.member_state import NO_TERM, Role
from rocketha.dledger.state import (
    ElectorState,
    ParseResult,
    RoleChanged,
    SendElectorAnswer,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_requests import LeadershipTransferResponse
from rocketha.runtime.effects import Effect
from rocketha.types import Term, TimestampMs

__all__ = [
    "Changed",
    "become_candidate",
    "become_follower",
    "become_leader",
    "is_taking_leadership",
]

Changed: TypeAlias = tuple[ElectorState, tuple[Effect, ...]]


def become_leader(state: ElectorState) -> Changed:
    """Lead in the present term; heartbeats are due at once.

    Spec: DLedger!BecomeLeader
    Source: DLedgerLeaderElector.changeRoleToLeader
    """
    term = state.member.curr_term
    member = state.member.change_to_leader(term)
    state = replace(state, member=member, last_send_heart_beat_ms=None)
    return _handle_role_change(state, term)


def become_follower(
    state: ElectorState, term: Term, leader: str, *, now_ms: TimestampMs
) -> Changed:
    """Follow the leader of the present term.

    DLedger's round goes on, and what it comes to counts later. Here it is over.

    Spec: DLedger!HandleHeartbeat, DLedger!NextAsFollower
    Source: DLedgerLeaderElector.changeRoleToFollower
    """
    to_next = state.last_parse_result is ParseResult.WAIT_TO_VOTE_NEXT
    kept = state.config.rules.next_as_follower(to_next)
    result = ParseResult.WAIT_TO_VOTE_NEXT if kept else ParseResult.WAIT_TO_REVOTE
    state = replace(
        state,
        member=state.member.change_to_follower(term, leader),
        last_parse_result=result,
        last_leader_heart_beat_ms=now_ms,
        round=None,
    )
    return _handle_role_change(state, term)


def become_candidate(state: ElectorState, term: Term) -> Changed:
    """Be without a leader because of a term that was heard of; a candidate's round goes on.

    Spec: DLedger!StepDown
    Source: DLedgerLeaderElector.changeRoleToCandidate
    """
    state = replace(state, member=state.member.change_to_candidate(term), beat=None)
    return _handle_role_change(state, term)


def is_taking_leadership(state: ElectorState) -> bool:
    """Tell whether a preferred node shall lead in the term that it is in.

    Spec: DLedger!IsTaking
    Source: DLedgerLeaderElector.isTakingLeadership
    """
    config, member = state.config, state.member
    preferred = config.self_id in config.preferred_leader_ids
    return config.rules.is_taking(preferred, member.term_to_take_leadership, member.curr_term)


def _handle_role_change(state: ElectorState, term: Term) -> Changed:
    """Tell who waits for this node to lead, then the others in this node.

    Source: DLedgerLeaderElector.handleRoleChange
    """
    role = state.member.role
    taking = state.member.term_to_take_leadership
    effects: tuple[Effect, ...] = ()
    if taking != NO_TERM:
        code = _how_it_went(term, taking, role)
        if code is not None:
            if state.taking is not None:
                message = LeadershipTransferResponse(term=term, code=int(code))
                effects = (SendElectorAnswer(request=state.taking, message=message),)
            member = replace(state.member, term_to_take_leadership=NO_TERM)
            state = replace(state, member=member, taking=None)
    changed = RoleChanged(term=term, role=role, leader_id=state.member.leader_id)
    return state, (*effects, changed)


def _how_it_went(term: Term, taking: Term, role: Role) -> DLedgerResponseCode | None:
    """Return what to answer to who asked this node to lead; None: it is still to be seen.

    Source: TakeLeadershipTask.check
    """
    if term > taking:
        return DLedgerResponseCode.EXPIRED_TERM
    if role is Role.FOLLOWER:
        return DLedgerResponseCode.TAKE_LEADERSHIP_FAILED
    if term < taking:
        return DLedgerResponseCode.INTERNAL_ERROR
    return DLedgerResponseCode.SUCCESS if role is Role.LEADER else None
