"""Changes of a SyncStateSet that its master proposes.

Source: ReplicasInfoManager (`alterSyncStateSet`, `handleAlterSyncStateSet`)
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.controller.applied import Applied, SetAltered, SetKept, refuse
from rocketha.controller.state import ControllerState, Group
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.formats.controller_responses import Reply, SyncStateSetAltered
from rocketha.known_bugs.bug import NO_BUGS, Bug, Bugs
from rocketha.types import BrokerId, TimestampMs

__all__ = ["alter_sync_state_set"]


def alter_sync_state_set(
    state: ControllerState,
    request: AlterSyncStateSet,
    *,
    now_ms: TimestampMs,
    bugs: Bugs = NO_BUGS,
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
    refusal = _refusal(group, request, now_ms, bugs)
    if refusal is not None:
        refused = refuse(state, *refusal)
        spends = _is_fresh(group, request) and Bug.SPENT not in bugs
        return _with_version_spent(refused, group) if spends else refused
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


def _is_fresh(group: Group, request: AlterSyncStateSet) -> bool:
    """Tell whether the present master proposes for the present set.

    Spec: ReplicaGroup!Fresh
    """
    return (request.master_broker_id, request.master_epoch, request.sync_state_set.epoch) == (
        group.master,
        group.master_epoch,
        group.sync_state_set.epoch,
    )


def _with_version_spent(refused: Applied, group: Group) -> Applied:
    """Keep the set as the next version.

    Spec: ReplicaGroup!EpochAfterRefusal
    """
    kept = group.with_set(group.members)
    event = SetKept(broker_name=group.broker_name, epoch=kept.sync_state_set.epoch)
    return replace(refused, state=refused.state.with_group(kept), events=(event,))


def _refusal(
    group: Group, request: AlterSyncStateSet, now_ms: TimestampMs, bugs: Bugs
) -> tuple[ResponseCode, str] | None:
    """Return why the proposal is not taken, asking in RocketMQ's order.

    Spec: ReplicaGroup!MayAlter, ReplicaGroup!OfEpoch, ReplicaGroup!OfSet
    """
    proposed = request.sync_state_set
    if proposed.members == group.members:
        return ResponseCode.ALTER_SYNC_STATE_SET_FAILED, "the proposed set is the present one"
    if not _from_master(group, request, bugs):
        remark = f"the master is {group.master}, not {request.master_broker_id}"
        return ResponseCode.INVALID_MASTER, remark
    if not (request.master_epoch == group.master_epoch or bugs & {Bug.MASTER_EPOCH, Bug.B36}):
        remark = f"the master epoch is {group.master_epoch}, not {request.master_epoch}"
        return ResponseCode.FENCED_MASTER_EPOCH, remark
    if not (proposed.epoch == group.sync_state_set.epoch or bugs & {Bug.SET_EPOCH, Bug.B36}):
        remark = f"the set's epoch is {group.sync_state_set.epoch}, not {proposed.epoch}"
        return ResponseCode.FENCED_SYNC_STATE_SET_EPOCH, remark
    for broker_id in sorted(proposed.members):
        if broker_id not in group.replicas:
            return ResponseCode.INVALID_REPLICAS, f"there is no replica {broker_id}"
        if not group.is_alive(broker_id, now_ms):
            return ResponseCode.BROKER_NOT_ALIVE, f"the replica {broker_id} is not alive"
    restarted = _restarted_since(group, request, bugs)
    if restarted is not None:
        remark = (
            f"the replica {restarted} is in incarnation {group.replicas[restarted].incarnation}"
        )
        return ResponseCode.BROKER_NOT_ALIVE, remark
    if not _has_master(group, request, bugs):
        remark = f"the proposed set lacks the master {group.master}"
        return ResponseCode.ALTER_SYNC_STATE_SET_FAILED, remark
    return None


def _from_master(group: Group, request: AlterSyncStateSet, bugs: Bugs) -> bool:
    """Tell whether the master proposes; without one nobody may (B33).

    Spec: ReplicaGroup!FromMaster
    """
    if Bug.B36 in bugs or (group.master is None and Bug.B33 in bugs):
        return True
    return group.master is not None and group.master == request.master_broker_id


def _restarted_since(group: Group, request: AlterSyncStateSet, bugs: Bugs) -> BrokerId | None:
    """Return who joins and is not the one whom the master saw caught up: it may have less (B85).

    Spec: ReplicaGroup!SameIncarnation
    """
    if Bug.B85 in bugs:
        return None
    joining = request.joining
    for broker_id in sorted(request.sync_state_set.members & joining.keys()):
        if joining[broker_id] != group.replicas[broker_id].incarnation:
            return broker_id
    return None


def _has_master(group: Group, request: AlterSyncStateSet, bugs: Bugs) -> bool:
    """Tell whether a master stays in its set. Without one nothing may be proposed.

    Spec: ReplicaGroup!HasMaster
    """
    if bugs & {Bug.HAS_MASTER, Bug.B36}:
        return True
    if group.master is None:
        return Bug.B33 in bugs
    return group.master in request.sync_state_set.members
