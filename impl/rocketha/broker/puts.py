"""Producers' calls: refused before anything is written, or answered when the message is safe.

| status                      | when                                               | the message |
|-----------------------------|----------------------------------------------------|-------------|
| SERVICE_NOT_AVAILABLE       | this broker is not a master, or is fenced          | is not there|
| IN_SYNC_REPLICAS_NOT_ENOUGH | the SyncStateSet has fewer members than configured | is not there|
| SLAVE_NOT_AVAILABLE         | too few slaves are connected                       | may survive |
| FLUSH_DISK_TIMEOUT          | it is not on the master's disk in time             | may survive |
| FLUSH_SLAVE_TIMEOUT         | too few replicas have it in time, or the epoch ends| may survive |
| PUT_OK                      | it is safe                                         | survives    |

Source: CommitLog (`asyncPutMessage`, `handleDiskFlushAndHA`), GroupTransferService
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rocketha.broker.effects import AnswerPut, GroupEffect, GroupStepped, PutStatus
from rocketha.broker.events import ConfirmDue, PutRequested
from rocketha.broker.replicas import has_slaves
from rocketha.broker.state import FlushedLogView, GroupBroker, WaitingPut
from rocketha.broker.sync_state_set import see_caught_up
from rocketha.ha.broker import put_message
from rocketha.ha.events import MessagePut
from rocketha.runtime.effects import RequestFlush, Then
from rocketha.runtime.events import MessageAppended
from rocketha.types import TimestampMs

__all__ = [
    "answer_flushed",
    "answer_late",
    "answer_replicated",
    "appended",
    "fail_pending_puts",
    "next_deadline_ms",
    "put",
]


def put(
    state: GroupBroker, event: PutRequested, *, now_ms: TimestampMs, log: FlushedLogView
) -> GroupStepped:
    """Append a producer's message, or say why not; a zombie does not know better.

    Spec: ReplicaGroup!PutMessage, ReplicaGroup!RefuseCall
    Source: DefaultMessageStore.asyncPutMessage, PutMessageHook, CommitLog.asyncPutMessage
    """
    options = state.options
    if not state.is_master or state.is_fenced:
        return _refused(state, event, PutStatus.SERVICE_NOT_AVAILABLE)
    if len(state.local.members) < options.min_in_sync_replicas:
        return _refused(state, event, PutStatus.IN_SYNC_REPLICAS_NOT_ENOUGH)
    state = see_caught_up(state, now_ms=now_ms, log=log)
    message = MessagePut(message=event.message, put=event.put)
    stepped = put_message(state.ha, message, now_ms=now_ms)  # what it has changes when it is there
    return GroupStepped(state, stepped.effects, stepped.action)


def _refused(state: GroupBroker, event: PutRequested, status: PutStatus) -> GroupStepped:
    return GroupStepped(state, (AnswerPut(put=event.put, status=status),))


def appended(state: GroupBroker, event: MessageAppended, *, now_ms: TimestampMs) -> GroupStepped:
    """Let a producer wait for the disk and for slaves.

    One that need not wait is answered when confirmOffset moves, at once.

    Source: CommitLog.handleDiskFlushAndHA, CommitLog.handleHA
    """
    options = state.options
    if not (options.all_ack_in_sync_state_set or has_slaves(state.ha, options.in_sync_replicas)):
        status = PutStatus.SLAVE_NOT_AVAILABLE
        answer = AnswerPut(put=event.put, status=status, offset=event.offset, end=event.end)
        return GroupStepped(state, (answer, Then(event=ConfirmDue())))
    flushed_by = TimestampMs(now_ms + options.sync_flush_timeout_ms)
    waiting = WaitingPut(
        put=event.put,
        offset=event.offset,
        end=event.end,
        flush_deadline_ms=flushed_by if options.sync_flush else None,
        slave_deadline_ms=TimestampMs(now_ms + options.slave_timeout_ms),
    )
    flush = (RequestFlush(),) if options.sync_flush else ()
    waits = replace(state, waiting=(*state.waiting, waiting))
    return GroupStepped(waits, (*flush, Then(event=ConfirmDue())))


def answer_replicated(state: GroupBroker) -> GroupStepped:
    """Let nobody wait for slaves whose message is confirmed.

    Spec: ReplicaGroup!Waiting
    Source: GroupTransferService.doWaitTransfer
    """
    end = state.confirm
    return _settled(
        state, [replace(w, slave_deadline_ms=None) if w.end <= end else w for w in state.waiting]
    )


def answer_flushed(state: GroupBroker, *, log: FlushedLogView) -> GroupStepped:
    """Let nobody wait for the disk whose message is on it.

    Source: CommitLog.GroupCommitService.doCommit
    """
    end = log.flushed_offset
    return _settled(
        state, [replace(w, flush_deadline_ms=None) if w.end <= end else w for w in state.waiting]
    )


def _settled(state: GroupBroker, waiting: Iterable[WaitingPut]) -> GroupStepped:
    """Answer who waits for nothing any more."""
    left, effects = [], []
    for one in waiting:
        if one.flush_deadline_ms is None and one.slave_deadline_ms is None:
            effects.append(_answer(one, PutStatus.PUT_OK))
        else:
            left.append(one)
    return GroupStepped(replace(state, waiting=tuple(left)), tuple(effects))


def answer_late(state: GroupBroker, *, now_ms: TimestampMs) -> GroupStepped:
    """Answer who has waited for too long: whether the message survives is not known.

    Spec: ReplicaGroup!TimeOut
    Source: CommitLog.GroupCommitRequest, GroupTransferService.doWaitTransfer
    """
    left, effects = [], []
    for one in state.waiting:
        status = _late_status(one, now_ms)
        if status is None:
            left.append(one)
        else:
            effects.append(_answer(one, status))
    if not effects:
        return GroupStepped(state)
    return GroupStepped(replace(state, waiting=tuple(left)), tuple(effects))


def _late_status(one: WaitingPut, now_ms: TimestampMs) -> PutStatus | None:
    if one.flush_deadline_ms is not None and now_ms >= one.flush_deadline_ms:
        return PutStatus.FLUSH_DISK_TIMEOUT
    if one.slave_deadline_ms is not None and now_ms >= one.slave_deadline_ms:
        return PutStatus.FLUSH_SLAVE_TIMEOUT
    return None


def fail_pending_puts(state: GroupBroker) -> tuple[GroupEffect, ...]:
    """Answer everybody: this master will not learn what becomes of the messages."""
    return tuple(_answer(one, PutStatus.FLUSH_SLAVE_TIMEOUT) for one in state.waiting)


def next_deadline_ms(state: GroupBroker) -> TimestampMs | None:
    """Return when the first producer has waited for too long."""
    times = [t for w in state.waiting for t in (w.flush_deadline_ms, w.slave_deadline_ms)]
    return min((t for t in times if t is not None), default=None)


def _answer(one: WaitingPut, status: PutStatus) -> AnswerPut:
    return AnswerPut(put=one.put, status=status, offset=one.offset, end=one.end)
