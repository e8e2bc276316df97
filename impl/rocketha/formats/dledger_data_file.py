"""The data files of a DLedger log: entries one after the other, fillers, and what recovery finds.

All files of a log have the same size, and are named by the offset of their first byte, 20 decimal
digits, as segments of a CommitLog. A file has entries (see `dledger_entry`); where the next one
would leave less than 8 bytes a filler goes up to the end of the file; where nothing was written
there are zeros. A log whose beginning was deleted has a filler in its place.

Filler, n bytes; integers are big-endian two's complement

| at | bytes | field                                                                        |
|---:|------:|------------------------------------------------------------------------------|
|  0 |     4 | magic -1                                                                     |
|  4 |     4 | n: of one at the end, up to the end of the file                              |
|  8 |     8 | of one at the beginning: index of the last entry that was deleted            |
| 16 |     8 | likewise its term                                                            |
| 24 |     4 | likewise its chainCrc                                                        |
| 28 |     4 | likewise the CRC-32 of bytes 0 .. 27                                         |

DLedger has the first two fields only, and forgets the rest at a restart. It passes by what follows
them, so it reads ours.

`scan_data_files` reads a log as recovery does, up to the first bytes that are no next entry, and
says what they are:

* nothing: all that follows is zero;
* a torn tail: a crash took what was not synchronized. The log ends before it; cut there.
* damage: what was durable is no more. Then the node must refuse its log, and be refilled by its
  leader. It is damage if some entry behind it says by its channel that it was durable, or if the
  log ends before an entry of which the caller knows that it was promised.

DLedger takes all of this for the end of its log, and goes on without what it had promised. What
cannot be told by these bytes: damage in the entries of the last synchronization looks like a torn
tail, unless the caller knows what was promised. And who cuts a log must synchronize the cut before
writing on: entries of before that come back would be taken for what was durable.

A log of DLedger has no channels, and there an entry proves of all before it that they were durable.
DLedger leaves behind its end what it cut off; that cannot be told from what was lost, and is
taken for damage, too, if its terms do not show it. In it a changed bit is not noticed in an entry's
channel, chainCrc, pos and body, in its term and type if they still fit its neighbours, and in the
size of a filler at the beginning if that still ends where an entry begins, or behind all of them.

Source: MmapFileList (`preAppend`, `resetOffset`, `truncateOffset`), DLedgerMmapFileStore
(`recover`, `reset`), DLedgerUtils.offset2FileName
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from rocketha.errors import DLedgerFileError, EncodingError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_entry import (
    ENTRY_HEADER_SIZE,
    LOG_START,
    DLedgerEntry,
    EntryCheck,
    LogPoint,
    body_crc,
    chain_crc,
    decode_entry,
    unsynced_of,
)
from rocketha.types import INT32_MAX, LogIndex, Offset, SizeBytes, Term

__all__ = [
    "FILLER_MIN",
    "DataFile",
    "DataScan",
    "Tail",
    "cut_offset",
    "deleted_point",
    "end_filler",
    "prefix_filler",
    "scan_data_files",
]

FILLER_MIN: Final = SizeBytes(8)
"""So much is left free behind each entry. Source: MmapFileList.MIN_BLANK_LEN"""

_FILLER: Final = struct.Struct(">ii")
_MARK: Final = struct.Struct(">iiqqi")
_CRC: Final = struct.Struct(">I")
_MARKED_SIZE: Final = _MARK.size + _CRC.size
_FILLER_MAGIC: Final = -1
_NOTHING: Final = bytes(FILLER_MIN)
_MAGICS: Final = tuple([kind.to_bytes(4) for kind in DLedgerEntryType])
_WHAT: Final = "data file"
_POS_AT: Final = 24
_ZERO: Final = Offset(0)


class Tail(Enum):
    """What follows the last entry of a log."""

    CLEAN = "clean"
    TORN = "torn"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a log: the offset that its name says, and all of its bytes."""

    offset: Offset
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DataScan:
    """What recovery found in the files of a log."""

    before: LogPoint
    """What was before the first entry."""
    entries: tuple[DLedgerEntry, ...]
    end: Offset
    """Where the log ends, in bytes: behind its last entry, or behind the filler that follows it."""
    tail: Tail
    failure: DLedgerFileError | None
    """What follows; `None` if nothing does and nothing is missing."""

    @property
    def last(self) -> LogPoint:
        """The point behind which the next entry comes."""
        if not self.entries:
            return self.before
        entry = self.entries[-1]
        return LogPoint(entry.index, entry.term, entry.chain_crc)

    def undamaged(self) -> DataScan:
        """Return this very result if the log may be used. Raises: DLedgerFileError"""
        if self.tail is Tail.DAMAGED and self.failure is not None:
            raise self.failure
        return self


