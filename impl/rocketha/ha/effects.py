"""What a broker does: the outputs of the cores.

The shell performs the effects of a step in their order and all of them before the next event.
A power cut may come between any two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from rocketha.formats.message import Message
from rocketha.ha.state import BrokerState
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
    "ActionName",
    "AppendLog",
    "AppendMessage",
    "CloseConnection",
    "Connect",
    "Effect",
    "FlushLog",
    "SendPacket",
    "SpecAction",
    "Stepped",
    "StoreEpochs",
    "TruncateLog",
]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateLog:
    """Cut the log durably: it ends at `offset` now. What is before may still be in memory only."""

    offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushLog:
    """Write the whole log through to the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEpochs:
    """Replace the content of the epoch file, durably and as a whole."""

    entries: tuple[EpochEntry, ...]


Effect: TypeAlias = (
    SendPacket
    | CloseConnection
    | Connect
    | AppendLog
    | AppendMessage
    | TruncateLog
    | FlushLog
    | StoreEpochs
)


class ActionName(StrEnum):
    """The actions of EpochTruncation that a broker takes."""

    BECOME_MASTER = "BecomeMaster"
    BECOME_SLAVE = "BecomeSlave"
    FLUSH = "Flush"
    RESTART = "Restart"
    PUT_MESSAGE = "PutMessage"
    HANDSHAKE = "Handshake"
    RECEIVE_ACK = "ReceiveAck"
    TRANSFER = "Transfer"
    RECEIVE_HANDSHAKE = "ReceiveHandshake"
    RECEIVE_TRANSFER = "ReceiveTransfer"
    DISCONNECT = "Disconnect"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecAction:
    """The action of the specification that a step took; offsets and sizes are in bytes."""

    name: ActionName
    conn: ConnectionId | None = None
    """Actions on a connection: which one."""
    slave: BrokerId | None = None
    """The master's actions on a connection: its slave."""
    epoch: Epoch | None = None
    """BecomeMaster, BecomeSlave: the masterEpoch; Transfer, ReceiveTransfer: of the header;
    Handshake, ReceiveHandshake: the master's last epoch."""
    offset: Offset | None = None
    """BecomeMaster: start of its epoch; ReceiveAck: the acknowledgement; Transfer,
    ReceiveTransfer: of the first byte; Handshake: the master's log end; ReceiveHandshake: the
    consistent point."""
    size: SizeBytes | None = None
    """Transfer, ReceiveTransfer: of the body; 0 is a heartbeat."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """The result of one step."""

    state: BrokerState
    effects: tuple[Effect, ...] = ()
    action: SpecAction | None = None
    """`None`: the step means nothing to the specification."""
