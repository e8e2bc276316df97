"""A broker's tables: clients change them, the disk keeps them, and others ask for them.

Source: `ConsumerOffsetManager`, `ScheduleMessageService.updateOffset`, broker/processor
`ConsumerManageProcessor`, `AdminBrokerProcessor`
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from rocketha.errors import RequestError
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse, pull_consumer_offset
from rocketha.formats.ext_fields import push_fields
from rocketha.formats.name_server_requests import DataVersion
from rocketha.formats.offset_tables import OffsetTable, QueueKey, TableKind, push_offsets
from rocketha.pre_online.due import PersistDue
from rocketha.pre_online.events import (
    MessageDue,
    PreOnlineAction,
    PreOnlineActionName,
    PreOnlineDoes,
    PreOnlineDone,
    PreOnlineHears,
    StoreTable,
)
from rocketha.pre_online.state import PreOnlineState
from rocketha.runtime.effects import After, Respond
from rocketha.runtime.events import RequestArrived
from rocketha.types import TimestampMs

__all__ = ["client_asked", "deliver", "give_table", "keep", "persist"]

_NOT_SERVING = "the broker does not serve"


def client_asked(
    state: PreOnlineState, event: RequestArrived, *, now_ms: TimestampMs
) -> PreOnlineDone:
    """Answer a consumer: how far its group is, or that it is further."""
    if not state.options.rules.takes_commits(state.serves, state.isolated):
        return _refused(state, event, BrokerResponse.SERVICE_NOT_AVAILABLE, _NOT_SERVING)
    try:
        group, queue, offset = pull_consumer_offset(event.command)
    except RequestError as error:
        return _refused(state, event, BrokerResponse.SYSTEM_ERROR, str(error))
    key = (f"{queue.topic}@{group}", queue.queue_id)
    if queue.queue_id < 0:
        return _refused(state, event, BrokerResponse.SYSTEM_ERROR, "queueId is below 0")
    if event.command.code == BrokerCode.QUERY_CONSUMER_OFFSET:
        found = state.tables[TableKind.CONSUMER].present.offsets.get(key)
        code = BrokerResponse.QUERY_NOT_FOUND if found is None else BrokerResponse.SUCCESS
        fields = push_fields({"offset": found})
        says = Respond(request=event.request, code=code, body=b"", ext_fields=fields)
        return PreOnlineDone(state, (says,))
    if offset is None:
        return _refused(state, event, BrokerResponse.SYSTEM_ERROR, "commitOffset is missing")
    state = commit(state, TableKind.CONSUMER, key, offset, now_ms=now_ms)
    done = Respond(request=event.request, code=BrokerResponse.SUCCESS, body=b"")
    return PreOnlineDone(state, (done,), PreOnlineAction(PreOnlineActionName.COMMIT))


def deliver(state: PreOnlineState, event: MessageDue, *, now_ms: TimestampMs) -> PreOnlineDone:
    """Deliver the next message of a level, if the broker serves.

    Source: ScheduleMessageService.DeliverDelayedMessageTimerTask
    """
    if not state.options.rules.takes_commits(state.serves, state.isolated):
        return PreOnlineDone(state)
    key = ("", event.level)
    offset = state.tables[TableKind.DELAY].present.offsets.get(key, 0) + 1
    state = commit(state, TableKind.DELAY, key, offset, now_ms=now_ms)
    return PreOnlineDone(state, (), PreOnlineAction(PreOnlineActionName.COMMIT))


def commit(
    state: PreOnlineState, kind: TableKind, key: QueueKey, offset: int, *, now_ms: TimestampMs
) -> PreOnlineState:
    """Change an offset; with each change of a number the version moves.

    Spec: PreOnline!Commit
    Source: ConsumerOffsetManager.commitOffset
    """
    options, table = state.options, state.tables[kind]
    step, version, moves = options.steps[kind], table.present.version, 0
    if step and options.rules.is_counted():
        moves = table.moves + 1
        if moves == step:
            moves, version = 0, _next(version, now_ms)
    offsets = MappingProxyType({**table.present.offsets, key: offset})
    present = OffsetTable(offsets=offsets, version=version)
    return state.with_table(kind, replace(table, present=present, moves=moves))


def _next(version: DataVersion, now_ms: TimestampMs) -> DataVersion:
    """Count on. Source: DataVersion.nextVersion"""
    return replace(version, counter=version.counter + 1, timestamp_ms=now_ms)


def persist(state: PreOnlineState) -> PreOnlineDone:
    """Write the tables that are not what their files say; a slave that copies does so itself.

    Spec: PreOnline!Persist
    Source: ConfigManager.persist
    """
    again: After[PreOnlineHears] = After(wait_ms=state.options.persist_ms, event=PersistDue())
    stores: list[PreOnlineDoes] = []
    for kind in TableKind:
        table = state.tables[kind]
        if table.present != table.saved:
            state, store = keep(state, kind, table.present)
            stores.append(store)
    action = PreOnlineAction(PreOnlineActionName.PERSIST) if stores else None
    return PreOnlineDone(state, (*stores, again), action)


def keep(
    state: PreOnlineState, kind: TableKind, table: OffsetTable
) -> tuple[PreOnlineState, StoreTable]:
    """Have a table in memory and in its file."""
    present = replace(state.tables[kind], present=table, saved=table)
    data = push_offsets(kind, table, is_file=True)
    return state.with_table(kind, present), StoreTable(kind=kind, data=data)


def give_table(state: PreOnlineState, event: RequestArrived, kind: TableKind) -> PreOnlineDone:
    """Give a table to whoever asks: a slave that copies, or a master that comes back."""
    if not state.options.rules.may_be_copied(state.isolated):
        return _refused(state, event, BrokerResponse.SYSTEM_ERROR, "the broker is in isolation")
    body = push_offsets(kind, state.tables[kind].present)
    says: PreOnlineDoes = Respond(request=event.request, code=BrokerResponse.SUCCESS, body=body)
    return PreOnlineDone(state, (says,))


def _refused(
    state: PreOnlineState, event: RequestArrived, code: BrokerResponse, remark: str
) -> PreOnlineDone:
    says = Respond(request=event.request, code=code, body=b"", remark=remark)
    return PreOnlineDone(state, (says,))
