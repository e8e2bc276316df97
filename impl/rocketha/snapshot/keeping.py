"""When snapshots are written, loaded and deleted, and how much of the log they stand for.

Differences from RIP-59, each a mutant of the specification: the log is cut up to the *oldest*
snapshot that is kept, and only when as many are there as shall be kept, so that a fall back finds
its entries; nothing is deleted before the new snapshot was read back; a node whose log does not go
on behind a snapshot says so and does not start.

Source: RIP-59, "SnapshotManager"; openmessaging/dledger `SnapshotManager`, `DLedgerEntryPusher`
(handleDoInstallSnapshot)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from rocketha.bugs import NO_BUGS, Bug, Bugs
from rocketha.controller.log import NO_TERM, ControllerLog
from rocketha.errors import EncodingError, RockethaError, SnapshotError, SnapshotGapError
from rocketha.snapshot.caller import StateMachineCaller, Validity
from rocketha.snapshot.files import SnapshotFiles, SnapshotMeta, SnapshotReader
from rocketha.types import LogIndex, Term

__all__ = ["SnapshotManager", "SnapshotOptions", "SnapshotsLoaded"]

T = TypeVar("T")

_NOTHING: Final = LogIndex(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotOptions:
    """RIP-59's parameters, with its defaults."""

    snapshot_threshold: int = 1000
    """Entries from one snapshot to the next."""
    max_snapshot_reserved_num: int = 3
    """Snapshots that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotsLoaded:
    """Where a node that started got its state from."""

    index: LogIndex
    """Of the snapshot; 0: of none."""
    damaged: tuple[SnapshotError, ...]
    """Why newer snapshots were passed over and deleted."""
    replayed: int
    """Entries that were applied behind the snapshot."""


class SnapshotManager:
    """Keeps the snapshots and the log of one node together. Make it with `SnapshotManager.open`."""

    __slots__ = (
        "_attempted",
        "_bugs",
        "_caller",
        "_failure",
        "_files",
        "_last",
        "_log",
        "_options",
    )

    def __init__(
        self,
        files: SnapshotFiles,
        log: ControllerLog,
        caller: StateMachineCaller,
        options: SnapshotOptions,
        bugs: Bugs = NO_BUGS,
    ) -> None:
        """Take the parts of a node that has not started."""
        self._files = files
        self._log = log
        self._caller = caller
        self._options = options
        self._bugs = bugs
        self._last = self._attempted = _NOTHING
        self._failure: RockethaError | None = None

    @classmethod
    def open(
        cls,
        files: SnapshotFiles,
        log: ControllerLog,
        caller: StateMachineCaller,
        options: SnapshotOptions,
        bugs: Bugs = NO_BUGS,
    ) -> tuple[SnapshotManager, SnapshotsLoaded]:
        """Load the newest snapshot that is whole and apply the log behind it, all of it.

        A damaged one is deleted, and the one before it is tried.

        Spec: SnapshotLoading!Start, SnapshotLoading!LoadNewest
        Raises: SnapshotGapError if the log does not go on where the snapshot ends; FormatError,
            DiskError
        """
        manager = cls(files, log, caller, options, bugs)
        return manager, manager.start()

    def start(self) -> SnapshotsLoaded:
        """Do what `open` does, once, with a manager that was made of its parts. Raises: as it."""
        damaged = self._load_newest()
        loaded = self._last
        if loaded + 1 < self._log.first_index and Bug.B57 not in self._bugs:
            raise SnapshotGapError(first_index=self._log.first_index, loaded=loaded)
        replayed = self._replay()
        return SnapshotsLoaded(index=loaded, damaged=damaged, replayed=replayed)

    @property
    def last_snapshot(self) -> LogIndex:
        """Return the index of the last snapshot that was read."""
        return self._last

    @property
    def failure(self) -> RockethaError | None:
        """Return why the last attempt to save made no snapshot, if it made none."""
        return self._failure

    def commit(self, entry: bytes, apply: Callable[[], T], term: Term = NO_TERM) -> T:
        """Make an entry durable, apply it, and save a snapshot when it is time.

        Raises: EncodingError, DiskError; then nobody knows whether the entry is there.
        """
        self._log.append(entry, term)
        self._caller.learn_commit(self._log.end_index)
        done = self._caller.apply(term, apply)
        self.save_if_due()
        return done

    def save_if_due(self) -> None:
        """Save a snapshot if there were enough entries since the last one, and clean up.

        A snapshot that the disk has damaged, or that would be too large, is no error: the log is
        still there, and after as many entries there is another attempt (see `failure`).

        Spec: SnapshotLoading!Save, SnapshotLoading!ReadBack
        Raises: DiskError
        """
        applied = self._caller.applied.last_included_index
        if Bug.B68 in self._bugs:
            self._cut_to(applied)
        if applied - max(self._last, self._attempted) < self._options.snapshot_threshold:
            return
        self._attempted = applied
        try:
            self._files.put(applied, self._caller.save().encoded(self._bugs))
        except (SnapshotError, EncodingError) as error:
            self._failure = error
            return
        self._failure = None
        self._last = applied
        self.clean_up()

    def install(self, data: bytes) -> bool:
        """Take the leader's snapshot, and tell whether it was loaded.

        It goes the way over the disk, as one of the own does. The log that goes on behind it stays.

        Spec: SnapshotLoading!Install, SnapshotLoading!ReadBack
        Raises: SnapshotError if it is damaged, or was on this disk; EncodingError, DiskError
        """
        offered = SnapshotReader.of(data)
        index = offered.meta.last_included_index
        if index <= self._caller.commit:
            return False
        reader = self._files.put(index, data)
        if self._caller.validity(reader.meta) is Validity.LOADABLE:
            self._caller.load(reader)
            self._fit_log(reader.meta)
        self._last = LogIndex(max(self._last, index))
        return True

    def clean_up(self) -> None:
        """Delete the snapshots that are too many, then the log before the oldest one that stays.

        Spec: SnapshotLoading!DeleteExpired, SnapshotLoading!CutLog
        Raises: DiskError
        """
        proven = [index for index in self._files.indexes if index <= self._last]
        newest = proven[-self._options.max_snapshot_reserved_num :]
        for index in proven[: -len(newest)]:
            self._files.remove(index)
        if Bug.CUT_AT_OLDEST in self._bugs:
            self._cut_to(newest[-1])
        elif len(newest) == self._options.max_snapshot_reserved_num:
            self._cut_to(newest[0])

    def _cut_to(self, index: LogIndex) -> None:
        if self._log.first_index <= index <= self._log.end_index:
            self._log.cut(index)

    def _load_newest(self) -> tuple[SnapshotError, ...]:
        damaged: list[SnapshotError] = []
        for index in reversed(self._files.indexes):
            try:
                reader = self._files.read(index)
                self._caller.load(reader)
            except SnapshotError as error:
                damaged.append(error)
                self._files.remove(index)
                continue
            self._last = self._attempted = index
            if index + 1 >= self._log.first_index:
                self._fit_log(reader.meta)
            break
        return tuple(damaged)

    def _fit_log(self, meta: SnapshotMeta) -> None:
        """Drop the log if it does not have the snapshot's last entry."""
        index, term = meta.last_included_index, meta.last_included_term
        if self._log.term_of(index) != term:
            self._log.reset(index, term)

    def _replay(self) -> int:
        first = max(self._caller.applied.last_included_index + 1, self._log.first_index)
        end = self._log.end_index
        self._caller.learn_commit(end)
        for number, entry in enumerate(self._log.entries(LogIndex(first)), start=first):
            term = self._log.term_of(LogIndex(number))
            assert term is not None, number
            self._caller.replay(entry, term)
        return max(0, end - first + 1)
