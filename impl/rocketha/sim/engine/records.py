"""The messages of a simulated run: all of one size, and each says where it comes from.

Every record has `RECORD_SIZE` bytes, and a segment has room for `RECORDS_PER_SEGMENT` of them and a
filler. So every replica has the same record at the same offset, and an offset means the same number
of records everywhere.

The body begins with `e<epoch>#<number>;`: the epoch of the master that took the message and a
number that no other message of the run has. No replica looks at it; who checks a run does.
"""

from __future__ import annotations

import re
from typing import Final

from rocketha.formats.message import Message
from rocketha.types import Epoch, Offset, SizeBytes

__all__ = [
    "RECORDS_PER_SEGMENT",
    "RECORD_SIZE",
    "SEGMENT_SIZE",
    "TRANSFER_BATCHES",
    "epoch_of_message",
    "message_of_epoch",
    "record_count",
    "record_offset",
]

RECORD_SIZE: Final = SizeBytes(128)
RECORDS_PER_SEGMENT: Final = 3
_FILLER: Final = 16
SEGMENT_SIZE: Final = SizeBytes(RECORDS_PER_SEGMENT * RECORD_SIZE + _FILLER)

TRANSFER_BATCHES: Final = (RECORD_SIZE // 2 + 5, RECORD_SIZE, RECORD_SIZE * 5 // 2, 32 * 1024)
"""Less than a record, a record, two and a half, and RocketMQ's own."""

_TOPIC: Final = "t"
_OVERHEAD: Final = 112
"""Bytes of a record with this topic and with the reserved checksum, apart from the body."""
_BODY_SIZE: Final = RECORD_SIZE - _OVERHEAD
_EPOCH: Final = re.compile(rb"e([0-9]{1,9})#[0-9]+;")


def message_of_epoch(epoch: Epoch, number: int) -> Message:
    """Make the message with this number that a master of `epoch` takes."""
    body = b"e%d#%d;" % (epoch, number)
    assert len(body) <= _BODY_SIZE, body
    return Message(topic=_TOPIC, body=body.ljust(_BODY_SIZE, b"."))


def epoch_of_message(message: Message) -> Epoch | None:
    """Return the epoch that a message was taken in; None for one that no run wrote."""
    found = _EPOCH.match(message.body)
    return Epoch(int(found[1])) if found else None


def record_count(offset: int) -> int:
    """Return how many whole records lie before an offset."""
    segment, rest = divmod(offset, SEGMENT_SIZE)
    return segment * RECORDS_PER_SEGMENT + min(rest // RECORD_SIZE, RECORDS_PER_SEGMENT)


def record_offset(index: int) -> Offset:
    """Return where the record with this index begins, counted from 0."""
    segment, rest = divmod(index, RECORDS_PER_SEGMENT)
    return Offset(segment * SEGMENT_SIZE + rest * RECORD_SIZE)
