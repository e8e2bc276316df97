"""The disk that a replica writes to: a narrow interface, and the real one.

Paths are relative to the root of the disk, with `/`. What is written lies in the operating system's
memory until it is synchronized: `fsync` for the bytes and the size of a file, `fsync_dir` for the
names in a directory (files that were made, renamed or removed). `rocketha.storage.memory_disk`
loses what was not. A directory is made with the first file in it, goes with the last one, and needs
no `fsync_dir` of the one above: whoever has written into it finds it again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from rocketha.errors import DiskError, MissingFileError
from rocketha.types import SizeBytes

__all__ = ["Disk", "RealDisk", "parent"]


class Disk(Protocol):
    """Files by name. All operations raise `DiskError`."""

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""

    def size(self, path: str) -> SizeBytes:
        """Return the size of a file. Raises: MissingFileError"""

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the files in a directory; none if it does not exist."""

    def folders(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the directories in one; those without files may be missing."""

    def read(self, path: str, offset: int = 0, size: int | None = None) -> bytes:
        """Read up to `size` bytes, or all. Raises: MissingFileError"""

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write at `offset`; make the file if need be, and fill a gap with zeros."""

    def truncate(self, path: str, size: int) -> None:
        """Cut a file, or fill it up with zeros. Raises: MissingFileError"""

    def fsync(self, path: str) -> None:
        """Make the content of a file durable, not its name. Raises: MissingFileError"""

    def fsync_dir(self, directory: str) -> None:
        """Make the names in a directory durable."""

    def rename(self, src: str, dst: str) -> None:
        """Give a file another name in its directory, in the place of a file that has it.

        Raises: MissingFileError
        """

    def unlink(self, path: str) -> None:
        """Remove a file. Raises: MissingFileError"""


def parent(path: str) -> str:
    """Return the directory of a path; the root is the empty text."""
    return path.rpartition("/")[0]


class RealDisk:
    """Files in a directory of the operating system."""

    __slots__ = ("_durable", "_root")

    def __init__(self, root: Path) -> None:
        """Use `root`, which is made when the first file is."""
        self._root = root
        self._durable: set[Path] = set()
        """Directories whose names this program has synchronized."""

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return self._at(path).is_file()

    def size(self, path: str) -> SizeBytes:
        """Return the size of a file. Raises: MissingFileError"""
        with _reported(path):
            return SizeBytes(self._at(path).stat().st_size)

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the files in a directory; none if it does not exist."""
        where = self._at(directory)
        if not where.is_dir():
            return ()
        with _reported(directory):
            return tuple(sorted(path.name for path in where.iterdir() if path.is_file()))

    def folders(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the directories in one."""
        where = self._at(directory)
        if not where.is_dir():
            return ()
        with _reported(directory):
            return tuple(sorted(path.name for path in where.iterdir() if path.is_dir()))

    def read(self, path: str, offset: int = 0, size: int | None = None) -> bytes:
        """Read up to `size` bytes, or all. Raises: MissingFileError"""
        with _reported(path), self._at(path).open("rb") as file:
            file.seek(offset)
            return file.read(-1 if size is None else size)

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write at `offset`; make the file if need be, and fill a gap with zeros."""
        with _reported(path):
            self._make_directory(self._at(path).parent)
            with _opened(self._at(path), os.O_WRONLY | os.O_CREAT) as fd:
                rest = memoryview(data)
                while rest:
                    done = os.pwrite(fd, rest, offset)
                    offset, rest = offset + done, rest[done:]

    def truncate(self, path: str, size: int) -> None:
        """Cut a file, or fill it up with zeros. Raises: MissingFileError"""
        with _reported(path):
            os.truncate(self._at(path), size)

    def fsync(self, path: str) -> None:
        """Make the content of a file durable, not its name. Raises: MissingFileError"""
        with _reported(path), _opened(self._at(path), os.O_RDWR) as fd:
            os.fsync(fd)

    def fsync_dir(self, directory: str) -> None:
        """Make the names in a directory durable."""
        with _reported(directory):
            where = self._at(directory)
            while not where.is_dir() and self._root in where.parents:
                where = where.parent
            self._make_directory(where)
            _fsync_directory(where)

    def rename(self, src: str, dst: str) -> None:
        """Give a file another name in its directory, in the place of a file that has it.

        Raises: MissingFileError
        """
        assert parent(src) == parent(dst)
        with _reported(src):
            self._at(src).replace(self._at(dst))

    def unlink(self, path: str) -> None:
        """Remove a file. Raises: MissingFileError"""
        with _reported(path):
            self._at(path).unlink()
        directory = self._at(path).parent
        if self._root in directory.parents:
            with suppress(OSError):  # other files are in it
                directory.rmdir()
                self._durable.discard(directory)

    def _at(self, path: str) -> Path:
        if path.startswith("/") or ".." in path.split("/"):
            raise DiskError(path, reason="leaves the root of the disk")
        return self._root / path

    def _make_directory(self, directory: Path) -> None:
        """Make a directory and the ones above it, durably.

        One below the root may be left by a program that ended before its name was synchronized.
        """
        if directory in self._durable:
            return
        if directory.is_dir() and self._root not in directory.parents:
            return
        self._make_directory(directory.parent)
        directory.mkdir(exist_ok=True)
        _fsync_directory(directory.parent)
        self._durable.add(directory)


@contextmanager
def _reported(path: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise MissingFileError(path, reason="does not exist") from None
    except OSError as error:
        raise DiskError(path, reason=error.strerror or str(error)) from error


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    fd = os.open(path, flags, 0o644)
    try:
        yield fd
    finally:
        os.close(fd)


def _fsync_directory(directory: Path) -> None:
    with _opened(directory, os.O_RDONLY) as fd:
        os.fsync(fd)
