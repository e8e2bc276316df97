"""The files of a broker's tables of offsets, each with the one before it beside it.

A file is written as RocketMQ does it: the present one becomes `<name>.bak`, then the new one is
written and synchronized. A power cut in between leaves the one before, or that and a part of the
new one; a start that cannot read the new one removes it, and reads the other.

Source: common `ConfigManager` (`persist`, `load`, `loadBak`)
"""

from __future__ import annotations

from contextlib import suppress

from rocketha.errors import FormatError, MissingFileError
from rocketha.formats.offset_tables import OffsetTable, TableKind, pull_offsets
from rocketha.storage.disk import Disk, parent

__all__ = ["OffsetStore"]


class OffsetStore:
    """Reads and replaces the files of one broker."""

    __slots__ = ("_disk",)

    def __init__(self, disk: Disk) -> None:
        """Take the disk."""
        self._disk = disk

    def load(self, kind: TableKind) -> OffsetTable | None:
        """Read a table, and remove a file that cannot be read, so that none takes its place beside.

        None: there is no table that can be read. Raises: DiskError
        """
        path = kind.value
        if self._disk.exists(path) and self._read(kind, path) is None:
            self._disk.unlink(path)
            self._disk.fsync_dir(parent(path))
        return self.read(kind)

    def read(self, kind: TableKind) -> OffsetTable | None:
        """Read a table, and change nothing. Raises: DiskError"""
        present = self._read(kind, kind.value)
        return self._read(kind, _before(kind)) if present is None else present

    def _read(self, kind: TableKind, path: str) -> OffsetTable | None:
        with suppress(MissingFileError, FormatError):
            return pull_offsets(kind, self._disk.read(path))
        return None

    def store(self, kind: TableKind, data: bytes) -> None:
        """Replace a table, durably when it returns. Raises: DiskError"""
        disk, path = self._disk, kind.value
        if disk.exists(path):
            disk.rename(path, _before(kind))
            disk.fsync_dir(parent(path))
        disk.write(path, 0, data)
        disk.fsync(path)
        disk.fsync_dir(parent(path))


def _before(kind: TableKind) -> str:
    return f"{kind.value}.bak"
