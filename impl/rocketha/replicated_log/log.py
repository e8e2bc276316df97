"""The log of a state machine: one file of entries, each of which is on the disk when appended.

File, integers are big-endian without sign

| at | bytes | field                                                            |
|---:|------:|------------------------------------------------------------------|
|  0 |     8 | "RKCTLOG2"                                                       |
|  8 |     8 | index of the first record                                        |
| 16 |     8 | boundary: the term of the entry before it, 0 if there is none    |
| 24 |     4 | CRC-32 of the 24 bytes before                                    |
| 28 |     - | records, one after the other                                     |

Record, 16 + n bytes

| at | bytes | field                                                            |
|---:|------:|------------------------------------------------------------------|
|  0 |     4 | n, 1 or more                                                     |
|  4 |     4 | CRC-32 of the place of the record (8 bytes), n, term and entry   |
|  8 |     8 | term                                                             |
| 16 |     n | entry (`rocketha.controller.entry`)                              |

A log that was never cut and has no terms is "RKCTLOG1", 8 bytes, and records without the term;
that is what a controller on its own has before its first snapshot.

An append writes one record and synchronizes the file; an append that failed may be there or not, so
the log takes no more entries before it is opened again. Opening reads to the first record that is
not whole. If nothing whole follows, that was an append that a power cut tore: it is cut off, nobody
was told of it. If a whole record follows, a durable part is damaged, and the log is refused: a
controller that forgets what it answered gives epochs out twice. (A damaged last record looks like a
torn one; that is not told apart.) The place in the checksum keeps bytes inside of an entry from
passing for a record.

A log whose beginning or end goes is written anew beside the old one, synchronized, and takes its
name.

Raft takes the place of this log: then an entry is durable when a majority has it.

Source: none in RocketMQ, whose controllers use DLedger or JRaft
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from rocketha.errors import ControllerLogError, DiskError, EncodingError
from rocketha.formats.remoting_command import FRAME_MAX
from rocketha.replicated_log.rules import SNAPSHOT_RULES, SnapshotRules
from rocketha.storage.disk import Disk, parent
from rocketha.types import LogIndex, SizeBytes, Term

__all__ = ["NO_TERM", "DurableLog", "LogOpened", "LogStore"]

NO_TERM: Final = Term(0)
"""Of the entries of a controller on its own, and before the first entry."""

_PLAIN: Final = b"RKCTLOG1"
_MAGIC: Final = b"RKCTLOG2"
_HEADER: Final = struct.Struct(">8sQQ")
_BEGIN: Final = _HEADER.size + 4
"""Behind the header and its checksum."""
_PLAIN_RECORD: Final = struct.Struct(">II")
_RECORD: Final = struct.Struct(">IIQ")
_PLACE: Final = struct.Struct(">QI")
_TERM: Final = struct.Struct(">Q")


def _crc(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4)


class LogStore(Protocol):
    """Where a node has its entries."""

    @property
    def first_index(self) -> LogIndex:
        """Return the index of the first entry that is there, or would be."""

    @property
    def end_index(self) -> LogIndex:
        """Return the index of the last entry; the one before the first if there is none."""

    def append(self, entry: bytes, term: Term = NO_TERM) -> None:
        """Make an entry durable behind the ones before it. Raises: DiskError, EncodingError"""

    def overwrite(self, index: LogIndex, entry: bytes, term: Term) -> None:
        """Put an entry in the place of this one and of all behind it, durably and at once.

        Raises: DiskError, EncodingError
        """

    def entry(self, index: LogIndex) -> bytes:
        """Read an entry that is there. Raises: DiskError"""

    def entries(self, first: LogIndex) -> Iterator[bytes]:
        """Read the entries from this one on. Raises: DiskError"""

    def term_of(self, index: LogIndex) -> Term | None:
        """Return the term of an entry, or of the one before the first; None of others."""

    def cut(self, index: LogIndex) -> None:
        """Remove everything up to this entry, durably. Raises: DiskError"""

    def reset(self, index: LogIndex, term: Term) -> None:
        """Remove everything, durably, and go on behind this entry. Raises: DiskError"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOpened:
    """What was found, and how many bytes of a torn entry were cut off."""

    torn: SizeBytes
    first_index: LogIndex


@dataclass(frozen=True, slots=True)
class _Record:
    place: int
    size: int
    term: Term
    entry: bytes


