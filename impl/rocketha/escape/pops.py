"""What consumers pop from a slave that acts, and say that they have done.

A message is given when a master has its check point. The consumer is given the name of that master,
too, and the ACK goes there, wherever others go by then. Released programs take for both the first
master in their process, or a hash modulo the number of queues of the moment; and the consumer is
told that its ACK is stored whatever becomes of it.

A pop has its name by its time, so no two have one time: a message whose check point could not be
put may be popped again in the same millisecond, and an ACK would be of either. Released programs
look at the clock only.

One consumer pops at a time. How far they are lies on the disk before a message is given, so a slave
that starts again gives none twice. Released programs write it now and then.

Source: broker/processor `PopMessageProcessor`, `QueueLockManager`, `AckMessageProcessor`;
`EscapeBridge.putMessageToSpecificQueue`
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rocketha.errors import RequestError
from rocketha.escape.events import Done, EscapeAction, EscapeActionName
from rocketha.escape.services import Step, put_request, stored_table
from rocketha.escape.state import PopUnderWay, SlaveState, frozen
from rocketha.formats.broker_requests import BrokerResponse
from rocketha.formats.ext_fields import push_fields
from rocketha.formats.message import Message, properties_of, properties_text, push_record
from rocketha.formats.offset_tables import TableKind
from rocketha.formats.pop_messages import (
    POP_CK,
    AckMsg,
    PopCheckPoint,
    Popped,
    ack_message,
    check_point_message,
    pull_extra_info,
    push_extra_info,
)
from rocketha.formats.put_requests import (
    PutCode,
    is_put_ok,
    pull_ack_message,
    pull_pop_message,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.effects import Respond
from rocketha.runtime.events import RequestArrived
from rocketha.types import Offset, RequestId, RequestReference, TimestampMs

__all__ = ["POPS", "POP_CODES", "heard_pop", "pop_asked"]

POPS: Final = 22
"""What a request is for: the first number of its reference, before its own."""
POP_CODES: Final = frozenset({PutCode.POP_MESSAGE, PutCode.ACK_MESSAGE})


def pop_asked(state: SlaveState, event: RequestArrived, *, now_ms: TimestampMs) -> Step:
    """Hear a consumer, if the slave acts."""
    if not state.acts:
        return _refused(state, event.request, BrokerResponse.SERVICE_NOT_AVAILABLE, "it is a slave")
    try:
        if event.command.code == PutCode.POP_MESSAGE:
            return pop(state, event, now_ms=now_ms)
        return acknowledge(state, event, now_ms=now_ms)
    except RequestError as error:
        return _refused(state, event.request, BrokerResponse.SYSTEM_ERROR, str(error))


def pop(state: SlaveState, event: RequestArrived, *, now_ms: TimestampMs) -> Step:
    """Send a check point of the next message to a master, and give the message when it is there.

    Spec: Escape!CheckPoint
    Source: PopMessageProcessor.appendCheckPoint
    Raises: RequestError
    """
    asks, options, queue = pull_pop_message(event.command), state.options, state.queue
    if (asks.queue.topic, asks.group) != (options.topic, options.consumers):
        raise RequestError("topic", reason="is not what consumers pop here")
    offset = queue.at
    is_locked = any(not one.is_ack for one in state.pops.values())
    if is_locked or offset >= len(queue.messages):
        why = "another one pops" if is_locked else "there is no message"
        return _refused(state, event.request, BrokerResponse.PULL_NOT_FOUND, why)
    may_hold = options.rules.may_hold
    holders = [one for one in sorted(state.known) if may_hold(one, state.holders)]
    if not holders:
        code = BrokerResponse.SERVICE_NOT_AVAILABLE
        return _refused(state, event.request, code, "no master is known")
    popped_ms, last_ms = now_ms, state.popped_ms
    if last_ms is not None and last_ms >= now_ms and not options.released:
        popped_ms = TimestampMs(last_ms + 1)
    state = replace(state, popped_ms=popped_ms)
    popped = Popped(
        broker_name=options.acting.broker_name,
        group=asks.group,
        topic=asks.queue.topic,
        queue_id=0,
        offset=offset,
        pop_time_ms=popped_ms,
    )
    check_point = PopCheckPoint(popped=popped, invisible_ms=asks.invisible_ms)
    message = check_point_message(options.acting.cluster_name, check_point, now_ms=now_ms)
    holder = holders[state.numbers % len(holders)]
    sent = PopUnderWay(request=event.request, check_point=check_point, holder=holder, is_ack=False)
    return _sent(state, sent, message, EscapeActionName.CHECK_POINT)


def acknowledge(state: SlaveState, event: RequestArrived, *, now_ms: TimestampMs) -> Step:
    """Send an ACK to the master that has its check point, and say so when it is there.

    Released programs send it where check points go by now, if there is somebody.

    Spec: Escape!Acknowledge
    Source: AckMessageProcessor.appendAck
    Raises: RequestError
    """
    asks, options = pull_ack_message(event.command), state.options
    check_point, holder = pull_extra_info(asks.extra_info, group=asks.group, topic=asks.queue.topic)
    masters = _takers(state, holder)
    if not masters and options.released:
        return _accepted(state, event.request)
    if not masters:
        raise RequestError("extraInfo", reason="names a broker that is not known")
    ack = AckMsg(popped=check_point.popped)
    message = ack_message(options.acting.cluster_name, ack, now_ms=now_ms)
    sent = PopUnderWay(
        request=event.request, check_point=check_point, holder=masters[0], is_ack=True
    )
    return _sent(state, sent, message, EscapeActionName.ACKNOWLEDGE)


def _takers(state: SlaveState, holder: str) -> list[str]:
    """Return to whom an ACK may go, of whose check point `holder` is.

    Spec: Escape!MayAck
    """
    if state.options.released:
        return sorted(state.holders)
    may_ack = state.options.rules.may_ack
    return [one for one in sorted(state.options.masters) if may_ack(one, holder, state.targets)]


def _accepted(state: SlaveState, request: RequestId) -> Step:
    done = Respond(request=request, code=BrokerResponse.SUCCESS, body=b"")
    return Done(state, (done,), EscapeAction(EscapeActionName.ACCEPT))


def _sent(state: SlaveState, sent: PopUnderWay, message: Message, name: EscapeActionName) -> Step:
    number = state.numbers + 1
    request = put_request(state, message, sent.holder, (POPS, number))
    pops = frozen({**state.pops, number: sent})
    state = replace(state, pops=pops, numbers=number)
    return Done(state, (request,), EscapeAction(name))


def heard_pop(
    state: SlaveState, reference: RequestReference, command: RemotingCommand | None
) -> Step:
    """Hear what became of a check point, or of an ACK, and tell the consumer.

    Spec: Escape!Accept
    """
    number = reference[1]
    sent = state.pops[number]
    left = frozen({one: of for one, of in state.pops.items() if one != number})
    state = replace(state, pops=left)
    options = state.options
    if sent.is_ack and options.rules.may_accept(options.released or is_put_ok(command)):
        return _accepted(state, sent.request)
    if sent.is_ack:
        return _refused(state, sent.request, BrokerResponse.SYSTEM_ERROR, "the ACK is not stored")
    if not is_put_ok(command):
        why = "the check point is not stored"
        return _refused(state, sent.request, BrokerResponse.SYSTEM_ERROR, why)
    at = sent.check_point.popped.offset + 1
    state = replace(state, queue=replace(state.queue, at=at))
    if options.released:
        return Done(state, (_answer(state, sent),))
    state, store = stored_table(state, TableKind.CONSUMER)
    return Done(state, (store, _answer(state, sent)))


def _answer(state: SlaveState, sent: PopUnderWay) -> Respond:
    """Give a message, with what its consumer is to give back."""
    of = sent.check_point.popped
    message = state.queue.messages[of.offset]
    extra_info = push_extra_info(sent.check_point, sent.holder)
    properties = properties_of(message.properties) | {POP_CK: extra_info}
    place = f"0 {of.queue_id} {of.offset}"
    fields = push_fields(
        {
            "invisibleTime": sent.check_point.invisible_ms,
            "msgOffsetInfo": place,
            "popTime": of.pop_time_ms,
            "restNum": len(state.queue.messages) - 1 - of.offset,
            "reviveQid": 0,
            "startOffsetInfo": place,
        }
    )
    given = replace(message, properties=properties_text(properties))
    return Respond(
        request=sent.request,
        code=BrokerResponse.SUCCESS,
        body=push_record(given, Offset(0), whole_crc=False),
        ext_fields=fields,
    )


def _refused(state: SlaveState, request: RequestId, code: BrokerResponse, remark: str) -> Step:
    return Done(state, (Respond(request=request, code=code, body=b"", remark=remark),))
