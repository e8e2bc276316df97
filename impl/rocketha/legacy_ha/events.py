"""What can happen to a broker of the legacy service: the inputs of its cores.

What connections and timers do is in `rocketha.runtime.events`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.formats.legacy_ha_packets import LegacyTransfer
from rocketha.formats.message import Message
from rocketha.runtime.events import HostEvent
from rocketha.types import ConnectionId, Offset, PutId

__all__ = [
    "BatchReceived",
    "GroupTransferDue",
    "LegacyEvent",
    "PutRequested",
    "ReportReceived",
    "Started",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The broker came up, for the first time or again: recovery has scanned the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRequested:
    """A producer wants a message to be appended; `MessageAppended` follows if it is."""

    put: PutId
    message: Message
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
    Started | PutRequested | GroupTransferDue | ReportReceived | BatchReceived | HostEvent
)
