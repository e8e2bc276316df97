"""Leadership that is handed over: who leads asks, who shall lead waits for what it lacks.

Where the specification departs from DLedger it is followed: a leader that hears nothing in time
takes entries again (DLedger never does); who was asked looks again, when it has all entries,
whether it still follows who asked; and a leader does not hand over to itself.

Source: DLedgerServer (`handleLeadershipTransfer`, `checkPreferredLeader`), DLedgerLeaderElector
(`handleLeadershipTransfer`, `handleTakeLeadership`)
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.dledger.config import TRANSFER_MS
from rocketha.dledger.roles import become_candidate
from rocketha.dledger.state import (
    Answered,
    Asked,
    AskedToLead,
    ElectorAction,
    ElectorActionName,
    ElectorState,
    ElectorStepped,
    PreferredLeaderDue,
    RequestNumber,
    SendElectorAnswer,
    SendElectorRequest,
    Transfer,
    WaterMarks,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_requests import LeadershipTransferRequest, LeadershipTransferResponse
from rocketha.runtime.effects import Effect
from rocketha.types import LogIndex, RequestId, Term, TimestampMs

__all__ = [
    "check_preferred_leader",
    "handle_leadership_transfer",
    "hear_of_transfer",
    "maintain_transfer",
    "transfer_timers_ms",
]


def handle_leadership_transfer(
    state: ElectorState, event: Asked, asked: LeadershipTransferRequest, *, now_ms: TimestampMs
) -> ElectorStepped:
    """Take a request from who administers the group, or from the leader.

    Source: DLedgerServer.handleLeadershipTransfer
    """
    self_id = state.config.self_id
    if asked.transfer_id == self_id:
        refusal = _why_not_leave(state, event, asked)
        if refusal is not None:
            return _refused(state, event.request, asked, refusal)
        assert asked.transferee_id is not None
        return _hand_over(state, asked.transferee_id, event.request, now_ms=now_ms)
    if asked.transferee_id != self_id:
        message = LeadershipTransferResponse(
            term=state.member.curr_term, code=int(DLedgerResponseCode.UNEXPECTED_ARGUMENT)
        )
        return ElectorStepped(state, (_answer(event.request, message),))
    if asked.transfer_id is None or asked.transfer_id != state.member.leader_id:
        return _refused(state, event.request, asked, DLedgerResponseCode.INCONSISTENT_LEADER)
    earlier = state.asked_to_lead
    waiting = AskedToLead(request=event.request, message=asked, began_ms=now_ms)
    stepped = _take_when_ready(replace(state, asked_to_lead=waiting), waiting, now_ms=now_ms)
    if earlier is None:
        return stepped
    failed = LeadershipTransferResponse(
        term=state.member.curr_term, code=int(DLedgerResponseCode.TAKE_LEADERSHIP_FAILED)
    )
    return replace(stepped, effects=(_answer(earlier.request, failed), *stepped.effects))


# ---- who leads ----


def _why_not_leave(
    state: ElectorState, event: Asked, asked: LeadershipTransferRequest
) -> DLedgerResponseCode | None:
    """Return why a node does not hand its leadership over; None: it may."""
    config, member, transferee = state.config, state.member, asked.transferee_id
    if transferee is None or transferee not in config.peers:
        return DLedgerResponseCode.UNKNOWN_MEMBER
    if asked.term != member.curr_term:
        return DLedgerResponseCode.INCONSISTENT_TERM
    if not member.is_leader:
        return DLedgerResponseCode.NOT_LEADER
    if transferee == config.self_id:
        return DLedgerResponseCode.UNEXPECTED_ARGUMENT
    if _lacks(state, event.water_marks, transferee) >= config.max_leadership_transfer_wait_index:
        return DLedgerResponseCode.FALL_BEHIND_TOO_MUCH
    if member.transferee is not None or state.transfer is not None:
        return DLedgerResponseCode.LEADER_TRANSFERRING
    return None


def _lacks(state: ElectorState, marks: WaterMarks, peer: str) -> int:
    """Return how many entries a follower has not acknowledged."""
    return state.member.ledger_end_index - marks.get(peer, LogIndex(-1))


def _hand_over(
    state: ElectorState, peer: str, request: RequestId | None, *, now_ms: TimestampMs
) -> ElectorStepped:
    """Ask a follower to lead, and take no entries from now on.

    Spec: DLedger!TransferLeadership
    Source: DLedgerLeaderElector.handleLeadershipTransfer
    """
    config, member = state.config, state.member
    number = RequestNumber(state.last_number + 1)
    message = LeadershipTransferRequest(
        group=config.group,
        local_id=config.self_id,
        remote_id=peer,
        leader_id=member.leader_id,
        term=member.curr_term,
        take_leadership_ledger_index=member.ledger_end_index,
        transfer_id=config.self_id,
        transferee_id=peer,
    )
    transfer = Transfer(number=number, began_ms=now_ms, request=request)
    member = replace(member, transferee=peer)
    state = replace(state, member=member, last_number=number, transfer=transfer)
    action = ElectorAction(ElectorActionName.TRANSFER_LEADERSHIP, peer)
    effects = (SendElectorRequest(number=number, peer=peer, message=message),)
    return ElectorStepped(state, effects, action)


def hear_of_transfer(state: ElectorState, event: Answered) -> ElectorStepped:
    """Hear how a transfer went, and pass it on to who wanted it.

    Source: DLedgerLeaderElector.handleLeadershipTransfer
    """
    assert state.transfer is not None
    heard = event.message
    if not isinstance(heard, LeadershipTransferResponse):
        heard = LeadershipTransferResponse(
            term=state.member.curr_term, code=int(DLedgerResponseCode.NETWORK_ERROR)
        )
    return _end_transfer(state, state.transfer, heard)


def _end_transfer(
    state: ElectorState, transfer: Transfer, how: LeadershipTransferResponse
) -> ElectorStepped:
    """A transfer is over; who still hands over takes entries again.

    Who gave up its leadership meanwhile does not, though it may lead in the same term again.

    Spec: DLedger!GoOnLeading, DLedger!MayGoOn
    """
    effects: tuple[Effect, ...] = ()
    if transfer.request is not None:
        effects = (_answer(transfer.request, how),)
    state = replace(state, transfer=None)
    member = state.member
    hands_over = member.transferee is not None
    if hands_over and state.config.rules.may_go_on():
        state = replace(state, member=replace(member, transferee=None))
        return ElectorStepped(state, effects, ElectorAction(ElectorActionName.GO_ON_LEADING))
    return ElectorStepped(state, effects)


def check_preferred_leader(
    state: ElectorState, event: PreferredLeaderDue, *, now_ms: TimestampMs
) -> ElectorStepped:
    """Hand over to who is preferred, alive, and lacks the fewest entries, if they are few.

    Spec: DLedger!TransferLeadership
    Source: DLedgerServer.checkPreferredLeader
    """
    config, member = state.config, state.member
    preferred = config.preferred_leader_ids
    busy = member.transferee is not None or state.transfer is not None
    if not member.is_leader or busy or config.self_id in preferred:
        return ElectorStepped(state)
    alive = [peer for peer in preferred if member.peers_live_table.get(peer, False)]
    members = [peer for peer in alive if peer in config.peers]
    if not members:
        return ElectorStepped(state)
    best = min(members, key=lambda peer: _lacks(state, event.water_marks, peer))
    if _lacks(state, event.water_marks, best) >= config.max_leadership_transfer_wait_index:
        return ElectorStepped(state)
    return _hand_over(state, best, None, now_ms=now_ms)


# ---- who shall lead ----


def _take_when_ready(
    state: ElectorState, waiting: AskedToLead, *, now_ms: TimestampMs
) -> ElectorStepped:
    """Take the leadership with all entries of the leader; wait for them; give up.

    Source: DLedgerServer.handleLeadershipTransfer
    """
    asked, member = waiting.message, state.member
    if asked.term != member.curr_term:
        message = LeadershipTransferResponse(
            term=member.curr_term, code=int(DLedgerResponseCode.INCONSISTENT_TERM)
        )
        state = replace(state, asked_to_lead=None)
        return ElectorStepped(state, (_answer(waiting.request, message),))
    if not member.is_follower or member.leader_id != asked.transfer_id:
        return _refused(state, waiting.request, asked, DLedgerResponseCode.INCONSISTENT_LEADER)
    if member.ledger_end_index >= asked.take_leadership_ledger_index:
        return _take_leadership(state, waiting.request, asked.term)
    if now_ms - waiting.began_ms > state.config.leadership_transfer_wait_timeout_ms:
        return _refused(state, waiting.request, asked, DLedgerResponseCode.TAKE_LEADERSHIP_FAILED)
    return ElectorStepped(state)


def _take_leadership(state: ElectorState, request: RequestId, term: Term) -> ElectorStepped:
    """Be a candidate of the next term; who asked hears when it is decided.

    Spec: DLedger!TakeLeadership
    Source: DLedgerLeaderElector.handleTakeLeadership
    """
    target = Term(term + 1)
    member = replace(state.member, term_to_take_leadership=target)
    state = replace(
        state,
        member=member,
        asked_to_lead=None,
        taking=request,
        need_increase_term_immediately=True,
    )
    state, effects = become_candidate(state, target)
    return ElectorStepped(state, effects, ElectorAction(ElectorActionName.TAKE_LEADERSHIP))


# ---- both ----


def transfer_timers_ms(state: ElectorState) -> tuple[TimestampMs, ...]:
    """Return when a node waits no longer."""
    due: list[TimestampMs] = []
    if state.transfer is not None:
        due.append(TimestampMs(state.transfer.began_ms + TRANSFER_MS))
    waiting = state.asked_to_lead
    if waiting is not None:
        patience = state.config.leadership_transfer_wait_timeout_ms + 1
        due.append(TimestampMs(waiting.began_ms + (0 if _is_settled(state, waiting) else patience)))
    return tuple(due)


def _is_settled(state: ElectorState, waiting: AskedToLead) -> bool:
    """Tell whether who was asked to lead can, or can no more."""
    asked, member = waiting.message, state.member
    follows = member.is_follower and member.leader_id == asked.transfer_id
    lacks = member.ledger_end_index < asked.take_leadership_ledger_index
    return asked.term != member.curr_term or not follows or not lacks


def maintain_transfer(state: ElectorState, *, now_ms: TimestampMs) -> ElectorStepped | None:
    """Do what has become due of a transfer; None: nothing has."""
    transfer, waiting = state.transfer, state.asked_to_lead
    if transfer is not None and now_ms - transfer.began_ms >= TRANSFER_MS:
        message = LeadershipTransferResponse(
            term=state.member.curr_term, code=int(DLedgerResponseCode.TIMEOUT)
        )
        return _end_transfer(state, transfer, message)
    if waiting is not None:
        stepped = _take_when_ready(state, waiting, now_ms=now_ms)
        return stepped if stepped.state.asked_to_lead is None else None
    return None


def _refused(
    state: ElectorState,
    request: RequestId,
    asked: LeadershipTransferRequest,
    code: DLedgerResponseCode,
) -> ElectorStepped:
    """Refuse; what was asked comes back. Source: DLedgerServer.handleLeadershipTransfer"""
    message = LeadershipTransferResponse(
        group=asked.group,
        local_id=asked.local_id,
        remote_id=asked.remote_id,
        term=asked.term,
        code=int(code),
        leader_id=state.member.leader_id,
    )
    waiting = state.asked_to_lead
    if waiting is not None and waiting.request == request:
        state = replace(state, asked_to_lead=None)
    return ElectorStepped(state, (_answer(request, message),))


def _answer(request: RequestId, message: LeadershipTransferResponse) -> SendElectorAnswer:
    return SendElectorAnswer(request=request, message=message)
