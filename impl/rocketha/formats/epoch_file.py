"""The epoch file: the durable copy of a replica's epoch cache.

Text, one line break throughout (LF, or CRLF where the platform writes that; the checksum covers the
breaks, so the two files differ in it):

| line | content                                                                       |
|-----:|-------------------------------------------------------------------------------|
|    1 | number of entries                                                             |
|    2 | CRC-32 of all lines from the third on with their breaks, & 0x7FFFFFFF; decimal|
|   3+ | `epoch-startOffset`, one entry a line, both strictly growing                  |

An end is not stored: an entry ends where the next one starts, the last one is unbounded. Every line
ends with a break, so a file that was cut anywhere is not an epoch file. Numbers have one spelling
(no sign, no leading zero, ASCII digits); this makes the file of a list of entries unique.

RocketMQ reads the checksum 0 as "do not check"; here that is refused, unless the caller asks for it
to read a foreign file. (0 is also a possible checksum; then it agrees and is accepted.)

Source: common/utils `CheckpointFile`, store/ha/autoswitch `EpochFileCache`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import Final

from rocketha.errors import EpochFileError
from rocketha.types import INT32_MAX, INT64_MAX, Epoch, EpochEntry, Offset, SizeBytes, chain_epochs

__all__ = ["EPOCH_FILE_MAX", "decode_epoch_file", "encode_epoch_file"]

EPOCH_FILE_MAX: Final = SizeBytes(4 << 20)
"""More than 100,000 epochs; a bound for what is read into memory."""

_NUMBER: Final = re.compile(rb"(?:0|[1-9][0-9]{0,18})\Z")
_ENTRY: Final = re.compile(rb"(0|[1-9][0-9]{0,9})-(0|[1-9][0-9]{0,18})\Z")


def encode_epoch_file(entries: Iterable[EpochEntry], *, line_break: bytes = b"\n") -> bytes:
    """Write the file of these entries, which must be in order. No entries make a real file, too.

    RocketMQ writes nothing for an empty list, so that a restart brings truncated epochs back.
    """
    lines = [b"%d-%d" % (entry.epoch, entry.start_offset) + line_break for entry in entries]
    content = b"".join(lines)
    header = b"%d" % len(lines) + line_break + b"%d" % _checksum(content) + line_break
    return header + content


def decode_epoch_file(data: bytes, *, accept_unchecked: bool = False) -> tuple[EpochEntry, ...]:
    """Read the entries of an epoch file, with their ends.

    With `accept_unchecked` a stored checksum of 0 means that there is none.

    Raises: EpochFileError
    """
    if len(data) > EPOCH_FILE_MAX:
        reason = f"has {len(data)} bytes, over {EPOCH_FILE_MAX}"
        raise EpochFileError("epoch file", offset=0, reason=reason)
    lines, line_break = _lines(data)
    count_at, checksum_at = 0, len(lines[0]) + len(line_break)
    content_at = checksum_at + len(lines[1]) + len(line_break)
    count = _number(lines[0], "number of entries", count_at)
    stored = _number(lines[1], "checksum", checksum_at)
    if count != len(lines) - 2:
        reason = f"is {count}, but {len(lines) - 2} lines follow"
        raise EpochFileError("number of entries", offset=count_at, reason=reason)
    computed = _checksum(data[content_at:])
    if stored != computed and not (accept_unchecked and stored == 0):
        reason = f"is {stored}, but the entries have {computed}"
        raise EpochFileError("checksum", offset=checksum_at, reason=reason)
    return _entries(lines[2:], content_at, len(line_break))


def _checksum(content: bytes) -> int:
    """Return CRC-32 without its highest bit, as Java's signed int wants it.

    One changed bit still changes the rest: the highest bit of a CRC alone changes only with a bit
    2^32 - 33 places before the end.
    """
    return zlib.crc32(content) & 0x7FFFFFFF


def _lines(data: bytes) -> tuple[list[bytes], bytes]:
    """Split into at least two lines; return them without their breaks, and the break.

    Raises: EpochFileError
    """
    first = data.find(b"\n")
    line_break = b"\r\n" if first > 0 and data[first - 1 : first] == b"\r" else b"\n"
    if not data.endswith(line_break):
        raise EpochFileError("epoch file", offset=len(data), reason="the last line has no end")
    lines = data.split(line_break)[:-1]
    if len(lines) < 2:
        raise EpochFileError("epoch file", offset=len(data), reason="the checksum is missing")
    return lines, line_break


def _number(text: bytes, what: str, offset: int) -> int:
    if not _NUMBER.match(text) or int(text) > INT32_MAX:
        raise EpochFileError(what, offset=offset, reason=f"{_shown(text)} is not a number")
    return int(text)


def _shown(text: bytes) -> str:
    return ascii(text[:40].decode("latin-1"))


def _entries(lines: list[bytes], at: int, break_size: int) -> tuple[EpochEntry, ...]:
    pairs: list[tuple[Epoch, Offset]] = []
    for line in lines:
        matched = _ENTRY.match(line)
        if matched is None:
            raise EpochFileError("entry", offset=at, reason=f"{_shown(line)} is not epoch-offset")
        epoch, start = int(matched[1]), int(matched[2])
        if epoch > INT32_MAX or start > INT64_MAX:
            raise EpochFileError("entry", offset=at, reason=f"{_shown(line)} is out of range")
        if pairs and (epoch <= pairs[-1][0] or start <= pairs[-1][1]):
            before = f"{pairs[-1][0]}-{pairs[-1][1]}"
            reason = f"{_shown(line)} does not follow {before} in both numbers"
            raise EpochFileError("entry", offset=at, reason=reason)
        pairs.append((Epoch(epoch), Offset(start)))
        at += len(line) + break_size
    return chain_epochs(pairs)