@dataclass(frozen=True, slots=True)
class _Place:
    at: int
    size: int
    term: Term


class DurableLog:
    """A log in one file. Make it with `DurableLog.open`."""

    __slots__ = (
        "_boundary",
        "_disk",
        "_end",
        "_failed",
        "_first",
        "_path",
        "_places",
        "_plain",
        "_rules",
    )

    def __init__(
        self,
        disk: Disk,
        path: str,
        *,
        first: int,
        boundary: Term,
        plain: bool,
        rules: SnapshotRules,
    ) -> None:
        """Take over a file without records."""
        self._disk = disk
        self._rules = rules
        self._path = path
        self._first = first
        self._boundary = boundary
        self._plain = plain
        self._end = len(_PLAIN) if plain else _BEGIN
        self._places: list[_Place] = []
        self._failed = False

    @classmethod
    def open(
        cls, disk: Disk, path: str = "controllerLog", rules: SnapshotRules = SNAPSHOT_RULES
    ) -> tuple[DurableLog, LogOpened]:
        """Read the log, cut off what was torn, and make the rest durable.

        Raises: ControllerLogError if a durable part is damaged; DiskError
        """
        data = disk.read(path) if disk.exists(path) else b""
        torn = 0
        if not data.startswith((_PLAIN, _MAGIC)):
            if len(data) > len(_PLAIN):
                raise ControllerLogError(path, offset=0, reason="is no controller's log")
            disk.write(path, 0, _PLAIN)
            torn, data = len(data), _PLAIN
        log = cls._begun(disk, path, data, rules)
        for record in log._records(data):
            log._noted(record)
        if log._end < len(data):
            torn = len(data) - log._end
            log._refuse_damage(data)
            disk.truncate(path, log._end)
        disk.fsync(path)
        disk.fsync_dir(parent(path))
        first = log.first_index
        return log, LogOpened(torn=SizeBytes(torn), first_index=first)

    @classmethod
    def _begun(cls, disk: Disk, path: str, data: bytes, rules: SnapshotRules) -> DurableLog:
        """Raises: ControllerLogError"""
        if data.startswith(_PLAIN):
            return cls(disk, path, first=1, boundary=NO_TERM, plain=True, rules=rules)
        header, rest = data[: _HEADER.size], data[_HEADER.size :]
        if not rest.startswith(_crc(header)):
            raise ControllerLogError(path, offset=8, reason="has a damaged header")
        _, first, boundary = _HEADER.unpack(header)
        known = rules.boundary_after_start(Term(boundary))
        return cls(disk, path, first=first, boundary=known, plain=False, rules=rules)

    @property
    def size(self) -> SizeBytes:
        """Return the size of the file."""
        return SizeBytes(self._end)

    @property
    def first_index(self) -> LogIndex:
        """Return the index of the first entry that is there, or would be."""
        return LogIndex(self._first)

    @property
    def end_index(self) -> LogIndex:
        """Return the index of the last entry; the one before the first if there is none."""
        return LogIndex(self._first + len(self._places) - 1)

    def term_of(self, index: LogIndex) -> Term | None:
        """Return the term of an entry, or of the one before the first; None of others."""
        if index == self._first - 1:
            return self._boundary
        if not self._first <= index <= self.end_index:
            return None
        return self._places[index - self._first].term

    def entry(self, index: LogIndex) -> bytes:
        """Read an entry that is there. Raises: DiskError"""
        place = self._places[index - self._first]
        return self._disk.read(self._path, place.at, place.size)

    def entries(self, first: LogIndex) -> Iterator[bytes]:
        """Read the entries from this one on. Raises: DiskError"""
        places = self._places[first - self._first :]
        if places:
            data = self._disk.read(self._path, places[0].at)
            for place in places:
                at = place.at - places[0].at
                yield data[at : at + place.size]

    def append(self, entry: bytes, term: Term = NO_TERM) -> None:
        """Make an entry durable behind the ones before it.

        Raises: EncodingError if it is empty or too large; DiskError, and again until the log is
        opened anew
        """
        self._require_size(entry)
        self._require_known()
        if self._plain and term != NO_TERM:
            self._rewrite(self._contents(self._first), self._first, self._boundary)
        record = self._packed(self._end, term, entry)
        self._failed = True
        self._disk.write(self._path, self._end, record)
        self._disk.fsync(self._path)
        self._failed = False
        self._noted(_Record(self._end, len(record), term, entry))

    def overwrite(self, index: LogIndex, entry: bytes, term: Term) -> None:
        """Put an entry in the place of this one and of all behind it, durably and at once.

        Raises: EncodingError if it is empty or too large; DiskError, and again until the log is
        opened anew
        """
        assert self._first <= index <= self.end_index, (self._first, index, self.end_index)
        self._require_size(entry)
        before = self._contents(self._first)[: index - self._first]
        self._rewrite([*before, (term, entry)], self._first, self._boundary)

    def cut(self, index: LogIndex) -> None:
        """Remove everything up to this entry, durably. Raises: DiskError"""
        boundary = self.term_of(self._rules.boundary_of_cut(index, self.end_index))
        assert boundary is not None, index
        self._rewrite(self._contents(index + 1), index + 1, boundary)

    def reset(self, index: LogIndex, term: Term) -> None:
        """Remove everything, durably, and go on behind this entry. Raises: DiskError"""
        self._rewrite([], index + 1, term)

    def _contents(self, first: int) -> list[tuple[Term, bytes]]:
        terms = [place.term for place in self._places[first - self._first :]]
        return list(zip(terms, self.entries(LogIndex(first)), strict=True))

    def _rewrite(self, contents: Iterable[tuple[Term, bytes]], first: int, boundary: Term) -> None:
        self._require_known()
        self._failed = True
        aside = self._path + ".tmp"
        if self._disk.exists(aside):
            self._disk.truncate(aside, 0)
        self._first, self._boundary, self._plain = first, boundary, False
        header = _HEADER.pack(_MAGIC, first, boundary)
        data = bytearray(header + _crc(header))
        self._places = []
        for term, entry in contents:
            record = self._packed(len(data), term, entry)
            self._noted(_Record(len(data), len(record), term, entry))
            data += record
        self._end = len(data)
        self._disk.write(aside, 0, bytes(data))
        self._disk.fsync(aside)
        self._disk.rename(aside, self._path)
        self._disk.fsync_dir(parent(self._path))
        self._failed = False

    def _require_size(self, entry: bytes) -> None:
        if not 0 < len(entry) <= FRAME_MAX:
            raise EncodingError("entry", reason=f"has {len(entry)} bytes")

    def _require_known(self) -> None:
        if self._failed:
            raise DiskError(self._path, reason="an append failed: nobody knows where the log ends")

    def _noted(self, record: _Record) -> None:
        size = len(record.entry)
        self._end = record.place + record.size
        self._places.append(_Place(self._end - size, size, record.term))

    def _packed(self, at: int, term: Term, entry: bytes) -> bytes:
        checksum = self._checksum(at, term, entry)
        if self._plain:
            return _PLAIN_RECORD.pack(len(entry), checksum) + entry
        return _RECORD.pack(len(entry), checksum, term) + entry

    def _checksum(self, at: int, term: Term, entry: bytes) -> int:
        checksum = zlib.crc32(_PLACE.pack(at, len(entry)))
        if not self._plain:
            checksum = zlib.crc32(_TERM.pack(term), checksum)
        return zlib.crc32(entry, checksum)

    def _record_at(self, data: bytes, at: int) -> _Record | None:
        """Return the whole record at this place, if there is one."""
        begin = at + (_PLAIN_RECORD.size if self._plain else _RECORD.size)
        if begin > len(data):
            return None
        size, checksum = _PLAIN_RECORD.unpack_from(data, at)
        if not 0 < size <= min(FRAME_MAX, len(data) - begin):
            return None
        term = NO_TERM if self._plain else Term(_RECORD.unpack_from(data, at)[2])
        entry = data[begin : begin + size]
        whole = self._checksum(at, term, entry) == checksum
        return _Record(at, begin + size - at, term, entry) if whole else None

    def _records(self, data: bytes) -> Iterator[_Record]:
        at = self._end
        while (record := self._record_at(data, at)) is not None:
            yield record
            at += record.size

    def _refuse_damage(self, data: bytes) -> None:
        """Raises: ControllerLogError if a whole record follows the place where the log breaks."""
        for at in range(self._end + 1, len(data)):
            if self._record_at(data, at) is not None:
                reason = f"is damaged, but a whole record follows at {at}"
                raise ControllerLogError(self._path, offset=self._end, reason=reason)
