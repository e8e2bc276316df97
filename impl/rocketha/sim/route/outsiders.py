"""Who asks brokers and name servers besides: it is refused, or wants to know a version, or is a
process with brokers of other groups.

`rocketha.obligations.route` has what must be answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Final

from rocketha.formats.name_server_codec import push_name_server_request
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import DataVersion, RegisterBroker, TopicConfig
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.sim.engine.open_node import NO_REQUEST
from rocketha.types import MASTER, TimestampMs

__all__ = [
    "OTHERS",
    "OthersGone",
    "OthersRegistered",
    "VersionAsked",
    "VersionTold",
    "draw_request",
]

_KNOWN: Final = (
    NameServerCode.REGISTER_BROKER,
    NameServerCode.UNREGISTER_BROKER,
    NameServerCode.GET_ROUTEINFO_BY_TOPIC,
    NameServerCode.QUERY_DATA_VERSION,
    NameServerCode.BROKER_HEARTBEAT,
)
_TOPIC: Final = TopicConfig(topic_name="one", read_queue_nums=4, write_queue_nums=4, perm=6)
_ONE_TOPIC: Final = RegisterBroker(
    cluster_name="DefaultCluster",
    broker_name="nobody",
    broker_address="nobody",
    broker_id=MASTER,
    ha_server_address="nobody:ha",
    data_version=DataVersion(0, 1, TimestampMs(1)),
    topic_configs=MappingProxyType({_TOPIC.topic_name: _TOPIC}),
)
"""A broker that no name server knows says all of its topics first."""


OTHERS: Final = tuple(
    RegisterBroker(
        cluster_name="DefaultCluster",
        broker_name=name,
        broker_address=f"{name}:0",
        broker_id=MASTER,
        ha_server_address=f"{name}:ha",
        heartbeat_timeout_ms=1 << 30,
        data_version=DataVersion(0, 1, TimestampMs(1)),
        topic_configs=MappingProxyType(
            {
                topic: TopicConfig(topic_name=topic, read_queue_nums=4, write_queue_nums=4, perm=6)
                for topic in (f"{name}-a", f"{name}-b")
            }
        ),
    )
    for name in ("others-1", "others-2")
)
"""Two brokers of other groups in one process (a BrokerContainer), which have one channel."""


@dataclass(frozen=True, slots=True)
class OthersRegistered:
    """A broker of another group registers, over the channel of its process."""

    broker_name: str


@dataclass(frozen=True, slots=True)
class OthersGone:
    """The process of brokers of other groups ends, and its channel with it."""


@dataclass(frozen=True, slots=True)
class VersionAsked:
    """Somebody asks whether the topics of a broker have another version (QUERY_DATA_VERSION)."""

    address: str
    version: DataVersion


@dataclass(frozen=True, slots=True)
class VersionTold:
    """The answer."""

    changed: bool
    version: DataVersion | None
    """What is registered."""


def draw_request(rng: Random) -> RemotingCommand:
    """Draw a code that nobody knows, a request without its fields, or one topic of nobody."""
    code = rng.choice((NO_REQUEST, rng.choice(_KNOWN)))
    body = rng.choice((b"", b"{", b"{}"))
    if rng.randrange(4) == 0:
        return push_name_server_request(_ONE_TOPIC, opaque=1)
    return RemotingCommand(code=code, opaque=1, body=body)
