"""A master of another group, which gets what is due in the log of a slave that acts.

Whatever it is given it appends to its log, and answers when that is on the disk. What is on the
disk it looks at: consumers can read it then, half messages are asked for, and pops come again.

Pure: the host hands in what was heard and what the clock shows; the log can be looked at.

Source: broker/processor `SendMessageProcessor`, `EndTransactionProcessor`, `PopReviveService`;
broker/transaction/queue `TransactionalMessageServiceImpl`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, Protocol, cast, get_args

from rocketha.acting import core as acting
from rocketha.acting.core import ActingCore, ActingHears, ChangeSpecialService
from rocketha.errors import EncodingError, PacketError, RequestError
from rocketha.escape.appending import appended
from rocketha.escape.events import (
    CheckDue,
    Done,
    EscapeAction,
    EscapeActionName,
    MasterDoes,
    MasterEvent,
    PoppedHere,
    ReviveDue,
)
from rocketha.escape.master_state import MasterOptions, MasterState, Stored
from rocketha.escape.state import frozen
from rocketha.escape.transactions import appended_end, check_halves
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse, message_id
from rocketha.formats.due_messages import (
    DELAYED_TOPIC,
    HALF_TOPIC,
    OP_TOPIC,
    PREPARED,
    TRANSACTION_BITS,
    delay_of,
    delayed,
    half,
    pull_op_body,
    revived,
)
from rocketha.formats.message import Message, Record, properties_of, properties_text, push_record
from rocketha.formats.pop_messages import (
    POP_CK,
    AckMsg,
    PopCheckPoint,
    Popped,
    ack_message,
    check_point_message,
    is_revive_topic,
    pull_extra_info,
    pull_revive_message,
    push_extra_info,
)
from rocketha.formats.put_requests import PutCode, pull_put, push_stored
from rocketha.runtime.core import Core
from rocketha.runtime.effects import After, RequestFlush, Respond
from rocketha.runtime.events import (
    LogFlushed,
    MessageAppended,
    RequestArrived,
    RequestEvent,
    ResponseArrived,
)
from rocketha.types import Offset, PutId, TimestampMs

__all__ = ["LogView", "MasterCore", "fresh", "started"]

_ACTING: Final = ActingCore()
_ACTING_EVENTS: Final = get_args(ActingHears)
_RETRY: Final = "%RETRY%"
_OWN_TOPICS: Final = frozenset({DELAYED_TOPIC, HALF_TOPIC, OP_TOPIC})
_HERE_INVISIBLE_MS: Final = 60_000

Step = Done[MasterState, MasterDoes]


class LogView(Protocol):
    """What a master may see of its log (`rocketha.storage.commit_log`)."""

    @property
    def max_phy_offset(self) -> Offset:
        """Return the end of the log."""
        ...

    @property
    def flushed_offset(self) -> Offset:
        """Return the offset up to which a power cut takes nothing."""
        ...

    def records(self, start: int = 0, end: int | None = None) -> Iterator[Record]:
        """Read the records that lie between two offsets."""
        ...

    def is_record_boundary(self, offset: Offset) -> bool:
        """Tell whether a record, or a filler, begins or ends at an offset of the log."""
        ...


def fresh(options: MasterOptions, log: LogView, *, now_ms: TimestampMs) -> MasterState:
    """Return what a master knows that has just started: what its log says."""
    state = MasterState(options=options, acting=acting.fresh(options.acting, now_ms=now_ms))
    return dispatch(state, log)


def started(options: MasterOptions) -> Iterable[After[MasterEvent]]:
    """Return what a master that has started waits for."""
    yield from acting.started(options.acting)
    yield After(wait_ms=options.check_ms, event=CheckDue())
    yield After(wait_ms=options.revive_ms, event=ReviveDue())


class MasterCore(Core[MasterState, MasterEvent, EscapeAction, LogView]):
    """The core of a master of another group."""

    effects = get_args(MasterDoes)

    def step(
        self, state: MasterState, event: MasterEvent, *, now_ms: TimestampMs, log: LogView
    ) -> Step:
        """Take one event."""
        match event:
            case RequestArrived(command=command) if command.code == BrokerCode.SEND_MESSAGE_V2:
                return store(state, event, now_ms=now_ms)
            case RequestArrived(command=command) if command.code == PutCode.END_TRANSACTION:
                state, ends = appended_end(state, command, now_ms=now_ms)
                return Done(state, ends)
            case RequestArrived(command=command) if command.code == BrokerCode.HEART_BEAT:
                code = BrokerResponse.SUCCESS
                return Done(state, (Respond(request=event.request, code=code, body=b""),))
            case MessageAppended(put=put, offset=offset, end=end):
                stored = replace(state.waiting[put], offset=offset, end=end)
                return Done(replace(state, waiting=frozen({**state.waiting, put: stored})))
            case LogFlushed():
                return _flushed(state, log)
            case CheckDue():
                state, does = check_halves(state, now_ms=now_ms)
                again: After[MasterEvent] = After(wait_ms=state.options.check_ms, event=CheckDue())
                return Done(state, (*does, again))
            case ReviveDue():
                return revive(state, log, now_ms=now_ms)
            case PoppedHere():
                return _popped_here(state, event, now_ms=now_ms)
            case _:
                return _among_name_servers(state, event, now_ms=now_ms)


def _among_name_servers(state: MasterState, event: MasterEvent, *, now_ms: TimestampMs) -> Step:
    if not isinstance(event, (RequestArrived, ResponseArrived, *_ACTING_EVENTS)):
        raise AssertionError(f"nobody tells a master of {event}")
    heard = cast("ActingHears | RequestEvent", event)
    done = _ACTING.step(state.acting, heard, now_ms=now_ms)
    does = [one for one in done.effects if not isinstance(one, ChangeSpecialService)]
    return Done(replace(state, acting=done.state), tuple(does))


# ---- puts ----


def store(state: MasterState, event: RequestArrived, *, now_ms: TimestampMs) -> Step:
    """Append what it is given; a half message goes where nobody reads it.

    Spec: Escape!StorePut, Escape!StoreCheckPoint, Escape!StoreAck
    Source: SendMessageProcessor.sendMessage, TransactionalMessageBridge.putHalfMessage
    """
    try:
        message = storable(pull_put(event.command))
    except (EncodingError, RequestError) as error:
        refused = Respond(
            request=event.request, code=BrokerResponse.MESSAGE_ILLEGAL, body=b"", remark=str(error)
        )
        return Done(state, (refused,))
    put = PutId(event.request)
    state, append = appended(state, message, now_ms=now_ms, put=put)
    waits = Stored(request=event.request, queue_offset=append.message.queue_offset)
    state = replace(state, waiting=frozen({**state.waiting, put: waits}))
    return Done(state, (append, RequestFlush()))


def storable(message: Message) -> Message:
    """Return what goes into the log; nobody writes what a master itself writes there.

    Source: TopicValidator.isNotAllowedSendTopic, SendMessageProcessor.handlePutMessageResult,
    HookUtils.handleScheduleMessage
    Raises: RequestError, EncodingError
    """
    if message.topic in _OWN_TOPICS or message.topic.startswith(_RETRY):
        raise RequestError("b", reason=f"is {message.topic}, which nobody else may write")
    if message.queue_id < 0:
        raise RequestError("e", reason=f"is {message.queue_id}")
    if message.sys_flag & TRANSACTION_BITS == PREPARED:
        message = half(message)
    elif (level := delay_of(message)) is not None:
        message = delayed(message, level)
    push_record(message, Offset(0))
    return message


def _flushed(state: MasterState, log: LogView) -> Step:
    """Look at what is on the disk now, and answer who has sent it."""
    before = state.dispatched
    state = dispatch(state, log)
    done = {put: one for put, one in state.waiting.items() if 0 <= one.end <= state.dispatched}
    left = {put: one for put, one in state.waiting.items() if put not in done}
    messages = {
        record.offset: record.message
        for one in done.values()
        for record in log.records(one.offset, one.end)
    }
    answers = [
        Respond(
            request=one.request,
            code=BrokerResponse.SUCCESS,
            body=b"",
            ext_fields=push_stored(
                messages[one.offset],
                msg_id=message_id(state.options.host, one.offset),
                queue_offset=one.queue_offset,
            ),
        )
        for one in done.values()
    ]
    action = EscapeAction(EscapeActionName.STORE) if state.dispatched > before else None
    return Done(replace(state, waiting=frozen(left)), tuple(answers), action)


def dispatch(state: MasterState, log: LogView) -> MasterState:
    """Look at what has come to the log, as far as it is on the disk, and pass filler by.

    Source: ReputMessageService
    """
    for record in log.records(state.dispatched, log.flushed_offset):
        end = Offset(record.offset + record.size)
        state = _look_at(replace(state, dispatched=end), record)
    if log.is_record_boundary(log.flushed_offset):
        state = replace(state, dispatched=max(state.dispatched, log.flushed_offset))
    return state


def _look_at(state: MasterState, record: Record) -> MasterState:
    message = record.message
    queue = (message.topic, message.queue_id)
    places = max(state.counts.get(queue, 0), message.queue_offset + 1)
    state = replace(state, counts=frozen({**state.counts, queue: places}))
    if message.topic == HALF_TOPIC:
        return replace(state, halves=frozen({**state.halves, message.queue_offset: record}))
    if message.topic == OP_TOPIC:
        ended = pull_op_body(message.body)
        left = {place: one for place, one in state.halves.items() if place not in ended}
        return replace(state, halves=frozen(left), ending=state.ending - set(ended))
    if message.topic.startswith(_RETRY):
        return _ends(replace(state, revived=state.revived | {popped_of(message)}))
    if not is_revive_topic(message.topic):
        return state
    try:
        said = pull_revive_message(message)
    except PacketError:
        return state
    if isinstance(said, AckMsg):
        return _ends(replace(state, acks=state.acks | {said.popped}))
    points = frozen({**state.check_points, said.popped: said})
    return _ends(replace(state, check_points=points))


# ---- pops ----


def revive(state: MasterState, log: LogView, *, now_ms: TimestampMs) -> Step:
    """Deliver again what was popped, whose time is up, and that nobody has acknowledged.

    RocketMQ fetches the message from the broker it was popped from; here it has no body.

    Spec: Escape!Revive
    Source: PopReviveService.mergeAndRevive, reviveRetry
    """
    again: After[MasterEvent] = After(wait_ms=state.options.revive_ms, event=ReviveDue())
    if state.dispatched < log.max_phy_offset:
        return Done(state, (again,))
    does: list[MasterDoes] = []
    for check_point in state.check_points.values():
        if check_point.revive_ms > now_ms:
            continue
        of = check_point.popped
        info = push_extra_info(check_point, state.options.acting.broker_name)
        message = Message(topic=of.topic, properties=properties_text({POP_CK: info}))
        message = revived(message, of.group, pop_time_ms=of.pop_time_ms)
        state, append = appended(state, message, now_ms=now_ms)
        does.append(append)
    if does:
        does.append(RequestFlush())
    return Done(state, (*does, again))


def popped_of(message: Message) -> Popped:
    """Return of which pop a message is that is delivered again."""
    group, _, topic = message.topic.removeprefix(_RETRY).partition("_")
    info = properties_of(message.properties)[POP_CK]
    return pull_extra_info(info, group=group, topic=topic)[0].popped


def _ends(state: MasterState) -> MasterState:
    """Forget the check points that are acknowledged or revived.

    Spec: Escape!Cancels
    """
    cancels = state.options.rules.cancels
    left = {
        of: check_point
        for of, check_point in state.check_points.items()
        if of not in state.revived and not any(cancels(of, ack) for ack in state.acks)
    }
    return replace(state, check_points=frozen(left))


def _popped_here(state: MasterState, event: PoppedHere, *, now_ms: TimestampMs) -> Step:
    """Append the check point and the ACK of a pop of its own."""
    options = state.options.acting
    popped = Popped(
        broker_name=options.broker_name,
        group=event.group,
        topic=event.topic,
        queue_id=0,
        offset=event.offset,
        pop_time_ms=now_ms,
    )
    cluster = options.cluster_name
    point = PopCheckPoint(popped=popped, invisible_ms=_HERE_INVISIBLE_MS)
    messages = (
        check_point_message(cluster, point, now_ms=now_ms),
        ack_message(cluster, AckMsg(popped=popped), now_ms=now_ms),
    )
    does: list[MasterDoes] = []
    for message in messages:
        state, append = appended(state, message, now_ms=now_ms)
        does.append(append)
    return Done(state, (*does, RequestFlush()))
