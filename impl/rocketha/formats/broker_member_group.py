"""The members of a group of brokers, as a controller and a name server tell them.

| JSON object       | members                                             |
|-------------------|-----------------------------------------------------|
| BrokerMemberGroup | brokerAddrs: `{1:"host:port"}`; brokerName; cluster |

The numbers before the colons of `brokerAddrs` have no quotes: that is how RocketMQ's JSON library
writes a map with numbers for keys, and it is not JSON; texts are read, too.

Source: remoting/protocol/body `BrokerMemberGroup`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rocketha.errors import PacketError
from rocketha.formats.json_text import JsonValue, as_object, text_at
from rocketha.types import INT64_MAX, BrokerId

__all__ = ["BrokerMemberGroup", "read_broker_addresses", "read_member_group"]

_ID: Final = re.compile(r"(?:0|[1-9][0-9]{0,18})\Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerMemberGroup:
    """All registered replicas of a group, and where they are."""

    cluster_name: str
    broker_name: str
    addresses: Mapping[BrokerId, str]


def read_member_group(value: JsonValue) -> BrokerMemberGroup:
    """Take a value for a group. Raises: PacketError"""
    group = as_object(value, "brokerMemberGroup")
    return BrokerMemberGroup(
        cluster_name=text_at(group, "cluster"),
        broker_name=text_at(group, "brokerName"),
        addresses=read_broker_addresses(group.get("brokerAddrs")),
    )


def read_broker_addresses(value: JsonValue) -> Mapping[BrokerId, str]:
    """Take a value for addresses by brokerId. Raises: PacketError"""
    addresses = as_object(value, "brokerAddrs")
    return MappingProxyType({_id(key): text_at(addresses, key) for key in addresses})


def _id(key: str) -> BrokerId:
    if not (_ID.match(key) and int(key) <= INT64_MAX):
        raise PacketError("brokerAddrs", offset=0, reason=f"have the key {ascii(key)[:60]}")
    return BrokerId(int(key))
