"""The JSON bodies of a name server's requests and answers.

| body                             | members                                                     |
|----------------------------------|-------------------------------------------------------------|
| DataVersion                      | counter, stateVersion, timestamp                            |
| TopicConfig                      | attributes: object of texts; order B; perm; readQueueNums;  |
|                                  | topicFilterType: "SINGLE_TAG" or "MULTI_TAG"; topicName;    |
|                                  | topicSysFlag; writeQueueNums                                |
| TopicQueueMappingInfo            | bname; currIdMap: `{0:2}`; dirty B; epoch; scope; topic;    |
|                                  | totalQueues                                                 |
| GetBrokerMemberGroupResponseBody | brokerMemberGroup                                           |
| KVTable                          | table: object of texts                                      |
| TopicRouteData                   | brokerDatas: array of BrokerData; filterServerTable: object |
|                                  | of arrays of texts; orderTopicConf or missing; queueDatas:  |
|                                  | array of QueueData; topicQueueMappingByBroker: object of    |
|                                  | TopicQueueMappingInfo, or missing                           |
| BrokerData                       | brokerAddrs: `{0:"host:port"}`; brokerName; cluster;        |
|                                  | enableActingMaster B; zoneName or missing                   |
| QueueData                        | brokerName; perm; readQueueNums; topicSysFlag;              |
|                                  | writeQueueNums                                              |

B true or false. A body that is not what it must be raises a `PacketError`.

Source: remoting/protocol `DataVersion`, remoting/protocol/body `GetBrokerMemberGroupResponseBody`,
`KVTable`, remoting/protocol/route, remoting/protocol/statictopic `TopicQueueMappingInfo`, common
`TopicConfig`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rocketha.errors import PacketError
from rocketha.formats.broker_member_group import (
    BrokerMemberGroup,
    read_broker_addresses,
    read_member_group,
)
from rocketha.formats.fastjson_text import FastjsonValue, write_fastjson
from rocketha.formats.json_text import (
    JsonObject,
    JsonValue,
    as_array,
    as_integer,
    as_object,
    as_text,
    integer_at,
    optional_integer_at,
    optional_text_at,
    read_json,
    text_at,
)
from rocketha.formats.name_server_requests import (
    BrokerData,
    DataVersion,
    QueueData,
    TopicConfig,
    TopicFilterType,
    TopicQueueMappingInfo,
    TopicRouteData,
)
from rocketha.types import INT32_MAX, INT64_MAX, INT64_MIN, BrokerId, TimestampMs

__all__ = [
    "data_version_json",
    "mapping_info_json",
    "pull_data_version",
    "pull_kv_table",
    "pull_member_group",
    "pull_topic_route",
    "push_data_version",
    "push_kv_table",
    "push_member_group",
    "push_topic_route",
    "read_data_version",
    "read_mapping_info",
    "read_texts",
    "read_topic_config",
    "read_topic_filter_type",
    "topic_config_json",
]

_LONG: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,18})\Z", re.ASCII)
_SINGLE_TAG: Final = TopicFilterType.SINGLE_TAG.value


def push_data_version(version: DataVersion) -> bytes:
    """Write a DataVersion."""
    return write_fastjson(data_version_json(version))


def pull_data_version(data: bytes) -> DataVersion:
    """Read a DataVersion. Raises: PacketError"""
    return read_data_version(read_json(data, "DataVersion"), "DataVersion")


def data_version_json(version: DataVersion) -> Mapping[str, FastjsonValue]:
    """Give a DataVersion as an object."""
    return {
        "counter": version.counter,
        "stateVersion": version.state_version,
        "timestamp": version.timestamp_ms,
    }


def read_data_version(value: JsonValue, what: str) -> DataVersion:
    """Take a value for a DataVersion. Raises: PacketError"""
    version = as_object(value, what)
    return DataVersion(
        state_version=integer_at(version, "stateVersion"),
        counter=integer_at(version, "counter"),
        timestamp_ms=TimestampMs(integer_at(version, "timestamp")),
    )


def topic_config_json(topic: TopicConfig) -> Mapping[str, FastjsonValue]:
    """Give a TopicConfig as an object."""
    return {
        "attributes": topic.attributes,
        "order": topic.order,
        "perm": topic.perm,
        "readQueueNums": topic.read_queue_nums,
        "topicFilterType": topic.topic_filter_type.value,
        "topicName": topic.topic_name,
        "topicSysFlag": topic.topic_sys_flag,
        "writeQueueNums": topic.write_queue_nums,
    }


def read_topic_config(value: JsonValue, what: str) -> TopicConfig:
    """Take a value for a TopicConfig. Raises: PacketError"""
    topic = as_object(value, what)
    attributes = topic.get("attributes")
    sys_flag = optional_integer_at(topic, "topicSysFlag", least=0, most=INT32_MAX)
    return TopicConfig(
        topic_name=text_at(topic, "topicName"),
        read_queue_nums=_int32_at(topic, "readQueueNums"),
        write_queue_nums=_int32_at(topic, "writeQueueNums"),
        perm=_int32_at(topic, "perm"),
        topic_filter_type=read_topic_filter_type(
            optional_text_at(topic, "topicFilterType") or _SINGLE_TAG
        ),
        topic_sys_flag=sys_flag or 0,
        order=_boolean_at(topic, "order"),
        attributes=MappingProxyType({}) if attributes is None else read_texts(attributes, what),
    )


def read_topic_filter_type(name: str) -> TopicFilterType:
    """Take a text for the name of one. Raises: PacketError"""
    if name not in set(TopicFilterType):
        reason = f"is {ascii(name)[:60]}, which is none"
        raise PacketError("topicFilterType", offset=0, reason=reason)
    return TopicFilterType(name)


def mapping_info_json(info: TopicQueueMappingInfo) -> Mapping[str, FastjsonValue]:
    """Give a TopicQueueMappingInfo as an object."""
    return {
        "bname": info.broker_name,
        "currIdMap": info.queue_ids,
        "dirty": info.dirty,
        "epoch": info.epoch,
        "scope": info.scope,
        "topic": info.topic,
        "totalQueues": info.total_queues,
    }


def read_mapping_info(value: JsonValue, what: str) -> TopicQueueMappingInfo:
    """Take a value for a TopicQueueMappingInfo. Raises: PacketError"""
    info = as_object(value, what)
    ids = as_object(info.get("currIdMap"), "currIdMap")
    return TopicQueueMappingInfo(
        topic=text_at(info, "topic"),
        scope=text_at(info, "scope"),
        total_queues=_int32_at(info, "totalQueues"),
        broker_name=text_at(info, "bname"),
        epoch=_long(info.get("epoch"), "epoch", least=INT64_MIN, most=INT64_MAX),
        dirty=_boolean_at(info, "dirty"),
        queue_ids=MappingProxyType(
            {_long(number, "currIdMap"): _int32_at(ids, number) for number in ids}
        ),
    )


def read_texts(value: JsonValue, what: str) -> Mapping[str, str]:
    """Take a value for an object of texts. Raises: PacketError"""
    texts = as_object(value, what)
    return MappingProxyType({name: as_text(texts[name], name) for name in texts})


def push_member_group(group: BrokerMemberGroup) -> bytes:
    """Write a GetBrokerMemberGroupResponseBody."""
    member_group: Mapping[str, FastjsonValue] = {
        "brokerAddrs": _by_number(group.addresses),
        "brokerName": group.broker_name,
        "cluster": group.cluster_name,
    }
    return write_fastjson({"brokerMemberGroup": member_group})


def pull_member_group(data: bytes) -> BrokerMemberGroup:
    """Read a GetBrokerMemberGroupResponseBody. Raises: PacketError"""
    body = as_object(read_json(data, "member group"), "member group")
    return read_member_group(body.get("brokerMemberGroup"))


def push_kv_table(table: Mapping[str, str]) -> bytes:
    """Write a KVTable."""
    return write_fastjson({"table": table})


def pull_kv_table(data: bytes) -> Mapping[str, str]:
    """Read a KVTable. Raises: PacketError"""
    return read_texts(as_object(read_json(data, "KVTable"), "KVTable").get("table"), "table")


def push_topic_route(route: TopicRouteData, *, standard: bool) -> bytes:
    """Write a TopicRouteData, as JSON or as it was before release 4.9.4."""
    body: dict[str, FastjsonValue] = {
        "brokerDatas": [_broker_json(broker) for broker in route.broker_datas],
        "filterServerTable": route.filter_server_table,
    }
    if route.order_topic_conf is not None:
        body["orderTopicConf"] = route.order_topic_conf
    body["queueDatas"] = [_queues_json(queues) for queues in route.queue_datas]
    if route.topic_queue_mappings is not None:
        mappings = route.topic_queue_mappings
        body["topicQueueMappingByBroker"] = {
            name: mapping_info_json(mappings[name]) for name in mappings
        }
    return write_fastjson(body, standard=standard)


def pull_topic_route(data: bytes) -> TopicRouteData:
    """Read a TopicRouteData in either spelling. Raises: PacketError"""
    body = as_object(read_json(data, "TopicRouteData"), "TopicRouteData")
    brokers = as_array(body.get("brokerDatas"), "brokerDatas")
    queues = as_array(body.get("queueDatas"), "queueDatas")
    servers = as_object(body.get("filterServerTable"), "filterServerTable")
    mappings = body.get("topicQueueMappingByBroker")
    return TopicRouteData(
        broker_datas=tuple(_broker(as_object(item, "BrokerData")) for item in brokers),
        queue_datas=tuple(_queues(as_object(item, "QueueData")) for item in queues),
        filter_server_table=MappingProxyType(
            {address: _texts(servers[address], "filter servers") for address in servers}
        ),
        order_topic_conf=optional_text_at(body, "orderTopicConf"),
        topic_queue_mappings=None if mappings is None else _mappings(mappings),
    )


def _broker_json(broker: BrokerData) -> Mapping[str, FastjsonValue]:
    value: dict[str, FastjsonValue] = {
        "brokerAddrs": _by_number(broker.addresses),
        "brokerName": broker.broker_name,
        "cluster": broker.cluster,
        "enableActingMaster": broker.enable_acting_master,
    }
    if broker.zone_name is not None:
        value["zoneName"] = broker.zone_name
    return value


def _broker(value: JsonObject) -> BrokerData:
    return BrokerData(
        cluster=text_at(value, "cluster"),
        broker_name=text_at(value, "brokerName"),
        addresses=read_broker_addresses(value.get("brokerAddrs")),
        zone_name=optional_text_at(value, "zoneName"),
        enable_acting_master=_boolean_at(value, "enableActingMaster"),
    )


def _by_number(addresses: Mapping[BrokerId, str]) -> Mapping[int, str]:
    return {number: addresses[number] for number in addresses}


def _queues_json(queues: QueueData) -> Mapping[str, FastjsonValue]:
    return {
        "brokerName": queues.broker_name,
        "perm": queues.perm,
        "readQueueNums": queues.read_queue_nums,
        "topicSysFlag": queues.topic_sys_flag,
        "writeQueueNums": queues.write_queue_nums,
    }


def _queues(value: JsonObject) -> QueueData:
    return QueueData(
        broker_name=text_at(value, "brokerName"),
        read_queue_nums=_int32_at(value, "readQueueNums"),
        write_queue_nums=_int32_at(value, "writeQueueNums"),
        perm=_int32_at(value, "perm"),
        topic_sys_flag=_int32_at(value, "topicSysFlag"),
    )


def _mappings(value: JsonValue) -> Mapping[str, TopicQueueMappingInfo]:
    mappings = as_object(value, "topicQueueMappingByBroker")
    return MappingProxyType({name: read_mapping_info(mappings[name], name) for name in mappings})


def _texts(value: JsonValue, what: str) -> tuple[str, ...]:
    return tuple(as_text(item, what) for item in as_array(value, what))


def _int32_at(value: JsonObject, name: str) -> int:
    """Read a number of queues, or bits, that must be there."""
    return integer_at(value, name, least=0, most=INT32_MAX)


def _boolean_at(value: JsonObject, name: str) -> bool:
    """Read a truth value; one that is missing is false, as in Java."""
    given = value.get(name, False)
    if not isinstance(given, bool):
        raise PacketError(name, offset=0, reason="is not true or false")
    return given


def _long(value: JsonValue, what: str, *, least: int = 0, most: int = INT32_MAX) -> int:
    """Take a value for an integer, which may be in quotes."""
    if isinstance(value, str) and _LONG.match(value):
        value = int(value)
    return as_integer(value, what, least=least, most=most)
