"""Identities: how a replica gets its id, and how it comes back with it.

Source: ReplicasInfoManager (`applyBrokerId`, `registerBroker`, `handleApplyBrokerId`,
`handleUpdateBrokerAddress`)
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from rocketha.controller.applied import (
    Applied,
    BrokerIdAssigned,
    BrokerRegistered,
    ScanSoon,
    refuse,
)
from rocketha.controller.rules import CONTROLLER_RULES, ControllerRules
from rocketha.controller.state import ControllerState, Group, Replica
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import (
    FIRST_INCARNATION,
    ApplyBrokerId,
    RegisterBroker,
)
from rocketha.formats.controller_responses import BrokerIdApplied, Registered, Reply
from rocketha.types import INT64_MAX, BrokerId, ConnectionId, TimestampMs

__all__ = ["apply_broker_id", "register_broker"]


def apply_broker_id(state: ControllerState, request: ApplyBrokerId) -> Applied:
    """Give out an id that was never given out, once; asking again with the same code is no harm.

    RocketMQ takes any id that no present replica has, also one of a replica that was removed, and
    of two that apply at once it tells both that the id is theirs.

    Source: ReplicasInfoManager.applyBrokerId
    """
    group = state.groups.get(request.broker_name)
    wanted = request.applied_broker_id
    if group is None:
        group = Group(cluster_name=request.cluster_name, broker_name=request.broker_name)
    reply = Reply(
        content=BrokerIdApplied(cluster_name=request.cluster_name, broker_name=request.broker_name)
    )
    owner = group.replicas.get(wanted)
    if owner is not None and owner.check_code == request.register_check_code:
        return Applied(state=state, reply=reply)
    if not group.replicas and wanted != group.next_broker_id:
        remark = f"the first id of the group {group.broker_name} is {group.next_broker_id}"
        return refuse(state, ResponseCode.BROKER_ID_INVALID, remark)
    if not group.next_broker_id <= wanted < INT64_MAX:
        remark = f"the id {wanted} is taken; {group.next_broker_id} is free"
        return refuse(state, ResponseCode.BROKER_ID_INVALID, remark)
    replica = Replica(address=request.broker_address, check_code=request.register_check_code)
    is_same = bool(group.replicas) or group.cluster_name == request.cluster_name
    joined = replace(
        group.with_replica(wanted, replica),
        cluster_name=group.cluster_name if group.replicas else request.cluster_name,
        former=group.former if is_same else MappingProxyType({}),
        next_broker_id=BrokerId(wanted + 1),
    )
    return Applied(
        state=state.with_group(joined),
        reply=reply,
        events=(BrokerIdAssigned(broker_name=group.broker_name, broker_id=wanted),),
    )


def register_broker(
    state: ControllerState,
    request: RegisterBroker,
    *,
    now_ms: TimestampMs,
    channel: ConnectionId,
    rules: ControllerRules = CONTROLLER_RULES,
) -> Applied:
    """Note where a replica is, which incarnation of it, and tell it who is master.

    A replica that started again is no master before it is elected again: it forgot what it proposed
    (B84) and has to begin a new epoch (B10). If it lost a part of its log, it is not elected either
    until it caught up. RocketMQ's brokers do not say which incarnation they are, and register when
    they start, or when the controller does not know them: so whoever does not say has started
    again. To register is a sign of life. Who comes back to a group that was removed is
    the replica that it was; RocketMQ does not let it in.

    Spec: ReplicaGroup!Restart
    Source: ReplicasInfoManager.registerBroker
    """
    group = state.groups.get(request.broker_name)
    if group is None or not (group.replicas or request.broker_id in group.former):
        remark = f"the group {request.broker_name} is not known"
        return refuse(state, ResponseCode.BROKER_NEED_TO_BE_REGISTERED, remark)
    replica = group.replicas.get(request.broker_id) or group.former.get(request.broker_id)
    if replica is None:
        remark = f"there is no replica {request.broker_id} in the group {request.broker_name}"
        return refuse(state, ResponseCode.BROKER_NEED_TO_BE_REGISTERED, remark)
    incarnation = FIRST_INCARNATION if request.incarnation is None else request.incarnation
    if request.incarnation is not None and incarnation < replica.incarnation:
        remark = f"the replica {request.broker_id} is in incarnation {replica.incarnation}"
        return refuse(state, ResponseCode.INVALID_REQUEST, remark)
    restarted = request.incarnation is None or incarnation > replica.incarnation
    before = rules.heard_after_restart(replica.heard) if restarted else replica.heard
    heard = rules.on_channel(before, channel, now_ms)
    present = replace(replica, address=request.broker_address, incarnation=incarnation, heard=heard)
    others = {i: one for i, one in group.former.items() if i != request.broker_id}
    registered = replace(
        group.with_replica(request.broker_id, present), former=MappingProxyType(others)
    )
    if restarted:
        registered = _after_restart(registered, request, rules)
    return Applied(
        state=state.with_group(registered),
        reply=Reply(
            content=Registered(
                cluster_name=request.cluster_name,
                broker_name=request.broker_name,
                master=registered.live_master(now_ms),
                master_epoch=registered.master_epoch,
                sync_state_set=registered.sync_state_set,
            )
        ),
        events=(
            BrokerRegistered(
                broker_name=group.broker_name,
                broker_id=request.broker_id,
                incarnation=incarnation,
                restarted=restarted,
            ),
        ),
        effects=(ScanSoon(),) if registered.master != group.master else (),
    )


def _after_restart(group: Group, request: RegisterBroker, rules: ControllerRules) -> Group:
    """Take the mastership of the incarnation before, and fitness if the log is torn.

    Spec: ReplicaGroup!Restart
    """
    unfit = group.unfit
    if request.log_torn and request.broker_id in group.members:
        unfit |= {request.broker_id}
    return replace(group, master=rules.master_after_restart(group, request), unfit=unfit)
