"""A disk whose power goes off before a chosen operation.

For tests that cut the power everywhere, and for a simulator that wants to do it in the middle of a
step: count the changes that something makes, then do it again with the power going off before the
first of them, the second, and so on.
"""

from __future__ import annotations

from rocketha.errors import PowerCutError
from rocketha.storage.disk import Disk
from rocketha.types import SizeBytes

__all__ = ["CutDisk"]


class CutDisk:
    """Passes operations on, and counts those that change the disk or synchronize it.

    What is written to `inner` after the cut is up to its owner (`MemoryDisk.power_cut`).
    """

    __slots__ = ("_cut_before", "_inner", "_operations")

    def __init__(self, inner: Disk, *, cut_before: int | None = None) -> None:
        """Let the power go off before operation number `cut_before`, counted from 0; or never."""
        self._inner = inner
        self._cut_before = cut_before
        self._operations: list[str] = []

    @property
    def operations(self) -> tuple[str, ...]:
        """Return the operations that were done, as `name path`."""
        return tuple(self._operations)

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return self._inner.exists(path)

    def size(self, path: str) -> SizeBytes:
        """Return the size of a file. Raises: MissingFileError"""
        return self._inner.size(path)

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the files in a directory; none if it does not exist."""
        return self._inner.names(directory)

    def folders(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the directories in one."""
        return self._inner.folders(directory)

    def read(self, path: str, offset: int = 0, size: int | None = None) -> bytes:
        """Read up to `size` bytes, or all. Raises: MissingFileError"""
        return self._inner.read(path, offset, size)

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write at `offset`. Raises: PowerCutError"""
        self._count("write", path)
        self._inner.write(path, offset, data)

    def truncate(self, path: str, size: int) -> None:
        """Cut a file, or fill it up with zeros. Raises: MissingFileError, PowerCutError"""
        self._count("truncate", path)
        self._inner.truncate(path, size)

    def fsync(self, path: str) -> None:
        """Make the content of a file durable. Raises: MissingFileError, PowerCutError"""
        self._count("fsync", path)
        self._inner.fsync(path)

    def fsync_dir(self, directory: str) -> None:
        """Make the names in a directory durable. Raises: PowerCutError"""
        self._count("fsync_dir", directory)
        self._inner.fsync_dir(directory)

    def rename(self, src: str, dst: str) -> None:
        """Give a file another name. Raises: MissingFileError, PowerCutError"""
        self._count("rename", src)
        self._inner.rename(src, dst)

    def unlink(self, path: str) -> None:
        """Remove a file. Raises: MissingFileError, PowerCutError"""
        self._count("unlink", path)
        self._inner.unlink(path)

    def _count(self, operation: str, path: str) -> None:
        if self._cut_before is not None and len(self._operations) >= self._cut_before:
            raise PowerCutError(path, reason=f"the power went off before this {operation}")
        self._operations.append(f"{operation} {path}")
