"""A name server's requests, answers and notice as frames, both ways.

`rocketha.formats.name_server_requests` has their tables. A body that is not what it must be raises
a `PacketError`, a field that is missing or cannot be a `RequestError`; RocketMQ answers both with
SYSTEM_ERROR, or takes a wrong field for a missing one. A registration whose body has another
checksum is a `RequestError` that reads as RocketMQ's remark.

Releases before 3.0.11 have another body, which is refused here; RocketMQ reads it.

Source: namesrv/processor `DefaultRequestProcessor`, `ClientRequestProcessor`, namesrv/routeinfo
`RouteInfoManager.notifyMinBrokerIdChanged`; client side in broker/out `BrokerOuterAPI`
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, assert_never

from rocketha.errors import RequestError
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.ext_fields import FieldReader, push_fields
from rocketha.formats.name_server_bodies import (
    pull_data_version,
    pull_kv_table,
    pull_member_group,
    pull_topic_route,
    push_data_version,
    push_kv_table,
    push_member_group,
    push_topic_route,
)
from rocketha.formats.name_server_codes import (
    CRC_REMARK,
    RELEASE_3_0_11,
    RELEASE_4_9_4,
    RELEASE_5_3_3,
    NameServerCode,
    NameServerResponse,
)
from rocketha.formats.name_server_requests import (
    BrokerHeartbeat,
    GetBrokerMemberGroup,
    GetRouteInfo,
    NameServerAnswer,
    NameServerReply,
    NameServerRequest,
    NotifyMinBrokerIdChange,
    QueryDataVersion,
    QueryDataVersionResult,
    RegisterBroker,
    RegisterBrokerResult,
    TopicRouteData,
    UnregisterBroker,
)
from rocketha.formats.register_broker_body import (
    pull_register_broker_body,
    push_register_broker_body,
)
from rocketha.formats.remoting_command import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    RemotingCommand,
    Serialization,
)
from rocketha.types import BrokerId

__all__ = [
    "pull_name_server_reply",
    "pull_name_server_request",
    "pull_notification",
    "push_name_server_reply",
    "push_name_server_request",
    "push_notification",
]

_ZONE_NAME: Final = "__ZONE_NAME"
_UNCHECKED: Final = 0
_CRC_MASK: Final = 0x7FFFFFFF
_HAVE_FIELDS: Final = frozenset({NameServerCode.REGISTER_BROKER, NameServerCode.QUERY_DATA_VERSION})
"""What these are answered with has a header of its own, even where none of its fields is set."""

_Fields = Mapping[str, str | int | bool | None]


# ---- requests ----


def push_name_server_request(
    request: NameServerRequest,
    *,
    opaque: int,
    version: int = RELEASE_5_3_3,
    serialization: Serialization = Serialization.JSON,
) -> RemotingCommand:
    """Write a request as a command of a release from 5.0.0 on.

    Raises: EncodingError if a body cannot carry a text
    """
    code, fields, body = _parts(request)
    return RemotingCommand(
        code=code,
        opaque=opaque,
        version=version,
        ext_fields=push_fields(fields),
        body=body,
        serialization=serialization,
    )


def pull_name_server_request(command: RemotingCommand) -> NameServerRequest:
    """Read a request that a name server answers.

    Raises: RequestError if a field is wrong, or there is no such request; PacketError if the body
    is not what it must be.
    """
    if command.code not in _PULL:
        raise RequestError("request type", reason=f"{command.code} not supported")
    return _PULL[NameServerCode(command.code)](FieldReader(command.ext_fields), command)


def _parts(request: NameServerRequest) -> tuple[NameServerCode, _Fields, bytes]:
    match request:
        case RegisterBroker():
            return _register_parts(request)
        case UnregisterBroker():
            return NameServerCode.UNREGISTER_BROKER, _broker_fields(request), b""
        case GetRouteInfo(topic=topic, accept_standard_json_only=standard):
            fields: _Fields = {"topic": topic, "acceptStandardJsonOnly": standard}
            return NameServerCode.GET_ROUTEINFO_BY_TOPIC, fields, b""
        case QueryDataVersion():
            body = push_data_version(request.data_version)
            return NameServerCode.QUERY_DATA_VERSION, _broker_fields(request), body
        case GetBrokerMemberGroup(cluster_name=cluster, broker_name=name):
            fields = {"clusterName": cluster, "brokerName": name}
            return NameServerCode.GET_BROKER_MEMBER_GROUP, fields, b""
        case BrokerHeartbeat():
            fields = {
                "clusterName": request.cluster_name,
                "brokerAddr": request.broker_address,
                "brokerName": request.broker_name,
            }
            return NameServerCode.BROKER_HEARTBEAT, fields, b""
        case _ as unreachable:
            assert_never(unreachable)


def _broker_fields(request: RegisterBroker | UnregisterBroker | QueryDataVersion) -> _Fields:
    return {
        "brokerName": request.broker_name,
        "brokerAddr": request.broker_address,
        "clusterName": request.cluster_name,
        "brokerId": request.broker_id,
    }


def _register_parts(request: RegisterBroker) -> tuple[NameServerCode, _Fields, bytes]:
    body = push_register_broker_body(request)
    fields: _Fields = {
        **_broker_fields(request),
        "haServerAddr": request.ha_server_address,
        "heartbeatTimeoutMillis": request.heartbeat_timeout_ms,
        "enableActingMaster": request.enable_acting_master,
        "compressed": request.compressed,
        "bodyCrc32": _crc32(body),
        _ZONE_NAME: request.zone_name,
    }
    return NameServerCode.REGISTER_BROKER, fields, body


def _crc32(body: bytes) -> int:
    """Sum as UtilAll.crc32 does: without the sign."""
    return zlib.crc32(body) & _CRC_MASK


def _pull_register(reader: FieldReader, command: RemotingCommand) -> RegisterBroker:
    if command.version < RELEASE_3_0_11:
        raise RequestError("version", reason=f"is {command.version}, before 3.0.11")
    crc = reader.optional_int32("bodyCrc32") or _UNCHECKED
    if crc not in (_UNCHECKED, _crc32(command.body)):
        field, _, reason = CRC_REMARK.partition(" ")
        raise RequestError(field, reason=reason)
    compressed = reader.boolean("compressed", default=False)
    body = pull_register_broker_body(command.body, compressed=compressed, version=command.version)
    return RegisterBroker(
        cluster_name=reader.text("clusterName"),
        broker_name=reader.name("brokerName"),
        broker_address=reader.name("brokerAddr"),
        broker_id=_broker_id(reader),
        ha_server_address=reader.text("haServerAddr"),
        heartbeat_timeout_ms=reader.optional_int64("heartbeatTimeoutMillis", least=1),
        enable_acting_master=_optional_boolean(reader, "enableActingMaster"),
        zone_name=_optional_text(reader, _ZONE_NAME),
        compressed=compressed,
        data_version=body.data_version,
        topic_configs=body.topic_configs,
        filter_servers=body.filter_servers,
        topic_queue_mappings=body.topic_queue_mappings,
        mapping_data_version=body.mapping_data_version,
    )


def _pull_unregister(reader: FieldReader, _: RemotingCommand) -> UnregisterBroker:
    return UnregisterBroker(
        cluster_name=reader.text("clusterName"),
        broker_name=reader.name("brokerName"),
        broker_address=reader.name("brokerAddr"),
        broker_id=_broker_id(reader),
    )


def _pull_route_info(reader: FieldReader, _: RemotingCommand) -> GetRouteInfo:
    return GetRouteInfo(
        topic=reader.name("topic"),
        accept_standard_json_only=_optional_boolean(reader, "acceptStandardJsonOnly"),
    )


def _pull_query(reader: FieldReader, command: RemotingCommand) -> QueryDataVersion:
    return QueryDataVersion(
        cluster_name=reader.text("clusterName"),
        broker_name=reader.name("brokerName"),
        broker_address=reader.name("brokerAddr"),
        broker_id=_broker_id(reader),
        data_version=pull_data_version(command.body),
    )


def _pull_members(reader: FieldReader, _: RemotingCommand) -> GetBrokerMemberGroup:
    return GetBrokerMemberGroup(
        cluster_name=reader.text("clusterName"), broker_name=reader.name("brokerName")
    )


def _pull_heartbeat(reader: FieldReader, _: RemotingCommand) -> BrokerHeartbeat:
    return BrokerHeartbeat(
        cluster_name=reader.text("clusterName"),
        broker_name=reader.name("brokerName"),
        broker_address=reader.name("brokerAddr"),
    )


def _broker_id(reader: FieldReader) -> BrokerId:
    return BrokerId(reader.int64("brokerId", least=0))


def _optional_boolean(reader: FieldReader, name: str) -> bool | None:
    return reader.boolean(name) if name in reader.fields else None


def _optional_text(reader: FieldReader, name: str) -> str | None:
    return reader.text(name) if name in reader.fields else None


_Pull = Callable[[FieldReader, RemotingCommand], NameServerRequest]

_PULL: Final[Mapping[int, _Pull]] = MappingProxyType(
    {
        NameServerCode.REGISTER_BROKER: _pull_register,
        NameServerCode.UNREGISTER_BROKER: _pull_unregister,
        NameServerCode.GET_ROUTEINFO_BY_TOPIC: _pull_route_info,
        NameServerCode.QUERY_DATA_VERSION: _pull_query,
        NameServerCode.GET_BROKER_MEMBER_GROUP: _pull_members,
        NameServerCode.BROKER_HEARTBEAT: _pull_heartbeat,
    }
)
"""What reads the fields and the body of each request that a name server answers."""


# ---- answers ----


def push_name_server_reply(reply: NameServerReply, request: RemotingCommand) -> RemotingCommand:
    """Write the response to a request, in the serialisation of the request.

    A route is standard JSON for clients of a release from 4.9.4 on, and for who asks for that.

    Raises: EncodingError if a body cannot carry a text
    """
    fields, body = ({}, b"") if reply.answer is None else _answer_parts(reply.answer, request)
    return RemotingCommand(
        code=reply.code,
        opaque=request.opaque,
        flag=FLAG_RESPONSE,
        remark=reply.remark,
        ext_fields=push_fields(fields),
        body=body,
        serialization=request.serialization,
        empty_fields=request.code in _HAVE_FIELDS,
    )


def pull_name_server_reply(
    command: RemotingCommand, request_code: NameServerCode
) -> NameServerReply:
    """Read the response to a request of this code.

    Raises: RequestError, PacketError
    """
    if command.code not in set(NameServerResponse):
        raise RequestError("response code", reason=f"is {command.code}, which is none")
    code = NameServerResponse(command.code)
    answer: NameServerAnswer | None = None
    if code is NameServerResponse.SUCCESS:
        answer = _pull_answer(FieldReader(command.ext_fields), command.body, request_code)
    return NameServerReply(code=code, remark=command.remark, answer=answer)


def _answer_parts(answer: NameServerAnswer, request: RemotingCommand) -> tuple[_Fields, bytes]:
    match answer:
        case RegisterBrokerResult(kv_table=table):
            return {
                "haServerAddr": answer.ha_server_address,
                "masterAddr": answer.master_address,
            }, b"" if table is None else push_kv_table(table)
        case TopicRouteData():
            asked = FieldReader(request.ext_fields)
            standard = request.version >= RELEASE_4_9_4 or asked.boolean(
                "acceptStandardJsonOnly", default=False
            )
            return {}, push_topic_route(answer, standard=standard)
        case QueryDataVersionResult(data_version=version):
            body = b"" if version is None else push_data_version(version)
            return {"changed": answer.changed}, body
        case BrokerMemberGroup():
            return {}, push_member_group(answer)
        case _ as unreachable:
            assert_never(unreachable)


def _pull_answer(
    reader: FieldReader, body: bytes, request: NameServerCode
) -> NameServerAnswer | None:
    match request:
        case NameServerCode.REGISTER_BROKER:
            return RegisterBrokerResult(
                ha_server_address=_optional_text(reader, "haServerAddr"),
                master_address=_optional_text(reader, "masterAddr"),
                kv_table=pull_kv_table(body) if body else None,
            )
        case NameServerCode.GET_ROUTEINFO_BY_TOPIC:
            return pull_topic_route(body)
        case NameServerCode.QUERY_DATA_VERSION:
            return QueryDataVersionResult(
                changed=reader.boolean("changed"),
                data_version=pull_data_version(body) if body else None,
            )
        case NameServerCode.GET_BROKER_MEMBER_GROUP:
            return pull_member_group(body)
        case _:
            return None


# ---- the notice ----


def push_notification(
    notice: NotifyMinBrokerIdChange,
    *,
    opaque: int,
    serialization: Serialization = Serialization.JSON,
) -> RemotingCommand:
    """Write the notice of another smallest brokerId, to which there is no answer."""
    fields: _Fields = {
        "minBrokerId": notice.min_broker_id,
        "brokerName": notice.broker_name,
        "minBrokerAddr": notice.min_broker_address,
        "offlineBrokerAddr": notice.offline_broker_address,
        "haBrokerAddr": notice.ha_broker_address,
    }
    return RemotingCommand(
        code=NameServerCode.NOTIFY_MIN_BROKER_ID_CHANGE,
        opaque=opaque,
        flag=FLAG_ONEWAY,
        version=RELEASE_5_3_3,
        ext_fields=push_fields(fields),
        serialization=serialization,
    )


def pull_notification(command: RemotingCommand) -> NotifyMinBrokerIdChange:
    """Read the notice of another smallest brokerId. Raises: RequestError"""
    reader = FieldReader(command.ext_fields)
    least = reader.optional_int64("minBrokerId", least=0)
    return NotifyMinBrokerIdChange(
        min_broker_id=None if least is None else BrokerId(least),
        broker_name=_optional_text(reader, "brokerName"),
        min_broker_address=_optional_text(reader, "minBrokerAddr"),
        offline_broker_address=_optional_text(reader, "offlineBrokerAddr"),
        ha_broker_address=_optional_text(reader, "haBrokerAddr"),
    )
