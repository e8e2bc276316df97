"""AutoSwitchHA packets, the ones that replicas exchange in controller mode.

All integers are big-endian two's complement. Byte tables:

Handshake, slave to master, 16 bytes, first packet of a connection, repeated until the reply comes

| at | bytes | field                                                      |
|---:|------:|------------------------------------------------------------|
|  0 |     4 | state = 1 (HANDSHAKE)                                      |
|  4 |     2 | bit 0: isSyncFromLastFile; bits 1 to 15: bits 15 to 29 of  |
|    |       | the incarnation (ours)                                     |
|  6 |     2 | bit 0: isAsyncLearner; bits 1 to 15: bits 0 to 14 of it    |
|  8 |     8 | slaveBrokerId, 1 or more                                   |

The incarnation is ours: it counts the starts of a slave, and a master that proposes it for the
SyncStateSet names it. RocketMQ's slave leaves these bits 0: the first start, or not said. Its
master compares each field with 1, and takes anything else for no flag; so a slave that sets a flag
says no incarnation.

RocketMQ's slave writes its handshake again whenever it looks for the reply and has not all of it,
at the latest after 5 s; so the master may read several before the first ack. Its own master answers
each that comes after an answer, and a slave that has had one closes the connection at the second.

Handshake reply, master to slave, 20 + 12n bytes, first packet of a connection

| at     | bytes | field                                                  |
|-------:|------:|--------------------------------------------------------|
|      0 |     4 | state = 1 (HANDSHAKE)                                  |
|      4 |     4 | body size = 12n                                        |
|      8 |     8 | maxPhyOffset of the master: the end of its last epoch  |
|     16 |     4 | last epoch of the master, -1 if it has none            |
| 20+12i |     4 | entry i: epoch                                         |
| 24+12i |     8 | entry i: start offset; its end is the start of the next|

Transfer, master to slave, 36 + n bytes

| at | bytes | field                                                      |
|---:|------:|------------------------------------------------------------|
|  0 |     4 | state = 2 (TRANSFER)                                       |
|  4 |     4 | body size n; 0 is a heartbeat                              |
|  8 |     8 | offset of the body in the CommitLog (-1: nothing there yet)|
| 16 |     4 | epoch of the body                                          |
| 20 |     8 | start offset of that epoch                                 |
| 28 |     8 | confirm offset (-1: not known yet)                         |
| 36 |     n | CommitLog bytes, not aligned to records                    |

Ack, slave to master, 12 bytes

| at | bytes | field                                                      |
|---:|------:|------------------------------------------------------------|
|  0 |     4 | state = 2 (TRANSFER), whatever the slave is doing          |
|  4 |     8 | maxPhyOffset of the slave                                  |

`push_x` writes a packet. `pull_slave_packet` and `pull_master_packet` read the first packet of a
buffer: `None` means that more bytes are needed, a `PacketError` that no more bytes can help. A
wrong state or size is refused before the body has arrived, and each packet is measured by the size
of its own kind.

Source: store/ha/autoswitch `AutoSwitchHAClient`, `AutoSwitchHAConnection`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntFlag
from typing import Final, TypeAlias, assert_never

from rocketha.errors import EncodingError, PacketError
from rocketha.types import NO_EPOCH, BrokerId, Epoch, EpochEntry, Offset, SizeBytes, chain_epochs

__all__ = [
    "ACK_SIZE",
    "HANDSHAKE_BODY_MAX",
    "HANDSHAKE_REPLY_HEADER_SIZE",
    "HANDSHAKE_SIZE",
    "INCARNATION_MAX",
    "TRANSFER_BODY_MAX",
    "TRANSFER_HEADER_SIZE",
    "Ack",
    "Expecting",
    "Handshake",
    "HandshakeReply",
    "MasterPacket",
    "SlavePacket",
    "Transfer",
    "pull_master_packet",
    "pull_slave_packet",
    "push_ack",
    "push_handshake",
    "push_handshake_reply",
    "push_master_packet",
    "push_slave_packet",
    "push_transfer",
]


class Expecting(IntFlag):
    """What the receiver waits for: one state on the wire, or either of both.

    The stream has handshakes, then transfers. Source: store/ha `HAConnectionState` (ordinals).
    """

    HANDSHAKE = 1
    TRANSFER = 2


_HANDSHAKE: Final = struct.Struct(">iHHq")
_REPLY_HEADER: Final = struct.Struct(">iiqi")
_REPLY_ENTRY: Final = struct.Struct(">iq")
_TRANSFER_HEADER: Final = struct.Struct(">iiqiqq")
_ACK: Final = struct.Struct(">iq")
_INT: Final = struct.Struct(">i")

HANDSHAKE_SIZE: Final = SizeBytes(_HANDSHAKE.size)
HANDSHAKE_REPLY_HEADER_SIZE: Final = SizeBytes(_REPLY_HEADER.size)
TRANSFER_HEADER_SIZE: Final = SizeBytes(_TRANSFER_HEADER.size)
ACK_SIZE: Final = SizeBytes(_ACK.size)

INCARNATION_MAX: Final = (1 << 30) - 1
"""What fits into a handshake; a slave that starts more often says 0."""

HANDSHAKE_BODY_MAX: Final = SizeBytes(1 << 20)
"""Over 87,000 epochs. RocketMQ's own buffer holds 1000, and more of them kill its connection."""

