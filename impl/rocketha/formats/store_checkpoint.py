"""The store checkpoint: up to when a broker has written its files through to the disk.

`checkpoint`, 4096 bytes, big-endian two's complement

| at | bytes | field                                                                       |
|---:|------:|-----------------------------------------------------------------------------|
|  0 |     8 | physicMsgTimestamp: ms, store time of the newest flushed message            |
|  8 |     8 | logicsMsgTimestamp: ms, likewise in the consume queues                      |
| 16 |     8 | indexMsgTimestamp: ms, likewise in the index                                |
| 24 |     8 | masterFlushedOffset: up to where the master has flushed, as a slave heard   |
| 32 |     8 | confirmPhyOffset: the confirm offset                                        |
| 40 |     8 | logicsPhysicalOffset: of the newest flushed message in the consume queues;  |
|    |       | since a release after 5.3.3, which leaves it 0; 5.5.0 has it                |
| 48 |  4048 | 0                                                                           |

RocketMQ maps a page of this size, so the file has it from the beginning, and all zeros say that
nothing was flushed. An offset of -1 is not known. Our broker keeps no such file: its recovery reads
the whole log. RocketMQ checks nothing: of a file that is short it reads the rest as zeros.
DLedger has another file of this name, two lines of text, in a folder of its own.

Source: store `StoreCheckpoint`, store/config `StorePathConfigHelper.getStoreCheckpoint`
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass, fields
from typing import Final

from rocketha.errors import CheckpointError, EncodingError
from rocketha.types import INT64_MAX, Offset, SizeBytes, TimestampMs

__all__ = [
    "STORE_CHECKPOINT_SIZE",
    "StoreCheckpoint",
    "decode_store_checkpoint",
    "encode_store_checkpoint",
]

_FIELDS: Final = struct.Struct(">qqqqqq")
_LONG_SIZE: Final = 8
_LEAST: Final = (0, 0, 0, -1, -1, -1)
_BEGINNING: Final = TimestampMs(0)
_START: Final = Offset(0)

STORE_CHECKPOINT_SIZE: Final = SizeBytes(4096)
"""Source: `DefaultMappedFile.OS_PAGE_SIZE`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCheckpoint:
    """What a store checkpoint says, in the order of the file; the defaults are those of a new one.

    Times are in ms, 0 or more; offsets -1 or more.
    """

    physic_msg_timestamp: TimestampMs = _BEGINNING
    logics_msg_timestamp: TimestampMs = _BEGINNING
    index_msg_timestamp: TimestampMs = _BEGINNING
    master_flushed_offset: Offset = _START
    confirm_phy_offset: Offset = _START
    logics_physical_offset: Offset = _START


_NAMES: Final = tuple(field.name for field in fields(StoreCheckpoint))


def encode_store_checkpoint(checkpoint: StoreCheckpoint) -> bytes:
    """Write the whole file. Raises: EncodingError if a time or an offset cannot be"""
    values = astuple(checkpoint)
    for name, value, least in zip(_NAMES, values, _LEAST, strict=True):
        if not least <= value <= INT64_MAX:
            raise EncodingError(name, reason=f"is {value}, not in {least} .. {INT64_MAX}")
    return _FIELDS.pack(*values).ljust(STORE_CHECKPOINT_SIZE, b"\0")


def decode_store_checkpoint(data: bytes) -> StoreCheckpoint:
    """Read a whole file, of either release.

    Raises: CheckpointError if it has another size, a time or an offset that cannot be, or anything
    behind the fields
    """
    if len(data) != STORE_CHECKPOINT_SIZE:
        reason = f"has {len(data)} bytes, not {STORE_CHECKPOINT_SIZE}"
        ends = min(len(data), STORE_CHECKPOINT_SIZE)
        raise CheckpointError("checkpoint", offset=ends, reason=reason)
    values = _FIELDS.unpack_from(data)
    for at, (name, value, least) in enumerate(zip(_NAMES, values, _LEAST, strict=True)):
        if value < least:
            reason = f"is {value}, not in {least} .. {INT64_MAX}"
            raise CheckpointError(name, offset=at * _LONG_SIZE, reason=reason)
    behind = len(data) - len(data[_FIELDS.size :].lstrip(b"\0"))
    if behind < len(data):
        reason = f"is {data[behind]}, where nothing is"
        raise CheckpointError("checkpoint", offset=behind, reason=reason)
    physic, logics, index, flushed, confirm, logics_offset = values
    return StoreCheckpoint(
        physic_msg_timestamp=TimestampMs(physic),
        logics_msg_timestamp=TimestampMs(logics),
        index_msg_timestamp=TimestampMs(index),
        master_flushed_offset=Offset(flushed),
        confirm_phy_offset=Offset(confirm),
        logics_physical_offset=Offset(logics_offset),
    )
