"""What an operator removes from the controller.

Epochs and ids outlive their group: brokers remember them (B37). A broker of a group that was
removed as a whole may register again with the id that its file says; one that was removed by its id
is gone for good. What remains of a group has a master only if that was not removed, and never a
SyncStateSet without members.

Source: ReplicasInfoManager (`cleanBrokerData`, `handleCleanBrokerDataEvent`)
"""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from rocketha.controller.applied import Applied, DataCleaned, refuse
from rocketha.controller.rules import CONTROLLER_RULES, ControllerRules
from rocketha.controller.state import UNHEARD, ControllerState, Group, Replica
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import CleanBrokerData
from rocketha.types import BrokerId, TimestampMs

__all__ = ["clean_broker_data"]

_IDS: Final = re.compile(r"[0-9]{1,19}(?:;[0-9]{1,19})*\Z", re.ASCII)


def clean_broker_data(
    state: ControllerState,
    request: CleanBrokerData,
    *,
    now_ms: TimestampMs,
    rules: ControllerRules = CONTROLLER_RULES,
) -> Applied:
    """Remove some replicas, or without ids the whole group; living ones only if that is asked for.

    RocketMQ forgets the ids if living ones may go, and removes the whole group. The specification
    has only the removal of a whole group whose master is gone.

    Spec: ReplicaGroup!CleanBrokerData
    Source: ReplicasInfoManager.cleanBrokerData
    """
    code = ResponseCode.INVALID_CLEAN_BROKER_METADATA
    ids_text = (request.ids_to_clean or "").strip()
    if ids_text and not _IDS.match(ids_text):
        return refuse(state, code, f"{ascii(ids_text)[:60]} is not a list like 1;2")
    group = state.known(request.broker_name)
    if group is None:
        return refuse(state, code, f"the group {request.broker_name} is not known")
    listed = frozenset(BrokerId(int(part)) for part in ids_text.split(";") if part)
    alive = sorted(i for i in listed if group.is_alive(i, now_ms))
    if not request.clean_living:
        if not listed and group.live_master(now_ms) is not None:
            return refuse(state, code, f"the group {request.broker_name} has a living master")
        if alive:
            return refuse(state, code, f"the replica {alive[0]} is alive")
    removed = (listed or frozenset(group.replicas)) & group.replicas.keys()
    cleaned = _without(group, removed)
    if cleaned.replicas and group.members and not cleaned.members:
        # Then nobody could be elected any more, and nobody could join the set either.
        return refuse(state, code, "no member of the SyncStateSet would remain")
    if not listed:
        cleaned = replace(cleaned, former=MappingProxyType(_unheard(group)))
    if not cleaned.replicas:
        cleaned = replace(cleaned, master_epoch=rules.epoch_after_clean(cleaned.master_epoch))
    events = (DataCleaned(broker_name=group.broker_name, removed=removed),) if removed else ()
    return Applied(state=state.with_group(cleaned), events=events)


def _unheard(group: Group) -> dict[BrokerId, Replica]:
    """Return all replicas that may come back; nobody has heard of them."""
    everybody = {**group.former, **group.replicas}
    return {i: replace(replica, heard=UNHEARD) for i, replica in everybody.items()}


def _without(group: Group, removed: frozenset[BrokerId]) -> Group:
    """Remove replicas, also from the SyncStateSet, and the master if it is one of them."""
    replicas = {i: replica for i, replica in group.replicas.items() if i not in removed}
    members = group.members - removed
    cleaned = group if members == group.members else group.with_set(members)
    return replace(
        cleaned,
        replicas=MappingProxyType(replicas),
        master=None if group.master in removed else group.master,
    )