TRANSFER_BODY_MAX: Final = SizeBytes(4 << 20)
"""The slave's read buffer in RocketMQ; its batches have 32 KiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handshake:
    """The slave introduces itself."""

    broker_id: BrokerId
    sync_from_last_file: bool = False
    async_learner: bool = False
    incarnation: int = 0
    """Number of starts; 0: the first one, or not said. Without flags only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """The slave reports the end of its log."""

    max_phy_offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class HandshakeReply:
    """The master shows its epochs.

    On the wire an entry has no end; here each ends where the next one starts, and the last one is
    unbounded until `max_phy_offset` is applied to it.
    """

    max_phy_offset: Offset
    entries: tuple[EpochEntry, ...] = ()

    @property
    def last_epoch(self) -> Epoch:
        """Return the epoch of the last entry, or `NO_EPOCH`."""
        return self.entries[-1].epoch if self.entries else NO_EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A batch of CommitLog bytes of one epoch; an empty one is a heartbeat."""

    offset: Offset
    epoch: Epoch
    epoch_start_offset: Offset
    confirm_offset: Offset
    body: bytes = b""


SlavePacket: TypeAlias = Handshake | Ack
MasterPacket: TypeAlias = HandshakeReply | Transfer


def push_handshake(packet: Handshake) -> bytes:
    """Write the slave's handshake. Raises: EncodingError if the incarnation does not fit."""
    incarnation = packet.incarnation
    if not 0 <= incarnation <= INCARNATION_MAX:
        reason = f"{incarnation} is not within 0..{INCARNATION_MAX}"
        raise EncodingError("incarnation", reason=reason)
    if incarnation and (packet.sync_from_last_file or packet.async_learner):
        raise EncodingError("incarnation", reason=f"{incarnation} stands beside a flag")
    high, low = divmod(incarnation, 1 << 15)
    return _HANDSHAKE.pack(
        Expecting.HANDSHAKE,
        high << 1 | packet.sync_from_last_file,
        low << 1 | packet.async_learner,
        packet.broker_id,
    )


def push_ack(packet: Ack) -> bytes:
    """Write the slave's report.

    The state is always TRANSFER: RocketMQ once wrote the slave's present state, and the master
    reset the connection (#6306).
    """
    return _ACK.pack(Expecting.TRANSFER, packet.max_phy_offset)


