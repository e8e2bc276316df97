"""An entry of a DLedger log, and its two checksums.

Entry, 48 + b bytes; integers are big-endian two's complement

| at | bytes | field                                                                        |
|---:|------:|------------------------------------------------------------------------------|
|  0 |     4 | magic: the type, 1 NORMAL, 2 NOOP, 3 CONFIG_CHANGE                           |
|  4 |     4 | size of the entry = 48 + b                                                   |
|  8 |     8 | index, from 0 on                                                             |
| 16 |     8 | term, from 0 on                                                              |
| 24 |     8 | pos: offset in the log, in bytes                                             |
| 32 |     4 | channel                                                                      |
| 36 |     4 | chainCrc                                                                     |
| 40 |     4 | bodyCrc                                                                      |
| 44 |     4 | length b of the body                                                         |
| 48 |     b | body                                                                         |

DLedger has the fields channel, chainCrc and bodyCrc, and leaves 0 in all three; it checks nothing
of a body. Here they mean:

* bodyCrc is the CRC-32 of the body.
* chainCrc is the CRC-32 of 36 bytes: the chainCrc of the entry before, and of this one magic, size,
  index, term, bodyCrc and the body's length, each as above. Before the first entry of a log, index
  0, it is 0; where a log begins later, it is that of the last entry that a snapshot stands for. pos
  and channel are not in it, so an entry has the same on all nodes: two logs with the same chainCrc
  at one index are the same up to it.
* channel says how many of the entries just before this one its node had written and not yet
  synchronized when it wrote this one: 0, or n * 65536 + 65535 - n, n at most 32767. Entries before
  those were durable: that tells damage from a torn tail (see `dledger_data_file`). It is a node's
  own, and goes to other nodes as 0. A value with one bit changed is none.

All these numbers are read as DLedger's Java does it, with a sign.
In a log of DLedger an entry that a follower of 0.4.0 got from its leader may have its leader's pos;
it is read with the one that it has.

Source: DLedgerEntry, DLedgerEntryCoder (`encode`, `decode`), DLedgerMmapFileStore (`recover`,
`appendAsFollower`)
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from rocketha.errors import DLedgerFileError, EncodingError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.types import INT32_MAX, INT64_MAX, LogIndex, Offset, SizeBytes, Term

__all__ = [
    "ENTRY_HEADER_SIZE",
    "LOG_START",
    "UNSYNCED_MAX",
    "ChainCrc",
    "DLedgerEntry",
    "EntryCheck",
    "LogPoint",
    "body_crc",
    "chain_crc",
    "channel_of",
    "check_numbers",
    "decode_entry",
    "encode_entry",
    "sealed",
    "unsynced_of",
]

ChainCrc = int
"""A CRC-32 as a number of 32 bits with a sign."""

_HEADER: Final = struct.Struct(">iiqqqiiii")
_CHAINED: Final = struct.Struct(">iiiqqii")
_SIGN: Final = 1 << 31
_HALF: Final = 0xFFFF
_TYPES: Final = frozenset(DLedgerEntryType)
_WHAT: Final = "entry"

ENTRY_HEADER_SIZE: Final = SizeBytes(_HEADER.size)
"""Everything before the body. Source: DLedgerEntry.BODY_OFFSET"""

UNSYNCED_MAX: Final = 0x7FFF
"""More entries than these are said to be these: it is then taken for damage what may be torn."""


class EntryCheck(Enum):
    """Whose entries are read."""

    CHECKED = "checked"
    """This project's: both checksums, pos and channel must be right."""
    ORIGINAL = "original"
    """DLedger's: a bodyCrc must be 0 or right; chainCrc, channel and pos are not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DLedgerEntry:
    """One entry, with every field of its header but those that follow from its body."""

    kind: DLedgerEntryType = DLedgerEntryType.NORMAL
    index: LogIndex
    term: Term
    pos: Offset
    channel: int = 0
    chain_crc: ChainCrc = 0
    body_crc: int = 0
    body: bytes

    @property
    def size(self) -> SizeBytes:
        """Return how many bytes it takes."""
        return SizeBytes(ENTRY_HEADER_SIZE + len(self.body))

    @property
    def end(self) -> Offset:
        """Return where the next one may begin."""
        return Offset(self.pos + self.size)


@dataclass(frozen=True, slots=True)
class LogPoint:
    """The last entry before some place of a log; for a log that begins there, what was before."""

    index: LogIndex
    term: Term
    chain_crc: ChainCrc | None
    """`None` if nobody knows: then that of the next entry is taken for right."""


LOG_START: Final = LogPoint(LogIndex(-1), Term(-1), 0)
"""Before entry 0."""


def body_crc(body: bytes) -> int:
    """Compute what an entry with this body has as bodyCrc."""
    return _signed(zlib.crc32(body))


def chain_crc(previous: ChainCrc, entry: DLedgerEntry) -> ChainCrc:
    """Compute what this entry has as chainCrc behind one with `previous`."""
    chained = _CHAINED.pack(
        previous,
        entry.kind,
        entry.size,
        entry.index,
        entry.term,
        entry.body_crc,
        len(entry.body),
    )
    return _signed(zlib.crc32(chained))


def sealed(entry: DLedgerEntry, previous: ChainCrc) -> DLedgerEntry:
    """Put both checksums into an entry."""
    summed = replace(entry, body_crc=body_crc(entry.body))
    return replace(summed, chain_crc=chain_crc(previous, summed))


def channel_of(unsynced: int) -> int:
    """Return the channel of an entry before which so many are not yet synchronized."""
    assert unsynced >= 0, unsynced
    kept = min(unsynced, UNSYNCED_MAX)
    return kept << 16 | _HALF - kept if kept else 0


def unsynced_of(channel: int) -> int | None:
    """Return what `channel_of` was asked with, or `None` if this is not its answer."""
    unsynced = channel >> 16
    return unsynced if channel >= 0 and channel_of(unsynced) == channel else None


def check_numbers(entry: DLedgerEntry) -> None:
    """Make sure that the numbers of an entry can be written. Raises: EncodingError"""
    if entry.size > INT32_MAX:
        raise EncodingError(_WHAT, reason=f"would have {entry.size} bytes, over {INT32_MAX}")
    numbers = (("index", entry.index), ("term", entry.term), ("pos", entry.pos))
    for name, number in numbers:
        if not 0 <= number <= INT64_MAX:
            raise EncodingError(name, reason=f"is {number}, not in 0 .. {INT64_MAX}")


def encode_entry(entry: DLedgerEntry) -> bytes:
    """Write an entry, with the checksums that it has. Raises: EncodingError"""
    check_numbers(entry)
    header = _HEADER.pack(
        entry.kind,
        entry.size,
        entry.index,
        entry.term,
        entry.pos,
        entry.channel,
        entry.chain_crc,
        entry.body_crc,
        len(entry.body),
    )
    return header + entry.body


def decode_entry(
    data: bytes, at: int, *, pos: Offset, check: EntryCheck = EntryCheck.CHECKED
) -> DLedgerEntry:
    """Read the entry that begins at `at`, at this offset of the log; its chainCrc is not checked.

    Raises: DLedgerFileError, with an offset in the log
    """
    room = len(data) - at
    if room < ENTRY_HEADER_SIZE:
        raise DLedgerFileError(_WHAT, offset=pos, reason="ends inside of its header")
    fields = _HEADER.unpack_from(data, at)
    magic, size, index, term, said_pos, channel, chain, summed, body_size = fields
    if magic not in _TYPES:
        raise _refused(pos, 0, f"has the magic {magic}, which is none")
    if body_size < 0 or size != ENTRY_HEADER_SIZE + body_size:
        raise _refused(pos, 4, f"has the size {size} and a body of {body_size} bytes")
    if size > room:
        raise _refused(pos, 4, f"has the size {size}, {room} bytes are there")
    if index < 0:
        raise _refused(pos, 8, f"has the index {index}")
    if term < 0:
        raise _refused(pos, 16, f"has the term {term}")
    body = bytes(data[at + ENTRY_HEADER_SIZE : at + size])
    if check is EntryCheck.CHECKED:
        if said_pos != pos:
            raise _refused(pos, 24, f"says that it is at {said_pos}")
        if unsynced_of(channel) is None:
            raise _refused(pos, 32, f"has the channel {channel}, which is none")
    computed = body_crc(body)
    if summed != computed and not (check is EntryCheck.ORIGINAL and summed == 0):
        reason = f"has the bodyCrc {summed}, its body has {computed}"
        raise _refused(pos, 40, reason)
    return DLedgerEntry(
        kind=DLedgerEntryType(magic),
        index=LogIndex(index),
        term=Term(term),
        pos=pos,
        channel=channel,
        chain_crc=chain,
        body_crc=summed,
        body=body,
    )


def _signed(crc: int) -> int:
    return (crc ^ _SIGN) - _SIGN


def _refused(pos: Offset, at: int, reason: str) -> DLedgerFileError:
    return DLedgerFileError(_WHAT, offset=pos + at, reason=reason)
