"""What can happen to every node: connections begin and end, its log grows, and time passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.errors import PacketError
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.types import ConnectionId, HaAddress, Offset, PutId, RequestId, RequestReference

__all__ = [
    "ConnectionLost",
    "HostEvent",
    "LogFlushed",
    "MessageAppended",
    "NodeEvent",
    "PacketRefused",
    "PeerAccepted",
    "PeerConnected",
    "RequestArrived",
    "RequestEvent",
    "ResponseArrived",
    "TimerFired",
    "TransferDue",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerConnected:
    """The connection that this broker asked for is open."""

    conn: ConnectionId
    peer: HaAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerAccepted:
    """Somebody connected to this broker."""

    conn: ConnectionId
    host: HaAddress | None = None
    """Where the connection comes from, if that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketRefused:
    """Bytes arrived that are no packet."""

    conn: ConnectionId
    error: PacketError


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLost:
    """A connection was closed by the peer, reset, or never came up."""

    conn: ConnectionId


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferDue:
    """The network takes another packet: a batch, or a heartbeat if its time has come."""

    conn: ConnectionId


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerFired:
    """Time has passed; see `rocketha.ha.broker.next_timer_ms`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAppended:
    """The message of the last step is in the log; nothing came in between."""

    put: PutId
    offset: Offset
    """Of its record."""
    end: Offset
    """Where its record ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFlushed:
    """The log was written through to the disk, as far as `flushed_offset` says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestArrived:
    """Another node asks for something."""

    request: RequestId
    command: RemotingCommand
    conn: ConnectionId | None = None
    """Over which connection, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseArrived:
    """A request was answered."""

    reference: RequestReference
    command: RemotingCommand | None
    """None: it could not be sent, or its connection is gone."""


NodeEvent: TypeAlias = (
    PeerConnected | PeerAccepted | PacketRefused | ConnectionLost | TransferDue | TimerFired
)
"""What connections and timers do."""

HostEvent: TypeAlias = NodeEvent | MessageAppended | LogFlushed
"""What the host tells every core."""

RequestEvent: TypeAlias = RequestArrived | ResponseArrived
"""What requests do, to a node that asks others or is asked."""
