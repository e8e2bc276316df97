"""What a broker keeps in memory for the replication of its log.

The log itself is not part of it: its end is read from the `LogView` that comes with each event, so
that there is one truth. The epoch file and the log change only through effects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Protocol

from rocketha.epoch.cache import NO_EPOCHS, NOTHING_KNOWN, EpochCache
from rocketha.formats.ha_packets import Handshake
from rocketha.ha.roles import Role
from rocketha.ha.rules import HA_RULES, HaRules
from rocketha.types import (
    BrokerId,
    ConnectionId,
    Epoch,
    EpochEntry,
    HaAddress,
    Offset,
    SizeBytes,
    TimestampMs,
)

__all__ = [
    "BEGINNING",
    "NOT_YET",
    "TRANSFER_BATCH_BYTES",
    "BrokerState",
    "HaOptions",
    "LogView",
    "MasterConnection",
    "Phase",
    "Role",
    "SlaveConnection",
]

NOT_YET: Final = Offset(-1)
"""An offset that is not known yet."""

TRANSFER_BATCH_BYTES: Final = SizeBytes(32 * 1024)
"""Source: `MessageStoreConfig.haTransferBatchSize`."""

BEGINNING: Final = TimestampMs(0)
"""Before every event."""


class LogView(Protocol):
    """What the cores may see of the CommitLog: the state of it before their effects.

    `rocketha.storage.commit_log.CommitLog` is one.
    """

    @property
    def min_offset(self) -> Offset:
        """The first byte that is there; 0 for an empty log."""
        ...

    @property
    def max_phy_offset(self) -> Offset:
        """The end of the log: the next byte goes here. 0 for an empty log."""
        ...

    @property
    def segment_size(self) -> SizeBytes:
        """The size of every segment; segments begin at its multiples."""
        ...

    @property
    def last_segment(self) -> Offset:
        """The start of the last segment."""
        ...

    def read(self, offset: Offset, size: int) -> bytes:
        """Return `size` bytes from `offset` on, fewer at the end of the log."""
        ...

    def aligned_end(self) -> Offset:
        """Return the end of the last whole record or filler."""
        ...

    def record_offsets(self) -> tuple[Offset, ...]:
        """Return where the whole records begin, without the fillers."""
        ...

    def is_record_boundary(self, offset: Offset) -> bool:
        """Tell whether a record or filler begins at `offset`, or the log ends there."""
        ...


class Phase(StrEnum):
    """How far a connection is. Source: store/ha `HAConnectionState`."""

    READY = "Ready"
    HANDSHAKE = "Handshake"
    TRANSFER = "Transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class HaOptions:
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
    is_sync_from_last_file: bool = False
    """A slave with an empty log starts at the master's last segment."""
    is_async_learner: bool = False
    tells_incarnation: bool = False
    """A slave says in its handshake how often it has started; RocketMQ's does not."""
    rules: HaRules = field(default=HA_RULES, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaveConnection:
    """The slave's end. Source: `AutoSwitchHAClient`."""

    id: ConnectionId
    peer: HaAddress
    phase: Phase
    """HANDSHAKE: the request is out; TRANSFER: the reply was accepted."""
    reported: Offset = NOT_YET
    """The last acknowledgement."""
    answered_epoch: Epoch = NOTHING_KNOWN
    """The masterEpoch of the other end when it answered the handshake."""
    is_to_elected: bool = False
    """A master that the controller has named is at the other end: it had its masterEpoch."""
    last_read_ms: TimestampMs
    last_write_ms: TimestampMs


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterConnection:
    """The master's end. Source: `AutoSwitchHAConnection`."""

    id: ConnectionId
    phase: Phase = Phase.READY
    """READY: nobody introduced himself; TRANSFER: the handshake was answered."""
    introduced: Handshake | None = None
    """What the slave has said of itself."""
    slave_ack: Offset = NOT_YET
    """The last acknowledgement that arrived."""
    next_offset: Offset = NOT_YET
    """The next byte to send; set by the first acknowledgement."""
    cur: EpochEntry | None = None
    """The epoch of that byte, copied from the cache."""
    last_read_ms: TimestampMs
    last_write_ms: TimestampMs

    @property
    def slave_id(self) -> BrokerId | None:
        """Return who is at the other end, if it has introduced itself."""
        return None if self.introduced is None else self.introduced.broker_id

    @property
    def async_learner(self) -> bool:
        """Tell whether a slave that has introduced itself only learns."""
        assert self.introduced is not None
        return self.introduced.async_learner

    @property
    def sync_from_last_file(self) -> bool:
        """Tell whether such a slave wants nothing of what is before the last segment."""
        assert self.introduced is not None
        return self.introduced.sync_from_last_file


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerState:
    """A broker that runs. Make the first one with `BrokerState(broker_id=..., options=...)`."""

    broker_id: BrokerId
    options: HaOptions = HaOptions()
    incarnation: int = 0
    """Number of crashes; handed in by `Restarted`."""
    role: Role = Role.SLAVE
    known_epoch: Epoch = NOTHING_KNOWN
    """The highest masterEpoch that was learnt in this incarnation."""
    cache: EpochCache = NO_EPOCHS
    received_epoch: Epoch = NOTHING_KNOWN
    """currentReceivedEpoch: the epoch of the last transfer header."""
    master_address: HaAddress | None = None
    """Whom a slave connects to."""
    elected_epoch: Epoch = NOTHING_KNOWN
    """The masterEpoch that the controller named with that address; of a slave only."""
    connect_at_ms: TimestampMs = BEGINNING
    """Not before this time."""
    client: SlaveConnection | None = None
    servers: Mapping[ConnectionId, MasterConnection] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def with_client(self, client: SlaveConnection) -> BrokerState:
        """Return the state with the slave's end of a connection put in.

        Whose it is, is known when its other end has the masterEpoch of the elected master, since
        no two masters have one: its address may be wrong.
        """
        is_named = client.peer == self.master_address and self.elected_epoch > NOTHING_KNOWN
        if is_named and client.answered_epoch == self.elected_epoch:
            client = replace(client, is_to_elected=True)
        return replace(self, client=client)

    def with_server(self, connection: MasterConnection) -> BrokerState:
        """Return the state with this end of a connection put in."""
        return replace(self, servers=MappingProxyType({**self.servers, connection.id: connection}))

    def without_server(self, conn: ConnectionId) -> BrokerState:
        """Return the state without that connection."""
        left = {key: value for key, value in self.servers.items() if key != conn}
        return replace(self, servers=MappingProxyType(left))
