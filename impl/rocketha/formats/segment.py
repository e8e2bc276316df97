"""CommitLog segments: the files that the log is cut into.

A segment is named by the offset of its first byte, 20 decimal digits. All have the same size. It
has records one after the other, then either a filler up to its end (see `message`), or zeros where
nothing was written yet. RocketMQ allocates a segment as a whole; our CommitLog lets the last one
grow, so its unwritten part may also be missing.

Source: common `UtilAll.offset2FileName`; store `MappedFileQueue`, `CommitLog`.
"""

from __future__ import annotations

from typing import assert_never

from rocketha.errors import CommitLogError
from rocketha.formats.message import Blank, Record, RecordCheck, pull_record
from rocketha.types import INT64_MAX, Offset, SizeBytes

__all__ = ["decode_segment", "segment_name", "segment_start"]

_NAME_SIZE = 20


def segment_name(start: Offset) -> str:
    """Return the file name of the segment that begins at `start`."""
    return f"{start:020d}"


def segment_start(name: str) -> Offset | None:
    """Return the offset that a file name stands for; `None` if it is not the name of a segment."""
    if len(name) != _NAME_SIZE or not (name.isascii() and name.isdecimal()):
        return None
    return Offset(int(name)) if int(name) <= INT64_MAX else None


def decode_segment(
    data: bytes, *, start: Offset, size: SizeBytes, check: RecordCheck = RecordCheck.WHOLE
) -> tuple[Record, ...]:
    """Read a whole segment, as it was allocated: every byte must be accounted for.

    The bytes of a filler behind its header have no meaning and are not looked at.

    Raises: CommitLogError
    """
    if len(data) != size:
        raise CommitLogError("segment", offset=start, reason=f"has {len(data)} bytes, not {size}")
    records: list[Record] = []
    at = 0
    written = len(data.rstrip(b"\x00"))
    while at < written:
        offset, room = Offset(start + at), SizeBytes(size - at)
        span = pull_record(data, offset=offset, room=room, check=check, at=at)
        at += span.size
        match span:
            case Record():
                records.append(span)
            case Blank():
                break
            case _ as unreachable:
                assert_never(unreachable)
    return tuple(records)
