"""CommitLog segments: the files that the log is cut into.

A segment is named by the offset of its first byte, 20 decimal digits. All have the same size. It
has records one after the other, then either a filler up to its end (see `message`), or zeros where
nothing was written yet. RocketMQ allocates a segment as a whole; our CommitLog lets the last one
grow, so its unwritten part may also be missing. Where RocketMQ's log was cut, what was written
before may lie behind its end.

Source: common `UtilAll.offset2FileName`; store `MappedFileQueue`, `CommitLog`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from rocketha.errors import CommitLogError
from rocketha.formats.message import Blank, Record, RecordCheck, pull_record
from rocketha.types import INT64_MAX, Offset, SizeBytes

__all__ = ["Segment", "decode_segment", "decode_whole_segment", "segment_name", "segment_start"]

_NAME_SIZE = 20


def segment_name(start: Offset) -> str:
    """Return the file name of the segment that begins at `start`."""
    return f"{start:020d}"


def segment_start(name: str) -> Offset | None:
    """Return the offset that a file name stands for; `None` if it is not the name of a segment."""
    if len(name) != _NAME_SIZE or not (name.isascii() and name.isdecimal()):
        return None
    return Offset(int(name)) if int(name) <= INT64_MAX else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The part of a CommitLog that one segment holds."""

    records: tuple[Record, ...]
    end: Offset
    """Where the log ends in this segment: behind its last whole record, or behind its filler."""
    rest: CommitLogError | None
    """Why bytes that follow are not the log's; `None` if all of them are zero, or none follow."""


def decode_segment(
    data: bytes, *, start: Offset, size: SizeBytes, check: RecordCheck = RecordCheck.WHOLE
) -> Segment:
    """Read a segment as recovery does: up to the first bytes that are no record of this place.

    What follows is stale where the log was cut and written on: RocketMQ moves its end in memory
    and leaves the bytes. Nothing tells a stale rest from a damaged one. A log that was cut where a
    record began, and not written on, shows no end at all: what was cut off is read (B07).
    The bytes of a filler behind its header have no meaning and are not looked at.

    Raises: CommitLogError if the data has not the size of a segment

    Source: CommitLog.recoverNormally, CommitLog.truncateDirtyFiles
    """
    if len(data) != size:
        raise CommitLogError("segment", offset=start, reason=f"has {len(data)} bytes, not {size}")
    records: list[Record] = []
    at = 0
    written = len(data.rstrip(b"\x00"))
    while at < written:
        offset, room = Offset(start + at), SizeBytes(size - at)
        try:
            span = pull_record(data, offset=offset, room=room, check=check, at=at)
        except CommitLogError as error:
            return Segment(records=tuple(records), end=offset, rest=error)
        at += span.size
        match span:
            case Record():
                records.append(span)
            case Blank():
                break
            case _ as unreachable:
                assert_never(unreachable)
    return Segment(records=tuple(records), end=Offset(start + at), rest=None)


def decode_whole_segment(
    data: bytes, *, start: Offset, size: SizeBytes, check: RecordCheck = RecordCheck.WHOLE
) -> tuple[Record, ...]:
    """Read a segment of a log that was never cut: every byte must be accounted for.

    Raises: CommitLogError, also for what `Segment.rest` would say
    """
    segment = decode_segment(data, start=start, size=size, check=check)
    if segment.rest is not None:
        raise segment.rest
    return segment.records
