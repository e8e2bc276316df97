"""What brokers and clients ask a name server, what it answers, and the notice that it sends.

Each is a frame with a code; its fields travel as `extFields` (see `rocketha.formats.ext_fields`),
some have a body (see `rocketha.formats.name_server_bodies`). `name_server_codec` reads and writes
them.

| code | request                 | fields                                                      |
|-----:|-------------------------|-------------------------------------------------------------|
|  103 | RegisterBroker          | brokerName, brokerAddr, clusterName, haServerAddr,          |
|      |                         | brokerId L, heartbeatTimeoutMillis L?,                      |
|      |                         | enableActingMaster B?, compressed B (false), bodyCrc32 I    |
|      |                         | (0: unchecked), __ZONE_NAME?; body: RegisterBrokerBody      |
|  104 | UnregisterBroker        | brokerName, brokerAddr, clusterName, brokerId L             |
|  105 | GetRouteInfo            | topic, acceptStandardJsonOnly B?                            |
|  322 | QueryDataVersion        | brokerName, brokerAddr, clusterName, brokerId L;            |
|      |                         | body: DataVersion                                           |
|  901 | GetBrokerMemberGroup    | clusterName, brokerName                                     |
|  904 | BrokerHeartbeat         | clusterName, brokerAddr, brokerName                         |
|  905 | NotifyMinBrokerIdChange | minBrokerId L?, brokerName?, minBrokerAddr?,                |
|      |                         | offlineBrokerAddr?, haBrokerAddr?                           |

| answer to               | fields; body                                                       |
|-------------------------|--------------------------------------------------------------------|
| RegisterBroker          | haServerAddr?, masterAddr?; KVTable or none                        |
| GetRouteInfo            | (none); TopicRouteData                                             |
| QueryDataVersion        | changed B; DataVersion or none                                     |
| GetBrokerMemberGroup    | (none); GetBrokerMemberGroupResponseBody                           |

I 32 bits, L 64 bits, B truth value, without letter a text; ? may be missing. A heartbeat to a
controller has the same code and more fields.

Source: remoting/protocol/header/namesrv, remoting/protocol/header
`GetBrokerMemberGroupRequestHeader`, `NotifyMinBrokerIdChangeRequestHeader`, remoting/protocol/body
`RegisterBrokerBody`, `KVTable`, remoting/protocol/route, remoting/protocol/namesrv
`RegisterBrokerResult`, remoting/protocol `DataVersion`, common `TopicConfig`, `MixAll.ZONE_NAME`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codes import NameServerResponse
from rocketha.types import BrokerId, TimestampMs

__all__ = [
    "BrokerData",
    "BrokerHeartbeat",
    "DataVersion",
    "GetBrokerMemberGroup",
    "GetRouteInfo",
    "NameServerAnswer",
    "NameServerReply",
    "NameServerRequest",
    "NotifyMinBrokerIdChange",
    "QueryDataVersion",
    "QueryDataVersionResult",
    "QueueData",
    "RegisterBroker",
    "RegisterBrokerResult",
    "TopicConfig",
    "TopicFilterType",
    "TopicQueueMappingInfo",
    "TopicRouteData",
    "UnregisterBroker",
]


@dataclass(frozen=True, slots=True, order=True)
class DataVersion:
    """Of what time a broker's topics are; ordered as `DataVersion.compare` does."""

    state_version: int
    """With a controller the masterEpoch."""
    counter: int
    timestamp_ms: TimestampMs


class TopicFilterType(StrEnum):
    """Whether a message of a topic has one tag."""

    SINGLE_TAG = "SINGLE_TAG"
    MULTI_TAG = "MULTI_TAG"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfig:
    """A topic in a broker."""

    topic_name: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    """Bits: 1 inherited, 2 write, 4 read, 8 priority. Source: PermName"""
    topic_filter_type: TopicFilterType = TopicFilterType.SINGLE_TAG
    topic_sys_flag: int = 0
    order: bool = False
    attributes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueMappingInfo:
    """Which queues of a static topic a group has."""

    topic: str
    scope: str
    total_queues: int
    broker_name: str
    epoch: int
    dirty: bool = False
    queue_ids: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    """Number of a queue in the topic -> its number in the group. RocketMQ's name is currIdMap."""


