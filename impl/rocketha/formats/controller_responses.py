"""What a controller answers.

Every answer has a code and perhaps a remark; the ones below have fields and a body, too.

| request           | fields; body                                                           |
|-------------------|------------------------------------------------------------------------|
| AlterSyncStateSet | newSyncStateSetEpoch I; SyncStateSet                                   |
| ElectMaster       | masterBrokerId L, masterAddress, masterEpoch I, syncStateSetEpoch I;   |
|                   | ElectMasterResponseBody                                                |
| RegisterBroker    | clusterName, brokerName, and if a master lives masterBrokerId L,       |
|                   | masterAddress, masterEpoch I, syncStateSetEpoch I; presentEpoch I+;    |
|                   | SyncStateSet                                                           |
| GetReplicaInfo    | masterBrokerId L?, masterAddress?, masterEpoch I; SyncStateSet         |
| GetMetadataInfo   | group, controllerLeaderId?, controllerLeaderAddress?, isLeader B,      |
|                   | peers                                                                  |
| GetSyncStateData  | (none); BrokerReplicasInfo                                             |
| GetNextBrokerId   | clusterName, brokerName, nextBrokerId L                                |
| ApplyBrokerId     | clusterName, brokerName                                                |
| GetController-    | (none); settings (see `rocketha.formats.properties`)                   |
| Config            |                                                                        |

I 32 bits, L 64 bits, B truth value, without letter a text; ? may be missing; + is ours, and 0 where
it is missing: the group's masterEpoch even if no master lives, which a broker must know before it
follows anybody. The others have none.
A refusal has a code and a remark; only `MASTER_STILL_EXIST` shows the master as an election does.
RocketMQ's refusals have some of the fields, with the values that Java gives them.

Source: remoting/protocol/header/controller, controller/impl/manager `ReplicasInfoManager`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from rocketha.errors import RequestError
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.controller_bodies import (
    ReplicasInfo,
    SyncStateSet,
    pull_elected,
    pull_replicas_info,
    pull_sync_state_set,
    push_elected,
    push_replicas_info,
    push_sync_state_set,
)
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.ext_fields import FieldReader, push_fields
from rocketha.formats.properties import pull_properties, push_properties
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.types import BrokerId, Epoch, SyncStateSetEpoch

__all__ = [
    "BrokerIdApplied",
    "ControllerSettings",
    "Elected",
    "LiveMaster",
    "MetadataInfo",
    "NextBrokerId",
    "Registered",
    "ReplicaInfo",
    "Reply",
    "ReplyContent",
    "SyncStateData",
    "SyncStateSetAltered",
    "pull_reply",
    "push_reply",
]


_RESPONSE_CODES: Final = frozenset(ResponseCode)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncStateSetAltered:
    """The proposed set is the set, in this version."""

    sync_state_set: SyncStateSet


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMaster:
    """The master of a group, and in which epochs."""

    broker_id: BrokerId
    address: str
    epoch: Epoch
    sync_state_set_epoch: SyncStateSetEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class Elected:
    """The master after an election, or the one that made it needless (then without `group`)."""

    master: LiveMaster
    members: frozenset[BrokerId]
    group: BrokerMemberGroup | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """The replica is known; `master` only if it lives, `master_epoch` in any case."""

    cluster_name: str
    broker_name: str
    master: LiveMaster | None
    master_epoch: Epoch
    sync_state_set: SyncStateSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaInfo:
    """The master of a group, alive or not, and its SyncStateSet."""

    master_broker_id: BrokerId | None
    master_address: str | None
    master_epoch: Epoch
    sync_state_set: SyncStateSet


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataInfo:
    """Who leads the controllers, as far as the answering one knows.

    Source: DLedgerController.getControllerMetadata, JRaftController.getControllerMetadata
    """

    group: str
    leader_id: str | None
    """`None` while there is no leader; the JRaft controller says the empty text then."""
    leader_address: str | None
    """`None` while there is no leader."""
    is_leader: bool
    peers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncStateData:
    """All that is known of some groups; groups that are not known are left out."""

    groups: Mapping[str, ReplicasInfo]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextBrokerId:
    """The id that a new replica may apply for."""

    cluster_name: str
    broker_name: str
    next_broker_id: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerIdApplied:
    """The id is the replica's."""

    cluster_name: str
    broker_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    """How the controller is configured."""

    settings: Mapping[str, str]


