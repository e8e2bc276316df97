"""Who is alive: heartbeats, closed channels, and the start of the controller itself.

A replica is alive if on any of its open channels a heartbeat of its present incarnation is recent
enough. So a late close of an old channel takes nobody away who is heard on a new one (B28), and a
process that is gone cannot keep its successor alive, nor take it away.

Source: controller/impl/heartbeat `DefaultBrokerHeartbeatManager`, `RaftBrokerHeartBeatManager`,
controller/impl `JRaftControllerStateMachine`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from rocketha.controller.applied import (
    Applied,
    BrokerEvicted,
    ChannelExpired,
    ControllerEffect,
    ControllerEvent,
    ScanSoon,
    refuse,
)
from rocketha.controller.election import elect_master
from rocketha.controller.rules import CONTROLLER_RULES, ControllerRules
from rocketha.controller.state import (
    HEARTBEAT_TIMEOUT_MS,
    NO_CHANNEL,
    NOTHING_SAID,
    ControllerState,
    Heard,
)
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import ElectMaster, Heartbeat
from rocketha.types import INT32_MAX, NO_EPOCH, ConnectionId, TimestampMs

__all__ = ["close_channel", "hear_broker", "scan_inactive", "start_hearing"]

_Times = Mapping[ConnectionId, TimestampMs]


def hear_broker(
    state: ControllerState,
    request: Heartbeat,
    *,
    now_ms: TimestampMs,
    channel: ConnectionId,
    rules: ControllerRules = CONTROLLER_RULES,
) -> Applied:
    """Note a heartbeat and the channel that it came on.

    RocketMQ notes heartbeats of anybody; it keeps the channel of the first one, and the greatest
    epoch and log end that it ever heard, though both go down when a log is truncated.

    Spec: ReplicaGroup!HearAgain
    Source: DefaultBrokerHeartbeatManager.onBrokerHeartbeat
    """
    group = state.known(request.broker_name)
    replica = None if group is None else group.replicas.get(request.broker_id)
    if group is None or replica is None or request.cluster_name != group.cluster_name:
        remark = f"the replica {request.broker_id} of {request.broker_name} is not known"
        return refuse(state, ResponseCode.BROKER_NEED_TO_BE_REGISTERED, remark)
    if request.incarnation > replica.incarnation:
        remark = f"the incarnation {request.incarnation} is not registered"
        return refuse(state, ResponseCode.BROKER_NEED_TO_BE_REGISTERED, remark)
    if request.incarnation < replica.incarnation:
        remark = f"the replica {request.broker_id} is in incarnation {replica.incarnation}"
        return refuse(state, ResponseCode.INVALID_REQUEST, remark)
    priority = request.election_priority
    heard = Heard(
        channels=rules.on_channel(replica.heard, channel, now_ms).channels,
        timeout_ms=HEARTBEAT_TIMEOUT_MS if request.timeout_ms is None else request.timeout_ms,
        epoch=NO_EPOCH if request.epoch is None else request.epoch,
        max_offset=NOTHING_SAID if request.max_offset is None else request.max_offset,
        confirm_offset=NOTHING_SAID if request.confirm_offset is None else request.confirm_offset,
        election_priority=INT32_MAX if priority is None else priority,
    )
    changed = group.with_replica(request.broker_id, replace(replica, heard=heard))
    return Applied(state=state.with_group(changed))


def close_channel(state: ControllerState, *, now_ms: TimestampMs, channel: ConnectionId) -> Applied:
    """Forget what was heard on a channel.

    Spec: ReplicaGroup!EvictBroker, ReplicaGroup!OwnsEntry
    Source: DefaultBrokerHeartbeatManager.onBrokerChannelClose
    """

    def others(heard: Heard) -> _Times:
        return {c: last for c, last in heard.channels.items() if c != channel}

    kept, evicted, _ = _keep_channels(state, others, now_ms)
    lost_master = any(
        group.master is not None
        and state.groups[name].live_master(now_ms) is not None
        and group.live_master(now_ms) is None
        for name, group in kept.groups.items()
    )
    return Applied(state=kept, events=evicted, effects=(ScanSoon(),) if lost_master else ())


def start_hearing(state: ControllerState, *, now_ms: TimestampMs) -> Applied:
    """Take who was alive before for alive once more: nobody was listening since.

    All channels are gone. Without this a controller that was away deposes every master at its first
    scan.

    Source: RaftBrokerHeartBeatManager.scanNotActiveBroker (`firstReceivedHeartbeatTime`)
    """
    before_ms = state.clock_ms

    def lease(heard: Heard) -> _Times:
        return {NO_CHANNEL: now_ms} if heard.is_alive(before_ms) else {}

    kept, evicted, _ = _keep_channels(state, lease, before_ms)
    return Applied(state=kept, events=evicted)


def scan_inactive(
    state: ControllerState,
    *,
    now_ms: TimestampMs,
    elect_unclean: bool,
    rules: ControllerRules = CONTROLLER_RULES,
) -> Applied:
    """Forget channels that were silent for too long, then elect where no master lives.

    The scan asks how it is and not what changed: where nobody can be elected now, it asks again.

    Spec: ReplicaGroup!NoElection
    Source: DefaultBrokerHeartbeatManager.scanNotActiveBroker, ControllerManager.triggerElectMaster,
    ReplicasInfoManager.scanNeedReelectBrokerSets
    """

    def recent(heard: Heard) -> _Times:
        return {c: last for c, last in heard.channels.items() if last + heard.timeout_ms >= now_ms}

    scanned, evicted, dropped = _keep_channels(state, recent, now_ms)
    events: list[ControllerEvent] = list(evicted)
    effects: list[ControllerEffect] = [
        ChannelExpired(channel=channel) for channel in sorted(dropped) if channel != NO_CHANNEL
    ]
    for name in sorted(scanned.groups):
        group = scanned.known(name)
        if group is None or not rules.needs_election(group, now_ms):
            continue
        request = ElectMaster(broker_name=name)
        outcome = elect_master(
            scanned, request, now_ms=now_ms, elect_unclean=elect_unclean, rules=rules
        )
        scanned = outcome.state
        events += outcome.events
        effects += outcome.effects
    return Applied(state=scanned, events=tuple(events), effects=tuple(effects))


def _keep_channels(
    state: ControllerState, kept_of: Callable[[Heard], _Times], now_ms: TimestampMs
) -> tuple[ControllerState, tuple[BrokerEvicted, ...], set[ConnectionId]]:
    """Keep some channels of each replica; return also who is heard of no more, and what went.

    A replica whose channels were all silent for too long counts as heard of until they go.
    """
    evicted: list[BrokerEvicted] = []
    dropped: set[ConnectionId] = set()
    for name in sorted(state.groups):
        group = state.groups[name]
        for broker_id in sorted(group.replicas):
            replica = group.replicas[broker_id]
            times = kept_of(replica.heard)
            if times == replica.heard.channels:
                continue
            dropped |= replica.heard.channels.keys() - times.keys()
            heard = replace(replica.heard, channels=MappingProxyType(dict(times)))
            group = group.with_replica(broker_id, replace(replica, heard=heard))
            if not heard.is_alive(now_ms):
                evicted.append(
                    BrokerEvicted(
                        broker_name=name, broker_id=broker_id, incarnation=replica.incarnation
                    )
                )
        if group is not state.groups[name]:
            state = state.with_group(group)
    return state, tuple(evicted), dropped