# ---- requests ----


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBroker:
    """A broker says what it is, and which topics it has."""

    cluster_name: str
    broker_name: str
    broker_address: str
    broker_id: BrokerId
    """0 for a master."""
    ha_server_address: str
    heartbeat_timeout_ms: int | None = None
    """How long it may be silent until it is taken for gone; None: as long as the server likes."""
    enable_acting_master: bool | None = None
    """None: a broker of a release that knows of no acting master."""
    zone_name: str | None = None
    compressed: bool = False
    """How the body is written. A compressed one says neither `topic_sys_flag` nor `order`."""
    data_version: DataVersion
    topic_configs: Mapping[str, TopicConfig]
    """By name. A first registration with exactly one is refused."""
    filter_servers: tuple[str, ...] = ()
    topic_queue_mappings: Mapping[str, TopicQueueMappingInfo] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """By name of the static topic."""
    mapping_data_version: DataVersion | None = None
    """Read by nobody; not in a compressed body."""

    def __post_init__(self) -> None:
        assert all(name == self.topic_configs[name].topic_name for name in self.topic_configs)
        mappings = self.topic_queue_mappings
        assert all(name == mappings[name].topic for name in mappings)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisterBroker:
    """A broker ends, or is no more what it was registered as."""

    cluster_name: str
    broker_name: str
    broker_address: str
    broker_id: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRouteInfo:
    """A client asks which brokers have a topic."""

    topic: str
    accept_standard_json_only: bool | None = None
    """It reads no numbers for names without quotes; releases from 4.9.4 on are not sent them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersion:
    """A broker asks whether its topics are known in this version; a sign of life, too."""

    cluster_name: str
    broker_name: str
    broker_address: str
    broker_id: BrokerId
    data_version: DataVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerMemberGroup:
    """A broker asks for the members of its group."""

    cluster_name: str
    broker_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeat:
    """A broker is alive."""

    cluster_name: str
    broker_name: str
    broker_address: str


NameServerRequest: TypeAlias = (
    RegisterBroker
    | UnregisterBroker
    | GetRouteInfo
    | QueryDataVersion
    | GetBrokerMemberGroup
    | BrokerHeartbeat
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyMinBrokerIdChange:
    """A name server tells a broker, one way, that another brokerId is now the smallest."""

    min_broker_id: BrokerId | None
    broker_name: str | None = None
    """RocketMQ's name servers do not say it."""
    min_broker_address: str | None
    offline_broker_address: str | None
    """Who is gone; None: somebody with a smaller id has come."""
    ha_broker_address: str | None
    """Where who has come replicates; None: somebody is gone."""


# ---- answers ----


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerResult:
    """Where the master of the group is, if the broker is none and there is one."""

    ha_server_address: str | None = None
    master_address: str | None = None
    kv_table: Mapping[str, str] | None = None
    """Topics with an order of their queues, if the name server is told to say them."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class QueueData:
    """The queues of a topic in a group."""

    broker_name: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    topic_sys_flag: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerData:
    """The brokers of a group, as clients are to see them: 0 is the master, or who acts for it."""

    cluster: str
    broker_name: str
    addresses: Mapping[BrokerId, str]
    zone_name: str | None = None
    enable_acting_master: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRouteData:
    """Which groups have queues of a topic, and who is in them."""

    queue_datas: tuple[QueueData, ...]
    broker_datas: tuple[BrokerData, ...]
    filter_server_table: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Address of a broker -> its filter servers."""
    order_topic_conf: str | None = None
    topic_queue_mappings: Mapping[str, TopicQueueMappingInfo] | None = None
    """By name of the group; None: the topic is no static one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDataVersionResult:
    """Whether the topics are known in another version, and in which, if they are known."""

    changed: bool
    data_version: DataVersion | None = None


NameServerAnswer: TypeAlias = (
    RegisterBrokerResult | TopicRouteData | QueryDataVersionResult | BrokerMemberGroup
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameServerReply:
    """One answer; what a refusal would answer else is `None`."""

    code: NameServerResponse = NameServerResponse.SUCCESS
    remark: str | None = None
    answer: NameServerAnswer | None = None
