"""Elections: who becomes master when the present one is gone, or an operator wants another.

An election takes the SyncStateSet down to the new master and its version up: proposals of the old
master are refused from then on. An election that finds nobody changes nothing. RocketMQ then counts
an epoch that has no master (B75) and forgets the old one, which nobody looks for any more (B29).

Source: ReplicasInfoManager (`electMaster`, `handleElectMaster`, `scanNeedReelectBrokerSets`),
controller/elect/impl `DefaultElectPolicy`
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.controller.applied import Applied, MasterElected, NotifyBroker, refuse
from rocketha.controller.rules import CONTROLLER_RULES, ControllerRules
from rocketha.controller.state import ControllerState, Group
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import ElectMaster, RoleChanged
from rocketha.formats.controller_responses import Elected, Reply
from rocketha.types import BrokerId, TimestampMs

__all__ = ["choose_master", "elect_master"]


def elect_master(
    state: ControllerState,
    request: ElectMaster,
    *,
    now_ms: TimestampMs,
    elect_unclean: bool,
    rules: ControllerRules = CONTROLLER_RULES,
) -> Applied:
    """Elect a master if there is none that lives, or another one is designated.

    Spec: ReplicaGroup!ElectMaster, ReplicaGroup!DesignateMaster
    Source: ReplicasInfoManager.electMaster
    """
    group = state.known(request.broker_name)
    if group is None:
        remark = f"the group {request.broker_name} is not known"
        return refuse(state, ResponseCode.BROKER_NEED_TO_BE_REGISTERED, remark)
    asker = request.broker_id
    if group.is_new and asker is not None:
        # The first master may be any replica; RocketMQ does not ask whether there is such a one.
        if asker not in group.replicas:
            remark = f"there is no replica {asker}"
            return refuse(state, ResponseCode.BROKER_NEED_TO_BE_REGISTERED, remark)
        candidate = asker if group.is_alive(asker, now_ms) else None
    else:
        designated = asker if request.designate_elect else None
        candidate = choose_master(
            group,
            designated=designated,
            now_ms=now_ms,
            elect_unclean=elect_unclean,
            rules=rules,
        )
    if candidate is None:
        if asker is None:
            remark = "the old master is gone, and nobody can be elected"
            return refuse(state, ResponseCode.MASTER_NOT_AVAILABLE, remark)
        return refuse(state, ResponseCode.ELECT_MASTER_FAILED, "nobody can be elected")
    if candidate == group.master:
        return _still_there(state, group, candidate)
    return _elected(state, group, candidate, now_ms, rules)


def choose_master(
    group: Group,
    *,
    designated: BrokerId | None,
    now_ms: TimestampMs,
    elect_unclean: bool,
    rules: ControllerRules = CONTROLLER_RULES,
) -> BrokerId | None:
    """Choose among the members of the SyncStateSet, then, if that is allowed, among all replicas.

    Members with a torn log are passed by. A master that lives stays, unless another is designated;
    who is designated is elected or nobody. Else it is the replica with the greatest epoch and log
    end, then with the smallest priority, by its last heartbeat.

    Spec: ReplicaGroup!Electable
    Source: DefaultElectPolicy.elect
    """
    stages = [rules.whole(group)]
    if elect_unclean:
        stages.append(frozenset(group.replicas))
    for stage in stages:
        alive = frozenset(b for b in stage if group.is_alive(b, now_ms))
        if group.master in alive and designated is None:
            return group.master
        if designated is not None:
            if designated in alive:
                return designated
        elif alive:
            return min(alive, key=lambda broker_id: _rank(group, broker_id))
    return None


def _rank(group: Group, broker_id: BrokerId) -> tuple[int, int, int, int]:
    """Order replicas, the best first, and equals by id.

    RocketMQ subtracts log ends and keeps 32 bits of the difference, so that from 2 GiB on the
    shorter log may win (B27).

    Source: DefaultElectPolicy.comparator
    """
    heard = group.replicas[broker_id].heard
    return -heard.epoch, -heard.max_offset, heard.election_priority, broker_id


def _still_there(state: ControllerState, group: Group, master: BrokerId) -> Applied:
    content = Elected(master=group.show_master(master), members=group.members)
    remark = f"the master {master} is still alive"
    return Applied(
        state=state,
        reply=Reply(code=ResponseCode.MASTER_STILL_EXIST, remark=remark, content=content),
    )


def _elected(
    state: ControllerState,
    group: Group,
    candidate: BrokerId,
    now_ms: TimestampMs,
    rules: ControllerRules,
) -> Applied:
    """Make the candidate master in a new epoch, and notify who is alive.

    Spec: ReplicaGroup!Elect, ReplicaGroup!Unnotified
    Source: ReplicasInfoManager.handleElectMaster
    """
    clean = candidate in group.members - group.unfit or group.master_epoch == 0
    elected = replace(
        group.with_set(frozenset({candidate})),
        master=candidate,
        master_epoch=rules.next_epoch(group.master_epoch),
        unfit=frozenset(),
    )
    master = elected.show_master(candidate)
    content = Elected(master=master, members=elected.members, group=elected.member_group())
    notice = RoleChanged(
        master_broker_id=candidate,
        master_address=master.address,
        master_epoch=elected.master_epoch,
        sync_state_set=elected.sync_state_set,
    )
    return Applied(
        state=state.with_group(elected),
        reply=Reply(content=content),
        events=(
            MasterElected(
                broker_name=group.broker_name,
                master=candidate,
                epoch=elected.master_epoch,
                clean=clean,
            ),
        ),
        effects=tuple(
            NotifyBroker(address=replica.address, notice=notice)
            for broker_id, replica in sorted(elected.replicas.items())
            if elected.is_alive(broker_id, now_ms)
        ),
    )
