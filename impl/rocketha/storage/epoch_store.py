"""The durable copy of an epoch cache: one file that is replaced as a whole.

A replacement is: the present file is copied to `.bak`, the new one is written beside it and
synchronized, takes the name, and the directory is synchronized. Whenever the power goes off, the
file is the old one or the new one. `.bak` is one version older: it serves when the file is missing
or damaged, and `LoadedEpochs.source` tells, because epochs may be missing in it or be too many.

Source: common/utils `CheckpointFile`, common `MixAll.string2File`; those rewrite the file in place
without synchronizing it, and do nothing for an empty list. A rewrite that was stopped leaves the
beginning of the file, often nothing of it; their reader takes the backup if the entries are too few
or the checksum is wrong, but raises a NumberFormatException where the first two lines are not there
(5.3.3 and 5.5.0), which ends the broker's start.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from rocketha.errors import EpochFileError
from rocketha.formats.epoch_file import EPOCH_FILE_MAX, decode_epoch_file, encode_epoch_file
from rocketha.storage.disk import Disk, parent
from rocketha.types import EpochEntry

__all__ = ["EpochSource", "EpochStore", "EpochStoreOptions", "LoadedEpochs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochStoreOptions:
    """Where the file is, and what RocketMQ does wrong, off by default."""

    path: str = "epochFileCheckpoint"
    skip_empty_write: bool = False
    """B06: an empty list is not written, so a restart brings truncated epochs back."""
    in_place: bool = False
    """B86: the file is rewritten in place and not synchronized."""


class EpochSource(Enum):
    """Which file the epochs come from."""

    MAIN = "main"
    BACKUP = "backup"
    NOTHING = "nothing"
    """There is no file at all: a replica that never had an epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedEpochs:
    """The epochs on the disk; `damage` is why the main file was passed over, if it is there."""

    entries: tuple[EpochEntry, ...]
    source: EpochSource
    damage: EpochFileError | None = None


class EpochStore:
    """Reads and replaces the epoch file of one replica."""

    __slots__ = ("_disk", "_options")

    def __init__(self, disk: Disk, options: EpochStoreOptions | None = None) -> None:
        """Use the file that `options` name."""
        self._disk = disk
        self._options = options or EpochStoreOptions()

    def load(self) -> LoadedEpochs:
        """Read the main file, or else the backup.

        Raises: EpochFileError if there are files, but none that can be read; DiskError
        """
        main, backup = self._options.path, self._backup
        damage: EpochFileError | None = None
        if self._disk.exists(main):
            try:
                return LoadedEpochs(entries=self._decode(main), source=EpochSource.MAIN)
            except EpochFileError as error:
                damage = error
        if self._disk.exists(backup):
            try:
                entries = self._decode(backup)
            except EpochFileError as error:
                raise (damage or error) from None
            return LoadedEpochs(entries=entries, source=EpochSource.BACKUP, damage=damage)
        if damage is not None:
            raise damage
        return LoadedEpochs(entries=(), source=EpochSource.NOTHING)

    def replace(self, entries: Iterable[EpochEntry]) -> None:
        """Make these the epochs on the disk, durably, or not at all.

        Raises: DiskError
        """
        kept = tuple(entries)
        if self._options.skip_empty_write and not kept:
            return
        data = encode_epoch_file(kept)
        put = self._overwrite if self._options.in_place else self._put_aside
        present = self._present()
        if present is not None:
            put(self._backup, present)
        put(self._options.path, data)
        if not self._options.in_place:
            self._disk.fsync_dir(parent(self._options.path))

    @property
    def _backup(self) -> str:
        return self._options.path + ".bak"

    def _decode(self, path: str) -> tuple[EpochEntry, ...]:
        return decode_epoch_file(self._disk.read(path, 0, EPOCH_FILE_MAX + 1))

    def _present(self) -> bytes | None:
        """Return the main file if it is sound: a damaged one must not replace a good backup."""
        if not self._disk.exists(self._options.path):
            return None
        data = self._disk.read(self._options.path, 0, EPOCH_FILE_MAX + 1)
        try:
            decode_epoch_file(data)
        except EpochFileError:
            return None
        return data

    def _put_aside(self, path: str, data: bytes) -> None:
        """Write a file under another name, synchronize it and give it its name."""
        aside = path + ".tmp"
        self._overwrite(aside, data)
        self._disk.fsync(aside)
        self._disk.rename(aside, path)

    def _overwrite(self, path: str, data: bytes) -> None:
        if self._disk.exists(path):
            self._disk.truncate(path, 0)
        self._disk.write(path, 0, data)
