"""A broker among name servers, as its host sees it.

It registers with each of them, again and again, gives signs of life in between, and asks one of
them who is in its group. It hears from the controller what it is, and from name servers which
brokerId is the smallest; by both it runs a master's services, or does not.

Name servers cannot tell which of a broker's registrations is later: they come over several
connections. So its DataVersion counts on whenever it has lost a connection.

Pure: the host hands in what was heard and what the clock shows.

Source: broker `BrokerController` (`registerBrokerAll`, `sendHeartbeat`, `syncBrokerMemberGroup`,
`updateMinBroker`, `shutdown`), broker/out `BrokerOuterAPI`, broker/controller `ReplicasManager`
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias, assert_never, get_args

from rocketha.acting.rules import Role
from rocketha.acting.state import ActingOptions, ActingState
from rocketha.errors import PacketError, RequestError
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codec import (
    pull_name_server_reply,
    pull_notification,
    push_name_server_request,
)
from rocketha.formats.name_server_codes import NameServerCode, NameServerResponse
from rocketha.formats.name_server_requests import (
    BrokerHeartbeat,
    DataVersion,
    GetBrokerMemberGroup,
    NameServerRequest,
    RegisterBroker,
    UnregisterBroker,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.core import Core
from rocketha.runtime.effects import After, Effect, Respond, SendOneWay, SendRequest, Then
from rocketha.runtime.events import RequestArrived, RequestEvent, ResponseArrived
from rocketha.types import MASTER, BrokerId, RequestReference, TimestampMs

__all__ = [
    "POLLS",
    "REGISTERS",
    "ActingAction",
    "ActingActionName",
    "ActingCore",
    "ActingDone",
    "ActingHears",
    "ChangeSpecialService",
    "HeartbeatDue",
    "NameServerLost",
    "PollDue",
    "RegisterDue",
    "RegisterNow",
    "RoleLearned",
    "ShutdownWanted",
    "fresh",
    "started",
]

REGISTERS: Final = 1
POLLS: Final = 2
"""What a request is for: the first number of its reference, before that of the name server."""


@dataclass(frozen=True, slots=True)
class RoleLearned:
    """The controller has said what the broker is."""

    role: Role


@dataclass(frozen=True, slots=True)
class RegisterDue:
    """It is time to register again."""


@dataclass(frozen=True, slots=True)
class RegisterNow:
    """Something has changed: name servers are to know it before it is time."""


@dataclass(frozen=True, slots=True)
class HeartbeatDue:
    """It is time for a sign of life."""


@dataclass(frozen=True, slots=True)
class PollDue:
    """It is time to ask who is there."""


@dataclass(frozen=True, slots=True)
class NameServerLost:
    """The connection with a name server is gone."""

    name_server: BrokerId


@dataclass(frozen=True, slots=True)
class ShutdownWanted:
    """The broker is about to stop, and says so."""


ActingHears: TypeAlias = (
    RoleLearned
    | RegisterDue
    | RegisterNow
    | HeartbeatDue
    | PollDue
    | NameServerLost
    | ShutdownWanted
)
"""What a broker hears, besides requests and answers."""
_Event: TypeAlias = ActingHears | RequestEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSpecialService(Effect):
    """Begin, or cease, to run a master's services. Source: changeSpecialServiceStatus"""

    runs: bool


_Does: TypeAlias = (
    SendRequest | SendOneWay | Respond | ChangeSpecialService | After[_Event] | Then[_Event]
)


class ActingActionName(StrEnum):
    """The actions of Route that a broker takes by itself."""

    LEARN_ROLE = "LearnRole"
    REGISTER = "Register"
    RECONNECT = "Reconnect"
    RECEIVE_NOTE = "ReceiveNote"


@dataclass(frozen=True, slots=True)
class ActingAction:
    """The action of the specification that a step took; `Register` perhaps several times."""

    name: ActingActionName


@dataclass(frozen=True, slots=True)
class ActingDone:
    """The result of one step."""

    state: ActingState
    effects: tuple[_Does, ...] = ()
    action: ActingAction | None = None


def fresh(options: ActingOptions, *, now_ms: TimestampMs) -> ActingState:
    """Return what a broker knows that has just started: it has asked nobody.

    Spec: Route!Start
    """
    return ActingState(options=options, version=DataVersion(0, 0, now_ms))


def started(options: ActingOptions) -> Iterable[After[_Event]]:
    """Return what a broker that has started waits for."""
    yield After(wait_ms=options.register_ms, event=RegisterDue())
    yield After(wait_ms=options.heartbeat_ms, event=HeartbeatDue())
    yield After(wait_ms=options.poll_ms, event=PollDue())


