"""Requests to controllers: each has a number, and is forgotten when nobody answers in time.

An answer counts once, and only for a request of this start of the broker: the numbers of different
starts differ. What an answer says may still be old; whoever takes it looks at its epochs.

Source: broker/out `BrokerOuterAPI`, remoting/netty `NettyRemotingAbstract` (`responseTable`)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from rocketha.broker.state import Asked, GroupBroker
from rocketha.errors import PacketError, RequestError
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import ControllerRequest, Heartbeat, Incarnation
from rocketha.formats.controller_responses import Reply, pull_reply
from rocketha.formats.remoting_command import FLAG_ONEWAY, RemotingCommand
from rocketha.formats.remoting_frame import push_command
from rocketha.runtime.effects import SendToController
from rocketha.types import TimestampMs

__all__ = ["Answer", "ask", "beat", "expire", "first_opaque", "is_asking", "take_answer"]

_CALLS_MAX: Final = 1 << 16
_STARTS_MAX: Final = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a controller says to a request that was waiting for it."""

    request: ControllerRequest
    reply: Reply
    controller: int = 0
    """Who was asked, by its place in `GroupOptions.controllers`."""


def first_opaque(incarnation: Incarnation) -> int:
    """Return the first number of a start; an answer to an earlier one has another."""
    return incarnation % _STARTS_MAX * _CALLS_MAX + 1


def ask(
    state: GroupBroker,
    request: ControllerRequest,
    *,
    now_ms: TimestampMs,
    controller: int | None = None,
) -> tuple[GroupBroker, SendToController]:
    """Send a request, and wait for its answer; None: to the controller that is followed."""
    opaque, to = state.next_opaque, state.controller if controller is None else controller
    asked = {**state.asked, opaque: Asked(request=request, at_ms=now_ms, controller=to)}
    following = opaque + 1 if (opaque + 1) % _CALLS_MAX else opaque + 2 - _CALLS_MAX
    waits = replace(state, asked=MappingProxyType(asked), next_opaque=following)
    data = push_command(push_request(request, opaque=opaque))
    return waits, SendToController(data=data, controller=to)


def beat(state: GroupBroker, heartbeat: Heartbeat) -> SendToController:
    """Send a heartbeat to the controller that is followed; nobody waits for an answer.

    Source: BrokerOuterAPI.sendHeartbeatToController
    """
    command = replace(push_request(heartbeat, opaque=0), flag=FLAG_ONEWAY)
    return SendToController(data=push_command(command), controller=state.controller)


def take_answer(state: GroupBroker, command: RemotingCommand) -> tuple[GroupBroker, Answer] | None:
    """Read a response; None if nobody waits for it, or it cannot be read: then it is not given."""
    asked = state.asked.get(command.opaque)
    if asked is None:
        return None
    code = RequestCode(push_request(asked.request, opaque=0).code)
    try:
        reply = pull_reply(command, code)
    except (PacketError, RequestError):
        return None
    answer = Answer(request=asked.request, reply=reply, controller=asked.controller)
    return _forget(state, command.opaque), answer


def expire(state: GroupBroker, *, now_ms: TimestampMs) -> tuple[GroupBroker, tuple[Asked, ...]]:
    """Forget the requests that were not answered in time; return them."""
    timeout_ms = state.options.request_timeout_ms
    late = {o: a for o, a in state.asked.items() if now_ms - a.at_ms >= timeout_ms}
    if not late:
        return state, ()
    return _forget(state, *late), tuple(late.values())


def is_asking(state: GroupBroker, kind: type[ControllerRequest]) -> bool:
    """Tell whether a request of this kind waits for its answer."""
    return any(isinstance(request, kind) for request in _requests(state))


def _requests(state: GroupBroker) -> Iterator[ControllerRequest]:
    return (asked.request for asked in state.asked.values())


def _forget(state: GroupBroker, *opaques: int) -> GroupBroker:
    left = {opaque: asked for opaque, asked in state.asked.items() if opaque not in opaques}
    return replace(state, asked=MappingProxyType(left))
