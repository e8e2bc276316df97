"""What a node does: the effects of every core.

The host performs the effects of a step in their order and all of them before the next event.
A power cut may come between any two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from rocketha.formats.message import Message
from rocketha.types import (
    ConnectionId,
    EpochEntry,
    HaAddress,
    Identity,
    Offset,
    PutId,
    TimestampMs,
)

__all__ = [
    "AnswerClient",
    "AppendLog",
    "AppendMessage",
    "CloseConnection",
    "Connect",
    "FlushLog",
    "RequestFlush",
    "SendPacket",
    "SendToController",
    "StoreEpochs",
    "StoreIdentity",
    "StoreRegistration",
    "Then",
    "TruncateLog",
]

E_co = TypeVar("E_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendPacket:
    """Send one encoded packet."""

    conn: ConnectionId
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseConnection:
    """Close a connection; the core has forgotten it and hears no more of it."""

    conn: ConnectionId
    reason: str
    """For the log, a clause without a full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """Open a connection; `PeerConnected` follows, or nothing, and then a timer tries again."""

    peer: HaAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendLog:
    """Append bytes of the master's log at `offset`: the log end, or anywhere if it is empty."""

    offset: Offset
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendMessage:
    """Append the record of a message, behind a filler if it does not fit into the segment."""

    message: Message
    store_timestamp_ms: TimestampMs
    put: PutId | None = None
    """Who waits for it: `MessageAppended` follows at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateLog:
    """Cut the log durably: it ends at `offset` now. What is before may still be in memory only."""

    offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushLog:
    """Write the whole log through to the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFlush:
    """Let the flush service write the log through soon; `LogFlushed` follows when it has.

    Source: CommitLog.GroupCommitService
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEpochs:
    """Replace the content of the epoch file, durably and as a whole."""

    entries: tuple[EpochEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRegistration:
    """Note durably that the controller knows what the present boot of the machine has cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendToController:
    """Send one frame to the controller, on the broker's channel."""

    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreIdentity:
    """Write the identity file, or the temporary one (with a check code), as a whole and durably.

    The identity file replaces the temporary one.
    """

    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerClient:
    """AnswerClient a client; what is said is the protocol's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Then(Generic[E_co]):
    """Let the node take this event right after the effects, before any other."""

    event: E_co
