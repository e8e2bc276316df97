"""What a power cut would leave of a member's files, which only a simulated disk knows.

| of the disk     | what survives                                                                  |
|-----------------|--------------------------------------------------------------------------------|
| term and vote   | the file that has their name then                                              |
| the log         | up to `synced`, as the store says, where data files have the same there, and   |
|                 | nothing behind the log's end; else nothing is known to                         |
| snapshots       | the newest of which both files do                                              |

A file is needless when it has nothing of the log: all that was in it is cut. So is one that was
removed, if a power cut brings it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from rocketha.dledger.performers import DLedgerFiles
from rocketha.dledger.snapshots import SnapshotStore
from rocketha.dledger.store import DLedgerStore
from rocketha.dledger.store_options import StoreOptions, look_at_term
from rocketha.dledger.store_recovery import index_offset
from rocketha.errors import TermFileError
from rocketha.formats.dledger_snapshot import (
    SNAPSHOT_DATA_FILE,
    SNAPSHOT_META_FILE,
    snapshot_dir,
)
from rocketha.formats.dledger_term_file import TERM_FILE, TermAndVote
from rocketha.formats.segment import segment_start
from rocketha.recording.dledger_parts import OnDisk, reported_on_disk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Offset

__all__ = ["SurvivingFiles"]

_DATA: Final = "data"
_INDEX: Final = "index"
_SNAPSHOTS: Final = "snapshot"
_MARKED_SIZE: Final = 32
"""So many bytes say where a log begins whose beginning was deleted."""
_NONE: Final = LogIndex(-1)


class SurvivingFiles:
    """Looks at the disk of a member that runs, and changes nothing."""

    def __init__(
        self, disk: MemoryDisk, options: StoreOptions, files: Callable[[], DLedgerFiles]
    ) -> None:
        """Take its disk, and what says which files are open."""
        self._disk = disk
        self._options = options
        self._files = files
        self._known: tuple[int, ...] = ()
        """The log that was seen last, and survives as it is."""
        self._cut: tuple[int, int] | None = None
        """Between which entries that log is..."""
        self._needless: tuple[str, ...] = ()
        """...and which files have nothing of it."""
        self._seen: tuple[object, OnDisk | None] = (None, None)
        """What survived when the disk and the log were last looked at, and were such."""

    def starts(self) -> None:
        """Forget what was seen: the disk is what is left of it."""
        self._known, self._cut, self._seen = (), None, (None, None)

    def look(self) -> OnDisk:
        """Return what survives. Raises: DLedgerFileError, TermFileError, DiskError"""
        store = self._files().store
        log = store.before_begin_index, store.synced_index, store.end_index, store.end_term
        looked_at = self._disk.changes, log
        seen, on_disk = self._seen
        if on_disk is None or seen != looked_at:
            on_disk = self._look()
            self._seen = looked_at, on_disk
        return on_disk

    def _look(self) -> OnDisk:
        files, options = self._files(), self._options
        told = reported_on_disk(self._disk, options, files)
        if not self._is_durable(options.path(TERM_FILE)):
            told = replace(told, kept=self._surviving_term())
        if not self._has_log(files.store):
            told = replace(told, synced=_NONE)
        cut = files.store.before_begin_index, files.store.end_index
        if cut != self._cut:
            self._cut, self._needless = cut, tuple(self.needless())
        snapshot = self._snapshot(told.snapshot)
        return replace(told, snapshot=snapshot, needless=self._needless)

    def needless(self) -> Iterator[str]:
        """Yield the files that have nothing of the log, those too that a power cut brings back.

        Raises: DLedgerFileError, DiskError
        """
        store, options = self._files().store, self._options
        files, size = self._segments(_DATA), options.mapped_file_size_for_entry_data
        used = _places(store) or _last_of(files if store.before_begin_index >= 0 else ())
        for name, start in (*files, *self._unlinked(_DATA)):
            if start + size < used[0] or start >= used[1]:
                yield f"{_DATA}/{name}"
        first = index_offset(LogIndex(store.before_begin_index + 1))
        end = index_offset(LogIndex(store.end_index + 1))
        size = options.mapped_file_size_for_entry_index
        for name, start in (*self._segments(_INDEX), *self._unlinked(_INDEX)):
            if start + size <= first or start >= end:
                yield f"{_INDEX}/{name}"

    # ---- the log ----

    def _has_log(self, store: DLedgerStore) -> bool:
        """Tell whether the disk has what is synchronized, and nothing behind the log."""
        log = store.before_begin_index, store.synced_index, store.end_index, store.end_term
        if log == self._known:
            return True
        there, directory = self._segments(_DATA), self._options.path(_DATA)
        names = {name for name, _ in there}
        left = [name for name in self._disk.durable_names(directory) if segment_start(name)]
        survives = names.issuperset(left) and self._survives(store, there)
        self._known = log if survives else ()
        return survives

    def _survives(self, store: DLedgerStore, there: Sequence[tuple[str, Offset]]) -> bool:
        places, disk = _places(store), self._disk
        synced = _synced_end(store, there[0][1]) if places else None
        for name, start in there:
            path = self._options.path(f"{_DATA}/{name}")
            seen, durable = disk.read(path), disk.durable_content(path)
            upto = len(seen) if synced is None else max(0, synced - start)
            behind = len(seen) if places is None else max(0, places[1] - start)
            if seen[:upto] != durable[:upto] or durable[behind:] != seen[behind : len(durable)]:
                return False
        return True

    def _segments(self, folder: str) -> Sequence[tuple[str, Offset]]:
        return _segments_of(self._disk.names(self._options.path(folder)))

    def _unlinked(self, folder: str) -> Sequence[tuple[str, Offset]]:
        """Return the files that are gone, and are there again after a power cut."""
        directory = self._options.path(folder)
        seen = self._disk.names(directory)
        return _segments_of(n for n in self._disk.durable_names(directory) if n not in seen)

    # ---- other files ----

    def _is_durable(self, path: str) -> bool:
        disk = self._disk
        return disk.durable_content(path) == (disk.read(path) if disk.exists(path) else b"")

    def _surviving_term(self) -> TermAndVote | None:
        with suppress(TermFileError):
            return look_at_term(self._disk.durable(), self._options)
        return None

    def _snapshot(self, newest: LogIndex) -> LogIndex:
        """Return the newest snapshot that survives; `newest` is that which is there."""
        if newest == _NONE:
            return newest
        directory = self._options.path(_SNAPSHOTS)
        folder = f"{directory}/{snapshot_dir(newest)}"
        files = (SNAPSHOT_META_FILE, SNAPSHOT_DATA_FILE)
        if all(self._is_durable(f"{folder}/{name}") for name in files):
            return newest
        left = SnapshotStore(self._disk.durable(), directory).newest()
        return _NONE if left is None else left.meta.last_included_index


def _segments_of(names: Iterable[str]) -> Sequence[tuple[str, Offset]]:
    starts = ((name, segment_start(name)) for name in names)
    return [(name, start) for name, start in starts if start is not None]


def _places(store: DLedgerStore) -> tuple[int, int] | None:
    """Return where the entries of a log begin and end; None: it has none."""
    if store.end_index == store.before_begin_index:
        return None
    first = store.entry(LogIndex(store.before_begin_index + 1))
    return first.pos, store.entry(store.end_index).end


def _synced_end(store: DLedgerStore, first: Offset) -> int:
    """Return where what is synchronized ends, of a log that has entries."""
    if store.synced_index > store.before_begin_index:
        return store.entry(store.synced_index).end
    return first + (_MARKED_SIZE if store.before_begin_index >= 0 else 0)


def _last_of(files: Sequence[tuple[str, Offset]]) -> tuple[int, int]:
    """Return a place in the last of some files, which says where a log without entries begins."""
    return (files[-1][1] + 1, files[-1][1] + 1) if files else (0, 0)