def end_filler(end: Offset, entry_size: int, *, file_size: int) -> bytes:
    """Return what must be written at `end` before an entry of this size: a filler, or nothing.

    Raises: EncodingError if no file has room for it

    Source: MmapFileList.preAppend
    """
    if entry_size + FILLER_MIN > file_size:
        raise EncodingError("entry", reason=f"has {entry_size} bytes, a file {file_size}")
    room = file_size - end % file_size
    if entry_size + FILLER_MIN <= room:
        return b""
    return _FILLER.pack(_FILLER_MAGIC, room).ljust(room, b"\0")


def prefix_filler(size: int, deleted: LogPoint) -> bytes:
    """Return the 32 bytes that stand for the first `size` ones of a file; the rest may be anything.

    Raises: EncodingError if so few bytes had no entry
    """
    if not ENTRY_HEADER_SIZE <= size <= INT32_MAX:
        raise EncodingError("filler", reason=f"has {size} bytes")
    if deleted.chain_crc is None:
        raise EncodingError("filler", reason="stands for an entry without a chainCrc")
    mark = _MARK.pack(_FILLER_MAGIC, size, deleted.index, deleted.term, deleted.chain_crc)
    return mark + _CRC.pack(zlib.crc32(mark))


def deleted_point(data: bytes) -> LogPoint | None:
    """Return the last entry that a filler at the beginning of a file says was deleted, if it does.

    One of DLedger's does not.
    """
    marked = data[:_MARKED_SIZE]
    if len(marked) < _MARKED_SIZE or not _is_filler(marked, 0):
        return None
    _, _, index, term, chain = _MARK.unpack_from(marked)
    right = _CRC.pack(zlib.crc32(marked[: _MARK.size])) == marked[_MARK.size :]
    return LogPoint(LogIndex(index), Term(term), chain) if right and min(index, term) >= 0 else None


def cut_offset(scan: DataScan, index: LogIndex) -> Offset:
    """Return where a log must be cut so that entry `index` and all behind it are gone.

    Raises: DLedgerFileError if the entries before it are not there
    """
    first = scan.before.index + 1
    if not first <= index <= scan.last.index + 1:
        reason = f"has the entries {first} .. {scan.last.index}, and cannot be cut at {index}"
        raise DLedgerFileError(_WHAT, offset=scan.end, reason=reason)
    if index == scan.last.index + 1:
        return scan.end
    return scan.entries[index - first].pos


def scan_data_files(
    files: Sequence[DataFile],
    *,
    file_size: int,
    check: EntryCheck = EntryCheck.CHECKED,
    before: LogPoint | None = None,
    promised: LogIndex | None = None,
) -> DataScan:
    """Read a log. `before` is what a snapshot stands for, `promised` the last promised entry.

    `before` is asked for only if the files do not say it: they have no filler at their beginning,
    and begin with another entry than 0. It must then be what that one follows.

    Raises: DLedgerFileError if a file is missing or has another size, or the beginning is not known
    """
    for number, file in enumerate(files):
        if len(file.data) != file_size:
            reason = f"has {len(file.data)} bytes, not {file_size}"
            raise DLedgerFileError(_WHAT, offset=file.offset, reason=reason)
        expected = files[0].offset + number * file_size
        if file.offset != expected or file.offset % file_size:
            raise DLedgerFileError(_WHAT, offset=expected, reason=f"begins at {file.offset}")
    walk = _Walk(files=files, file_size=file_size, check=check)
    walk.begin(before)
    for file in files:
        if not walk.read_file(file):
            break
    tail = Tail.CLEAN
    failure = walk.failure
    if failure is not None:
        tail = Tail.DAMAGED if walk.durable_beyond() else Tail.TORN
    last = walk.entries[-1].index if walk.entries else walk.before.index
    if promised is not None and last < promised:
        tail = Tail.DAMAGED
        reason = f"ends with entry {last}, and {promised} was promised"
        failure = failure or DLedgerFileError(_WHAT, offset=walk.end, reason=reason)
    return DataScan(
        before=walk.before, entries=tuple(walk.entries), end=walk.end, tail=tail, failure=failure
    )


