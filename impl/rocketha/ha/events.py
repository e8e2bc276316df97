"""What can happen to a broker: the inputs of the cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.errors import PacketError
from rocketha.formats.ha_packets import MasterPacket, SlavePacket
from rocketha.formats.message import Message
from rocketha.types import BrokerId, ConnectionId, Epoch, EpochEntry, HaAddress

__all__ = [
    "ConnectionLost",
    "Event",
    "MasterAddressLearnt",
    "MasterLearnt",
    "MessagePut",
    "PacketReceived",
    "PacketRefused",
    "PeerAccepted",
    "PeerConnected",
    "Restarted",
    "TimerFired",
    "TransferDue",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """The broker came back: recovery has scanned the log and read the epoch file."""

    incarnation: int
    entries: tuple[EpochEntry, ...]
    """The content of the epoch file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterLearnt:
    """The controller says who is master in its latest epoch."""

    epoch: Epoch
    master: BrokerId | None
    address: HaAddress | None = None
    """Where that master accepts slaves, if it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterAddressLearnt:
    """The name server says where the master accepts slaves; it may be wrong or late."""

    address: HaAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePut:
    """A producer sent a message."""

    message: Message


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
class PacketReceived:
    """One packet arrived and was decoded."""

    conn: ConnectionId
    packet: MasterPacket | SlavePacket


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


Event: TypeAlias = (
    Restarted
    | MasterLearnt
    | MasterAddressLearnt
    | MessagePut
    | PeerConnected
    | PeerAccepted
    | PacketReceived
    | PacketRefused
    | ConnectionLost
    | TransferDue
    | TimerFired
)
