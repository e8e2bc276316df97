"""Producers that wait until slaves have their message.

Source: `GroupTransferService`, `CommitLog.handleHA`.
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.legacy_ha.effects import (
    AnswerPut,
    LegacyAction,
    LegacyActionName,
    LegacyStepped,
    PutStatus,
)
from rocketha.legacy_ha.events import PutRequested
from rocketha.legacy_ha.state import LegacyMaster, PutRequest
from rocketha.runtime.effects import AppendMessage
from rocketha.runtime.events import MessageAppended
from rocketha.types import TimestampMs

__all__ = ["answer_next", "put", "put_message"]


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
    rules = state.options.rules
    said = [(end.host, end.slave_ack) for end in state.ends.values()]
    for request in state.waiting:
        if rules.acknowledged(said, request.end) >= rules.slaves_to_wait_for(request.need):
            return _answered(state, request, PutStatus.PUT_OK, LegacyActionName.PUT_OK)
        if now_ms >= request.deadline_ms:
            status = PutStatus.FLUSH_SLAVE_TIMEOUT
            return _answered(state, request, status, LegacyActionName.PUT_TIMEOUT)
    return LegacyStepped(state)


def _answered(
    state: LegacyMaster, request: PutRequest, status: PutStatus, name: LegacyActionName
) -> LegacyStepped[LegacyMaster]:
    left = tuple(other for other in state.waiting if other is not request)
    answer = AnswerPut(put=request.put, status=status)
    action = LegacyAction(name=name, offset=request.offset)
    return LegacyStepped(replace(state, waiting=left), (answer,), action)
