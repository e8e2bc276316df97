"""What can happen to a broker of the legacy service: the inputs of its cores.

What connections and timers do is in `rocketha.runtime.events`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.formats.legacy_ha_packets import LegacyTransfer
from rocketha.runtime.events import (
    ConnectionLost,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
    TimerFired,
    TransferDue,
)
from rocketha.types import ConnectionId, Offset, PutId

__all__ = [
    "BatchReceived",
    "GroupTransferDue",
    "LegacyEvent",
    "MessageAppended",
    "ReportReceived",
    "Started",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The broker came up, for the first time or again: recovery has scanned the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAppended:
    """A producer's message is in the master's log."""

    put: PutId
    offset: Offset
    """Of its record."""
    end: Offset
    """Where its record ends."""
    need: int
    """Slaves that must have it before the producer hears PUT_OK: `inSyncReplicas - 1` of a
    SYNC_MASTER, 0 of an ASYNC_MASTER or where the message says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTransferDue:
    """Look whether a producer that waits can be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportReceived:
    """A slave reported its log end; of several reports only the newest is handed over."""

    conn: ConnectionId
    max_phy_offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReceived:
    """A batch or a heartbeat of the master arrived."""

    conn: ConnectionId
    batch: LegacyTransfer


LegacyEvent: TypeAlias = (
    Started
    | MessageAppended
    | GroupTransferDue
    | ReportReceived
    | BatchReceived
    | PeerConnected
    | PeerAccepted
    | PacketRefused
    | ConnectionLost
    | TransferDue
    | TimerFired
)
