"""The state of a controller as the JSON of its two tables, and back.

| member                 | value                                                                   |
|------------------------|-------------------------------------------------------------------------|
| replicaInfoTable       | broker name -> clusterName, brokerName, nextAssignBrokerId,             |
|                        | brokerIdInfo, formerBrokerIdInfo: id -> replica                         |
| syncStateSetInfoTable  | broker name -> clusterName, brokerName, masterBrokerId (missing without |
|                        | master), masterEpoch, syncStateSet, syncStateSetEpoch, unfit            |
| clockMs                | time of the last entry                                                  |

A replica is brokerAddress, registerCheckCode, incarnation and, if it was ever heard of, heard:
channels (pairs of channel and time, in the order in which they were first used),
heartbeatTimeoutMillis, epoch, maxOffset, confirmOffset, electionPriority.

RIP-59 writes the two tables as they are in memory; what RocketMQ has in a third table, or not at
all, is in them here, since it is made by the log, too.

Source: RIP-59, "ReplicasInfoManager Snapshot"; controller/impl/manager `ReplicasInfoManager`,
`BrokerReplicaInfo`, `SyncStateInfo`, controller/impl/heartbeat `BrokerLiveInfo`
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rocketha.controller.group_table import GroupTable
from rocketha.controller.state import (
    FIRST_BROKER_ID,
    UNHEARD,
    ControllerState,
    Group,
    Heard,
    Replica,
)
from rocketha.errors import PacketError
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_requests import FIRST_INCARNATION, Incarnation
from rocketha.formats.json_text import (
    JsonObject,
    JsonValue,
    as_array,
    as_integer,
    as_object,
    integer_at,
    optional_integer_at,
    read_json,
    text_at,
    write_json,
)
from rocketha.types import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    NO_EPOCH,
    BrokerId,
    ConnectionId,
    Epoch,
    Offset,
    SyncStateSetEpoch,
    TimestampMs,
)

__all__ = ["pull_tables", "push_tables"]

_WHAT: Final = "controller's tables"


def push_tables(state: ControllerState) -> bytes:
    """Write a state."""
    groups = state.groups.items()
    return write_json(
        {
            "clockMs": state.clock_ms,
            "replicaInfoTable": {name: _replica_info(group) for name, group in groups},
            "syncStateSetInfoTable": {name: _set_info(group) for name, group in groups},
        }
    )


def pull_tables(data: bytes) -> ControllerState:
    """Read a state. Raises: PacketError"""
    tables = as_object(read_json(data, _WHAT, bare_names=False), _WHAT)
    replicas, sets = (
        _object_at(tables, "replicaInfoTable"),
        _object_at(tables, "syncStateSetInfoTable"),
    )
    if replicas.keys() != sets.keys():
        raise PacketError(_WHAT, offset=0, reason="the two tables have other groups")
    return ControllerState(
        groups=GroupTable(
            {
                name: _group(name, as_object(info, name), _object_at(sets, name))
                for name, info in replicas.items()
            }
        ),
        clock_ms=TimestampMs(integer_at(tables, "clockMs", least=0)),
    )


def _replica_info(group: Group) -> JsonObject:
    return {
        "clusterName": group.cluster_name,
        "brokerName": group.broker_name,
        "nextAssignBrokerId": group.next_broker_id,
        "brokerIdInfo": {str(i): _replica_json(r) for i, r in group.replicas.items()},
        "formerBrokerIdInfo": {str(i): _replica_json(r) for i, r in group.former.items()},
    }


def _set_info(group: Group) -> JsonObject:
    info: dict[str, JsonValue] = {
        "clusterName": group.cluster_name,
        "brokerName": group.broker_name,
        "masterEpoch": group.master_epoch,
        "syncStateSet": sorted(group.sync_state_set.members),
        "syncStateSetEpoch": group.sync_state_set.epoch,
        "unfit": sorted(group.unfit),
    }
    if group.master is not None:
        info["masterBrokerId"] = group.master
    return info


def _replica_json(replica: Replica) -> JsonObject:
    written: dict[str, JsonValue] = {
        "brokerAddress": replica.address,
        "registerCheckCode": replica.check_code,
        "incarnation": replica.incarnation,
    }
    heard = replica.heard
    if heard != UNHEARD:
        written["heard"] = {
            "channels": [[channel, last] for channel, last in heard.channels.items()],
            "heartbeatTimeoutMillis": heard.timeout_ms,
            "epoch": heard.epoch,
            "maxOffset": heard.max_offset,
            "confirmOffset": heard.confirm_offset,
            "electionPriority": heard.election_priority,
        }
    return written


def _group(name: str, info: JsonObject, sss: JsonObject) -> Group:
    """Raises: PacketError"""
    names = {text_at(table, "brokerName") for table in (info, sss)}
    clusters = {text_at(table, "clusterName") for table in (info, sss)}
    replicas = _replicas_at(info, "brokerIdInfo")
    master = optional_integer_at(sss, "masterBrokerId")
    if names != {name} or len(clusters) > 1 or (master is not None and master not in replicas):
        raise PacketError(_WHAT, offset=0, reason=f"the group {name!a} contradicts itself")
    return Group(
        cluster_name=clusters.pop(),
        broker_name=name,
        next_broker_id=BrokerId(integer_at(info, "nextAssignBrokerId", least=FIRST_BROKER_ID)),
        replicas=replicas,
        master=None if master is None else BrokerId(master),
        master_epoch=Epoch(integer_at(sss, "masterEpoch", least=0, most=INT32_MAX)),
        sync_state_set=SyncStateSet(
            _ids_at(sss, "syncStateSet"),
            SyncStateSetEpoch(integer_at(sss, "syncStateSetEpoch", least=0, most=INT32_MAX)),
        ),
        unfit=_ids_at(sss, "unfit"),
        former=_replicas_at(info, "formerBrokerIdInfo"),
    )


def _replicas_at(info: JsonObject, member: str) -> Mapping[BrokerId, Replica]:
    return MappingProxyType(
        {
            _broker_id(key): _replica(as_object(value, member))
            for key, value in _object_at(info, member).items()
        }
    )


def _broker_id(key: str) -> BrokerId:
    if not key.isascii() or not key.isdecimal() or str(int(key[:20])) != key:
        raise PacketError(_WHAT, offset=0, reason=f"{key[:40]!a} is no id of a broker")
    return BrokerId(as_integer(int(key), "brokerId", least=0, most=INT64_MAX))


def _replica(written: JsonObject) -> Replica:
    """Raises: PacketError"""
    heard = written.get("heard")
    return Replica(
        address=text_at(written, "brokerAddress"),
        check_code=text_at(written, "registerCheckCode"),
        incarnation=Incarnation(integer_at(written, "incarnation", least=FIRST_INCARNATION)),
        heard=UNHEARD if heard is None else _heard(as_object(heard, "heard")),
    )


def _heard(written: JsonObject) -> Heard:
    """Raises: PacketError"""
    times: dict[ConnectionId, TimestampMs] = {}
    for pair in as_array(written.get("channels"), "channels"):
        numbers = [as_integer(value, "channel", least=0) for value in as_array(pair, "channel")]
        if len(numbers) != 2:
            raise PacketError("channels", offset=0, reason="has what is no pair")
        times[ConnectionId(numbers[0])] = TimestampMs(numbers[1])
    return Heard(
        channels=MappingProxyType(times),
        timeout_ms=integer_at(written, "heartbeatTimeoutMillis"),
        epoch=Epoch(integer_at(written, "epoch", least=NO_EPOCH, most=INT32_MAX)),
        max_offset=Offset(integer_at(written, "maxOffset")),
        confirm_offset=Offset(integer_at(written, "confirmOffset")),
        election_priority=integer_at(written, "electionPriority", least=INT32_MIN, most=INT32_MAX),
    )


def _object_at(value: JsonObject, name: str) -> JsonObject:
    return as_object(value.get(name), name)


def _ids_at(value: JsonObject, name: str) -> frozenset[BrokerId]:
    ids = as_array(value.get(name), name)
    return frozenset([BrokerId(as_integer(broker_id, name, least=0)) for broker_id in ids])
