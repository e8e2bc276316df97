"""Heartbeats: a leader's, and what a node answers to them.

A larger term is given way to as soon as one answer says so, where DLedger waits for the others of
the same beat, and takes the last such term for the largest.

Source: DLedgerLeaderElector (`handleHeartBeat`, `sendHeartbeats`, `maintainAsLeader`,
`maintainAsFollower`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from rocketha.dledger.roles import become_candidate, become_follower
from rocketha.dledger.state import (
    Answered,
    Beat,
    ElectorAction,
    ElectorActionName,
    ElectorState,
    ElectorStepped,
    RequestNumber,
    SendElectorAnswer,
    SendElectorRequest,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_requests import HeartBeatRequest, HeartBeatResponse
from rocketha.runtime.effects import Effect
from rocketha.types import RequestId, Term, TimestampMs

__all__ = [
    "count_beat",
    "follower_timer_ms",
    "handle_heart_beat",
    "leader_timer_ms",
    "maintain_as_follower",
    "maintain_as_leader",
]


# ---- who receives them ----


def handle_heart_beat(
    state: ElectorState, request: RequestId, beat: HeartBeatRequest, *, now_ms: TimestampMs
) -> ElectorStepped:
    """Follow the leader of the present term; be a candidate for a larger one, and go there next.

    Answers: SUCCESS, EXPIRED_TERM, INCONSISTENT_LEADER, TERM_NOT_READY; and two to who is no other
    member.

    Spec: DLedger!HandleHeartbeat
    Source: DLedgerLeaderElector.handleHeartBeat
    """
    member, leader = state.member, beat.leader_id
    if leader is None or leader not in state.config.peers:
        return _answer(state, request, DLedgerResponseCode.UNKNOWN_MEMBER, member.curr_term)
    if leader == member.self_id:
        return _answer(state, request, DLedgerResponseCode.UNEXPECTED_MEMBER, member.curr_term)
    if beat.term < member.curr_term:
        return _answer(state, request, DLedgerResponseCode.EXPIRED_TERM, member.curr_term)
    action = ElectorAction(ElectorActionName.HANDLE_HEARTBEAT)
    if beat.term > member.curr_term:
        state, effects = become_candidate(state, beat.term)
        state = replace(state, need_increase_term_immediately=True)
        answered = _answer(state, request, DLedgerResponseCode.TERM_NOT_READY)
        return ElectorStepped(state, (*effects, *answered.effects), action)
    if member.leader_id is None:
        state, effects = become_follower(state, beat.term, leader, now_ms=now_ms)
        answered = _answer(state, request, DLedgerResponseCode.SUCCESS)
        return ElectorStepped(state, (*effects, *answered.effects), action)
    if member.leader_id != leader:
        return _answer(state, request, DLedgerResponseCode.INCONSISTENT_LEADER)
    state = replace(state, last_leader_heart_beat_ms=now_ms)
    return _answer(state, request, DLedgerResponseCode.SUCCESS)


def _answer(
    state: ElectorState, request: RequestId, code: DLedgerResponseCode, term: Term | None = None
) -> ElectorStepped:
    message = HeartBeatResponse(code=int(code))
    if term is not None:
        message = replace(message, term=term)
    return ElectorStepped(state, (SendElectorAnswer(request=request, message=message),))


def follower_timer_ms(state: ElectorState) -> TimestampMs | None:
    """Return when a follower gives its leader up: after two intervals at least. None: now."""
    config, heard = state.config, state.last_leader_heart_beat_ms
    if heard is None:
        return None
    intervals = max(2, config.max_heart_beat_leak)
    return TimestampMs(heard + intervals * config.heart_beat_time_interval_ms + 1)


def maintain_as_follower(state: ElectorState, *, now_ms: TimestampMs) -> ElectorStepped:
    """Give up a leader that has been silent for too long.

    Spec: DLedger!BecomeCandidate
    Source: DLedgerLeaderElector.maintainAsFollower
    """
    due = follower_timer_ms(state)
    return ElectorStepped(state) if due is not None and now_ms < due else _give_up(state)


def _give_up(state: ElectorState) -> ElectorStepped:
    """Be a candidate in the present term.

    Spec: DLedger!BecomeCandidate
    """
    state, effects = become_candidate(state, state.member.curr_term)
    return ElectorStepped(state, effects, ElectorAction(ElectorActionName.BECOME_CANDIDATE))


# ---- who sends them ----


def leader_timer_ms(state: ElectorState) -> TimestampMs | None:
    """Return when a leader has something to do: judge its heartbeats, or send. None: now."""
    interval, sent = state.config.heart_beat_time_interval_ms, state.last_send_heart_beat_ms
    due = None if sent is None else TimestampMs(sent + interval + 1)
    if state.beat is not None and not state.beat.judged:
        judged = TimestampMs(state.beat.started_ms + interval)
        return judged if due is None else TimestampMs(min(due, judged))
    return due


def maintain_as_leader(state: ElectorState, *, now_ms: TimestampMs) -> ElectorStepped:
    """Judge the heartbeats whose time is up; else send new ones, if it is time.

    Source: DLedgerLeaderElector.maintainAsLeader
    """
    due = leader_timer_ms(state)
    if due is not None and now_ms < due:
        return ElectorStepped(state)
    if state.beat is not None and not state.beat.judged:
        return _judge(state, state.beat, now_ms=now_ms)
    return _send(state, now_ms=now_ms)


def _send(state: ElectorState, *, now_ms: TimestampMs) -> ElectorStepped:
    """Send heartbeats to all others. Source: DLedgerLeaderElector.sendHeartbeats"""
    config, member = state.config, state.member
    number = RequestNumber(state.last_number + 1)
    beat = Beat(number=number, started_ms=now_ms)
    state = replace(state, last_number=number, beat=beat, last_send_heart_beat_ms=now_ms)
    effects: list[Effect] = []
    for peer in config.others:
        message = HeartBeatRequest(
            group=config.group,
            local_id=config.self_id,
            remote_id=peer,
            leader_id=member.leader_id,
            term=member.curr_term,
        )
        effects.append(SendElectorRequest(number=number, peer=peer, message=message))
    return ElectorStepped(state, tuple(effects))


def count_beat(state: ElectorState, event: Answered, *, now_ms: TimestampMs) -> ElectorStepped:
    """Count an answer of the present heartbeats, the first one of each member.

    Spec: DLedger!HearTerm, DLedger!GivesWay
    Source: DLedgerLeaderElector.sendHeartbeats
    """
    beat, member = state.beat, state.member
    if beat is None or event.peer in beat.answers:
        return ElectorStepped(state)
    code, term = DLedgerResponseCode.NETWORK_ERROR, Term(-1)
    if isinstance(event.message, HeartBeatResponse):
        code, term = event.message.response_code, event.message.term
    beat = replace(beat, answers=MappingProxyType({**beat.answers, event.peer: code}))
    alive = code is not DLedgerResponseCode.NETWORK_ERROR
    state = replace(state, beat=beat, member=member.alive(event.peer, alive))
    expired = code is DLedgerResponseCode.EXPIRED_TERM
    if expired and state.config.rules.gives_way(term, member.curr_term, event.is_behind):
        state, effects = become_candidate(state, term)
        return ElectorStepped(
            state, effects, ElectorAction(ElectorActionName.HEAR_TERM, event.peer)
        )
    counts = _counts(beat.answers)
    enough = any(map(state.config.is_quorum, counts))
    if not beat.judged and (enough or len(beat.answers) == len(state.config.others)):
        return _judge(state, beat, now_ms=now_ms)
    return ElectorStepped(state)


def _counts(answers: Mapping[str, DLedgerResponseCode]) -> tuple[int, int]:
    """Return how many follow, the leader included, and how many with those that will."""
    follow = 1 + sum(code is DLedgerResponseCode.SUCCESS for code in answers.values())
    return follow, follow + sum(
        code is DLedgerResponseCode.TERM_NOT_READY for code in answers.values()
    )


def _judge(state: ElectorState, beat: Beat, *, now_ms: TimestampMs) -> ElectorStepped:
    """See whether a majority follows; else send again at once, wait, or give up.

    Source: DLedgerLeaderElector.sendHeartbeats
    """
    config, last = state.config, state.last_succ_heart_beat_ms
    state = replace(state, beat=replace(beat, judged=True))
    follow, will = _counts(beat.answers)
    if config.is_quorum(follow):
        return ElectorStepped(replace(state, last_succ_heart_beat_ms=now_ms))
    if config.is_quorum(will):
        return ElectorStepped(replace(state, last_send_heart_beat_ms=None))
    inconsistent = DLedgerResponseCode.INCONSISTENT_LEADER in beat.answers.values()
    if inconsistent or last is None or now_ms - last > config.lease_ms:
        return _give_up(state)
    return ElectorStepped(state)
