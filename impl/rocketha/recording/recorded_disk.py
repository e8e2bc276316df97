"""A disk whose node writes down what it did to it.

| `is`          | what was done, once it was done                              |
|---------------|--------------------------------------------------------------|
| `Written`     | bytes were put at a place of a file                          |
| `Resized`     | a file was cut, or filled up                                 |
| `Synced`      | the content of a file was made durable                       |
| `Renamed`     | a file got another name                                      |
| `Removed`     | a file lost its name                                         |
| `NamesSynced` | the names in a directory were made durable                   |
| `Read`        | a file was read                                              |

Bytes, in base64, are there of files in directories of which somebody wants them; reads are there of
these only.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from rocketha.storage.disk import Disk, parent
from rocketha.types import SizeBytes

__all__ = [
    "DiskRecorder",
    "NamesSynced",
    "Read",
    "RecordedDisk",
    "Removed",
    "Renamed",
    "Resized",
    "Synced",
    "Written",
]


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes were put at a place of a file."""

    path: str
    at: int
    size: int
    data: str | None


@dataclass(frozen=True, slots=True)
class Resized:
    """A file was cut, or filled up."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Synced:
    """The content of a file was made durable."""

    path: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """A file got another name."""

    path: str
    to: str


@dataclass(frozen=True, slots=True)
class Removed:
    """A file lost its name."""

    path: str


@dataclass(frozen=True, slots=True)
class NamesSynced:
    """The names in a directory were made durable."""

    path: str


@dataclass(frozen=True, slots=True)
class Read:
    """A file was read, from a place on."""

    path: str
    at: int
    data: str


class DiskRecorder(Protocol):
    """Whoever notes what is done to a disk."""

    def stored(self, operation: object) -> None:
        """Hear one operation."""
        ...


class RecordedDisk:
    """Passes everything on, and says what was done."""

    __slots__ = ("_contents_of", "_inner", "_recorder")

    def __init__(self, inner: Disk, recorder: DiskRecorder, contents_of: Collection[str]) -> None:
        """Take the disk, who writes, and the directories of which bytes are written."""
        self._inner = inner
        self._recorder = recorder
        self._contents_of = contents_of

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return self._inner.exists(path)

    def size(self, path: str) -> SizeBytes:
        """Return the size of a file."""
        return self._inner.size(path)

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the files in a directory."""
        return self._inner.names(directory)

    def folders(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the directories in one."""
        return self._inner.folders(directory)

    def read(self, path: str, offset: int = 0, size: int | None = None) -> bytes:
        """Read up to `size` bytes, or all."""
        data = self._inner.read(path, offset, size)
        if parent(path) in self._contents_of:
            self._recorder.stored(Read(path, offset, b64encode(data).decode()))
        return data

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write at `offset`."""
        self._inner.write(path, offset, data)
        text = b64encode(data).decode() if parent(path) in self._contents_of else None
        self._recorder.stored(Written(path, offset, len(data), text))

    def truncate(self, path: str, size: int) -> None:
        """Cut a file."""
        self._inner.truncate(path, size)
        self._recorder.stored(Resized(path, size))

    def fsync(self, path: str) -> None:
        """Make the content of a file durable."""
        self._inner.fsync(path)
        self._recorder.stored(Synced(path))

    def fsync_dir(self, directory: str) -> None:
        """Make the names in a directory durable."""
        self._inner.fsync_dir(directory)
        self._recorder.stored(NamesSynced(directory))

    def rename(self, src: str, dst: str) -> None:
        """Give a file another name."""
        self._inner.rename(src, dst)
        self._recorder.stored(Renamed(src, dst))

    def unlink(self, path: str) -> None:
        """Remove a file."""
        self._inner.unlink(path)
        self._recorder.stored(Removed(path))
