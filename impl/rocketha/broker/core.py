"""The core of a broker of a group: one event in, the new state, effects, at most one action out.

What a step is about is in the other modules of the package; this one sends each event there. What
follows from a step at once, and is an action of its own, comes as an event that an effect asks for.

| event              | what may follow (`Then`)                             |
|--------------------|------------------------------------------------------|
| a report           | ConfirmDue, ExpandDue                                |
| a handshake        | StaleConnection, for each connection but the newest  |
| MessageAppended    | LogFlushed, ConfirmDue                               |
| a new master epoch or set | ConfirmDue                                           |
| a proposal         | ConfirmDue                                           |
"""

from __future__ import annotations

from typing import assert_never

from rocketha.broker.confirm import confirm
from rocketha.broker.controller_calls import Answer, take_answer
from rocketha.broker.controller_leader import doubt_leader, leader_answered, look_for_leader
from rocketha.broker.effects import GroupStepped
from rocketha.broker.events import (
    CommandReceived,
    ConfirmDue,
    ExpandDue,
    GroupEvent,
    PullRequested,
    PutRequested,
    StaleConnection,
    Started,
)
from rocketha.broker.options import GroupOptions
from rocketha.broker.pulls import pull
from rocketha.broker.puts import answer_flushed, appended, put
from rocketha.broker.registration import identity_answered, registered, start
from rocketha.broker.replication import close_stale, replicate
from rocketha.broker.roles import View, take_view
from rocketha.broker.state import NOBODY, FlushedLogView, GroupBroker, Registration
from rocketha.broker.sync_state_set import expand, set_answered
from rocketha.broker.timers import fire, next_timer_ms
from rocketha.errors import PacketError, RequestError
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import pull_role_changed
from rocketha.formats.controller_requests import (
    FIRST_INCARNATION,
    AlterSyncStateSet,
    ApplyBrokerId,
    ElectMaster,
    GetMetadataInfo,
    GetNextBrokerId,
    GetReplicaInfo,
    RegisterBroker,
)
from rocketha.formats.controller_responses import Elected, ReplicaInfo
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.ha.events import (
    MasterAddressLearnt,
    MasterLearnt,
    MessagePut,
    PacketReceived,
    Restarted,
)
from rocketha.ha.state import BrokerState
from rocketha.runtime.events import (
    ConnectionLost,
    LogFlushed,
    MessageAppended,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
    TimerFired,
    TransferDue,
)
from rocketha.types import HaAddress, TimestampMs

__all__ = ["new_broker", "next_timer_ms", "step"]


def new_broker(*, address: HaAddress, options: GroupOptions) -> GroupBroker:
    """Make a broker to which nothing has happened yet; `Started` is its first event."""
    return GroupBroker(
        ha=BrokerState(broker_id=NOBODY, options=options.ha),
        options=options,
        address=address,
        incarnation=FIRST_INCARNATION,
    )


def step(
    state: GroupBroker, event: GroupEvent, *, now_ms: TimestampMs, log: FlushedLogView
) -> GroupStepped:
    """Take one event.

    Nothing is raised, whatever the controller or another broker says. Events that come late, for
    requests or connections that are forgotten, change nothing.
    """
    match event:
        case Started():
            stepped = start(state, event, now_ms=now_ms, log=log)
            return stepped.then(look_for_leader(stepped.state, now_ms=now_ms))
        case CommandReceived(command=command):
            return _command_received(state, command, now_ms=now_ms, log=log)
        case PutRequested():
            return put(state, event, now_ms=now_ms, log=log)
        case MessageAppended():
            return appended(state, event, now_ms=now_ms)
        case LogFlushed():
            return answer_flushed(state, log=log)
        case PullRequested():
            return pull(state, event, log=log)
        case ConfirmDue():
            return confirm(state, log=log)
        case ExpandDue():
            return expand(state, event, now_ms=now_ms)
        case StaleConnection():
            return close_stale(state, event)
        case TimerFired():
            return fire(state, now_ms=now_ms, log=log)
        case Restarted() | MasterLearnt() | MasterAddressLearnt() | MessagePut():
            return GroupStepped(state)  # what only this core tells the replication
        case (
            PeerConnected()
            | PeerAccepted()
            | PacketReceived()
            | PacketRefused()
            | ConnectionLost()
            | TransferDue()
        ):
            return replicate(state, event, now_ms=now_ms, log=log)
        case _ as unreachable:
            assert_never(unreachable)


def _command_received(
    state: GroupBroker, command: RemotingCommand, *, now_ms: TimestampMs, log: FlushedLogView
) -> GroupStepped:
    """Take an answer of a controller, or its notice of an election; drop what is neither."""
    if command.flag & FLAG_RESPONSE:
        return _answer_received(state, command, now_ms=now_ms, log=log)
    if command.code != RequestCode.NOTIFY_BROKER_ROLE_CHANGED:
        return GroupStepped(state)
    if state.registration is not Registration.REGISTERED:
        return GroupStepped(state)  # told to the start before this one
    try:
        notice = pull_role_changed(command)
    except (PacketError, RequestError):
        return GroupStepped(state)
    return take_view(state, View.of_notice(notice), now_ms=now_ms, log=log)


def _answer_received(
    state: GroupBroker, command: RemotingCommand, *, now_ms: TimestampMs, log: FlushedLogView
) -> GroupStepped:
    taken = take_answer(state, command)
    if taken is None:
        return GroupStepped(state)
    state, answer = taken
    if answer.reply.code is ResponseCode.NOT_LEADER:
        state = doubt_leader(state, answer.controller, now_ms=now_ms)
    stepped = _answered(state, answer, now_ms=now_ms, log=log)
    return stepped.then(look_for_leader(stepped.state, now_ms=now_ms))


def _answered(
    state: GroupBroker, answer: Answer, *, now_ms: TimestampMs, log: FlushedLogView
) -> GroupStepped:
    content = answer.reply.content
    match answer.request:
        case GetMetadataInfo():
            return GroupStepped(leader_answered(state, answer, now_ms=now_ms))
        case GetNextBrokerId() | ApplyBrokerId():
            return identity_answered(state, answer, now_ms=now_ms)
        case RegisterBroker():
            return registered(state, answer, now_ms=now_ms, log=log)
        case AlterSyncStateSet() as request:
            return set_answered(state, request, content, now_ms=now_ms)
        case ElectMaster() if isinstance(content, Elected):
            return take_view(state, View.of_election(content), now_ms=now_ms, log=log)
        case GetReplicaInfo() if isinstance(content, ReplicaInfo):
            return take_view(state, View.of_info(content), now_ms=now_ms, log=log)
        case _:
            return GroupStepped(state)  # a refusal: the next poll asks again
