"""A good request of each kind to a name server, and what is changed in it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rocketha.formats.name_server_codec import (
    push_name_server_request,
)
from rocketha.formats.name_server_codes import (
    RELEASE_5_3_3,
)
from rocketha.formats.name_server_requests import (
    DataVersion,
    RegisterBroker,
    TopicConfig,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.types import BrokerId, TimestampMs

TOPIC: Final = TopicConfig(topic_name="t", read_queue_nums=4, write_queue_nums=4, perm=6)
REGISTER: Final = RegisterBroker(
    cluster_name="c",
    broker_name="b",
    broker_address="h:1",
    broker_id=BrokerId(0),
    ha_server_address="h:2",
    heartbeat_timeout_ms=10_000,
    enable_acting_master=True,
    data_version=DataVersion(1, 2, TimestampMs(3)),
    topic_configs={"t": TOPIC},
)
BROKER: Final = {"clusterName": "c", "brokerName": "b", "brokerAddr": "h:1", "brokerId": "0"}
VERSION_JSON: Final = b'{"counter":2,"stateVersion":1,"timestamp":3}'

GOOD: Final[Mapping[int, RemotingCommand]] = {
    103: push_name_server_request(REGISTER, opaque=1),
    104: RemotingCommand(code=104, opaque=1, ext_fields=BROKER),
    105: RemotingCommand(code=105, opaque=1, ext_fields={"topic": "t"}),
    322: RemotingCommand(code=322, opaque=1, ext_fields=BROKER, body=VERSION_JSON),
    901: RemotingCommand(code=901, opaque=1, ext_fields=BROKER),
    904: RemotingCommand(code=904, opaque=1, ext_fields=BROKER),
}


def changed(
    code: int, changes: Mapping[str, str | None], body: bytes | None = None
) -> RemotingCommand:
    """Change fields of a good request, or leave them out."""
    good = GOOD[code]
    fields = {**good.ext_fields, **changes}
    return replace(
        good,
        ext_fields={name: value for name, value in fields.items() if value is not None},
        body=good.body if body is None else body,
    )


def with_body(
    body: bytes, *, compressed: bool = False, version: int = RELEASE_5_3_3
) -> RemotingCommand:
    """Make a registration with a body and its checksum."""
    sent = changed(
        103,
        {
            "bodyCrc32": str(zlib.crc32(body) & 0x7FFFFFFF),
            "compressed": "true" if compressed else "false",
        },
        body,
    )
    return replace(sent, version=version)


def wrapper(table: str, more: str = "", version: str = VERSION_JSON.decode()) -> bytes:
    """Make a RegisterBrokerBody of a table of topics."""
    inside = f'{{"dataVersion":{version},"topicConfigTable":{table}{more}}}'
    return f'{{"topicConfigSerializeWrapper":{inside}}}'.encode()