class ActingCore(Core[ActingState, _Event, ActingAction, object]):
    """The core of a broker, as far as name servers matter."""

    effects = get_args(_Does)

    def step(
        self, state: ActingState, event: _Event, *, now_ms: TimestampMs, log: object = None
    ) -> ActingDone:
        """Take one event."""
        del log
        options = state.options
        match event:
            case RoleLearned(role=role):
                return learn_role(state, role, now_ms=now_ms)
            case RegisterNow():
                return register_all(state)
            case RegisterDue():
                again: After[_Event] = After(wait_ms=options.register_ms, event=RegisterDue())
                done = register_all(state)
                return ActingDone(done.state, (*done.effects, again), done.action)
            case HeartbeatDue():
                return _heartbeat(state)
            case PollDue():
                return _poll(state)
            case NameServerLost(name_server=name_server):
                return reconnect(state, name_server, now_ms=now_ms)
            case ShutdownWanted():
                return ActingDone(state, tuple(_unregister(state)))
            case RequestArrived():
                return _asked(state, event)
            case ResponseArrived(reference=reference, command=command):
                return _answered(state, reference, command)
            case _ as unreachable:
                assert_never(unreachable)


# ---- what it is ----


def learn_role(state: ActingState, role: Role, *, now_ms: TimestampMs) -> ActingDone:
    """Become what the controller says, and say so to all name servers at once.

    Spec: Route!LearnRole
    Source: ReplicasManager.changeToMaster, changeToSlave
    """
    if state.role == role:
        return ActingDone(state)
    version = replace(_next_version(state.version, now_ms), state_version=role.epoch)
    state, services = _with_services(replace(state, role=role, version=version))
    action = ActingAction(ActingActionName.LEARN_ROLE)
    registers: Then[_Event] = Then(event=RegisterNow())
    return ActingDone(state, (*services, registers), action)


def hears(state: ActingState, smallest: BrokerId) -> ActingDone:
    """Take the smallest brokerId of the group.

    Spec: Route!ReceiveNote, Route!Hears
    Source: BrokerController.updateMinBroker
    """
    state, services = _with_services(replace(state, min_broker_id=smallest))
    return ActingDone(state, services, ActingAction(ActingActionName.RECEIVE_NOTE))


def _with_services(state: ActingState) -> tuple[ActingState, tuple[_Does, ...]]:
    """Begin or cease to serve, by what the broker is and what it has heard.

    Spec: Route!ServesAs
    """
    options, role = state.options, state.role
    runs = role is not None and options.rules.is_to_serve(
        options.acting, role.broker_id, options.own_id, state.min_broker_id
    )
    if runs == state.serves:
        return state, ()
    return replace(state, serves=runs), (ChangeSpecialService(runs=runs),)


# ---- what it says of itself ----


def register_all(state: ActingState) -> ActingDone:
    """Register with each name server that has answered what was said before, or was not told.

    Spec: Route!Register
    Source: BrokerController.registerBrokerAll
    """
    options, role = state.options, state.role
    if not options.rules.knows_role(role):
        return ActingDone(state)
    asks = [one for one in options.name_servers if (one, state.version) not in state.asked]
    request = _registration(state)
    effects: list[_Does] = [
        _request(one, request, (REGISTERS, one, state.version.counter), options.register_timeout_ms)
        for one in asks
    ]
    asked = state.asked | {(one, state.version) for one in asks}
    action = ActingAction(ActingActionName.REGISTER) if asks else None
    return ActingDone(replace(state, asked=asked), tuple(effects), action)


def _registration(state: ActingState) -> RegisterBroker:
    options, role = state.options, state.role
    return RegisterBroker(
        cluster_name=options.cluster_name,
        broker_name=options.broker_name,
        broker_address=options.address,
        broker_id=MASTER if role is None else role.broker_id,
        ha_server_address=options.ha_address,
        heartbeat_timeout_ms=options.not_active_ms,
        enable_acting_master=options.acting,
        data_version=state.version,
        topic_configs=options.topics,
    )


def reconnect(state: ActingState, name_server: BrokerId, *, now_ms: TimestampMs) -> ActingDone:
    """Count on, and forget what was asked over a connection that is gone.

    Spec: Route!Reconnect
    """
    options = state.options
    asked = frozenset(one for one in state.asked if one[0] != name_server)
    asks_first = state.asks_first
    if options.name_servers[asks_first] == name_server:
        asks_first = (asks_first + 1) % len(options.name_servers)
    state = replace(
        state,
        version=_next_version(state.version, now_ms),
        asked=asked,
        polls=None if state.polls == name_server else state.polls,
        asks_first=asks_first,
    )
    return ActingDone(state, (), ActingAction(ActingActionName.RECONNECT))


