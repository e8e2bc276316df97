"""What replication with epochs does, and the actions of the specification that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from rocketha.ha.state import BrokerState
from rocketha.runtime.effects import (
    AppendLog,
    AppendMessage,
    CloseConnection,
    Connect,
    FlushLog,
    SendPacket,
    StoreEpochs,
    TruncateLog,
)
from rocketha.types import (
    BrokerId,
    ConnectionId,
    Epoch,
    Offset,
    SizeBytes,
)

__all__ = [
    "ActionName",
    "Effect",
    "SpecAction",
    "Stepped",
]


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
    LEARN_EPOCH = "LearnEpoch"
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
    """BecomeMaster, BecomeSlave, LearnEpoch: the masterEpoch; Transfer, ReceiveTransfer: of the
    header; Handshake, ReceiveHandshake: the master's last epoch."""
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