ReplyContent: TypeAlias = (
    SyncStateSetAltered
    | Elected
    | Registered
    | ReplicaInfo
    | MetadataInfo
    | SyncStateData
    | NextBrokerId
    | BrokerIdApplied
    | ControllerSettings
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer."""

    code: ResponseCode = ResponseCode.SUCCESS
    remark: str | None = None
    content: ReplyContent | None = None


_Parts = tuple[Mapping[str, str | int | bool | None], bytes]


def push_reply(reply: Reply, request: RemotingCommand) -> RemotingCommand:
    """Write the response to a request, in the serialisation of the request.

    Source: NettyRemotingAbstract.processRequestCommand
    """
    fields, body = ({}, b"") if reply.content is None else _parts(reply.content)
    return RemotingCommand(
        code=reply.code,
        opaque=request.opaque,
        flag=FLAG_RESPONSE,
        remark=reply.remark,
        ext_fields=push_fields(fields),
        body=body,
        serialization=request.serialization,
    )


def pull_reply(command: RemotingCommand, request_code: RequestCode) -> Reply:
    """Read the response to a request of this code.

    Raises: RequestError, PacketError
    """
    if command.code not in _RESPONSE_CODES:
        raise RequestError("response code", reason=f"is {command.code}, which is none")
    code = ResponseCode(command.code)
    shown = code is ResponseCode.SUCCESS or (
        code is ResponseCode.MASTER_STILL_EXIST and request_code is RequestCode.ELECT_MASTER
    )
    if not shown:
        return Reply(code=code, remark=command.remark)
    content = _pull_content(FieldReader(command.ext_fields), command.body, request_code)
    return Reply(code=code, remark=command.remark, content=content)


def _parts(content: ReplyContent) -> _Parts:
    match content:
        case SyncStateSetAltered(sync_state_set=altered):
            return {"newSyncStateSetEpoch": altered.epoch}, push_sync_state_set(altered)
        case Elected():
            return _master_fields(content.master), push_elected(content.members, content.group)
        case Registered():
            return {
                "clusterName": content.cluster_name,
                "brokerName": content.broker_name,
                "presentEpoch": content.master_epoch or None,
                **({} if content.master is None else _master_fields(content.master)),
            }, push_sync_state_set(content.sync_state_set)
        case ReplicaInfo():
            return {
                "masterBrokerId": content.master_broker_id,
                "masterAddress": content.master_address,
                "masterEpoch": content.master_epoch,
            }, push_sync_state_set(content.sync_state_set)
        case MetadataInfo():
            return {
                "group": content.group,
                "controllerLeaderId": content.leader_id,
                "controllerLeaderAddress": content.leader_address,
                "isLeader": content.is_leader,
                "peers": content.peers,
            }, b""
        case SyncStateData(groups=groups):
            return {}, push_replicas_info(groups)
        case NextBrokerId():
            return {
                "clusterName": content.cluster_name,
                "brokerName": content.broker_name,
                "nextBrokerId": content.next_broker_id,
            }, b""
        case ControllerSettings(settings=settings):
            return {}, push_properties(settings)
        case BrokerIdApplied():
            return {"clusterName": content.cluster_name, "brokerName": content.broker_name}, b""
        case _ as unreachable:
            assert_never(unreachable)


def _master_fields(master: LiveMaster) -> Mapping[str, str | int | bool | None]:
    return {
        "masterBrokerId": master.broker_id,
        "masterAddress": master.address,
        "masterEpoch": master.epoch,
        "syncStateSetEpoch": master.sync_state_set_epoch,
    }


def _pull_content(reader: FieldReader, body: bytes, request: RequestCode) -> ReplyContent | None:
    match request:
        case RequestCode.ALTER_SYNC_STATE_SET:
            return SyncStateSetAltered(sync_state_set=pull_sync_state_set(body))
        case RequestCode.ELECT_MASTER:
            members, group = pull_elected(body)
            return Elected(master=_master(reader), members=members, group=group)
        case RequestCode.REGISTER_BROKER:
            return Registered(
                cluster_name=reader.text("clusterName"),
                broker_name=reader.name("brokerName"),
                master=_master(reader) if "masterBrokerId" in reader.fields else None,
                master_epoch=Epoch(reader.optional_int32("presentEpoch", least=0) or 0),
                sync_state_set=pull_sync_state_set(body),
            )
        case RequestCode.GET_REPLICA_INFO:
            return ReplicaInfo(
                master_broker_id=_optional_id(reader, "masterBrokerId"),
                master_address=reader.optional_text("masterAddress"),
                master_epoch=Epoch(reader.int32("masterEpoch", least=0)),
                sync_state_set=pull_sync_state_set(body),
            )
        case RequestCode.GET_METADATA_INFO:
            return MetadataInfo(
                group=reader.text("group"),
                leader_id=_optional_short(reader, "controllerLeaderId"),
                leader_address=_optional_short(reader, "controllerLeaderAddress"),
                is_leader=reader.boolean("isLeader"),
                peers=reader.text("peers"),
            )
        case RequestCode.GET_SYNC_STATE_DATA:
            return SyncStateData(groups=pull_replicas_info(body))
        case RequestCode.GET_NEXT_BROKER_ID:
            return NextBrokerId(
                cluster_name=reader.text("clusterName"),
                broker_name=reader.name("brokerName"),
                next_broker_id=BrokerId(reader.int64("nextBrokerId", least=1)),
            )
        case RequestCode.GET_CONTROLLER_CONFIG:
            return ControllerSettings(settings=pull_properties(body))
        case RequestCode.APPLY_BROKER_ID:
            return BrokerIdApplied(
                cluster_name=reader.text("clusterName"), broker_name=reader.name("brokerName")
            )
        case _:
            return None


def _master(reader: FieldReader) -> LiveMaster:
    return LiveMaster(
        broker_id=BrokerId(reader.int64("masterBrokerId", least=0)),
        address=reader.text("masterAddress"),
        epoch=Epoch(reader.int32("masterEpoch", least=0)),
        sync_state_set_epoch=SyncStateSetEpoch(reader.int32("syncStateSetEpoch", least=0)),
    )


def _optional_short(reader: FieldReader, name: str) -> str | None:
    return reader.text(name) if name in reader.fields else None


def _optional_id(reader: FieldReader, name: str) -> BrokerId | None:
    given = reader.optional_int64(name, least=0)
    return None if given is None else BrokerId(given)