def _next_version(version: DataVersion, now_ms: TimestampMs) -> DataVersion:
    """Count on. Source: DataVersion.nextVersion"""
    return replace(
        version, counter=version.counter + 1, timestamp_ms=max(version.timestamp_ms, now_ms)
    )


def _heartbeat(state: ActingState) -> ActingDone:
    """Give all name servers a sign of life. Source: BrokerController.sendHeartbeat"""
    options = state.options
    again: After[_Event] = After(wait_ms=options.heartbeat_ms, event=HeartbeatDue())
    if state.role is None:
        return ActingDone(state, (again,))
    says = BrokerHeartbeat(
        cluster_name=options.cluster_name,
        broker_name=options.broker_name,
        broker_address=options.address,
    )
    return ActingDone(state, (*(_one_way(one, says) for one in options.name_servers), again))


def _unregister(state: ActingState) -> Iterable[_Does]:
    """Say that it stops, as what it has registered. Source: BrokerController.unregisterBrokerAll"""
    options, role = state.options, state.role
    if role is None:
        return
    says = UnregisterBroker(
        cluster_name=options.cluster_name,
        broker_name=options.broker_name,
        broker_address=options.address,
        broker_id=role.broker_id,
    )
    for name_server in options.name_servers:
        yield _one_way(name_server, says)


# ---- who is there ----


def _poll(state: ActingState) -> ActingDone:
    """Ask a name server who is in the group, unless one is being asked.

    Source: BrokerController.syncBrokerMemberGroup
    """
    options = state.options
    again: After[_Event] = After(wait_ms=options.poll_ms, event=PollDue())
    if state.polls is not None:
        return ActingDone(state, (again,))
    name_server = options.name_servers[state.asks_first]
    says = GetBrokerMemberGroup(cluster_name=options.cluster_name, broker_name=options.broker_name)
    ask = _request(name_server, says, (POLLS, name_server), options.poll_timeout_ms)
    return ActingDone(replace(state, polls=name_server), (ask, again))


def _answered(
    state: ActingState, reference: RequestReference, command: RemotingCommand | None
) -> ActingDone:
    """Take an answer; of one that does not come `NameServerLost` tells."""
    if command is None:
        return ActingDone(state)
    kind, name_server, *numbers = reference
    if kind == REGISTERS:
        asked = frozenset(
            one for one in state.asked if one[0] != name_server or one[1].counter != numbers[0]
        )
        return ActingDone(replace(state, asked=asked))
    state = replace(state, polls=None)
    try:
        reply = pull_name_server_reply(command, NameServerCode.GET_BROKER_MEMBER_GROUP)
    except (PacketError, RequestError):
        return ActingDone(state)
    if not isinstance(reply.answer, BrokerMemberGroup):
        return ActingDone(state)
    smallest = min(reply.answer.addresses, default=None)
    return ActingDone(state) if smallest is None else hears(state, smallest)


def _asked(state: ActingState, event: RequestArrived) -> ActingDone:
    """Take the notice of a name server; it asks for nothing else."""
    if event.command.code != NameServerCode.NOTIFY_MIN_BROKER_ID_CHANGE:
        code = NameServerResponse.REQUEST_CODE_NOT_SUPPORTED
        return ActingDone(state, (Respond(request=event.request, code=code, body=b""),))
    try:
        notice = pull_notification(event.command)
    except RequestError:
        return ActingDone(state)
    if notice.min_broker_id is None:
        return ActingDone(state)
    return hears(state, notice.min_broker_id)


# ---- frames ----


def _request(
    name_server: BrokerId, says: NameServerRequest, reference: RequestReference, timeout_ms: int
) -> SendRequest:
    command = push_name_server_request(says, opaque=0)
    return SendRequest(
        peer=name_server,
        code=command.code,
        body=command.body,
        ext_fields=command.ext_fields,
        reference=reference,
        timeout_ms=timeout_ms,
    )


def _one_way(name_server: BrokerId, says: NameServerRequest) -> SendOneWay:
    command = push_name_server_request(says, opaque=0)
    return SendOneWay(
        peer=name_server, code=command.code, body=command.body, ext_fields=command.ext_fields
    )
