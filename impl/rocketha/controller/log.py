"""The durable log of a controller: one file of entries, each of which is on the disk when appended.

File

| at | bytes | field                                                            |
|---:|------:|------------------------------------------------------------------|
|  0 |     8 | "RKCTLOG1"                                                       |
|  8 |     - | records, one after the other                                     |

Record, 8 + n bytes; integers are big-endian without sign

| at | bytes | field                                                            |
|---:|------:|------------------------------------------------------------------|
|  0 |     4 | n, 1 or more                                                     |
|  4 |     4 | CRC-32 of the place of the record (8 bytes), n (4 bytes) and the entry |
|  8 |     n | entry (`rocketha.controller.entry`)                              |

An append writes one record and synchronizes the file; an append that failed may be there or not, so
the log takes no more entries before it is opened again. Opening reads to the first record that is
not whole. If nothing whole follows, that was an append that a power cut tore: it is cut off, nobody
was told of it. If a whole record follows, a durable part is damaged, and the log is refused: a
controller that forgets what it answered gives epochs out twice. (A damaged last record looks like a
torn one; that is not told apart.) The place in the checksum keeps bytes inside of an entry from
passing for a record.

Raft takes the place of this log: then an entry is durable when a majority has it.

Source: none in RocketMQ, whose controllers use DLedger or JRaft
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from rocketha.errors import ControllerLogError, DiskError, EncodingError
from rocketha.formats.remoting_command import FRAME_MAX
from rocketha.storage.disk import Disk, parent
from rocketha.types import SizeBytes

__all__ = ["ControllerLog", "DurableLog", "LogOpened"]

_MAGIC: Final = b"RKCTLOG1"
_RECORD: Final = struct.Struct(">II")
_PLACE: Final = struct.Struct(">QI")


class ControllerLog(Protocol):
    """Where entries go before they are applied."""

    def append(self, entry: bytes) -> None:
        """Make an entry durable behind the ones before it. Raises: DiskError, EncodingError"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOpened:
    """What was found: the entries, and how many bytes of a torn one were cut off."""

    entries: tuple[bytes, ...]
    torn: SizeBytes


class DurableLog:
    """A log in one file. Make it with `DurableLog.open`."""

    __slots__ = ("_disk", "_end", "_failed", "_path")

    def __init__(self, disk: Disk, path: str, end: int) -> None:
        """Take over a file whose last whole record ends at `end`."""
        self._disk = disk
        self._path = path
        self._end = end
        self._failed = False

    @classmethod
    def open(cls, disk: Disk, path: str = "controllerLog") -> tuple[DurableLog, LogOpened]:
        """Read the log, cut off what was torn, and make the rest durable.

        Raises: ControllerLogError if a durable part is damaged; DiskError
        """
        data = disk.read(path) if disk.exists(path) else b""
        if not data.startswith(_MAGIC):
            if len(data) > len(_MAGIC):
                raise ControllerLogError(path, offset=0, reason="is no controller's log")
            disk.write(path, 0, _MAGIC)
            torn, data = len(data), _MAGIC
            entries: list[bytes] = []
            end = len(_MAGIC)
        else:
            end = len(_MAGIC)
            entries = []
            for entry in _records(data, end):
                entries.append(entry)
                end += _RECORD.size + len(entry)
            torn = len(data) - end
            if torn:
                _refuse_damage(path, data, end)
                disk.truncate(path, end)
        disk.fsync(path)
        disk.fsync_dir(parent(path))
        return cls(disk, path, end), LogOpened(entries=tuple(entries), torn=SizeBytes(torn))

    @property
    def size(self) -> SizeBytes:
        """Return the size of the file."""
        return SizeBytes(self._end)

    def append(self, entry: bytes) -> None:
        """Make an entry durable behind the ones before it.

        Raises: EncodingError if it is empty or too large; DiskError, and again until the log is
        opened anew
        """
        if not 0 < len(entry) <= FRAME_MAX:
            raise EncodingError("entry", reason=f"has {len(entry)} bytes")
        if self._failed:
            raise DiskError(self._path, reason="an append failed: nobody knows where the log ends")
        record = _RECORD.pack(len(entry), _checksum(self._end, entry)) + entry
        self._failed = True
        self._disk.write(self._path, self._end, record)
        self._disk.fsync(self._path)
        self._failed = False
        self._end += len(record)


def _checksum(at: int, entry: bytes) -> int:
    return zlib.crc32(entry, zlib.crc32(_PLACE.pack(at, len(entry))))


def _record_at(data: bytes, at: int) -> bytes | None:
    """Return the entry of the whole record at this place, if there is one."""
    if at + _RECORD.size > len(data):
        return None
    size, checksum = _RECORD.unpack_from(data, at)
    begin = at + _RECORD.size
    if not 0 < size <= min(FRAME_MAX, len(data) - begin):
        return None
    entry = data[begin : begin + size]
    return entry if _checksum(at, entry) == checksum else None


def _records(data: bytes, at: int) -> Iterator[bytes]:
    while (entry := _record_at(data, at)) is not None:
        yield entry
        at += _RECORD.size + len(entry)


def _refuse_damage(path: str, data: bytes, end: int) -> None:
    """Raises: ControllerLogError if a whole record follows the place where the log breaks off."""
    for at in range(end + 1, len(data)):
        if _record_at(data, at) is not None:
            reason = f"is damaged, but a whole record follows at {at}"
            raise ControllerLogError(path, offset=end, reason=reason)
