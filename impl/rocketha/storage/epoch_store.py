"""The durable copy of an epoch cache: one file that is replaced as a whole.

A replacement is: the present file is copied to `.bak`, the new one is written beside it and
synchronized, takes the name, and the directory is synchronized. Whenever the power goes off, the
file is the old one or the new one. So only the disk can damage it, and then nothing is read in its
place: `.bak` is one version older and would give records to epochs that are not theirs, as B86
does. Somebody has to decide, and the broker does not start.

Source: common/utils `CheckpointFile`, common `MixAll.string2File`; those rewrite the file in place
without synchronizing it, and do nothing for an empty list. A rewrite that was stopped leaves the
beginning of the file, often nothing of it; their reader takes the backup if the entries are too few
or the checksum is wrong, but raises a NumberFormatException where the first two lines are not there
(5.3.3 and 5.5.0), which ends the broker's start.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from rocketha.errors import EpochFileError
from rocketha.formats.epoch_file import EPOCH_FILE_MAX, decode_epoch_file, encode_epoch_file
from rocketha.storage.disk import Disk, parent
from rocketha.types import EpochEntry

__all__ = ["EPOCH_FILE", "EpochStore", "EpochStoreOptions"]

EPOCH_FILE: Final = "epochFileCheckpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochStoreOptions:
    """Where the file is, and what RocketMQ does wrong, off by default."""

    path: str = EPOCH_FILE
    skip_empty_write: bool = False
    """B06: an empty list is not written, so a restart brings truncated epochs back."""
    in_place: bool = False
    """B86: the file is rewritten in place and not synchronized; its backup serves if it is damaged,
    and there are no epochs if that is damaged, too."""


class EpochStore:
    """Reads and replaces the epoch file of one replica."""

    __slots__ = ("_disk", "_options")

    def __init__(self, disk: Disk, options: EpochStoreOptions | None = None) -> None:
        """Use the file that `options` name."""
        self._disk = disk
        self._options = options or EpochStoreOptions()

    def load(self) -> tuple[EpochEntry, ...]:
        """Read the file; a replica that never had an epoch has none.

        Raises: EpochFileError if it is damaged, or missing beside its backup; DiskError
        """
        main, backup = self._options.path, self._backup
        if self._options.in_place:
            return self._first_sound(main, backup)
        if not self._disk.exists(main) and self._disk.exists(backup):
            reason = f"{backup} is there, which is older"
            raise EpochFileError("epoch file", offset=0, reason=f"it is missing, but {reason}")
        return self._decode(main) if self._disk.exists(main) else ()

    def _first_sound(self, *paths: str) -> tuple[EpochEntry, ...]:
        """Read the first file that can be read.

        Source: EpochFileCache.initCacheFromFile
        """
        for path in paths:
            with suppress(EpochFileError):
                if self._disk.exists(path):
                    return self._decode(path)
        return ()

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
