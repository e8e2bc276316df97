"""A slave among name servers and other masters, as its host sees it.

By what `rocketha.acting` hears it begins and ceases to act. Then its services put what is due
(`rocketha.escape.services`), and consumers pop (`rocketha.escape.pops`). Which masters there are it
asks a name server, and its process, of those that run there.

Pure: the host hands in what was heard and what the clock shows.

Source: broker `BrokerController` (`changeSpecialServiceStatus`, `peekMasterBroker`);
broker/topic `TopicRouteInfoManager`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, cast, get_args

from rocketha.acting import core as acting
from rocketha.acting.core import ActingCore, ActingDone, ActingHears, ChangeSpecialService
from rocketha.errors import PacketError, RequestError
from rocketha.escape.events import (
    Done,
    EscapeAction,
    EscapeActionName,
    LocalChanged,
    PersistDue,
    RouteDue,
    ServeDue,
    SlaveDoes,
    SlaveEvent,
)
from rocketha.escape.pops import POP_CODES, POPS, heard_pop, pop_asked
from rocketha.escape.services import (
    PUTS,
    Step,
    delayed_records,
    half_records,
    heard_put,
    persist,
    serve,
)
from rocketha.escape.state import (
    HALF_KEY,
    Due,
    Queue,
    Service,
    SlaveOptions,
    SlaveState,
    delay_key,
    pop_key,
)
from rocketha.formats.message import Message
from rocketha.formats.name_server_codec import pull_name_server_reply, push_name_server_request
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import DataVersion, GetRouteInfo, TopicRouteData
from rocketha.formats.offset_tables import OffsetTable, QueueKey, TableKind
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.core import Core
from rocketha.runtime.effects import After, SendRequest
from rocketha.runtime.events import RequestArrived, RequestEvent, ResponseArrived
from rocketha.types import MASTER, TimestampMs

__all__ = ["DELAYED", "HALVES", "SlaveCore", "fresh", "started"]

_ROUTE: Final = 23
"""What a request is for: the first number of its reference, before its own."""
_WRITE: Final = 2
"""PermName.PERM_WRITE"""
DELAYED: Final = 0
HALVES: Final = 1
"""Places of the services."""
_ACTING: Final = ActingCore()
_ACTING_EVENTS: Final = get_args(ActingHears)


def fresh(
    options: SlaveOptions,
    messages: tuple[Message, ...],
    files: Mapping[TableKind, OffsetTable | None],
    *,
    now_ms: TimestampMs,
) -> SlaveState:
    """Return what a slave knows that has just started, by its log and its files.

    Spec: Escape!Start
    """
    saved: dict[QueueKey, int] = {}
    for table in files.values():
        saved |= {} if table is None else dict(table.offsets)
    halves, ended = half_records(messages)
    waiting = delayed_records(messages, options.level, options.level_ms)
    services = (
        _service(TableKind.DELAY, delay_key(options.level), waiting, options, saved),
        replace(
            _service(TableKind.CONSUMER, HALF_KEY, halves, options, saved),
            window=options.half_window,
            is_half=True,
            ended=ended,
        ),
    )
    at = saved.get(pop_key(options), 0)
    read = tuple(one for one in messages if one.topic == options.topic)
    return SlaveState(
        options=options,
        acting=acting.fresh(options.acting, now_ms=now_ms),
        services=services,
        queue=Queue(messages=read, at=at, saved=at),
        version=DataVersion(0, 0, now_ms),
    )


def _service(
    kind: TableKind,
    key: QueueKey,
    records: tuple[Due, ...],
    options: SlaveOptions,
    saved: Mapping[QueueKey, int],
) -> Service:
    at = saved.get(key, 0)
    return Service(
        kind=kind,
        key=key,
        records=records,
        window=options.delayed_window,
        is_half=False,
        progress=at,
        saved=at,
    )


def started(options: SlaveOptions) -> Iterable[After[SlaveEvent]]:
    """Return what a slave that has started waits for."""
    yield from acting.started(options.acting)
    yield After(wait_ms=1, event=RouteDue())
    yield After(wait_ms=options.serve_ms, event=ServeDue(DELAYED))
    yield After(wait_ms=options.half_ms, event=ServeDue(HALVES))
    yield After(wait_ms=options.persist_ms, event=PersistDue())


class SlaveCore(Core[SlaveState, SlaveEvent, EscapeAction, object]):
    """The core of a slave that may act."""

    effects = get_args(SlaveDoes)

    def step(
        self, state: SlaveState, event: SlaveEvent, *, now_ms: TimestampMs, log: object = None
    ) -> Step:
        """Take one event."""
        del log
        match event:
            case RequestArrived(command=command) if command.code in POP_CODES:
                return pop_asked(state, event, now_ms=now_ms)
            case ResponseArrived(reference=(kind, *_) as reference, command=answer):
                if kind == PUTS:
                    return heard_put(state, reference, answer, now_ms=now_ms)
                if kind == POPS:
                    return heard_pop(state, reference, answer)
                if kind == _ROUTE:
                    return learn_route(state, reference[1], answer)
                return _act(state, event, now_ms=now_ms)
            case RouteDue():
                return _ask_route(state)
            case ServeDue(service=at):
                return serve(state, at, now_ms=now_ms)
            case PersistDue():
                return persist(state)
            case LocalChanged(broker_name=name, runs=runs):
                known = state.known | {name} if runs else state.known - {name}
                return _knows(state, known)
            case _:
                return _act(state, event, now_ms=now_ms)


def _act(state: SlaveState, event: SlaveEvent, *, now_ms: TimestampMs) -> Step:
    """Let the broker among name servers take an event; begin or cease to act by what it says.

    Spec: Escape!Act
    Source: BrokerController.changeSpecialServiceStatus
    """
    if not isinstance(event, (RequestArrived, ResponseArrived, *_ACTING_EVENTS)):
        raise AssertionError(f"nobody tells a slave of {event}")
    heard = cast("ActingHears | RequestEvent", event)
    done: ActingDone = _ACTING.step(state.acting, heard, now_ms=now_ms)
    state, action = replace(state, acting=done.state), None
    does: list[SlaveDoes] = []
    for effect in done.effects:
        if isinstance(effect, ChangeSpecialService):
            state = replace(state, acts=effect.runs)
            action = EscapeAction(EscapeActionName.ACT)
        else:
            does.append(effect)
    return Done(state, tuple(does), action)


# ---- which masters there are ----


def _ask_route(state: SlaveState) -> Step:
    """Ask who has the topic, unless that is being asked."""
    options = state.options
    again: After[SlaveEvent] = After(wait_ms=options.route_ms, event=RouteDue())
    if not options.rules.asks() or state.asked is not None:
        return Done(state, (again,))
    number = state.numbers + 1
    command = push_name_server_request(GetRouteInfo(topic=options.topic), opaque=0)
    ask = SendRequest(
        peer=options.acting.name_servers[state.acting.asks_first],
        code=command.code,
        body=command.body,
        ext_fields=command.ext_fields,
        reference=(_ROUTE, number),
        timeout_ms=options.request_timeout_ms,
    )
    return Done(replace(state, asked=number, numbers=number), (ask, again))


def learn_route(state: SlaveState, number: int, command: RemotingCommand | None) -> Step:
    """Know the masters of the groups that take messages of the topic.

    Spec: Escape!LearnRoute
    Source: TopicRouteInfoManager.updateTopicRouteInfoFromNameServer
    """
    if number != state.asked:
        return Done(state)
    state = replace(state, asked=None)
    if command is None:
        return Done(state)
    try:
        route = pull_name_server_reply(command, NameServerCode.GET_ROUTEINFO_BY_TOPIC).answer
    except (PacketError, RequestError):
        return Done(state)
    found = _masters(route) if isinstance(route, TopicRouteData) else frozenset[str]()
    options = state.options
    remote = (found & frozenset(options.masters)) - options.local
    return _knows(state, state.known & options.local | remote)


def _knows(state: SlaveState, known: frozenset[str]) -> Step:
    if known == state.known:
        return Done(state)
    action = EscapeAction(EscapeActionName.LEARN_ROUTE)
    return Done(replace(state, known=known), (), action)


def _masters(route: TopicRouteData) -> frozenset[str]:
    writable = {one.broker_name for one in route.queue_datas if one.perm & _WRITE}
    return frozenset(
        one.broker_name
        for one in route.broker_datas
        if one.broker_name in writable and MASTER in one.addresses
    )
