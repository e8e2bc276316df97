"""Changes of a SyncStateSet that its master proposes.

Source: ReplicasInfoManager (`alterSyncStateSet`, `handleAlterSyncStateSet`)
"""

from __future__ import annotations

from rocketha.controller.applied import Applied, SetAltered, refuse
from rocketha.controller.state import ControllerState, Group
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.formats.controller_responses import Reply, SyncStateSetAltered
from rocketha.types import TimestampMs

__all__ = ["alter_sync_state_set"]


def alter_sync_state_set(
    state: ControllerState, request: AlterSyncStateSet, *, now_ms: TimestampMs
) -> Applied:
    """Take a proposal of the present master for the present set, or refuse it.

    All is asked when the entry is applied. RocketMQ's controller on DLedger asks before it logs the
    outcome, and another proposal or an election may come between (B36).

    Source: ReplicasInfoManager.alterSyncStateSet
    """
    group = state.known(request.broker_name)
    if group is None:
        remark = f"the group {request.broker_name} is not known"
        return refuse(state, ResponseCode.ALTER_SYNC_STATE_SET_FAILED, remark)
    refusal = _refusal(group, request, now_ms)
    if refusal is not None:
        return refuse(state, *refusal)
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


def _refusal(
    group: Group, request: AlterSyncStateSet, now_ms: TimestampMs
) -> tuple[ResponseCode, str] | None:
    """Return why the proposal is not taken, asking in RocketMQ's order."""
    proposed = request.sync_state_set
    if proposed.members == group.members:
        return ResponseCode.ALTER_SYNC_STATE_SET_FAILED, "the proposed set is the present one"
    # Without a master nobody may propose: RocketMQ once looked at a master that was not (B33).
    if group.master is None or request.master_broker_id != group.master:
        remark = f"the master is {group.master}, not {request.master_broker_id}"
        return ResponseCode.INVALID_MASTER, remark
    if request.master_epoch != group.master_epoch:
        remark = f"the master epoch is {group.master_epoch}, not {request.master_epoch}"
        return ResponseCode.FENCED_MASTER_EPOCH, remark
    if proposed.epoch != group.sync_state_set.epoch:
        remark = f"the set's epoch is {group.sync_state_set.epoch}, not {proposed.epoch}"
        return ResponseCode.FENCED_SYNC_STATE_SET_EPOCH, remark
    for broker_id in sorted(proposed.members):
        if broker_id not in group.replicas:
            return ResponseCode.INVALID_REPLICAS, f"there is no replica {broker_id}"
        if not group.is_alive(broker_id, now_ms):
            return ResponseCode.BROKER_NOT_ALIVE, f"the replica {broker_id} is not alive"
    # A replica that restarted may have lost what the master saw it have (B85).
    for broker_id in sorted(proposed.members & request.joining.keys()):
        incarnation = group.replicas[broker_id].incarnation
        if request.joining[broker_id] != incarnation:
            remark = f"the replica {broker_id} is in incarnation {incarnation}"
            return ResponseCode.BROKER_NOT_ALIVE, remark
    if group.master not in proposed.members:
        remark = f"the proposed set lacks the master {group.master}"
        return ResponseCode.ALTER_SYNC_STATE_SET_FAILED, remark
    return None
