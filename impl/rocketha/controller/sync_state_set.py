"""Changes of a SyncStateSet that its master proposes.

Source: ReplicasInfoManager (`alterSyncStateSet`, `handleAlterSyncStateSet`)
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.controller.applied import Applied, SetAltered, SetKept, refuse
from rocketha.controller.rules import CONTROLLER_RULES, ControllerRules
from rocketha.controller.state import ControllerState, Group
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.formats.controller_responses import Reply, SyncStateSetAltered
from rocketha.types import BrokerId, TimestampMs

__all__ = ["alter_sync_state_set"]


def alter_sync_state_set(
    state: ControllerState,
    request: AlterSyncStateSet,
    *,
    now_ms: TimestampMs,
    rules: ControllerRules = CONTROLLER_RULES,
) -> Applied:
    """Take a proposal of the present master for the present set, or refuse it.

    All is asked when the entry is applied. RocketMQ's controller on DLedger asks before it logs the
    outcome, and another proposal or an election may come between (B36).

    The refusal of a proposal that is fresh spends the version of the set that it would change: no
    copy of it can be taken later, and the master learns it as it learns of any version.

    Spec: ReplicaGroup!AlterSyncStateSet, ReplicaGroup!RefuseAlter
    Source: ReplicasInfoManager.alterSyncStateSet, which changes nothing when it refuses
    """
    group = state.known(request.broker_name)
    if group is None:
        remark = f"the group {request.broker_name} is not known"
        return refuse(state, ResponseCode.ALTER_SYNC_STATE_SET_FAILED, remark)
    refusal = _refusal(group, request, now_ms, rules)
    if refusal is not None:
        refused = refuse(state, *refusal)
        return (
            _with_version_spent(refused, group) if rules.spends_version(group, request) else refused
        )
    altered = group.with_set(request.sync_state_set.members)
    return Applied(
        state=state.with_group(altered),
        reply=Reply(content=SyncStateSetAltered(sync_state_set=altered.sync_state_set)),
        events=(
            SetAltered(
                broker_name=group.broker_name,
                members=altered.members,
                epoch=altered.sync_state_set.epoch,
            ),
        ),
    )


def _with_version_spent(refused: Applied, group: Group) -> Applied:
    """Keep the set as the next version."""
    kept = group.with_set(group.members)
    event = SetKept(broker_name=group.broker_name, epoch=kept.sync_state_set.epoch)
    return replace(refused, state=refused.state.with_group(kept), events=(event,))


def _refusal(
    group: Group, request: AlterSyncStateSet, now_ms: TimestampMs, rules: ControllerRules
) -> tuple[ResponseCode, str] | None:
    """Return why the proposal is not taken, asking in RocketMQ's order.

    Spec: ReplicaGroup!AlterSyncStateSet
    """
    proposed = request.sync_state_set
    if proposed.members == group.members:
        return ResponseCode.ALTER_SYNC_STATE_SET_FAILED, "the proposed set is the present one"
    if not rules.from_master(group, request):
        remark = f"the master is {group.master}, not {request.master_broker_id}"
        return ResponseCode.INVALID_MASTER, remark
    if not rules.of_epoch(group, request):
        remark = f"the master epoch is {group.master_epoch}, not {request.master_epoch}"
        return ResponseCode.FENCED_MASTER_EPOCH, remark
    if not rules.of_set(group, request):
        remark = f"the set's epoch is {group.sync_state_set.epoch}, not {proposed.epoch}"
        return ResponseCode.FENCED_SYNC_STATE_SET_EPOCH, remark
    for broker_id in sorted(proposed.members):
        if broker_id not in group.replicas:
            return ResponseCode.INVALID_REPLICAS, f"there is no replica {broker_id}"
        if not group.is_alive(broker_id, now_ms):
            return ResponseCode.BROKER_NOT_ALIVE, f"the replica {broker_id} is not alive"
    restarted = _restarted_since(group, request, rules)
    if restarted is not None:
        remark = (
            f"the replica {restarted} is in incarnation {group.replicas[restarted].incarnation}"
        )
        return ResponseCode.BROKER_NOT_ALIVE, remark
    if not rules.has_master(group, request):
        remark = f"the proposed set lacks the master {group.master}"
        return ResponseCode.ALTER_SYNC_STATE_SET_FAILED, remark
    return None


def _restarted_since(
    group: Group, request: AlterSyncStateSet, rules: ControllerRules
) -> BrokerId | None:
    """Return who joins and is not the one whom the master saw caught up."""
    joining = request.joining
    for broker_id in sorted(request.sync_state_set.members & joining.keys()):
        if not rules.same_incarnation(joining[broker_id], group.replicas[broker_id].incarnation):
            return broker_id
    return None
