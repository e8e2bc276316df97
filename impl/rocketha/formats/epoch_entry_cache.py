"""What a broker answers who is asked for its epochs (request 1007, without fields or body).

| member      | value                                                                         |
|-------------|-------------------------------------------------------------------------------|
| brokerId    | integer                                                                       |
| brokerName  | text                                                                          |
| clusterName | text                                                                          |
| epochList   | array of `{"endOffset":100,"epoch":1,"startOffset":0}`, the epochs in order;   |
|             | the last end is 9223372036854775807                                           |
| maxOffset   | integer, the end of the log                                                   |

The answer has this JSON for its body, and no fields.

Source: remoting/protocol/body `EpochEntryCache`, remoting/protocol `EpochEntry`, broker/processor
`AdminBrokerProcessor.getBrokerEpochCache`
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from rocketha.errors import PacketError
from rocketha.formats.json_text import (
    JsonObject,
    JsonValue,
    as_array,
    as_object,
    integer_at,
    read_json,
    text_at,
    write_json,
)
from rocketha.types import INT32_MAX, BrokerId, Epoch, EpochEntry, Offset

__all__ = ["EpochEntryCache", "pull_epoch_entry_cache", "push_epoch_entry_cache"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEntryCache:
    """The epochs of one replica, and the end of its log."""

    cluster_name: str
    broker_name: str
    broker_id: BrokerId
    entries: tuple[EpochEntry, ...]
    max_offset: Offset


def push_epoch_entry_cache(cache: EpochEntryCache) -> bytes:
    """Write the body."""
    entries: list[JsonValue] = [
        {"endOffset": e.end_offset, "epoch": e.epoch, "startOffset": e.start_offset}
        for e in cache.entries
    ]
    return write_json(
        {
            "brokerId": cache.broker_id,
            "brokerName": cache.broker_name,
            "clusterName": cache.cluster_name,
            "epochList": entries,
            "maxOffset": cache.max_offset,
        }
    )


def pull_epoch_entry_cache(data: bytes) -> EpochEntryCache:
    """Read the body. Raises: PacketError"""
    body = as_object(read_json(data, "EpochEntryCache"), "EpochEntryCache")
    values = as_array(body.get("epochList"), "epochList")
    entries = tuple(_entry(as_object(value, "epochList")) for value in values)
    for before, after in itertools.pairwise(entries):
        if after.epoch <= before.epoch or after.start_offset < before.end_offset:
            reason = f"has epoch {after.epoch} after {before.epoch}, or they overlap"
            raise PacketError("epochList", offset=0, reason=reason)
    return EpochEntryCache(
        cluster_name=text_at(body, "clusterName"),
        broker_name=text_at(body, "brokerName"),
        broker_id=BrokerId(integer_at(body, "brokerId", least=0)),
        entries=entries,
        max_offset=Offset(integer_at(body, "maxOffset", least=-1)),
    )


def _entry(value: JsonObject) -> EpochEntry:
    start = integer_at(value, "startOffset", least=0)
    return EpochEntry(
        epoch=Epoch(integer_at(value, "epoch", least=0, most=INT32_MAX)),
        start_offset=Offset(start),
        end_offset=Offset(integer_at(value, "endOffset", least=start)),
    )
