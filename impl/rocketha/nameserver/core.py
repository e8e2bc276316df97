"""A name server, as its host sees it: requests, channels that end, brokers that are silent.

What ends is decided at one time and done at another, as in RocketMQ: in between the same broker may
register again. A step is at most one action of the specification; where several brokers are
concerned, the rest follows at once.

Source: namesrv/processor `DefaultRequestProcessor`, `ClientRequestProcessor`; namesrv/routeinfo
`BrokerHousekeepingService`, `BatchUnregistrationService`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias, assert_never, get_args

from rocketha.errors import PacketError, RequestError
from rocketha.formats.name_server_codec import (
    pull_name_server_request,
    push_name_server_reply,
)
from rocketha.formats.name_server_codes import (
    REGISTER_FAILED_REMARK,
    NameServerCode,
    NameServerResponse,
    no_route_remark,
)
from rocketha.formats.name_server_requests import (
    BrokerHeartbeat,
    GetBrokerMemberGroup,
    GetRouteInfo,
    NameServerAnswer,
    NameServerReply,
    QueryDataVersion,
    RegisterBroker,
    UnregisterBroker,
)
from rocketha.nameserver import routes
from rocketha.nameserver.registration import (
    Notice,
    decide,
    has_only_a_topic,
    heard,
    is_decided,
    register,
    remove_next,
)
from rocketha.nameserver.state import NameServerState
from rocketha.nameserver.table import Registration
from rocketha.runtime.core import Core
from rocketha.runtime.effects import After, Effect, Respond, Then
from rocketha.runtime.events import (
    ConnectionLost,
    RequestArrived,
    RequestEvent,
    ResponseArrived,
)
from rocketha.types import ConnectionId, TimestampMs

__all__ = [
    "CloseChannel",
    "NameServerAction",
    "NameServerActionName",
    "NameServerCore",
    "NameServerDone",
    "NameServerHears",
    "RemovalDue",
    "ScanDue",
    "SilentFound",
    "TellMinBrokerId",
    "started",
]


@dataclass(frozen=True, slots=True)
class ScanDue:
    """It is time to look for brokers that are silent."""


@dataclass(frozen=True, slots=True)
class SilentFound:
    """Brokers are silent for too long: brokerName and registration of each."""

    found: tuple[tuple[str, Registration], ...]


@dataclass(frozen=True, slots=True)
class RemovalDue:
    """It is time to do what was decided first."""


NameServerHears: TypeAlias = ConnectionLost | ScanDue | SilentFound | RemovalDue
"""What a name server hears, besides requests."""
_Event: TypeAlias = NameServerHears | RequestEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class TellMinBrokerId(Effect):
    """Tell a broker of another smallest brokerId, one way."""

    notice: Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseChannel(Effect):
    """Close the connection of a broker that is silent."""

    conn: ConnectionId


_Does: TypeAlias = (
    Respond | TellMinBrokerId | CloseChannel | After[NameServerHears] | Then[NameServerHears]
)


class NameServerActionName(StrEnum):
    """The actions of Route that a name server takes."""

    RECEIVE_REGISTRATION = "ReceiveRegistration"
    DECIDE = "Decide"
    REMOVE = "Remove"
    POLL = "Poll"
    ANSWER_CLIENT = "AnswerClient"


@dataclass(frozen=True, slots=True)
class NameServerAction:
    """The action of the specification that a step took."""

    name: NameServerActionName
    broker: str | None = None
    """The address of whom it is about."""


@dataclass(frozen=True, slots=True)
class NameServerDone:
    """The result of one step."""

    state: NameServerState
    effects: tuple[_Does, ...] = ()
    action: NameServerAction | None = None


_ANSWERED: Final = frozenset(NameServerCode) - {NameServerCode.NOTIFY_MIN_BROKER_ID_CHANGE}


def started(state: NameServerState) -> Iterable[After[NameServerHears]]:
    """Return what a name server that has started waits for."""
    yield After(wait_ms=state.options.scan_not_active_ms, event=ScanDue())


class NameServerCore(Core[NameServerState, _Event, NameServerAction, object]):
    """The core of a name server, which asks nobody."""

    effects = get_args(_Does)

    def step(
        self,
        state: NameServerState,
        event: _Event,
        *,
        now_ms: TimestampMs,
        log: object = None,
    ) -> NameServerDone:
        """Take one event."""
        del log
        match event:
            case RequestArrived():
                return _asked(state, event, now_ms=now_ms)
            case ConnectionLost(conn=conn):
                return _ends(state, conn)
            case ScanDue():
                return _scan(state, now_ms=now_ms)
            case SilentFound(found=found):
                return _silent(state, found)
            case RemovalDue():
                return _remove(state)
            case ResponseArrived():
                return NameServerDone(state)
            case _ as unreachable:
                assert_never(unreachable)


# ---- requests ----


def _asked(state: NameServerState, event: RequestArrived, *, now_ms: TimestampMs) -> NameServerDone:
    if event.command.code not in _ANSWERED:
        refused = NameServerReply(code=NameServerResponse.REQUEST_CODE_NOT_SUPPORTED)
        return NameServerDone(state, (_reply(event, refused),))
    try:
        request = pull_name_server_request(event.command)
    except (PacketError, RequestError) as error:
        refused = NameServerReply(code=NameServerResponse.SYSTEM_ERROR, remark=str(error))
        return NameServerDone(state, (_reply(event, refused),))
    match request:
        case RegisterBroker():
            return _register(state, event, request, now_ms=now_ms)
        case UnregisterBroker():
            return _unregister(state, event, request)
        case BrokerHeartbeat(broker_name=name, broker_address=address):
            state = heard(state, name, address, now_ms=now_ms)
            return NameServerDone(state, (_answer(event, None),))
        case QueryDataVersion(broker_name=name, broker_address=address):
            answer = routes.data_version(state, request)
            state = heard(state, name, address, now_ms=now_ms)
            return NameServerDone(state, (_answer(event, answer),))
        case GetBrokerMemberGroup():
            members = routes.member_group(state, request.cluster_name, request.broker_name)
            action = NameServerAction(NameServerActionName.POLL)
            return NameServerDone(state, (_answer(event, members),), action)
        case GetRouteInfo(topic=topic):
            return _route(state, event, topic)
        case _ as unreachable:
            assert_never(unreachable)


def _register(
    state: NameServerState, event: RequestArrived, request: RegisterBroker, *, now_ms: TimestampMs
) -> NameServerDone:
    if has_only_a_topic(state, request):
        refused = NameServerReply(
            code=NameServerResponse.SYSTEM_ERROR, remark=REGISTER_FAILED_REMARK
        )
        return NameServerDone(state, (_reply(event, refused),))
    assert event.conn is not None, "who registers has a channel"
    changed = register(state, request, event.conn, now_ms=now_ms)
    answer = _answer(event, routes.registered(changed.state, request))
    name = NameServerActionName.RECEIVE_REGISTRATION
    action = NameServerAction(name, request.broker_address)
    return NameServerDone(changed.state, (answer, *_tell(changed.notices)), action)


def _unregister(
    state: NameServerState, event: RequestArrived, request: UnregisterBroker
) -> NameServerDone:
    """End what a broker has registered on this connection or an earlier one.

    What it has registered on a later one, it has said since.
    """
    if sum(one.asked_for for one in state.removals) >= state.options.removals_max:
        refused = NameServerReply(code=NameServerResponse.SYSTEM_ERROR)
        return NameServerDone(state, (_reply(event, refused),))
    group = state.groups.get(request.broker_name)
    present = None if group is None else group.found(request.broker_address)
    answer = _answer(event, None)
    assert event.conn is not None, "who unregisters has a channel"
    if present is None or present.conn > event.conn:
        return NameServerDone(state, (answer,))
    ends = _decided(state, request.broker_name, present, asked_for=True)
    return NameServerDone(ends.state, (answer, *ends.effects), ends.action)


def _route(state: NameServerState, event: RequestArrived, topic: str) -> NameServerDone:
    route = routes.topic_route(state, topic)
    action = NameServerAction(NameServerActionName.ANSWER_CLIENT)
    if route is None:
        unknown = NameServerResponse.TOPIC_NOT_EXIST
        none = NameServerReply(code=unknown, remark=no_route_remark(topic))
        return NameServerDone(state, (_reply(event, none),), action)
    return NameServerDone(state, (_answer(event, route),), action)


def _answer(event: RequestArrived, answer: NameServerAnswer | None) -> Respond:
    """Return an answer of success, perhaps an empty one."""
    return _reply(event, NameServerReply(answer=answer))


def _reply(event: RequestArrived, reply: NameServerReply) -> Respond:
    command = push_name_server_reply(reply, event.command)
    return Respond(
        request=event.request,
        code=command.code,
        body=command.body,
        ext_fields=command.ext_fields,
        remark=command.remark,
        empty_fields=command.empty_fields,
    )


def _tell(notices: Iterable[Notice]) -> Iterator[TellMinBrokerId]:
    for notice in notices:
        yield TellMinBrokerId(notice=notice)


# ---- ends ----


def _scan(state: NameServerState, *, now_ms: TimestampMs) -> NameServerDone:
    """Look for brokers that are silent for too long.

    Source: RouteInfoManager.scanNotActiveBroker
    """
    again: After[NameServerHears] = After(wait_ms=state.options.scan_not_active_ms, event=ScanDue())
    found = tuple(
        [
            (name, one)
            for name, group in state.groups.items()
            for one in group.brokers.values()
            if now_ms - one.heard_ms > one.timeout_ms and not is_decided(state, name, one)
        ]
    )
    then: Then[NameServerHears] = Then(event=SilentFound(found))
    return NameServerDone(state, (again, then) if found else (again,))


def _silent(state: NameServerState, found: tuple[tuple[str, Registration], ...]) -> NameServerDone:
    """Take the first for gone, and then the others."""
    (name, one), rest = found[0], found[1:]
    ends = _decided(state, name, one)
    then: Then[NameServerHears] = Then(event=SilentFound(rest))
    closes = CloseChannel(conn=one.conn)
    effects = (closes, *ends.effects, then) if rest else (closes, *ends.effects)
    return NameServerDone(ends.state, effects, ends.action)


def _ends(state: NameServerState, conn: ConnectionId) -> NameServerDone:
    """Take a broker for gone whose channel is; several brokers may have had it.

    Source: BrokerHousekeepingService.onChannelClose, RouteInfoManager.onChannelDestroy
    """
    found = [
        (name, one)
        for name in sorted(state.groups_over(conn))
        for one in state.groups[name].brokers.values()
        if one.conn == conn and not is_decided(state, name, one)
    ]
    if not found:
        return NameServerDone(state)
    ends = _decided(state, *found[0])
    more: Then[NameServerHears] = Then(event=ConnectionLost(conn=conn))
    effects = (*ends.effects, more) if len(found) > 1 else ends.effects
    return NameServerDone(ends.state, effects, ends.action)


def _decided(
    state: NameServerState, broker_name: str, meant: Registration, *, asked_for: bool = False
) -> NameServerDone:
    due: After[NameServerHears] = After(wait_ms=state.options.removal_ms, event=RemovalDue())
    if is_decided(state, broker_name, meant):
        return NameServerDone(state)
    action = NameServerAction(NameServerActionName.DECIDE, meant.address)
    state = decide(state, broker_name, meant, asked_for=asked_for)
    return NameServerDone(state, (due,), action)


def _remove(state: NameServerState) -> NameServerDone:
    if not state.removals:
        return NameServerDone(state)
    action = NameServerAction(NameServerActionName.REMOVE, state.removals[0].meant.address)
    changed = remove_next(state)
    return NameServerDone(changed.state, tuple(_tell(changed.notices)), action)
