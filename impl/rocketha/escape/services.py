"""What a slave that acts puts into the logs of other masters, and how far it has passed.

A record is put when its time is up, at most a window of them at a time, and again when its put has
failed. Progress passes it when a master has said that it has it, and is written to the disk.
Released programs pass a half message that they have put eleven times in vain, too.

Source: broker/failover `EscapeBridge`; broker/schedule `ScheduleMessageService`
(`DeliverDelayedMessageTimerTask`, `persistDelayOffset`); broker/transaction/queue
`TransactionalMessageServiceImpl.check`
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rocketha.escape.events import (
    Done,
    EscapeAction,
    EscapeActionName,
    PersistDue,
    ServeDue,
    SlaveDoes,
    SlaveEvent,
)
from rocketha.escape.state import Due, Service, SlaveState, frozen, pop_key
from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.due_messages import (
    DELAYED_TOPIC,
    HALF_TOPIC,
    OP_TOPIC,
    PRODUCER_GROUP,
    committed,
    prepared_again,
    pull_op_body,
    time_is_up,
)
from rocketha.formats.message import Message, properties_of
from rocketha.formats.offset_tables import OffsetTable, TableKind, push_offsets
from rocketha.formats.put_requests import is_put_ok, push_put
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.pre_online.events import StoreTable
from rocketha.runtime.effects import After, AppendMessage, FlushLog, SendRequest
from rocketha.types import RequestReference, TimestampMs

__all__ = [
    "PUTS",
    "Step",
    "delayed_records",
    "half_records",
    "heard_put",
    "persist",
    "put_request",
    "serve",
    "stored_table",
]

PUTS: Final = 21
"""What a request is for: the first number of its reference, before the service and its own."""

Step = Done[SlaveState, SlaveDoes]


# ---- what there is to put ----


def delayed_records(messages: tuple[Message, ...], level: int, level_ms: int) -> tuple[Due, ...]:
    """Return the delayed messages of a level in the slave's log, in their order."""
    return tuple(
        Due(message=time_is_up(one), at_ms=one.store_timestamp_ms + level_ms)
        for one in messages
        if one.topic == DELAYED_TOPIC and one.queue_id == level - 1
    )


def half_records(messages: tuple[Message, ...]) -> tuple[tuple[Due, ...], frozenset[int]]:
    """Return the half messages in the slave's log, and which of them have ended."""
    halves = [one for one in messages if one.topic == HALF_TOPIC]
    ended = [place for one in messages if one.topic == OP_TOPIC for place in pull_op_body(one.body)]
    records = tuple(Due(message=one, at_ms=one.store_timestamp_ms) for one in halves)
    return records, frozenset(place + 1 for place in ended)


# ---- puts ----


def serve(state: SlaveState, at: int, *, now_ms: TimestampMs) -> Step:
    """Let a service put what is due, if the slave acts, and look again in a while.

    Spec: Escape!Put
    """
    does: list[SlaveDoes] = []
    action = None
    if state.acts:
        state, does, action = _serve_one(state, at, now_ms=now_ms)
        state = _passed(state)
    again: After[SlaveEvent] = After(wait_ms=_wait_ms(state, at), event=ServeDue(at))
    return Done(state, (*does, again), action)


def _wait_ms(state: SlaveState, at: int) -> int:
    """Return when a service looks again; a released one goes on with a half message."""
    options, service = state.options, state.services[at]
    if not service.is_half:
        return options.serve_ms
    return options.retry_ms if options.released and service.failures else options.half_ms


def _serve_one(
    state: SlaveState, at: int, *, now_ms: TimestampMs
) -> tuple[SlaveState, list[SlaveDoes], EscapeAction | None]:
    options = state.options
    does: list[SlaveDoes] = []
    action = None
    for record in due(state.services[at], options.retry_ms, now_ms=now_ms):
        service = state.services[at]
        message = service.records[record - 1].message
        if service.is_half:
            message = committed(message) if options.rules.shows(True) else prepared_again(message)
        if options.rules.may_put_here(record in service.failed):
            state, puts = _put_here(state, at, record, message, now_ms=now_ms)
            does += puts
            action = EscapeAction(EscapeActionName.PUT_HERE)
            continue
        targets = sorted(state.targets)
        if not targets:
            state = state.with_service(at, _failed_again(service, record))
            break
        number = state.numbers + 1
        master = targets[number % len(targets)]
        does.append(put_request(state, message, master, (PUTS, at, number)))
        failed = {one: when for one, when in service.failed.items() if one != record}
        service = replace(
            service, under=frozen({**service.under, record: number}), failed=frozen(failed)
        )
        state = replace(state.with_service(at, service), numbers=number)
        action = action or EscapeAction(EscapeActionName.PUT)
    return state, does, action


def due(service: Service, retry_ms: int, *, now_ms: TimestampMs) -> list[int]:
    """Return the records that are to be put now.

    Spec: Escape!IsDue
    """
    first, last = service.progress + 1, service.progress + service.window
    found = []
    for record in range(first, min(last, len(service.records)) + 1):
        is_done = record in service.heard | service.ended or record in service.under
        if is_done or now_ms < service.records[record - 1].at_ms:
            continue
        if now_ms >= service.failed.get(record, -retry_ms) + retry_ms:
            found.append(record)
    return found


