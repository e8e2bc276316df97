"""The JSON bodies of the controller's requests and responses.

| body                    | members                                                              |
|-------------------------|----------------------------------------------------------------------|
| SyncStateSet            | syncStateSet: array of ids; syncStateSetEpoch: integer               |
| list of groups          | (an array of texts, no object)                                       |
| ElectMasterResponseBody | brokerMemberGroup: one or missing (see                               |
|                         | `rocketha.formats.broker_member_group`); syncStateSet                |
| BrokerReplicasInfo      | replicasInfoTable: object of one ReplicasInfo for each group         |
| ReplicasInfo            | inSyncReplicas, notInSyncReplicas: arrays of ReplicaIdentity;        |
|                         | masterBrokerId, masterAddress: missing without master; masterEpoch;  |
|                         | syncStateSetEpoch                                                    |
| ReplicaIdentity         | alive: true or false; brokerAddress; brokerId; brokerName            |

Sets are written in the order of their numbers. A body that is not what it must be raises a
`PacketError`: the peer does not speak the protocol.

Source: remoting/protocol/body `SyncStateSet`, `ElectMasterResponseBody`, `BrokerReplicasInfo`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rocketha.errors import PacketError
from rocketha.formats.broker_member_group import BrokerMemberGroup, read_member_group
from rocketha.formats.json_text import (
    JsonObject,
    JsonValue,
    as_array,
    as_integer,
    as_object,
    as_text,
    integer_at,
    member_map,
    optional_integer_at,
    optional_text_at,
    read_json,
    text_at,
    write_json,
)
from rocketha.types import INT32_MAX, BrokerId, Epoch, SyncStateSetEpoch

__all__ = [
    "MEMBERS_MAX",
    "ReplicaIdentity",
    "ReplicasInfo",
    "SyncStateSet",
    "pull_broker_names",
    "pull_elected",
    "pull_replicas_info",
    "pull_sync_state_set",
    "push_broker_names",
    "push_elected",
    "push_replicas_info",
    "push_sync_state_set",
]

MEMBERS_MAX: Final = 1024
"""No bound in RocketMQ, where a group has a handful of replicas."""


@dataclass(frozen=True, slots=True)
class SyncStateSet:
    """The replicas that have every acknowledged message, and the version of that set."""

    members: frozenset[BrokerId]
    epoch: SyncStateSetEpoch
    """In a proposal: the version that it changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaIdentity:
    """One replica, and whether the controller hears of it."""

    broker_name: str
    broker_id: BrokerId
    broker_address: str
    alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicasInfo:
    """What the controller knows of one group."""

    master_broker_id: BrokerId | None
    master_address: str | None
    master_epoch: Epoch
    sync_state_set_epoch: SyncStateSetEpoch
    in_sync: tuple[ReplicaIdentity, ...]
    not_in_sync: tuple[ReplicaIdentity, ...]


def push_sync_state_set(sync_state_set: SyncStateSet) -> bytes:
    """Write a SyncStateSet."""
    members = sorted(sync_state_set.members)
    return write_json({"syncStateSet": members, "syncStateSetEpoch": sync_state_set.epoch})


def pull_sync_state_set(data: bytes) -> SyncStateSet:
    """Read a SyncStateSet. Raises: PacketError"""
    body = as_object(read_json(data, "SyncStateSet"), "SyncStateSet")
    epoch = integer_at(body, "syncStateSetEpoch", least=0, most=INT32_MAX)
    return SyncStateSet(_members(body), SyncStateSetEpoch(epoch))


def push_broker_names(names: Iterable[str]) -> bytes:
    """Write a list of groups."""
    return write_json(list(names))


def pull_broker_names(data: bytes) -> tuple[str, ...]:
    """Read a list of groups. Raises: PacketError"""
    names = as_array(read_json(data, "broker names"), "broker names")
    return tuple(as_text(name, "broker name") for name in names)