def push_handshake_reply(packet: HandshakeReply) -> bytes:
    """Write the master's handshake."""
    body = b"".join(_REPLY_ENTRY.pack(e.epoch, e.start_offset) for e in packet.entries)
    assert len(body) <= HANDSHAKE_BODY_MAX
    header = _REPLY_HEADER.pack(
        Expecting.HANDSHAKE, len(body), packet.max_phy_offset, packet.last_epoch
    )
    return header + body


def push_transfer(packet: Transfer) -> bytes:
    """Write a batch or a heartbeat."""
    assert len(packet.body) <= TRANSFER_BODY_MAX
    header = _TRANSFER_HEADER.pack(
        Expecting.TRANSFER,
        len(packet.body),
        packet.offset,
        packet.epoch,
        packet.epoch_start_offset,
        packet.confirm_offset,
    )
    return header + packet.body


def push_slave_packet(packet: SlavePacket) -> bytes:
    """Write any packet that a slave sends."""
    match packet:
        case Handshake():
            return push_handshake(packet)
        case Ack():
            return push_ack(packet)
        case _ as unreachable:
            assert_never(unreachable)


def push_master_packet(packet: MasterPacket) -> bytes:
    """Write any packet that a master sends."""
    match packet:
        case HandshakeReply():
            return push_handshake_reply(packet)
        case Transfer():
            return push_transfer(packet)
        case _ as unreachable:
            assert_never(unreachable)


def pull_slave_packet(
    data: bytes | bytearray, expecting: Expecting
) -> tuple[SlavePacket, SizeBytes] | None:
    """Read the first packet that a slave sent, and its size.

    Raises: PacketError
    """
    state = _arrived_state(data, expecting)
    if state is None:
        return None
    return _pull_handshake(data) if state is Expecting.HANDSHAKE else _pull_ack(data)


def pull_master_packet(
    data: bytes | bytearray, expecting: Expecting
) -> tuple[MasterPacket, SizeBytes] | None:
    """Read the first packet that a master sent, and its size.

    Raises: PacketError
    """
    state = _arrived_state(data, expecting)
    if state is None:
        return None
    return _pull_handshake_reply(data) if state is Expecting.HANDSHAKE else _pull_transfer(data)


def _arrived_state(data: bytes | bytearray, expecting: Expecting) -> Expecting | None:
    """Read the state; `None` if it is not there yet.

    Raises: PacketError if it is not expected
    """
    if len(data) < _INT.size:
        return None
    (state,) = _INT.unpack_from(data)
    for each in (Expecting.HANDSHAKE, Expecting.TRANSFER):
        if state == each and each in expecting:
            return each
    names = " or ".join(f"{each.name} ({each.value})" for each in Expecting if each in expecting)
    raise PacketError("state", offset=0, reason=f"is {state}, but {names} is expected now")


def _require(holds: bool, what: str, offset: int, reason: str) -> None:
    if not holds:
        raise PacketError(what, offset=offset, reason=reason)


def _pull_handshake(data: bytes | bytearray) -> tuple[Handshake, SizeBytes] | None:
    # The master in RocketMQ starts to decode at 12 bytes and reads an id that has not arrived.
    if len(data) < HANDSHAKE_SIZE:
        return None
    _, first, second, broker_id = _HANDSHAKE.unpack_from(data)
    flagged, incarnation = (first | second) & 1, (first >> 1) << 15 | second >> 1
    for at, name, field in ((4, "isSyncFromLastFile", first), (6, "isAsyncLearner", second)):
        reason = f"is {field}, a flag with an incarnation"
        _require(not flagged or field <= 1, name, at, reason)
    _require(broker_id >= 1, "slaveBrokerId", 8, f"is {broker_id}, not 1 or more")
    packet = Handshake(
        broker_id=BrokerId(broker_id),
        sync_from_last_file=first & 1 == 1,
        async_learner=second & 1 == 1,
        incarnation=incarnation,
    )
    return packet, HANDSHAKE_SIZE


