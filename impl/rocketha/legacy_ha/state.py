"""What a broker of the legacy service keeps in memory; its role is configured and never changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from rocketha.ha.state import BEGINNING, NOT_YET, TRANSFER_BATCH_BYTES
from rocketha.legacy_ha.rules import LEGACY_RULES, LegacyRules
from rocketha.types import ConnectionId, HaAddress, Offset, PutId, SizeBytes, TimestampMs

__all__ = [
    "LegacyMaster",
    "LegacyOptions",
    "LegacySlave",
    "LegacyState",
    "MasterEnd",
    "PutRequest",
    "SlaveEnd",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyOptions:
    """The settings of a broker; the defaults are RocketMQ's.

    Source: store/config `MessageStoreConfig`.
    """

    transfer_batch_bytes: SizeBytes = TRANSFER_BATCH_BYTES
    heartbeat_ms: int = 5_000
    """An idle sender says something after so long."""
    housekeeping_ms: int = 20_000
    """A peer that was silent for longer is dead."""
    reconnect_ms: int = 5_000
    """A slave waits so long before it connects again."""
    slave_timeout_ms: int = 3_000
    """A producer waits so long for slaves."""
    rules: LegacyRules = LEGACY_RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterEnd:
    """The master's end of a connection. Source: `DefaultHAConnection`."""

    id: ConnectionId
    host: HaAddress | None
    """Where the slave connects from: all that tells one slave from another."""
    slave_ack: Offset = NOT_YET
    """The last report that arrived."""
    next_offset: Offset = NOT_YET
    """The next byte to send; set by the first report."""
    last_read_ms: TimestampMs
    last_write_ms: TimestampMs


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRequest:
    """A producer that waits for slaves. Source: `CommitLog.GroupCommitRequest`."""

    put: PutId
    offset: Offset
    end: Offset
    need: int
    deadline_ms: TimestampMs


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyMaster:
    """A master that runs. Source: `DefaultHAService`, `GroupTransferService`."""

    options: LegacyOptions = LegacyOptions()
    ends: Mapping[ConnectionId, MasterEnd] = field(default_factory=lambda: MappingProxyType({}))
    """Its ends of connections, in the order in which it accepted them."""
    waiting: tuple[PutRequest, ...] = ()
    appending: tuple[PutId, int] | None = None
    """The producer whose message was to be appended last, and for how many slaves it waits."""

    def with_end(self, end: MasterEnd) -> LegacyMaster:
        """Return the state with this end of a connection put in."""
        return replace(self, ends=MappingProxyType({**self.ends, end.id: end}))

    def without_end(self, conn: ConnectionId) -> LegacyMaster:
        """Return the state without that connection."""
        left = {key: value for key, value in self.ends.items() if key != conn}
        return replace(self, ends=MappingProxyType(left))


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaveEnd:
    """The slave's end of a connection. Source: `DefaultHAClient`."""

    id: ConnectionId
    last_read_ms: TimestampMs
    last_write_ms: TimestampMs


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacySlave:
    """A slave that runs."""

    master_address: HaAddress
    options: LegacyOptions = LegacyOptions()
    connect_at_ms: TimestampMs = BEGINNING
    """Not before this time."""
    client: SlaveEnd | None = None


LegacyState: TypeAlias = LegacyMaster | LegacySlave