@dataclass(slots=True, kw_only=True)
class _Walk:
    """How far a scan has come."""

    files: Sequence[DataFile]
    file_size: int
    check: EntryCheck
    before: LogPoint = LOG_START
    point: LogPoint = LOG_START
    end: Offset = _ZERO
    entries: list[DLedgerEntry] = field(default_factory=list)
    failure: DLedgerFileError | None = None
    guessed: bool = False
    """Only the first entry itself says which it is."""

    def begin(self, before: LogPoint | None) -> None:
        """Find what is before the first entry, and the filler that says it."""
        first = self.files[0] if self.files else DataFile(_ZERO, b"")
        self.end = first.offset
        known = before or LOG_START
        if _is_filler(first.data, 0):
            known = self._skip_prefix(first, before)
        elif len(first.data) >= ENTRY_HEADER_SIZE and first.data[:FILLER_MIN] != _NOTHING:
            known = self._beginning(first, before)
        self.before = self.point = known

    def _skip_prefix(self, file: DataFile, before: LogPoint | None) -> LogPoint:
        _, size = _FILLER.unpack_from(file.data)
        marked = file.data[:_MARKED_SIZE]
        if not ENTRY_HEADER_SIZE <= size <= self.file_size:
            reason = f"begins with a filler of {size} bytes"
            raise DLedgerFileError(_WHAT, offset=file.offset, reason=reason)
        self.end = Offset(file.offset + size)
        if any(marked[FILLER_MIN:]) or self.check is EntryCheck.CHECKED:
            if (deleted := deleted_point(file.data)) is not None:
                return deleted
            reason = "begins with a filler that does not say what was deleted"
            raise DLedgerFileError(_WHAT, offset=file.offset, reason=reason)
        point = before or self._shown(file, size)
        if point is None or point is LOG_START:
            reason = "begins with a filler, and nothing says what was deleted"
            raise DLedgerFileError(_WHAT, offset=file.offset, reason=reason)
        self.guessed = before is None
        return point

    def _beginning(self, file: DataFile, before: LogPoint | None) -> LogPoint:
        """Find what the first entry follows."""
        point = self._shown(file, 0)
        if point is None:
            return before or LOG_START
        if point is LOG_START:
            return point
        if before is not None and before.index == point.index:
            return before
        if before is not None or self.check is EntryCheck.CHECKED or not file.offset:
            said = "nothing" if before is None else f"only entry {before.index}"
            reason = f"begins with entry {point.index + 1}, and {said} is known of what was before"
            raise DLedgerFileError(_WHAT, offset=file.offset, reason=reason)
        self.guessed = True
        return point

    def _shown(self, file: DataFile, at: int) -> LogPoint | None:
        """Give what the entry here follows, if there is one."""
        try:
            entry = decode_entry(file.data, at, pos=Offset(file.offset + at), check=self.check)
        except DLedgerFileError:
            return None
        if entry.index == 0:
            return LOG_START
        return LogPoint(LogIndex(entry.index - 1), Term(-1), None)

    def read_file(self, file: DataFile) -> bool:
        """Read on in this file; tell whether the log goes on in the next one."""
        at = self.end - file.offset
        while at < self.file_size:
            pos = Offset(file.offset + at)
            if file.data[at : at + FILLER_MIN] == _NOTHING:
                if self._anything_behind(pos):
                    reason = "has nothing here, and something behind it"
                    self.failure = DLedgerFileError(_WHAT, offset=pos, reason=reason)
                return False
            try:
                at += self._filler(file, at) or self._entry(file, at)
            except DLedgerFileError as error:
                self.failure = error
                return False
            self.end = Offset(file.offset + at)
        return True

    def _filler(self, file: DataFile, at: int) -> int:
        if not _is_filler(file.data, at):
            return 0
        _, size = _FILLER.unpack_from(file.data, at)
        if at + size != self.file_size:
            reason = f"has {size} bytes, and {self.file_size - at} are left"
            raise DLedgerFileError("filler", offset=file.offset + at, reason=reason)
        return int(size)

    def _entry(self, file: DataFile, at: int) -> int:
        pos = Offset(file.offset + at)
        entry = decode_entry(file.data, at, pos=pos, check=self.check)
        if at + entry.size + FILLER_MIN > self.file_size:
            raise DLedgerFileError("entry", offset=pos, reason="leaves no room for a filler")
        last = self.point
        if entry.index != last.index + 1:
            reason = f"has the index {entry.index}, not {last.index + 1}"
            raise DLedgerFileError("entry", offset=pos + 8, reason=reason)
        if entry.term < last.term:
            reason = f"has the term {entry.term}, below {last.term}"
            raise DLedgerFileError("entry", offset=pos + 16, reason=reason)
        if self.check is EntryCheck.CHECKED and last.chain_crc is not None:
            computed = chain_crc(last.chain_crc, entry)
            if entry.chain_crc != computed:
                reason = f"has the chainCrc {entry.chain_crc}, it follows with {computed}"
                raise DLedgerFileError("entry", offset=pos + 36, reason=reason)
        self.entries.append(entry)
        self.point = LogPoint(entry.index, entry.term, entry.chain_crc)
        return entry.size

    def _rest(self, pos: Offset) -> Iterator[tuple[DataFile, int]]:
        """Give each file from `pos` on, and where in it what follows begins."""
        for file in self.files:
            if file.offset + self.file_size > pos:
                yield file, max(0, pos - file.offset)

    def _anything_behind(self, pos: Offset) -> bool:
        return any(file.data.count(0, at) < self.file_size - at for file, at in self._rest(pos))

    def durable_beyond(self) -> bool:
        """Tell whether an entry behind the end says that more than this was durable."""
        if self.guessed and len(self.entries) < 2:
            return True
        return any(
            self._is_proof(file, begin)
            for file, at in self._rest(Offset(self.end + 1))
            for begin in _magics(file.data, at)
        )

    def _is_proof(self, file: DataFile, at: int) -> bool:
        """Tell whether an entry is here that is not stale and proves the next one durable.

        One of DLedger's counts in a log of ours, too: such a log is read by mistake.
        """
        pos = Offset(file.offset + at)
        try:
            entry = decode_entry(file.data, at, pos=pos, check=EntryCheck.ORIGINAL)
        except DLedgerFileError:
            return False
        unsynced = unsynced_of(entry.channel)
        if unsynced is None or entry.term < self.point.term:
            return False
        if self.check is EntryCheck.CHECKED:
            summed = entry.body_crc == body_crc(entry.body) or not entry.chain_crc
            said = int.from_bytes(file.data[at + _POS_AT : at + _POS_AT + 8], signed=True)
            if said != pos or not summed:
                return False
        elif self.entries:
            farthest = self.point.index + 1 + (pos - self.end) // ENTRY_HEADER_SIZE
            if entry.index > farthest:
                return False
        return entry.index - 1 - unsynced > self.point.index


def _magics(data: bytes, at: int) -> Iterator[int]:
    """Give where from `at` on an entry may begin; zeros, of which there are most, cost little."""
    for magic in _MAGICS:
        end = data.find(magic[-1:], at + 3)
        while end >= 0:
            if data[end - 3 : end + 1] == magic:
                yield end - 3
            end = data.find(magic[-1:], end + 1)


def _is_filler(data: bytes, at: int) -> bool:
    return data[at : at + 4] == b"\xff\xff\xff\xff"
