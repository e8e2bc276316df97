"""What can happen to a broker: the inputs of the cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.formats.ha_packets import MasterPacket, SlavePacket
from rocketha.formats.message import Message
from rocketha.runtime.events import HostEvent
from rocketha.types import BrokerId, ConnectionId, Epoch, EpochEntry, HaAddress, PutId

__all__ = [
    "Event",
    "MasterAddressLearnt",
    "MasterLearnt",
    "MessagePut",
    "PacketReceived",
    "Restarted",
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
    put: PutId | None = None
    """Who waits for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketReceived:
    """One packet arrived and was decoded."""

    conn: ConnectionId
    packet: MasterPacket | SlavePacket


Event: TypeAlias = (
    Restarted | MasterLearnt | MasterAddressLearnt | MessagePut | PacketReceived | HostEvent
)
