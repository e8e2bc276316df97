"""The body of a broker's registration: its topics, and of what time they are.

As JSON

| member                      | what                                                        |
|-----------------------------|-------------------------------------------------------------|
| filterServerList            | array of texts; missing is none                             |
| topicConfigSerializeWrapper | dataVersion; mappingDataVersion or missing;                 |
|                             | topicConfigTable: object of TopicConfig by name;            |
|                             | topicQueueMappingDetailMap: `{}`, of no use here;           |
|                             | topicQueueMappingInfoMap: object of TopicQueueMappingInfo   |
|                             | by topic, or missing                                        |

Compressed: one stream of zlib, level 9, of which this is

| bytes | what                                                                              |
|-------|-----------------------------------------------------------------------------------|
| 4, n  | length; DataVersion as JSON                                                       |
| 4     | number of topics; then for each:                                                  |
| 4, n  | length; name, readQueueNums, writeQueueNums, perm, topicFilterType and the        |
|       | attributes as JSON, a space between each two                                      |
| 4, n  | length; filter servers as JSON                                                    |
| 4     | from release 5.0.0 on: number of static topics; then for each:                    |
| 4, n  | length; TopicQueueMappingInfo as JSON                                             |

So a compressed body says neither topicSysFlag nor order. Numbers are big-endian and have a sign. A
registration without a body has no topics and the version 0. Attributes with a space are read here;
RocketMQ reads no attributes of such a topic.

A broker of RocketMQ that is told to compress says all the same that its body is not compressed;
name servers answer that with SYSTEM_ERROR, and here it is no JSON.

RocketMQ bounds neither what a body inflates to nor its numbers; here it is `INFLATED_MAX`: what a
frame would have room for, and what is compressed is shorter than its JSON.

Source: remoting/protocol/body `RegisterBrokerBody`, `TopicConfigAndMappingSerializeWrapper`,
common `TopicConfig.encode`, broker/out `BrokerOuterAPI.registerBrokerAll`
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from rocketha.errors import EncodingError, PacketError
from rocketha.formats.fastjson_text import FastjsonValue, write_fastjson
from rocketha.formats.json_text import (
    JsonObject,
    JsonValue,
    as_array,
    as_object,
    as_text,
    read_json,
)
from rocketha.formats.name_server_bodies import (
    data_version_json,
    mapping_info_json,
    pull_data_version,
    push_data_version,
    read_data_version,
    read_mapping_info,
    read_texts,
    read_topic_config,
    read_topic_filter_type,
    topic_config_json,
)
from rocketha.formats.name_server_codes import RELEASE_5_0_0
from rocketha.formats.name_server_requests import (
    DataVersion,
    RegisterBroker,
    TopicConfig,
    TopicQueueMappingInfo,
)
from rocketha.formats.remoting_command import FRAME_MAX
from rocketha.types import INT32_MAX, SizeBytes, TimestampMs

__all__ = [
    "INFLATED_MAX",
    "RegisterBrokerBody",
    "pull_register_broker_body",
    "push_register_broker_body",
]

INFLATED_MAX: Final = SizeBytes(FRAME_MAX)

_BEST_COMPRESSION: Final = 9
_WHAT: Final = "RegisterBrokerBody"
_INT: Final = struct.Struct(">i")
_FIELDS: Final = 5
_NO_VERSION: Final = DataVersion(0, 0, TimestampMs(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerBody:
    """What a registration says in its body."""

    data_version: DataVersion
    topic_configs: Mapping[str, TopicConfig]
    filter_servers: tuple[str, ...]
    topic_queue_mappings: Mapping[str, TopicQueueMappingInfo]
    mapping_data_version: DataVersion | None


def push_register_broker_body(of: RegisterBroker) -> bytes:
    """Write a body. Raises: EncodingError if a name cannot be in a compressed one"""
    return _deflated(of) if of.compressed else _json(of)


def pull_register_broker_body(data: bytes, *, compressed: bool, version: int) -> RegisterBrokerBody:
    """Read the body that a broker of a release wrote. Raises: PacketError"""
    if not data:
        return RegisterBrokerBody(
            data_version=_NO_VERSION,
            topic_configs=MappingProxyType({}),
            filter_servers=(),
            topic_queue_mappings=MappingProxyType({}),
            mapping_data_version=None,
        )
    if compressed:
        return _pull_inflated(_Inflated(_inflate(data)), version)
    return _pull_json(as_object(read_json(data, _WHAT), _WHAT))


# ---- as JSON ----


def _json(of: RegisterBroker) -> bytes:
    topics, mappings = of.topic_configs, of.topic_queue_mappings
    wrapper: dict[str, FastjsonValue] = {"dataVersion": data_version_json(of.data_version)}
    if of.mapping_data_version is not None:
        wrapper["mappingDataVersion"] = data_version_json(of.mapping_data_version)
    wrapper["topicConfigTable"] = {name: topic_config_json(topics[name]) for name in topics}
    wrapper["topicQueueMappingDetailMap"] = {}
    wrapper["topicQueueMappingInfoMap"] = {
        name: mapping_info_json(mappings[name]) for name in mappings
    }
    return write_fastjson(
        {"filterServerList": of.filter_servers, "topicConfigSerializeWrapper": wrapper}
    )


def _pull_json(body: JsonObject) -> RegisterBrokerBody:
    wrapper = as_object(body.get("topicConfigSerializeWrapper"), "topicConfigSerializeWrapper")
    table = as_object(wrapper.get("topicConfigTable"), "topicConfigTable")
    topics = {name: read_topic_config(table[name], "TopicConfig") for name in table}
    for name in topics:
        _agree("topicConfigTable", name, topics[name].topic_name)
    mapping_version = wrapper.get("mappingDataVersion")
    return RegisterBrokerBody(
        data_version=read_data_version(wrapper.get("dataVersion"), "dataVersion"),
        topic_configs=MappingProxyType(topics),
        filter_servers=_filter_servers(body.get("filterServerList", [])),
        topic_queue_mappings=_mappings(wrapper.get("topicQueueMappingInfoMap")),
        mapping_data_version=None
        if mapping_version is None
        else read_data_version(mapping_version, "mappingDataVersion"),
    )


def _mappings(value: JsonValue) -> Mapping[str, TopicQueueMappingInfo]:
    infos = {} if value is None else as_object(value, "topicQueueMappingInfoMap")
    mappings = {name: read_mapping_info(infos[name], "TopicQueueMappingInfo") for name in infos}
    for name in mappings:
        _agree("topicQueueMappingInfoMap", name, mappings[name].topic)
    return MappingProxyType(mappings)


def _agree(what: str, name: str, inside: str) -> None:
    if name != inside:
        reason = f"has {ascii(inside)[:60]} under the name {ascii(name)[:60]}"
        raise PacketError(what, offset=0, reason=reason)


def _filter_servers(value: JsonValue) -> tuple[str, ...]:
    servers = as_array(value, "filterServerList")
    return tuple(as_text(server, "filter server") for server in servers)


# ---- compressed ----


def _deflated(of: RegisterBroker) -> bytes:
    mappings = of.topic_queue_mappings
    parts = [_sized(push_data_version(of.data_version)), _INT.pack(len(of.topic_configs))]
    parts += [_sized(_topic_line(of.topic_configs[name])) for name in of.topic_configs]
    parts += [_sized(write_fastjson(of.filter_servers)), _INT.pack(len(mappings))]
    parts += [_sized(write_fastjson(mapping_info_json(mappings[name]))) for name in mappings]
    return zlib.compress(b"".join(parts), _BEST_COMPRESSION)


def _sized(data: bytes) -> bytes:
    return _INT.pack(len(data)) + data


def _topic_line(topic: TopicConfig) -> bytes:
    if " " in topic.topic_name:
        reason = f"is {ascii(topic.topic_name)[:60]}, which has a space"
        raise EncodingError("topicName", reason=reason)
    numbers = f"{topic.read_queue_nums} {topic.write_queue_nums} {topic.perm}"
    line = f"{topic.topic_name} {numbers} {topic.topic_filter_type.value} "
    try:
        return line.encode("utf-8") + write_fastjson(topic.attributes)
    except UnicodeEncodeError:
        raise EncodingError("topicName", reason="has half a surrogate pair") from None


def _inflate(data: bytes) -> bytes:
    """Inflate no more than is allowed: a small frame may stand for gigabytes."""
    stream = zlib.decompressobj()
    try:
        inflated = stream.decompress(data, INFLATED_MAX + 1)
    except zlib.error as error:
        raise PacketError(_WHAT, offset=0, reason=f"does not inflate: {error}") from None
    if len(inflated) > INFLATED_MAX:
        raise PacketError(_WHAT, offset=0, reason=f"inflates to over {INFLATED_MAX} bytes")
    if not stream.eof:
        raise PacketError(_WHAT, offset=len(data), reason="ends inside the compressed data")
    if stream.unused_data:
        at = len(data) - len(stream.unused_data)
        raise PacketError(_WHAT, offset=at, reason="is followed by more than it has")
    return inflated


@dataclass(slots=True)
class _Inflated:
    """Reads inflated bytes; offsets of errors count in them."""

    data: bytes
    at: int = field(default=0)

    def number(self, what: str) -> int:
        """Read a number of things, or of bytes."""
        end = self.at + _INT.size
        if end > len(self.data):
            raise PacketError(what, offset=self.at, reason="has no number any more")
        (number,) = _INT.unpack_from(self.data, self.at)
        # Each thing has a length of its own, so no more of them follow than bytes.
        if not 0 <= number <= len(self.data) - end:
            reason = f"are {number}, {len(self.data) - end} bytes follow"
            raise PacketError(what, offset=self.at, reason=reason)
        self.at = end
        return int(number)

    def part(self, what: str) -> bytes:
        """Read what is behind its length."""
        size = self.number(f"bytes of {what}")
        self.at += size
        return self.data[self.at - size : self.at]


def _pull_inflated(source: _Inflated, version: int) -> RegisterBrokerBody:
    data_version = pull_data_version(source.part("DataVersion"))
    topics: dict[str, TopicConfig] = {}
    for _ in range(source.number("topics")):
        topic = _pull_topic_line(source.part("TopicConfig"))
        if topic.topic_name in topics:
            _twice(topic.topic_name)
        topics[topic.topic_name] = topic
    filter_servers = _filter_servers(read_json(source.part("filter servers"), "filter servers"))
    mappings: dict[str, TopicQueueMappingInfo] = {}
    if version >= RELEASE_5_0_0:
        for _ in range(source.number("static topics")):
            data = source.part("TopicQueueMappingInfo")
            info = read_mapping_info(read_json(data, "mapping"), "TopicQueueMappingInfo")
            if info.topic in mappings:
                _twice(info.topic)
            mappings[info.topic] = info
    if source.at < len(source.data):
        raise PacketError(_WHAT, offset=source.at, reason="is followed by more than it has")
    return RegisterBrokerBody(
        data_version=data_version,
        topic_configs=MappingProxyType(topics),
        filter_servers=filter_servers,
        topic_queue_mappings=MappingProxyType(mappings),
        mapping_data_version=None,
    )


def _twice(name: str) -> None:
    raise PacketError(_WHAT, offset=0, reason=f"has the topic {ascii(name)[:60]} twice")


def _pull_topic_line(data: bytes) -> TopicConfig:
    try:
        fields = data.decode("utf-8").split(" ", _FIELDS)
    except UnicodeDecodeError as error:
        raise PacketError("TopicConfig", offset=error.start, reason="is not UTF-8") from None
    if len(fields) < _FIELDS:
        raise PacketError("TopicConfig", offset=0, reason=f"has {len(fields)} fields")
    attributes = "".join(fields[_FIELDS:])
    return TopicConfig(
        topic_name=fields[0],
        read_queue_nums=_decimal(fields[1]),
        write_queue_nums=_decimal(fields[2]),
        perm=_decimal(fields[3]),
        topic_filter_type=read_topic_filter_type(fields[4]),
        attributes=read_texts(read_json(attributes.encode(), "attributes"), "attributes")
        if attributes
        else MappingProxyType({}),
    )


def _decimal(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= INT32_MAX):
        reason = f"has {ascii(text)[:60]}, not an integer in 0 .. {INT32_MAX}"
        raise PacketError("TopicConfig", offset=0, reason=reason)
    return int(text)
