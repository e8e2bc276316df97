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
        disk, paths = self._disk, self._paths(index)
        for path in paths:
            if disk.exists(path):
                disk.unlink(path)
        folder = f"{self._directory}/{snapshot_dir(index)}"
        contents = (encode_snapshot_meta(meta), data)
        for path, content in reversed(list(zip(paths, contents, strict=True))):
            disk.write(path, 0, content)
            disk.fsync(path)
            disk.fsync_dir(folder)
        disk.fsync_dir(self._directory)

    def delete_expired(self, reserved: int) -> None:
        """Delete all but so many of the newest, the meta first. Raises: DiskError

        Source: SnapshotManager.deleteExpiredSnapshot
        """
        for index in self.indexes[:-reserved]:
            for path in self._paths(index):
                if self._disk.exists(path):
                    self._disk.unlink(path)

    def _folders(self) -> tuple[str, ...]:
        return self._disk.folders(self._directory)

    def _paths(self, index: LogIndex) -> tuple[str, str]:
        folder = f"{self._directory}/{snapshot_dir(index)}"
        return f"{folder}/{SNAPSHOT_META_FILE}", f"{folder}/{SNAPSHOT_DATA_FILE}"
