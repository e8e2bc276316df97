"""What a broker knows of its group by its name servers, and how it is set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocketha.acting.rules import RULES, ActingRules, Role
from rocketha.formats.name_server_requests import DataVersion, TopicConfig
from rocketha.types import MASTER, BrokerId

__all__ = ["ActingOptions", "ActingState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingOptions:
    """How a broker is set up. Source: BrokerConfig, BrokerIdentity"""

    cluster_name: str
    broker_name: str
    address: str
    own_id: BrokerId
    """Its brokerId as a slave."""
    ha_address: str
    name_servers: tuple[BrokerId, ...]
    """`namesrvAddr`: what its host calls them."""
    topics: Mapping[str, TopicConfig]
    acting: bool = False
    """`enableSlaveActingMaster`"""
    register_ms: int = 30_000
    """`registerNameServerPeriod`"""
    register_timeout_ms: int = 24_000
    """`registerBrokerTimeoutMills`: after it the connection is closed."""
    heartbeat_ms: int = 1_000
    """`brokerHeartbeatInterval`"""
    not_active_ms: int = 10_000
    """`brokerNotActiveTimeoutMillis`: for how long name servers believe that it is alive."""
    poll_ms: int = 1_000
    """`syncBrokerMemberGroupPeriod`"""
    poll_timeout_ms: int = 3_000
    rules: ActingRules = field(default=RULES, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingState:
    """What a broker has in its memory. It asks anew whenever it starts."""

    options: ActingOptions
    version: DataVersion
    """Of what it says of itself; counts on with each connection that it loses and each role."""
    role: Role | None = None
    min_broker_id: BrokerId = MASTER
    """The smallest brokerId that it has heard of; 0: of a master, or nothing yet."""
    serves: bool = False
    """It runs a master's services as a slave."""
    asked: frozenset[tuple[BrokerId, DataVersion]] = frozenset()
    """Registrations that are not answered, and by whom."""
    polls: BrokerId | None = None
    """Whom it has asked who is there, and has not heard of."""
    asks_first: int = 0
    """Which name server it asks, by its place in the list."""
