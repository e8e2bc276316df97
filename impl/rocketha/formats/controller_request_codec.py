"""Requests of the controller as frames, both ways (see `rocketha.formats.controller_requests`).

A body that is not the JSON that it must be raises a `PacketError`: close the connection. A field
that is missing or cannot be raises a `RequestError`: answer `INVALID_REQUEST`. RocketMQ answers
both with `SYSTEM_ERROR`, or takes a wrong field for a missing one.

Source: controller/processor `ControllerRequestProcessor`, client side in broker/out
`BrokerOuterAPI`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, assert_never

from rocketha.errors import RequestError
from rocketha.formats.controller_bodies import (
    pull_broker_names,
    pull_sync_state_set,
    push_broker_names,
    push_sync_state_set,
)
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_requests import (
    FIRST_INCARNATION,
    AlterSyncStateSet,
    ApplyBrokerId,
    CleanBrokerData,
    ControllerRequest,
    ElectMaster,
    GetControllerConfig,
    GetMetadataInfo,
    GetNextBrokerId,
    GetReplicaInfo,
    GetSyncStateData,
    Heartbeat,
    Incarnation,
    RegisterBroker,
    RoleChanged,
    UpdateControllerConfig,
)
from rocketha.formats.ext_fields import FieldReader, push_fields
from rocketha.formats.properties import pull_properties, push_properties
from rocketha.formats.remoting_command import FLAG_ONEWAY, RemotingCommand, Serialization
from rocketha.types import INT64_MAX, BrokerId, Epoch, Offset, SyncStateSetEpoch, TimestampMs

__all__ = ["has_request", "pull_request", "pull_role_changed", "push_request", "push_role_changed"]

_NOBODY: Final = -1
_JOINING: Final = re.compile(r"(0|[1-9][0-9]{0,18}):(0|[1-9][0-9]{0,18})\Z", re.ASCII)

_Fields = Mapping[str, str | int | bool | None]


def push_request(
    request: ControllerRequest, *, opaque: int, serialization: Serialization = Serialization.JSON
) -> RemotingCommand:
    """Write a request as a command. Raises: EncodingError if settings cannot be written"""
    code, fields, body = _parts(request)
    return RemotingCommand(
        code=code,
        opaque=opaque,
        ext_fields=push_fields(fields),
        body=body,
        serialization=serialization,
    )


def pull_request(command: RemotingCommand) -> ControllerRequest:
    """Read a request that a controller answers.

    Raises: RequestError if a field is wrong, or there is no such request; PacketError if the body
    is not what it must be.
    """
    if command.code not in _PULL:
        raise RequestError("request type", reason=f"{command.code} not supported")
    return _PULL[RequestCode(command.code)](FieldReader(command.ext_fields), command.body)


def push_role_changed(
    notice: RoleChanged, *, opaque: int, serialization: Serialization = Serialization.JSON
) -> RemotingCommand:
    """Write the notice of a new master. Source: ControllerManager.doNotifyBrokerRoleChanged"""
    fields: _Fields = {
        "masterAddress": notice.master_address,
        "masterBrokerId": notice.master_broker_id,
        "masterEpoch": notice.master_epoch,
        "syncStateSetEpoch": notice.sync_state_set.epoch,
    }
    return RemotingCommand(
        code=RequestCode.NOTIFY_BROKER_ROLE_CHANGED,
        opaque=opaque,
        flag=FLAG_ONEWAY,
        ext_fields=push_fields(fields),
        body=push_sync_state_set(notice.sync_state_set),
        serialization=serialization,
    )


def pull_role_changed(command: RemotingCommand) -> RoleChanged:
    """Read the notice of a new master.

    Raises: RequestError, PacketError
    """
    reader = FieldReader(command.ext_fields)
    body = pull_sync_state_set(command.body)
    epoch = SyncStateSetEpoch(reader.int32("syncStateSetEpoch", least=0))
    if body.epoch != epoch:
        raise RequestError("syncStateSetEpoch", reason=f"is {epoch}, in the body {body.epoch}")
    return RoleChanged(
        master_broker_id=_broker_id(reader, "masterBrokerId"),
        master_address=reader.name("masterAddress"),
        master_epoch=Epoch(reader.int32("masterEpoch", least=0)),
        sync_state_set=body,
    )


def _parts(request: ControllerRequest) -> tuple[RequestCode, _Fields, bytes]:
    match request:
        case Heartbeat():
            return RequestCode.BROKER_HEARTBEAT, _heartbeat_fields(request), b""
        case AlterSyncStateSet():
            body = push_sync_state_set(request.sync_state_set)
            return RequestCode.ALTER_SYNC_STATE_SET, _alter_fields(request), body
        case ElectMaster():
            return RequestCode.ELECT_MASTER, _elect_fields(request), b""
        case RegisterBroker():
            return RequestCode.REGISTER_BROKER, _register_fields(request), b""
        case GetReplicaInfo(broker_name=name):
            return RequestCode.GET_REPLICA_INFO, {"brokerName": name}, b""
        case GetMetadataInfo():
            return RequestCode.GET_METADATA_INFO, {}, b""
        case GetSyncStateData(broker_names=names):
            return RequestCode.GET_SYNC_STATE_DATA, {}, push_broker_names(names)
        case CleanBrokerData():
            return RequestCode.CLEAN_BROKER_DATA, _clean_fields(request), b""
        case GetNextBrokerId(cluster_name=cluster, broker_name=name):
            fields: _Fields = {"clusterName": cluster, "brokerName": name}
            return RequestCode.GET_NEXT_BROKER_ID, fields, b""
        case GetControllerConfig():
            return RequestCode.GET_CONTROLLER_CONFIG, {}, b""
        case UpdateControllerConfig(settings=settings):
            return RequestCode.UPDATE_CONTROLLER_CONFIG, {}, push_properties(settings)
        case ApplyBrokerId():
            return RequestCode.APPLY_BROKER_ID, _apply_fields(request), b""
        case _ as unreachable:
            assert_never(unreachable)


def _heartbeat_fields(request: Heartbeat) -> _Fields:
    return {
        "clusterName": request.cluster_name,
        "brokerAddr": request.broker_address,
        "brokerName": request.broker_name,
        "brokerId": request.broker_id,
        "epoch": request.epoch,
        "maxOffset": request.max_offset,
        "confirmOffset": request.confirm_offset,
        "heartbeatTimeoutMills": request.timeout_ms,
        "electionPriority": request.election_priority,
        "incarnation": request.incarnation or None,
    }


def _pull_heartbeat(reader: FieldReader, _: bytes) -> Heartbeat:
    epoch = reader.optional_int32("epoch", least=-1)
    max_offset = reader.optional_int64("maxOffset", least=-1)
    confirm_offset = reader.optional_int64("confirmOffset", least=-1)
    return Heartbeat(
        cluster_name=reader.text("clusterName"),
        broker_name=reader.name("brokerName"),
        broker_address=reader.name("brokerAddr"),
        broker_id=_broker_id(reader, "brokerId"),
        epoch=None if epoch is None else Epoch(epoch),
        max_offset=None if max_offset is None else Offset(max_offset),
        confirm_offset=None if confirm_offset is None else Offset(confirm_offset),
        timeout_ms=reader.optional_int64("heartbeatTimeoutMills", least=1),
        election_priority=reader.optional_int32("electionPriority"),
        incarnation=_incarnation(reader),
    )


def _alter_fields(request: AlterSyncStateSet) -> _Fields:
    joining = ";".join(f"{broker}:{request.joining[broker]}" for broker in sorted(request.joining))
    return {
        "brokerName": request.broker_name,
        "masterBrokerId": request.master_broker_id,
        "masterEpoch": request.master_epoch,
        "invokeTime": request.invoke_time_ms,
        "joiningIncarnations": joining or None,
    }


def _pull_alter(reader: FieldReader, body: bytes) -> AlterSyncStateSet:
    return AlterSyncStateSet(
        broker_name=reader.name("brokerName"),
        master_broker_id=_broker_id(reader, "masterBrokerId"),
        master_epoch=Epoch(reader.int32("masterEpoch", least=0)),
        sync_state_set=pull_sync_state_set(body),
        joining=_joining(reader.optional_text("joiningIncarnations")),
        invoke_time_ms=_invoke_time(reader),
    )


def _joining(text: str | None) -> Mapping[BrokerId, Incarnation]:
    joining: dict[BrokerId, Incarnation] = {}
    for part in (text or "").split(";") if text else ():
        match = _JOINING.match(part)
        if match is None or max(int(match[1]), int(match[2])) > INT64_MAX:
            reason = f"have {ascii(part)[:60]}, not id:incarnation"
            raise RequestError("joiningIncarnations", reason=reason)
        if BrokerId(int(match[1])) in joining:
            raise RequestError("joiningIncarnations", reason=f"have {match[1]} twice")
        joining[BrokerId(int(match[1]))] = Incarnation(int(match[2]))
    return MappingProxyType(joining)


def _elect_fields(request: ElectMaster) -> _Fields:
    return {
        "clusterName": request.cluster_name,
        "brokerName": request.broker_name,
        "brokerId": _NOBODY if request.broker_id is None else request.broker_id,
        "designateElect": request.designate_elect,
        "invokeTime": request.invoke_time_ms,
    }


def _pull_elect(reader: FieldReader, _: bytes) -> ElectMaster:
    broker_id = reader.int64("brokerId", least=_NOBODY)
    return ElectMaster(
        cluster_name=reader.text("clusterName"),
        broker_name=reader.name("brokerName"),
        broker_id=None if broker_id == _NOBODY else BrokerId(broker_id),
        designate_elect=reader.boolean("designateElect"),
        invoke_time_ms=_invoke_time(reader),
    )


def _register_fields(request: RegisterBroker) -> _Fields:
    return {
        "clusterName": request.cluster_name,
        "brokerName": request.broker_name,
        "brokerId": request.broker_id,
        "brokerAddress": request.broker_address,
        "invokeTime": request.invoke_time_ms,
        "incarnation": request.incarnation,
        "logTorn": True if request.log_torn else None,
    }


def _pull_register(reader: FieldReader, _: bytes) -> RegisterBroker:
    said = reader.optional_int64("incarnation", least=0)
    return RegisterBroker(
        cluster_name=reader.text("clusterName"),
        broker_name=reader.name("brokerName"),
        broker_id=_broker_id(reader, "brokerId"),
        broker_address=reader.name("brokerAddress"),
        incarnation=None if said is None else Incarnation(said),
        log_torn=reader.boolean("logTorn", default=False),
        invoke_time_ms=_invoke_time(reader),
    )


def _pull_replica_info(reader: FieldReader, _: bytes) -> GetReplicaInfo:
    return GetReplicaInfo(broker_name=reader.name("brokerName"))


def _pull_metadata_info(_: FieldReader, __: bytes) -> GetMetadataInfo:
    return GetMetadataInfo()


def _pull_sync_state_data(_: FieldReader, body: bytes) -> GetSyncStateData:
    return GetSyncStateData(broker_names=pull_broker_names(body))


def _pull_controller_config(_: FieldReader, __: bytes) -> GetControllerConfig:
    return GetControllerConfig()


def _pull_update(_: FieldReader, body: bytes) -> UpdateControllerConfig:
    return UpdateControllerConfig(settings=pull_properties(body))


def _clean_fields(request: CleanBrokerData) -> _Fields:
    return {
        "clusterName": request.cluster_name,
        "brokerName": request.broker_name,
        "brokerControllerIdsToClean": request.ids_to_clean,
        "isCleanLivingBroker": request.clean_living,
        "invokeTime": request.invoke_time_ms,
    }


def _pull_clean(reader: FieldReader, _: bytes) -> CleanBrokerData:
    return CleanBrokerData(
        cluster_name=reader.optional_text("clusterName"),
        broker_name=reader.name("brokerName"),
        ids_to_clean=reader.optional_text("brokerControllerIdsToClean"),
        clean_living=reader.boolean("isCleanLivingBroker", default=False),
        invoke_time_ms=_invoke_time(reader),
    )


def _pull_next_broker_id(reader: FieldReader, _: bytes) -> GetNextBrokerId:
    return GetNextBrokerId(
        cluster_name=reader.text("clusterName"), broker_name=reader.name("brokerName")
    )


def _apply_fields(request: ApplyBrokerId) -> _Fields:
    return {
        "clusterName": request.cluster_name,
        "brokerName": request.broker_name,
        "appliedBrokerId": request.applied_broker_id,
        "registerCheckCode": request.register_check_code,
    }


def _pull_apply(reader: FieldReader, _: bytes) -> ApplyBrokerId:
    request = ApplyBrokerId(
        cluster_name=reader.text("clusterName"),
        broker_name=reader.name("brokerName"),
        applied_broker_id=_broker_id(reader, "appliedBrokerId"),
        register_check_code=reader.name("registerCheckCode"),
    )
    if not request.broker_address.strip():
        raise RequestError("registerCheckCode", reason="begins with no address")
    return request


def _broker_id(reader: FieldReader, name: str) -> BrokerId:
    return BrokerId(reader.int64(name, least=0))


def _incarnation(reader: FieldReader) -> Incarnation:
    given = reader.optional_int64("incarnation", least=0)
    return FIRST_INCARNATION if given is None else Incarnation(given)


def _invoke_time(reader: FieldReader) -> TimestampMs | None:
    given = reader.optional_int64("invokeTime")
    return None if given is None else TimestampMs(given)


_PULL: Final[Mapping[int, Callable[[FieldReader, bytes], ControllerRequest]]] = MappingProxyType(
    {
        RequestCode.BROKER_HEARTBEAT: _pull_heartbeat,
        RequestCode.ALTER_SYNC_STATE_SET: _pull_alter,
        RequestCode.ELECT_MASTER: _pull_elect,
        RequestCode.REGISTER_BROKER: _pull_register,
        RequestCode.GET_REPLICA_INFO: _pull_replica_info,
        RequestCode.GET_METADATA_INFO: _pull_metadata_info,
        RequestCode.GET_SYNC_STATE_DATA: _pull_sync_state_data,
        RequestCode.CLEAN_BROKER_DATA: _pull_clean,
        RequestCode.GET_NEXT_BROKER_ID: _pull_next_broker_id,
        RequestCode.APPLY_BROKER_ID: _pull_apply,
        RequestCode.GET_CONTROLLER_CONFIG: _pull_controller_config,
        RequestCode.UPDATE_CONTROLLER_CONFIG: _pull_update,
    }
)
"""What reads the fields and the body of each request that a controller answers."""


def has_request(code: int) -> bool:
    """Tell whether a controller answers requests with this code."""
    return code in _PULL
