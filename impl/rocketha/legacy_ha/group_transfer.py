"""Producers that wait until slaves have their message.

Source: `GroupTransferService`, `CommitLog.handleHA`.
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.ha.state import NOT_YET
from rocketha.known_bugs.bug import Bug
from rocketha.legacy_ha.effects import (
    AnswerPut,
    LegacyAction,
    LegacyActionName,
    LegacyStepped,
    PutStatus,
)
from rocketha.legacy_ha.events import PutRequested
from rocketha.legacy_ha.state import LegacyMaster, MasterEnd, PutRequest
from rocketha.runtime.effects import AppendMessage
from rocketha.runtime.events import MessageAppended
from rocketha.types import HaAddress, Offset, TimestampMs

__all__ = ["acknowledged", "answer_next", "next_deadline_ms", "put", "put_message"]


def put(
    state: LegacyMaster, event: PutRequested, *, now_ms: TimestampMs
) -> LegacyStepped[LegacyMaster]:
    """Append a producer's message; `put_message` comes next."""
    append = AppendMessage(message=event.message, store_timestamp_ms=now_ms, put=event.put)
    return LegacyStepped(replace(state, appending=(event.put, event.need)), (append,))


def put_message(
    state: LegacyMaster, event: MessageAppended, *, now_ms: TimestampMs
) -> LegacyStepped[LegacyMaster]:
    """Let a producer wait for its slaves; one that waits for none is answered.

    Spec: LegacyReplication!PutMessage
    Source: CommitLog.asyncPutMessage, CommitLog.handleHA
    """
    assert state.appending is not None
    of, need = state.appending
    assert of == event.put, (of, event.put)
    state = replace(state, appending=None)
    action = LegacyAction(name=LegacyActionName.PUT_MESSAGE, offset=event.offset, need=need)
    if need == 0:
        answer = AnswerPut(put=event.put, status=PutStatus.PUT_OK)
        return LegacyStepped(state, (answer,), action)
    request = PutRequest(
        put=event.put,
        offset=event.offset,
        end=event.end,
        need=need,
        deadline_ms=TimestampMs(now_ms + state.options.slave_timeout_ms),
    )
    return LegacyStepped(replace(state, waiting=(*state.waiting, request)), (), action)


def answer_next(state: LegacyMaster, *, now_ms: TimestampMs) -> LegacyStepped[LegacyMaster]:
    """Answer the first producer that enough slaves have acknowledged, or whose time is up.

    Spec: LegacyReplication!PutOk, LegacyReplication!PutTimeout
    Source: GroupTransferService.doWaitTransfer
    """
    for request in state.waiting:
        if acknowledged(state, request.end) >= _slaves_to_wait_for(state, request):
            return _answered(state, request, PutStatus.PUT_OK, LegacyActionName.PUT_OK)
        if now_ms >= request.deadline_ms:
            status = PutStatus.FLUSH_SLAVE_TIMEOUT
            return _answered(state, request, status, LegacyActionName.PUT_TIMEOUT)
    return LegacyStepped(state)


def next_deadline_ms(state: LegacyMaster) -> TimestampMs | None:
    """Return when the first producer stops to wait."""
    return min((request.deadline_ms for request in state.waiting), default=None)


def _answered(
    state: LegacyMaster, request: PutRequest, status: PutStatus, name: LegacyActionName
) -> LegacyStepped[LegacyMaster]:
    left = tuple(other for other in state.waiting if other is not request)
    answer = AnswerPut(put=request.put, status=status)
    action = LegacyAction(name=name, offset=request.offset)
    return LegacyStepped(replace(state, waiting=left), (answer,), action)


def acknowledged(state: LegacyMaster, end: Offset) -> int:
    """Count the slaves that have the log up to `end`.

    Spec: LegacyReplication!Acknowledged
    Source: GroupTransferService.doWaitTransfer
    """
    if Bug.B23 in state.options.bugs:
        # The source counts connections, and two of them may be of one slave.
        return sum(one.slave_ack >= end for one in state.ends.values())
    hosts = dict.fromkeys(one.host for one in state.ends.values())
    return sum(_ack_of(state, host) >= end for host in hosts)


def _ack_of(state: LegacyMaster, host: HaAddress | None) -> Offset:
    """Return what the newest connection of a slave says that said anything.

    In the source every connection counts until it is removed.

    Spec: LegacyReplication!AckOf
    """
    heard = [one.slave_ack for one in _ends_of(state, host) if one.slave_ack != NOT_YET]
    return heard[-1] if heard else NOT_YET


def _ends_of(state: LegacyMaster, host: HaAddress | None) -> list[MasterEnd]:
    """Return the connections of a slave, oldest first.

    Spec: LegacyReplication!Ends
    """
    return [one for one in state.ends.values() if one.host == host]


def _slaves_to_wait_for(state: LegacyMaster, request: PutRequest) -> int:
    """Return how many slaves must have the message.

    Spec: LegacyReplication!SlavesToWaitFor
    """
    if Bug.SYNC_WAITS in state.options.bugs:
        # The source counts the master, and asks nobody where that is enough.
        return request.need - 1
    return request.need