def _pull_ack(data: bytes | bytearray) -> tuple[Ack, SizeBytes] | None:
    if len(data) < ACK_SIZE:
        return None
    _, max_phy_offset = _ACK.unpack_from(data)
    _require(max_phy_offset >= 0, "slave maxPhyOffset", 4, f"is {max_phy_offset}, below 0")
    return Ack(max_phy_offset=Offset(max_phy_offset)), ACK_SIZE


def _pull_handshake_reply(data: bytes | bytearray) -> tuple[HandshakeReply, SizeBytes] | None:
    if len(data) < HANDSHAKE_REPLY_HEADER_SIZE:
        return None
    _, body_size, max_phy_offset, last_epoch = _REPLY_HEADER.unpack_from(data)
    _require(body_size >= 0, "body size", 4, f"is {body_size}, below 0")
    _require(
        body_size <= HANDSHAKE_BODY_MAX,
        "body size",
        4,
        f"is {body_size}, over {HANDSHAKE_BODY_MAX}",
    )
    _require(
        body_size % _REPLY_ENTRY.size == 0, "body size", 4, f"is {body_size}, no multiple of 12"
    )
    _require(max_phy_offset >= 0, "master maxPhyOffset", 8, f"is {max_phy_offset}, below 0")
    size = SizeBytes(HANDSHAKE_REPLY_HEADER_SIZE + body_size)
    if len(data) < size:
        return None
    body = bytes(data[HANDSHAKE_REPLY_HEADER_SIZE:size])
    packet = HandshakeReply(max_phy_offset=Offset(max_phy_offset), entries=_entries(body))
    _require(
        packet.last_epoch == last_epoch,
        "last epoch",
        16,
        f"is {last_epoch}, but the entries end with {packet.last_epoch}",
    )
    return packet, size


def _entries(body: bytes) -> tuple[EpochEntry, ...]:
    """Read epoch entries whose epochs and starts both grow strictly.

    Raises: PacketError
    """
    pairs = list(_REPLY_ENTRY.iter_unpack(body))
    epoch_before, start_before = -1, -1
    for index, (epoch, start) in enumerate(pairs):
        at = HANDSHAKE_REPLY_HEADER_SIZE + index * _REPLY_ENTRY.size
        _require(epoch > epoch_before, "epoch", at, f"is {epoch} after {epoch_before}")
        _require(start > start_before, "start offset", at + 4, f"is {start} after {start_before}")
        epoch_before, start_before = epoch, start
    return chain_epochs([(Epoch(epoch), Offset(start)) for epoch, start in pairs])


def _pull_transfer(data: bytes | bytearray) -> tuple[Transfer, SizeBytes] | None:
    # Both headers of a master begin alike; a slave that measures this one by the 20 bytes of the
    # other takes 16 bytes of the header for the body (#5651).
    if len(data) < TRANSFER_HEADER_SIZE:
        return None
    _, body_size, offset, epoch, epoch_start, confirm = _TRANSFER_HEADER.unpack_from(data)
    _require(body_size >= 0, "body size", 4, f"is {body_size}, below 0")
    _require(
        body_size <= TRANSFER_BODY_MAX, "body size", 4, f"is {body_size}, over {TRANSFER_BODY_MAX}"
    )
    # A master on an empty disk sends heartbeats with the offset -1.
    lowest = 0 if body_size else -1
    _require(offset >= lowest, "offset", 8, f"is {offset}, below {lowest}")
    _require(epoch >= 0, "epoch", 16, f"is {epoch}, below 0")
    _require(epoch_start >= 0, "epoch start offset", 20, f"is {epoch_start}, below 0")
    _require(confirm >= -1, "confirm offset", 28, f"is {confirm}, below -1")
    size = SizeBytes(TRANSFER_HEADER_SIZE + body_size)
    if len(data) < size:
        return None
    packet = Transfer(
        offset=Offset(offset),
        epoch=Epoch(epoch),
        epoch_start_offset=Offset(epoch_start),
        confirm_offset=Offset(confirm),
        body=bytes(data[TRANSFER_HEADER_SIZE:size]),
    )
    return packet, size
