"""What a master does with half messages: it asks their producers, again and again.

Source: broker/transaction/queue `TransactionalMessageServiceImpl.check`; broker/transaction
`AbstractTransactionalMessageCheckListener.sendCheckMessage`; broker/processor
`EndTransactionProcessor`
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.errors import RequestError
from rocketha.escape.appending import appended
from rocketha.escape.events import MasterDoes
from rocketha.escape.master_state import MasterState
from rocketha.formats.broker_requests import message_id
from rocketha.formats.due_messages import (
    COMMITTED,
    HALF_TOPIC,
    PRODUCER_GROUP,
    ROLLED_BACK,
    committed,
    key_of,
    op_message,
    prepared_again,
)
from rocketha.formats.message import Message, Record, properties_of
from rocketha.formats.put_requests import (
    CheckTransactionState,
    PutCode,
    pull_end,
    push_check,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.effects import RequestFlush, SendOneWay
from rocketha.types import TimestampMs

__all__ = ["appended_end", "check_halves"]


def check_halves(
    state: MasterState, *, now_ms: TimestampMs
) -> tuple[MasterState, tuple[MasterDoes, ...]]:
    """Ask the producer of each half message that has not ended."""
    does: list[MasterDoes] = []
    appends = False
    for place, record in state.halves.items():
        if place in state.ending or place < state.passed_halves:
            continue
        if state.options.rules.is_committed(None):
            state, ends = _ended(state, place, COMMITTED, now_ms=now_ms)
            does += ends
            appends = True
            continue
        group = properties_of(record.message.properties).get(PRODUCER_GROUP, "")
        if group in state.options.producers:
            does.append(_question(state, record, group))
    if appends:
        does.append(RequestFlush())
    return state, tuple(does)


def _question(state: MasterState, record: Record, group: str) -> SendOneWay:
    options, message = state.options, record.message
    real = replace(prepared_again(message), sys_flag=message.sys_flag)
    check = CheckTransactionState(
        broker_name=options.acting.broker_name,
        topic=HALF_TOPIC,
        commit_log_offset=record.offset,
        queue_offset=message.queue_offset,
        key=key_of(message) or "",
        msg_id=message_id(options.host, record.offset),
        message=replace(real, properties=message.properties),
    )
    fields, body = push_check(check)
    return SendOneWay(
        peer=options.producers[group],
        code=PutCode.CHECK_TRANSACTION_STATE,
        body=body,
        ext_fields=fields,
    )


def appended_end(
    state: MasterState, command: RemotingCommand, *, now_ms: TimestampMs
) -> tuple[MasterState, tuple[MasterDoes, ...]]:
    """Hear what a producer says; append what is to be read, and that it has ended.

    Spec: Escape!Check
    """
    try:
        end = pull_end(command)
    except RequestError:
        return state, ()
    record = state.halves.get(end.queue_offset)
    if record is None or end.queue_offset in state.ending:
        return state, ()
    group = properties_of(record.message.properties).get(PRODUCER_GROUP)
    if (record.offset, group) != (end.commit_log_offset, end.producer_group):
        return state, ()
    how = COMMITTED if state.options.rules.is_committed(end.how) else end.how
    if how not in (COMMITTED, ROLLED_BACK):
        return state, ()
    state, does = _ended(state, end.queue_offset, how, now_ms=now_ms)
    return state, (*does, RequestFlush())


def _ended(
    state: MasterState, place: int, how: int, *, now_ms: TimestampMs
) -> tuple[MasterState, tuple[MasterDoes, ...]]:
    messages: list[Message] = [op_message((place,))]
    if how == COMMITTED:
        messages.insert(0, committed(state.halves[place].message))
    does: list[MasterDoes] = []
    for message in messages:
        state, append = appended(state, message, now_ms=now_ms)
        does.append(append)
    return replace(state, ending=state.ending | {place}), tuple(does)
