"""What a controller answers from its state alone.

Source: ReplicasInfoManager (`getReplicaInfo`, `getSyncStateData`, `getNextBrokerId`)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias, assert_never

from rocketha.controller.state import FIRST_BROKER_ID, ControllerState, Group
from rocketha.formats.controller_bodies import ReplicaIdentity, ReplicasInfo
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import (
    GetControllerConfig,
    GetMetadataInfo,
    GetNextBrokerId,
    GetReplicaInfo,
    GetSyncStateData,
    UpdateControllerConfig,
)
from rocketha.formats.controller_responses import (
    ControllerSettings,
    MetadataInfo,
    NextBrokerId,
    ReplicaInfo,
    Reply,
    SyncStateData,
)
from rocketha.types import BrokerId, TimestampMs

__all__ = ["Query", "StateQuery", "answer_query"]

StateQuery: TypeAlias = GetReplicaInfo | GetSyncStateData | GetNextBrokerId
"""Requests about what the log has made."""

Query: TypeAlias = StateQuery | GetMetadataInfo | GetControllerConfig | UpdateControllerConfig
"""Requests that change nothing."""


def answer_query(
    state: ControllerState,
    query: Query,
    *,
    now_ms: TimestampMs,
    metadata: MetadataInfo,
    settings: Mapping[str, str],
) -> Reply:
    """Answer from a state, which must be the one after every entry that was answered before.

    Settings are those of the controller's start: who wants others has no permission. RocketMQ takes
    all but a few, and most of them count at the next start.
    """
    match query:
        case GetReplicaInfo():
            return get_replica_info(state, query)
        case GetSyncStateData():
            return get_sync_state_data(state, query, now_ms=now_ms)
        case GetNextBrokerId():
            return get_next_broker_id(state, query)
        case GetMetadataInfo():
            return Reply(content=metadata)
        case GetControllerConfig():
            return Reply(content=ControllerSettings(settings=settings))
        case UpdateControllerConfig():
            remark = "this controller takes its settings when it starts"
            return Reply(code=ResponseCode.NO_PERMISSION, remark=remark)
        case _ as unreachable:
            assert_never(unreachable)


def get_replica_info(state: ControllerState, query: GetReplicaInfo) -> Reply:
    """Show the master, alive or not, and the SyncStateSet.

    Source: ReplicasInfoManager.getReplicaInfo
    """
    group = state.known(query.broker_name)
    if group is None:
        remark = f"the group {query.broker_name} is not known"
        return Reply(code=ResponseCode.BROKER_METADATA_NOT_EXIST, remark=remark)
    master = group.master
    return Reply(
        content=ReplicaInfo(
            master_broker_id=master,
            master_address=None if master is None else group.replicas[master].address,
            master_epoch=group.master_epoch,
            sync_state_set=group.sync_state_set,
        )
    )


def get_sync_state_data(
    state: ControllerState, query: GetSyncStateData, *, now_ms: TimestampMs
) -> Reply:
    """Show all replicas of the groups that are known.

    Source: ReplicasInfoManager.getSyncStateData
    """
    found = {name: state.known(name) for name in query.broker_names}
    return Reply(
        content=SyncStateData(
            groups=MappingProxyType(
                {name: _info(group, now_ms) for name, group in found.items() if group is not None}
            )
        )
    )


def get_next_broker_id(state: ControllerState, query: GetNextBrokerId) -> Reply:
    """Show which id is free. Source: ReplicasInfoManager.getNextBrokerId"""
    group = state.groups.get(query.broker_name)
    return Reply(
        content=NextBrokerId(
            cluster_name=query.cluster_name,
            broker_name=query.broker_name,
            next_broker_id=FIRST_BROKER_ID if group is None else group.next_broker_id,
        )
    )


def _info(group: Group, now_ms: TimestampMs) -> ReplicasInfo:
    def identity(broker_id: BrokerId) -> ReplicaIdentity:
        return ReplicaIdentity(
            broker_name=group.broker_name,
            broker_id=broker_id,
            broker_address=group.replicas[broker_id].address,
            alive=group.is_alive(broker_id, now_ms),
        )

    ids = sorted(group.replicas)
    return ReplicasInfo(
        master_broker_id=group.master,
        master_address=None if group.master is None else group.replicas[group.master].address,
        master_epoch=group.master_epoch,
        sync_state_set_epoch=group.sync_state_set.epoch,
        in_sync=tuple(identity(i) for i in ids if i in group.members),
        not_in_sync=tuple(identity(i) for i in ids if i not in group.members),
    )
