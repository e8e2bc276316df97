"""The snapshots of a DLedger node on its disk: whole, or not there.

Folders and files are DLedger's (see `rocketha.formats.dledger_snapshot`). A disk here renames
files, not folders, so a snapshot is written where it belongs, `data` first; it is one when its
`snapshot_meta` is there, which has the checksums of both.

Source: SnapshotManager, FileSnapshotStore
"""

from __future__ import annotations

from dataclasses import dataclass

from rocketha.errors import SnapshotError
from rocketha.formats.dledger_entry import ChainCrc
from rocketha.formats.dledger_snapshot import (
    SNAPSHOT_DATA_FILE,
    SNAPSHOT_META_FILE,
    SnapshotMeta,
    check_snapshot_data,
    data_sum,
    decode_snapshot_meta,
    encode_snapshot_meta,
    snapshot_dir,
    snapshot_dir_index,
)
from rocketha.storage.disk import Disk
from rocketha.types import LogIndex, Term

__all__ = ["SnapshotStore", "StoredSnapshot"]


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """A snapshot that was read and is what was written."""

    meta: SnapshotMeta
    data: bytes


class SnapshotStore:
    """The folder of snapshots of one node."""

    __slots__ = ("_directory", "_disk")

    def __init__(self, disk: Disk, directory: str = "snapshot") -> None:
        """Use this folder."""
        self._disk = disk
        self._directory = directory

    @property
    def indexes(self) -> tuple[LogIndex, ...]:
        """Return the entries for which a folder stands, in their order; not all are snapshots."""
        found = (snapshot_dir_index(name) for name in self._folders())
        return tuple(sorted(index for index in found if index is not None))

    def newest(self) -> StoredSnapshot | None:
        """Read the newest snapshot that is whole. Raises: DiskError"""
        for index in reversed(self.indexes):
            try:
                return self.read(index)
            except SnapshotError:
                continue
        return None

    def recover(self) -> StoredSnapshot | None:
        """Read the newest snapshot that is whole, and make it durable.

        A program that ended before it had synchronized a snapshot leaves it in the operating
        system's memory only, and where a synchronization has failed, the next one may find nothing
        to do: so it is written again, as it is. Raises: DiskError
        """
        newest = self.newest()
        if newest is not None:
            index = newest.meta.last_included_index
            for path in reversed(self._paths(index)):
                self._disk.write(path, 0, self._disk.read(path))
                self._disk.fsync(path)
            self._disk.fsync_dir(self._folder(index))
        return newest

    def delete_unfinished(self, newest: LogIndex) -> None:
        """Delete what is above the newest snapshot: it must not count as a newer one.

        Raises: DiskError
        """
        for index in self.indexes:
            if index > newest:
                self._remove(index)
                self._disk.fsync_dir(self._folder(index))

    def read(self, index: LogIndex) -> StoredSnapshot:
        """Read a snapshot. Raises: SnapshotError, DiskError"""
        meta_path, data_path = self._paths(index)
        for path in (meta_path, data_path):
            if not self._disk.exists(path):
                raise SnapshotError(path, offset=0, reason="is not there")
        meta = decode_snapshot_meta(self._disk.read(meta_path), index=index)
        data = self._disk.read(data_path)
        check_snapshot_data(meta, data)
        return StoredSnapshot(meta, data)

    def save(self, index: LogIndex, term: Term, data: bytes, *, chain_crc: ChainCrc = 0) -> None:
        """Write a snapshot, durably. Raises: EncodingError, DiskError"""
        meta = SnapshotMeta(
            last_included_index=index,
            last_included_term=term,
            chain_crc=chain_crc,
            data=data_sum(data),
        )
        disk, paths, folder = self._disk, self._paths(index), self._folder(index)
        self._remove(index)
        contents = (encode_snapshot_meta(meta), data)
        for path, content in reversed(list(zip(paths, contents, strict=True))):
            disk.write(path, 0, content)
            disk.fsync(path)
            disk.fsync_dir(folder)

    def delete_expired(self, reserved: int) -> None:
        """Delete all but so many of the newest, the meta first. Raises: DiskError

        Source: SnapshotManager.deleteExpiredSnapshot
        """
        there = [index for index in self.indexes if self._disk.exists(self._paths(index)[0])]
        for index in there[:-reserved]:
            self._remove(index)

    def _remove(self, index: LogIndex) -> None:
        """Remove the files of a snapshot, the meta first."""
        for path in self._paths(index):
            if self._disk.exists(path):
                self._disk.unlink(path)

    def _folders(self) -> tuple[str, ...]:
        return self._disk.folders(self._directory)

    def _folder(self, index: LogIndex) -> str:
        return f"{self._directory}/{snapshot_dir(index)}"

    def _paths(self, index: LogIndex) -> tuple[str, str]:
        folder = self._folder(index)
        return f"{folder}/{SNAPSHOT_META_FILE}", f"{folder}/{SNAPSHOT_DATA_FILE}"