def push_elected(members: frozenset[BrokerId], group: BrokerMemberGroup | None) -> bytes:
    """Write the body of an election's response."""
    tail = b'"syncStateSet":' + write_json(sorted(members)) + b"}"
    if group is None:
        return b"{" + tail
    # Not through `write_json`: the keys of the map have no quotes.
    addresses = member_map(group.addresses.items())
    names = write_json({"brokerName": group.broker_name, "cluster": group.cluster_name})
    head = f'{{"brokerMemberGroup":{{"brokerAddrs":{addresses},'.encode()
    return head + names[1:] + b"," + tail


def pull_elected(data: bytes) -> tuple[frozenset[BrokerId], BrokerMemberGroup | None]:
    """Read the body of an election's response. Raises: PacketError"""
    body = as_object(read_json(data, "ElectMasterResponseBody"), "ElectMasterResponseBody")
    group = body.get("brokerMemberGroup")
    return _members(body), None if group is None else read_member_group(group)


def push_replicas_info(table: Mapping[str, ReplicasInfo]) -> bytes:
    """Write what the controller knows of some groups."""
    return write_json({"replicasInfoTable": {name: _info_json(table[name]) for name in table}})


def pull_replicas_info(data: bytes) -> Mapping[str, ReplicasInfo]:
    """Read what the controller knows of some groups. Raises: PacketError"""
    body = as_object(read_json(data, "BrokerReplicasInfo"), "BrokerReplicasInfo")
    table = as_object(body.get("replicasInfoTable"), "replicasInfoTable")
    return MappingProxyType({name: _info(as_object(table[name], name)) for name in table})


def _members(body: JsonObject) -> frozenset[BrokerId]:
    values = as_array(body.get("syncStateSet"), "syncStateSet")
    if len(values) > MEMBERS_MAX:
        raise PacketError("syncStateSet", offset=0, reason=f"has {len(values)} members")
    members = [BrokerId(as_integer(value, "member")) for value in values]
    if len(set(members)) < len(members):
        raise PacketError("syncStateSet", offset=0, reason="has a member twice")
    return frozenset(members)


def _info_json(info: ReplicasInfo) -> JsonValue:
    value: dict[str, JsonValue] = {
        "inSyncReplicas": [_identity_json(replica) for replica in info.in_sync],
        "masterEpoch": info.master_epoch,
        "notInSyncReplicas": [_identity_json(replica) for replica in info.not_in_sync],
        "syncStateSetEpoch": info.sync_state_set_epoch,
    }
    if info.master_broker_id is not None:
        value["masterBrokerId"] = info.master_broker_id
    if info.master_address is not None:
        value["masterAddress"] = info.master_address
    return value


def _info(value: JsonObject) -> ReplicasInfo:
    master = optional_integer_at(value, "masterBrokerId")
    sss_epoch = integer_at(value, "syncStateSetEpoch", least=0, most=INT32_MAX)
    return ReplicasInfo(
        master_broker_id=None if master is None else BrokerId(master),
        master_address=optional_text_at(value, "masterAddress"),
        master_epoch=Epoch(integer_at(value, "masterEpoch", least=0, most=INT32_MAX)),
        sync_state_set_epoch=SyncStateSetEpoch(sss_epoch),
        in_sync=_identities(value, "inSyncReplicas"),
        not_in_sync=_identities(value, "notInSyncReplicas"),
    )


def _identity_json(replica: ReplicaIdentity) -> JsonValue:
    return {
        "alive": replica.alive,
        "brokerAddress": replica.broker_address,
        "brokerId": replica.broker_id,
        "brokerName": replica.broker_name,
    }


def _identities(value: JsonObject, name: str) -> tuple[ReplicaIdentity, ...]:
    return tuple(_identity(as_object(item, name)) for item in as_array(value.get(name), name))


def _identity(value: JsonObject) -> ReplicaIdentity:
    alive = value.get("alive")
    if not isinstance(alive, bool):
        raise PacketError("alive", offset=0, reason="is not true or false")
    return ReplicaIdentity(
        broker_name=text_at(value, "brokerName"),
        broker_id=BrokerId(integer_at(value, "brokerId")),
        broker_address=text_at(value, "brokerAddress"),
        alive=alive,
    )
