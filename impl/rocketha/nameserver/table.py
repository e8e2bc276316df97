"""What a name server knows of a group: who has registered as what, and its topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from rocketha.formats.name_server_requests import DataVersion, TopicConfig, TopicQueueMappingInfo
from rocketha.types import MASTER, BrokerId, ConnectionId, TimestampMs

__all__ = [
    "NO_MAPPINGS",
    "NO_MASTER_EPOCH",
    "NO_TOPICS",
    "Group",
    "Registration",
    "Removal",
]

NO_MASTER_EPOCH: Final = 0
"""The newest epoch of a group of which no master has registered; without a controller all masters
are of it."""

NO_TOPICS: Final[Mapping[str, TopicConfig]] = MappingProxyType({})
NO_MAPPINGS: Final[Mapping[str, TopicQueueMappingInfo]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A broker, as it has registered."""

    broker_id: BrokerId
    """0 for a master."""
    address: str
    """Who it is, whatever its brokerId is."""
    version: DataVersion
    """Of its topics: the state version is the epoch of its role, the rest orders what it says."""
    conn: ConnectionId
    """Over which it came."""
    ha_address: str
    timeout_ms: int
    heard_ms: TimestampMs
    """When it gave its last sign of life."""

    @property
    def is_master(self) -> bool:
        """Tell whether it is the master."""
        return self.broker_id == MASTER

    @property
    def epoch(self) -> int:
        """Return the epoch of its role."""
        return self.version.state_version

    @property
    def order(self) -> tuple[int, int]:
        """Return what is greater in a later registration of the same broker.

        A broker counts on whenever it has another connection or another role.
        """
        return self.version.timestamp_ms, self.version.counter

    def is_same(self, other: Registration) -> bool:
        """Tell whether both are one registration, whenever it has given signs of life."""
        return replace(self, heard_ms=other.heard_ms) == other


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What is known of the brokers with one name."""

    cluster_name: str
    brokers: Mapping[BrokerId, Registration] = field(default_factory=lambda: MappingProxyType({}))
    newest_epoch: int = NO_MASTER_EPOCH
    """The last one of which a master has registered; it stays when nobody is left."""
    acting: bool = False
    """It has asked for a slave that acts (`enableSlaveActingMaster`)."""
    topics: Mapping[str, TopicConfig] = field(default_factory=lambda: NO_TOPICS)
    """None of a group of which nobody is left."""
    mappings: Mapping[str, TopicQueueMappingInfo] = field(default_factory=lambda: NO_MAPPINGS)
    """Of its static topics."""
    masked: bool = False
    """Its topics may be read only, because there is no master."""

    @property
    def has_master(self) -> bool:
        """Tell whether a master is registered."""
        return MASTER in self.brokers

    def found(self, address: str) -> Registration | None:
        """Return the registration of a broker."""
        return next((one for one in self.brokers.values() if one.address == address), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """The end of a registration, which is decided and not done."""

    broker_name: str
    meant: Registration
    asked_for: bool
    """The broker has said so itself."""
