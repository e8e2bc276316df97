"""The files of a node on its disk: lists of files of one size, and files that are replaced whole.

Source: MmapFileList; IOUtils (`string2File`)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rocketha.errors import DLedgerFileError
from rocketha.formats.segment import segment_name, segment_start
from rocketha.storage.disk import Disk, parent
from rocketha.types import Offset, SizeBytes

__all__ = ["FileList", "joined", "replace_file"]

_ASIDE: Final = ".tmp"


def joined(directory: str, name: str) -> str:
    """Return the path of a name in a directory; the root is the empty text."""
    return f"{directory}/{name}" if directory else name


def replace_file(disk: Disk, path: str, data: bytes) -> None:
    """Put a file in the place of one, durably; after a crash it is the old one or the new one.

    Raises: DiskError
    """
    aside = path + _ASIDE
    if disk.exists(aside):
        disk.truncate(aside, 0)
    disk.write(aside, 0, data)
    disk.fsync(aside)
    disk.rename(aside, path)
    disk.fsync_dir(parent(path))


class FileList:
    """Files that together are one sequence of bytes, named by the offset of their first one.

    A file has its whole size from the beginning; what was not written is zero. What was written is
    durable after `sync`; cuts, removals and replacements are when they return.
    All operations raise `DiskError`.
    """

    __slots__ = ("_directory", "_disk", "_names_synced", "_size", "_starts", "_unsynced")

    def __init__(self, disk: Disk, directory: str, file_size: SizeBytes) -> None:
        """Look which files are there. Raises: DLedgerFileError if there are others, too"""
        self._disk = disk
        self._directory = directory
        self._size = file_size
        self._names_synced = True
        self._unsynced: set[Offset] = set()
        starts: list[Offset] = []
        for name in disk.names(directory):
            start = segment_start(name)
            if start is not None:
                starts.append(start)
            elif not name.endswith(_ASIDE):
                raise DLedgerFileError(directory, offset=0, reason=f"has a file {ascii(name)[:80]}")
        self._starts = sorted(starts)

    @property
    def starts(self) -> tuple[Offset, ...]:
        """Return the offsets of the files."""
        return tuple(self._starts)

    @property
    def file_size(self) -> SizeBytes:
        """Return the size of a file."""
        return self._size

    @property
    def reached(self) -> Offset:
        """Return where the last file ends; 0 if there is none."""
        return Offset(self._starts[-1] + self._size) if self._starts else Offset(0)

    def is_even(self) -> bool:
        """Tell whether the files follow each other, and none is longer than it may be."""
        first = self._starts[0] if self._starts else 0
        return all(
            start == first + number * self._size
            and start % self._size == 0
            and self._disk.size(self._path(start)) <= self._size
            for number, start in enumerate(self._starts)
        )

    def whole_file(self, start: Offset) -> bytes:
        """Read a file; where a crash left a shorter one, zeros are at its end."""
        return self._disk.read(self._path(start)).ljust(self._size, b"\0")

    def read(self, offset: Offset, size: int) -> bytes:
        """Read bytes, which are zero where no file is."""
        pieces: list[bytes] = []
        for start, at, length in self._pieces(offset, size):
            there = self._disk.read(self._path(start), at, length) if start in self._starts else b""
            pieces.append(there.ljust(length, b"\0"))
        return b"".join(pieces)

    def write(self, offset: Offset, data: bytes) -> None:
        """Write bytes, and make the files that they need."""
        done = 0
        for start, at, length in self._pieces(offset, len(data)):
            path = self._path(start)
            if start not in self._starts:
                assert not self._starts or start == self.reached, start
                self._names_synced = False
                self._disk.write(path, 0, b"")
                self._disk.truncate(path, self._size)
                self._starts.append(start)
            self._unsynced.add(start)
            self._disk.write(path, at, data[done : done + length])
            done += length

    def sync(self) -> None:
        """Make durable what was written."""
        for start in sorted(self._unsynced):
            self._disk.fsync(self._path(start))
        self._unsynced.clear()
        if not self._names_synced:
            self._disk.fsync_dir(self._directory)
            self._names_synced = True

    def recover(self) -> None:
        """Make durable what a program that ended may have left, and give each file its size."""
        for name in self._disk.names(self._directory):
            if name.endswith(_ASIDE):
                self._disk.unlink(joined(self._directory, name))
        for start in self._starts:
            if self._disk.size(self._path(start)) < self._size:
                self._disk.truncate(self._path(start), self._size)
        self._unsynced.update(self._starts)
        self._names_synced = False
        self.sync()

    def cut(self, offset: Offset) -> None:
        """Let there be nothing from `offset` on; a crash before the end leaves a longer beginning.

        Source: MmapFileList.truncateOffset, which leaves the bytes
        """
        self.remove([start for start in self._starts if start >= offset])
        start = Offset(offset - offset % self._size)
        if start in self._starts:
            self._disk.truncate(self._path(start), offset - start)
            self._disk.truncate(self._path(start), self._size)
            self._disk.fsync(self._path(start))
            self._unsynced.discard(start)

    def replace(self, start: Offset, pieces: Sequence[tuple[int, bytes]]) -> None:
        """Put a file with these bytes, at places in it, in the place of one, at once."""
        path = self._path(start)
        aside = path + _ASIDE
        for at, data in pieces:
            self._disk.write(aside, at, data)
        self._disk.truncate(aside, self._size)
        self._disk.fsync(aside)
        self._disk.rename(aside, path)
        self._disk.fsync_dir(self._directory)
        self._unsynced.discard(start)
        if start not in self._starts:
            self._starts = sorted([*self._starts, start])

    def remove(self, starts: Iterable[Offset], *, last_first: bool = True) -> None:
        """Remove files, by default the last one first."""
        removed = sorted(starts, reverse=last_first)
        for start in removed:
            self._disk.unlink(self._path(start))
            self._starts.remove(start)
            self._unsynced.discard(start)
        if removed:
            self._disk.fsync_dir(self._directory)
            self._names_synced = True

    def _path(self, start: Offset) -> str:
        return joined(self._directory, segment_name(start))

    def _pieces(self, offset: Offset, size: int) -> Iterable[tuple[Offset, int, int]]:
        """Give the file, the place in it, and the length of each piece of these bytes."""
        end = offset + size
        at = int(offset)
        while at < end:
            start = at - at % self._size
            length = min(end, start + self._size) - at
            yield Offset(start), at - start, length
            at += length