def put_request(
    state: SlaveState, message: Message, master: str, reference: RequestReference
) -> SendRequest:
    """Put a message to a master. Source: BrokerOuterAPI.sendMessageToSpecificBroker"""
    inner = f"InnerProducerGroup_{state.options.acting.broker_name}_{state.options.acting.own_id}"
    group = properties_of(message.properties).get(PRODUCER_GROUP) or inner
    return SendRequest(
        peer=state.options.masters[master],
        code=BrokerCode.SEND_MESSAGE_V2,
        body=message.body,
        ext_fields=push_put(message, group),
        reference=reference,
        timeout_ms=state.options.request_timeout_ms,
    )


def _put_here(
    state: SlaveState, at: int, record: int, message: Message, *, now_ms: TimestampMs
) -> tuple[SlaveState, list[SlaveDoes]]:
    """Append to the slave's own log, which its rules allow never.

    Spec: Escape!PutHere
    """
    service = state.services[at]
    state = state.with_service(at, replace(service, heard=service.heard | {record}))
    return state, [AppendMessage(message=message, store_timestamp_ms=now_ms), FlushLog()]


def heard_put(
    state: SlaveState, reference: RequestReference, command: RemotingCommand | None, *, now_ms: int
) -> Step:
    """Hear that a put is stored, or that it is not, or wait for it no longer.

    Spec: Escape!HearPut, Escape!FailPut
    Source: EscapeBridge.transformSendResult2PutResult
    """
    at, number = reference[1:]
    service = state.services[at]
    records = [record for record, of in service.under.items() if of == number]
    if not records:
        return Done(state)
    (record,) = records
    under = frozen({one: of for one, of in service.under.items() if one != record})
    if is_put_ok(command):
        service = replace(service, under=under, heard=service.heard | {record})
        name = EscapeActionName.HEAR_PUT
    else:
        failed = frozen({**service.failed, record: now_ms})
        service = replace(_failed_again(service, record), under=under, failed=failed)
        name = EscapeActionName.FAIL_PUT
    return Done(_passed(state.with_service(at, service)), (), EscapeAction(name))


def _failed_again(service: Service, record: int) -> Service:
    failures = {**service.failures, record: service.failures.get(record, 0) + 1}
    return replace(service, failures=frozen(failures))


# ---- progress ----


def _is_given_up(state: SlaveState, service: Service, record: int) -> bool:
    """Tell whether a released program has put a half message often enough.

    Spec: Escape!CouldNotPut
    Source: TransactionalMessageServiceImpl.check
    """
    if not (state.options.released and service.is_half) or record in service.under:
        return False
    return service.failures.get(record, 0) >= state.options.half_tries


def _passed(state: SlaveState) -> SlaveState:
    """Pass what need not be put any more, if the slave acts.

    Spec: Escape!Pass
    """
    if not state.acts:
        return state
    may_pass = state.options.rules.may_pass
    for at, service in enumerate(state.services):
        progress = service.progress
        while (record := progress + 1) <= len(service.records):
            passes = may_pass(
                record in service.heard,
                record in service.ended,
                record in service.under,
                record in service.failed,
            )
            if not (passes or _is_given_up(state, service, record)):
                break
            progress = record
        if progress != service.progress:
            failures = {one: n for one, n in service.failures.items() if one > progress}
            service = replace(service, progress=progress, failures=frozen(failures))
            state = state.with_service(at, service)
    return state


def persist(state: SlaveState) -> Step:
    """Write the tables that are not what their files say.

    Spec: Escape!Save
    Source: ScheduleMessageService.persist, ConsumerOffsetManager.persist
    """
    again: After[SlaveEvent] = After(wait_ms=state.options.persist_ms, event=PersistDue())
    changed = {one.kind for one in state.services if one.saved != _written(state, one)}
    action = EscapeAction(EscapeActionName.SAVE) if changed else None
    if state.queue.saved != state.queue.at:
        changed.add(TableKind.CONSUMER)
    stores: list[SlaveDoes] = []
    for kind in sorted(changed):
        state, store = stored_table(state, kind)
        stores.append(store)
    return Done(state, (*stores, again), action)


def stored_table(state: SlaveState, kind: TableKind) -> tuple[SlaveState, StoreTable]:
    """Have all of a table in its file."""
    offsets = {}
    for at, service in enumerate(state.services):
        if service.kind is kind:
            saved = _written(state, service)
            offsets[service.key] = saved
            state = state.with_service(at, replace(service, saved=saved))
    if kind is TableKind.CONSUMER:
        queue = state.queue
        offsets[pop_key(state.options)] = queue.at
        state = replace(state, queue=replace(queue, saved=queue.at))
    table = OffsetTable(offsets=offsets, version=state.version)
    return state, StoreTable(kind=kind, data=push_offsets(kind, table, is_file=True))


def _written(state: SlaveState, service: Service) -> int:
    return state.options.rules.written(service.progress, bool(service.under))
