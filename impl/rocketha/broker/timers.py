"""What a broker does because time has passed.

Source: ReplicasManager (`schedulingSyncBrokerMetadata`, `startBasicService`), BrokerController
(`sendHeartbeat`)
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.broker.controller_calls import ask, beat, expire
from rocketha.broker.controller_leader import doubt_leader, look_for_leader, next_look_ms
from rocketha.broker.effects import GroupStepped
from rocketha.broker.puts import answer_late, next_deadline_ms
from rocketha.broker.registration import continue_registration
from rocketha.broker.replication import replicate
from rocketha.broker.state import FlushedLogView, GroupBroker, Registration
from rocketha.broker.sync_state_set import check_set, proposal_expired
from rocketha.formats.controller_requests import AlterSyncStateSet, GetReplicaInfo, Heartbeat
from rocketha.ha import broker as ha
from rocketha.runtime.events import TimerFired
from rocketha.types import TimestampMs

__all__ = ["fire", "next_timer_ms"]


def fire(state: GroupBroker, *, now_ms: TimestampMs, log: FlushedLogView) -> GroupStepped:
    """Do all that is due; a slave may give up its connection, or a master propose a smaller set.

    After an action the set is looked at by the next timer, which is due at once.

    Spec: ReplicaGroup!Silent
    """
    stepped = replicate(state, TimerFired(), now_ms=now_ms, log=log)
    stepped = stepped.then(_expire(stepped.state, now_ms=now_ms))
    stepped = stepped.then(look_for_leader(stepped.state, now_ms=now_ms))
    stepped = stepped.then(continue_registration(stepped.state, now_ms=now_ms))
    stepped = stepped.then(answer_late(stepped.state, now_ms=now_ms))
    stepped = stepped.then(_beat(stepped.state, now_ms=now_ms, log=log))
    stepped = stepped.then(_poll(stepped.state, now_ms=now_ms))
    if stepped.action is not None:
        return stepped
    return stepped.then(check_set(stepped.state, now_ms=now_ms, log=log))


def next_timer_ms(state: GroupBroker) -> TimestampMs | None:
    """Return when `TimerFired` will have something to do, `None` if only an event can tell."""
    times = [ha.next_timer_ms(state.ha), next_deadline_ms(state), next_look_ms(state)]
    times += [
        TimestampMs(asked.at_ms + state.options.request_timeout_ms)
        for asked in state.asked.values()
    ]
    if state.registration is Registration.REGISTERED:
        times += [state.heartbeat_at_ms, state.poll_at_ms]
    else:
        times.append(state.register_at_ms)
    if state.is_master:
        times.append(state.check_at_ms)
    return min((t for t in times if t is not None), default=None)


def _expire(state: GroupBroker, *, now_ms: TimestampMs) -> GroupStepped:
    """Give up requests that were not answered; a proposal is sent again."""
    left, expired = expire(state, now_ms=now_ms)
    for asked in expired:
        left = doubt_leader(left, asked.controller, now_ms=now_ms)
    stepped = GroupStepped(left)
    for asked in expired:
        if isinstance(request := asked.request, AlterSyncStateSet):
            stepped = stepped.then(proposal_expired(stepped.state, request, now_ms=now_ms))
    return stepped


def _beat(state: GroupBroker, *, now_ms: TimestampMs, log: FlushedLogView) -> GroupStepped:
    """Tell the controller that this start of the broker lives, and how far it is.

    Source: BrokerController.sendHeartbeat, ReplicasManager.sendHeartbeatToController
    """
    options = state.options
    if state.registration is not Registration.REGISTERED or now_ms < state.heartbeat_at_ms:
        return GroupStepped(state)
    heartbeat = Heartbeat(
        cluster_name=options.cluster_name,
        broker_name=options.broker_name,
        broker_address=state.address,
        broker_id=state.broker_id,
        epoch=state.ha.cache.last_epoch,
        max_offset=log.max_phy_offset,
        confirm_offset=state.confirm,
        timeout_ms=options.heartbeat_timeout_ms,
        election_priority=options.election_priority,
        incarnation=state.incarnation,
    )
    next_ms = TimestampMs(now_ms + options.heartbeat_interval_ms)
    return GroupStepped(replace(state, heartbeat_at_ms=next_ms), (beat(state, heartbeat),))


def _poll(state: GroupBroker, *, now_ms: TimestampMs) -> GroupStepped:
    """Ask who is master, and for the SyncStateSet.

    Source: ReplicasManager.schedulingSyncBrokerMetadata
    """
    if state.registration is not Registration.REGISTERED or now_ms < state.poll_at_ms:
        return GroupStepped(state)
    next_ms = TimestampMs(now_ms + state.options.sync_metadata_ms)
    query = GetReplicaInfo(broker_name=state.options.broker_name)
    asking, send = ask(replace(state, poll_at_ms=next_ms), query, now_ms=now_ms)
    return GroupStepped(asking, (send,))
