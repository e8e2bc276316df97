"""Tables of offsets: how far consumers are, and how far delayed messages are delivered.

One broker gives another its tables in the bodies of answers, and has each in a file.

| code | request                 | body of the answer             | file                      |
|-----:|-------------------------|--------------------------------|---------------------------|
|   43 | GET_ALL_CONSUMER_OFFSET | ConsumerOffsetSerializeWrapper | config/consumerOffset.json|
|   45 | GET_ALL_DELAY_OFFSET    | DelayOffsetSerializeWrapper    | config/delayOffset.json   |

| JSON object                    | members                                                  |
|--------------------------------|----------------------------------------------------------|
| ConsumerOffsetSerializeWrapper | dataVersion; groupTopicMap: `{"group":["topic"]}`;       |
|                                | offsetTable: `{"topic@group":{queueId:offset}}`          |
| DelayOffsetSerializeWrapper    | dataVersion; offsetTable: `{level:offset}`               |
| DataVersion                    | counter, stateVersion, timestamp                         |

The requests have no fields. RocketMQ writes its whole manager of consumers' offsets, so there is a
groupTopicMap, too, which nobody reads, and in 5.5.0 a pullOffsetTable. Of what its maps have the
order is theirs alone; here it is sorted. A file has a member a line, with tabs, as 5.5.0 writes it;
5.3.3 breaks fewer lines. A file without a dataVersion is one of before there were any.

Source: remoting/protocol/body `ConsumerOffsetSerializeWrapper`, broker/schedule
`DelayOffsetSerializeWrapper`; `ConsumerOffsetManager.encode`, `ScheduleMessageService.encode`;
broker/processor `AdminBrokerProcessor` (`getAllConsumerOffset`, `getAllDelayOffset`)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from rocketha.errors import PacketError
from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.fastjson_text import FastjsonValue, write_fastjson
from rocketha.formats.json_text import JsonValue, as_object, integer_at, read_json
from rocketha.formats.name_server_bodies import data_version_json, read_data_version
from rocketha.formats.name_server_requests import DataVersion
from rocketha.types import INT32_MAX, TimestampMs

__all__ = ["NO_OFFSETS", "OffsetTable", "QueueKey", "TableKind", "pull_offsets", "push_offsets"]

QueueKey: TypeAlias = tuple[str, int]
"""`topic@group` and queueId, of delayed messages an empty text and their level."""

NO_OFFSETS: Final[Mapping[QueueKey, int]] = MappingProxyType({})
_NEVER: Final = DataVersion(0, 0, TimestampMs(0))
_NUMBER: Final = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z", re.ASCII)
_QUEUES_MAX: Final = 1 << 20
"""No bound in RocketMQ but that of a frame."""


class TableKind(StrEnum):
    """Whose offsets a table has; the value is the name of its file."""

    CONSUMER = "config/consumerOffset.json"
    DELAY = "config/delayOffset.json"

    @property
    def code(self) -> BrokerCode:
        """Return with what a broker is asked for its table."""
        if self is TableKind.CONSUMER:
            return BrokerCode.GET_ALL_CONSUMER_OFFSET
        return BrokerCode.GET_ALL_DELAY_OFFSET


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetTable:
    """Offsets, and the version of all of them."""

    offsets: Mapping[QueueKey, int]
    version: DataVersion


def push_offsets(kind: TableKind, table: OffsetTable, *, is_file: bool = False) -> bytes:
    """Write a table. Raises: EncodingError if a name has half a surrogate pair"""
    value: dict[str, FastjsonValue] = {"dataVersion": data_version_json(table.version)}
    offsets = sorted(table.offsets.items())
    if kind is TableKind.DELAY:
        value["offsetTable"] = {level: offset for (_, level), offset in offsets}
    else:
        by_name: dict[str, dict[int, int]] = {}
        for (name, queue_id), offset in offsets:
            by_name.setdefault(name, {})[queue_id] = offset
        value["groupTopicMap"] = _topics_by_group(by_name)
        value["offsetTable"] = by_name
    data = write_fastjson(value)
    return "".join(_lines(value, "")).encode("utf-8") if is_file else data


def pull_offsets(kind: TableKind, data: bytes) -> OffsetTable:
    """Read a table from an answer, or from a file. Raises: PacketError"""
    value = as_object(read_json(data, "offset table"), "offset table")
    version = value.get("dataVersion")
    offsets: dict[QueueKey, int] = {}
    table = as_object(value.get("offsetTable"), "offsetTable")
    of_names = {"": table} if kind is TableKind.DELAY else table
    for name in of_names:
        queues = as_object(of_names[name], "offsets of a group")
        for number in queues:
            offsets[name, _number(number)] = integer_at(queues, number, least=0)
    if len(offsets) > _QUEUES_MAX:
        raise PacketError("offsetTable", offset=0, reason=f"has {len(offsets)} queues")
    return OffsetTable(
        offsets=MappingProxyType(offsets),
        version=_NEVER if version is None else _version(version),
    )


def _version(value: JsonValue) -> DataVersion:
    return read_data_version(value, "dataVersion")


def _number(text: str) -> int:
    if not (_NUMBER.match(text) and int(text) <= INT32_MAX):
        raise PacketError("offsetTable", offset=0, reason=f"has the queue {ascii(text)[:60]}")
    return int(text)


def _topics_by_group(names: Mapping[str, object]) -> Mapping[str, FastjsonValue]:
    """Return what `ConsumerOffsetManager.getGroupTopicMap` does; other names have no group."""
    found: dict[str, list[FastjsonValue]] = {}
    for name in names:
        topic, *group = name.split("@")
        if len(group) == 1 and group[0]:
            found.setdefault(group[0], []).append(topic)
    return {group: tuple(found[group]) for group in sorted(found)}


def _lines(value: FastjsonValue, indent: str) -> Iterator[str]:
    """Write a value with a member a line, as fastjson2's PrettyFormat does."""
    items: list[tuple[str, FastjsonValue]] = []
    if isinstance(value, Mapping):
        items = [(f"{_name(name)}:", item) for name, item in value.items()]
    elif isinstance(value, tuple):
        items = [("", item) for item in value]
    if not items:
        yield write_fastjson(value).decode("utf-8")
        return
    begin, end = "{}" if isinstance(value, Mapping) else "[]"
    for at, (name, item) in enumerate(items):
        yield f"{',' if at else begin}\n{indent}\t{name}"
        yield from _lines(item, f"{indent}\t")
    yield f"\n{indent}{end}"


def _name(name: int | str) -> str:
    return str(name) if isinstance(name, int) else json.dumps(name, ensure_ascii=False)
