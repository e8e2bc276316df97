"""What a broker of the legacy service does: the outputs of its cores.

The effects on connections and on the log are those of `rocketha.runtime.effects`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

from rocketha.runtime.effects import (
    AnswerClient,
    AppendLog,
    AppendMessage,
    CloseConnection,
    Connect,
    SendPacket,
    TruncateLog,
)
from rocketha.types import ConnectionId, Offset, PutId, SizeBytes

__all__ = [
    "AnswerPut",
    "LegacyAction",
    "LegacyActionName",
    "LegacyEffect",
    "LegacyStepped",
    "PutStatus",
]

S = TypeVar("S")


class PutStatus(StrEnum):
    """What a producer hears. Source: common/store `PutMessageStatus`."""

    PUT_OK = "PUT_OK"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    """The message is in the master's log; whether slaves have it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPut(AnswerClient):
    """Answer a producer."""

    put: PutId
    status: PutStatus


LegacyEffect: TypeAlias = (
    SendPacket | CloseConnection | Connect | AppendLog | AppendMessage | TruncateLog | AnswerPut
)


class LegacyActionName(StrEnum):
    """The actions of LegacyReplication that a broker takes.

    Whether a report, or the end of a connection, concerns one that the slave has given up, the
    master cannot know.
    """

    FLUSH = "Flush"
    RESTART = "Restart"
    PUT_MESSAGE = "PutMessage"
    PUT_OK = "PutOk"
    PUT_TIMEOUT = "PutTimeout"
    RECEIVE_REPORT = "ReceiveReport"
    TRANSFER = "Transfer"
    CLOSE_CONNECTION = "CloseConnection"
    CONNECT = "Connect"
    RECEIVE_TRANSFER = "ReceiveTransfer"
    DISCONNECT = "Disconnect"


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyAction:
    """The action of the specification that a step took; offsets and sizes are in bytes."""

    name: LegacyActionName
    conn: ConnectionId | None = None
    """Actions on a connection: which one."""
    offset: Offset | None = None
    """PutMessage, PutOk, PutTimeout: of the message; ReceiveReport, Connect: the slave's log end;
    Transfer, ReceiveTransfer: of the first byte."""
    size: SizeBytes | None = None
    """Transfer, ReceiveTransfer: of the body; 0 is a heartbeat."""
    need: int | None = None
    """PutMessage: slaves that the producer waits for."""


@dataclass(frozen=True, slots=True)
class LegacyStepped(Generic[S]):
    """The result of one step."""

    state: S
    effects: tuple[LegacyEffect, ...] = ()
    action: LegacyAction | None = None
    """`None`: the step means nothing to the specification."""
