"""The index files of a DLedger log: where in the data files each entry is.

Index entry, 32 bytes; integers are big-endian two's complement

| at | bytes | field                                                                        |
|---:|------:|------------------------------------------------------------------------------|
|  0 |     4 | magic of the entry                                                           |
|  4 |     8 | its offset in the log, in bytes                                              |
| 12 |     4 | its size                                                                     |
| 16 |     8 | its index                                                                    |
| 24 |     8 | its term                                                                     |

That of entry i is at byte 32 * i of the files together, which have one size and are named by the
offset of their first byte. Zeros are where nothing was written; where the beginning was deleted may
be a filler (magic -1, size), and old index entries.

There is no checksum, and none is needed: everything follows from the data files. `check_index`
compares, and what differs is written again from the data. What is more than the data has is a
sign: if each index entry is written only when its entry is synchronized, then the last one of an
index names an entry that was durable, which is what `promised` of `scan_data_files` wants to know.

A leader of DLedger 0.4.0 writes the magic 1 for entries of every type, its followers that of the
entry; for DLedger's files both are taken.

Source: DLedgerEntryCoder (`encodeIndex`, `decodeIndex`), DLedgerMmapFileStore (`INDEX_UNIT_SIZE`,
`recover`, `appendAsLeader`)
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rocketha.errors import DLedgerFileError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_entry import ENTRY_HEADER_SIZE, DLedgerEntry, EntryCheck
from rocketha.types import LogIndex, Offset, SizeBytes, Term

__all__ = [
    "INDEX_UNIT_SIZE",
    "DLedgerIndexEntry",
    "check_index",
    "decode_index_entry",
    "decode_index_file",
    "encode_index",
    "encode_index_entry",
    "index_entry",
]

_UNIT: Final = struct.Struct(">iqiqq")
_NOTHING: Final = bytes(_UNIT.size)
_FILLER: Final = b"\xff\xff\xff\xff"
_TYPES: Final = frozenset(DLedgerEntryType)
_WHAT: Final = "index entry"

INDEX_UNIT_SIZE: Final = SizeBytes(_UNIT.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class DLedgerIndexEntry:
    """Where an entry is, and which."""

    kind: DLedgerEntryType
    pos: Offset
    size: SizeBytes
    index: LogIndex
    term: Term


def index_entry(entry: DLedgerEntry) -> DLedgerIndexEntry:
    """Return what an index has for this entry."""
    return DLedgerIndexEntry(
        kind=entry.kind, pos=entry.pos, size=entry.size, index=entry.index, term=entry.term
    )


def encode_index_entry(entry: DLedgerIndexEntry) -> bytes:
    """Write one index entry."""
    return _UNIT.pack(entry.kind, entry.pos, entry.size, entry.index, entry.term)


def decode_index_entry(data: bytes, at: int, *, index: LogIndex) -> DLedgerIndexEntry:
    """Read the index entry of entry `index`, which begins at `at`. Raises: DLedgerFileError"""
    if len(data) - at < INDEX_UNIT_SIZE:
        raise DLedgerFileError(_WHAT, offset=len(data), reason="is cut")
    magic, pos, size, said, term = _UNIT.unpack_from(data, at)
    if magic not in _TYPES:
        raise DLedgerFileError(_WHAT, offset=at, reason=f"has the magic {magic}, which is none")
    if pos < 0:
        raise DLedgerFileError(_WHAT, offset=at + 4, reason=f"has the offset {pos}")
    if size < ENTRY_HEADER_SIZE:
        raise DLedgerFileError(_WHAT, offset=at + 12, reason=f"has the size {size}")
    if said != index:
        raise DLedgerFileError(_WHAT, offset=at + 16, reason=f"has the index {said}, not {index}")
    if term < 0:
        raise DLedgerFileError(_WHAT, offset=at + 24, reason=f"has the term {term}")
    return DLedgerIndexEntry(
        kind=DLedgerEntryType(magic),
        pos=Offset(pos),
        size=SizeBytes(size),
        index=LogIndex(index),
        term=Term(term),
    )


def encode_index(entries: Iterable[DLedgerEntry]) -> bytes:
    """Write the index entries of these entries, the first one first: a lost index is made again."""
    return b"".join([encode_index_entry(index_entry(entry)) for entry in entries])


def decode_index_file(
    data: bytes, *, offset: Offset, begin: LogIndex | None = None
) -> tuple[DLedgerIndexEntry, ...]:
    """Read a whole index file from entry `begin` on, up to the first one that is not written.

    `offset` is what the name of the file says. Without `begin` zeros and a filler at the beginning
    are passed by.

    Raises: DLedgerFileError, also if anything follows what is not written
    """
    if offset % INDEX_UNIT_SIZE or len(data) % INDEX_UNIT_SIZE:
        reason = f"begins at {offset} and has {len(data)} bytes: no multiples of {INDEX_UNIT_SIZE}"
        raise DLedgerFileError("index file", offset=0, reason=reason)
    first = offset // INDEX_UNIT_SIZE
    at = 0
    if begin is not None:
        at = max(0, (begin - first) * INDEX_UNIT_SIZE)
    else:
        if data[:4] == _FILLER:
            at = _filler_size(data)
        while at < len(data) and data[at : at + INDEX_UNIT_SIZE] == _NOTHING:
            at += INDEX_UNIT_SIZE
    found: list[DLedgerIndexEntry] = []
    while at < len(data) and data[at : at + INDEX_UNIT_SIZE] != _NOTHING:
        index = LogIndex(first + at // INDEX_UNIT_SIZE)
        found.append(decode_index_entry(data, at, index=index))
        at += INDEX_UNIT_SIZE
    behind = len(data) - len(data[at:].lstrip(b"\0"))
    if behind < len(data):
        raise DLedgerFileError("index file", offset=behind, reason="goes on behind its end")
    return tuple(found)


def check_index(
    entries: Sequence[DLedgerEntry],
    index: Sequence[DLedgerIndexEntry],
    *,
    check: EntryCheck = EntryCheck.CHECKED,
) -> LogIndex | None:
    """Compare an index with the entries of the data files.

    Returns the first entry that the index must be written again from; `None` if it has all entries.
    Index entries before the first entry and behind the last one are passed by.
    """
    found = {one.index: one for one in index}
    for entry in entries:
        expected = index_entry(entry)
        one = found.get(entry.index)
        if one is not None and check is EntryCheck.ORIGINAL and one.kind is DLedgerEntryType.NORMAL:
            one = replace(one, kind=expected.kind)
        if one != expected:
            return entry.index
    return None


def _filler_size(data: bytes) -> int:
    size = int.from_bytes(data[4:8], signed=True)
    if size % INDEX_UNIT_SIZE or not 0 < size <= len(data):
        raise DLedgerFileError("index file", offset=4, reason=f"has a filler of {size} bytes")
    return size
