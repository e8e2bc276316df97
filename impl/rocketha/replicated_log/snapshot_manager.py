"""When snapshots are written, loaded and deleted, and how much of the log they stand for.

Differences from RIP-59, each a mutant of the specification: the log is cut up to the *oldest*
snapshot that is kept, and only when as many are there as shall be kept, so that a fall back finds
its entries; nothing is deleted before the new snapshot was read back; a node whose log does not go
on behind a snapshot says so and does not start; a node that lacks what its leader has removed
installs the leader's snapshot.

What a node does at the same time are calls here, each of which may wait: it appends what a leader
sends, learns what was agreed on, and applies that; and while a leader's snapshot is on its way to
the disk, the entries go on.

Source: RIP-59, "SnapshotManager"; openmessaging/dledger `SnapshotManager`, `DLedgerEntryPusher`
(handleDoInstallSnapshot)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from rocketha.errors import DiskError, EncodingError, RockethaError, SnapshotError, SnapshotGapError
from rocketha.replicated_log.log import NO_TERM, LogStore
from rocketha.replicated_log.rules import SNAPSHOT_RULES, SnapshotRules, Validity
from rocketha.replicated_log.snapshot_files import SnapshotFiles, SnapshotMeta, SnapshotReader
from rocketha.replicated_log.state_machine_caller import StateMachineCaller
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
        "_caller",
        "_failure",
        "_files",
        "_last",
        "_log",
        "_options",
        "_receiving",
        "_rules",
    )

    def __init__(
        self,
        files: SnapshotFiles,
        log: LogStore,
        caller: StateMachineCaller,
        options: SnapshotOptions,
        rules: SnapshotRules = SNAPSHOT_RULES,
    ) -> None:
        """Take the parts of a node that has not started."""
        self._files = files
        self._log = log
        self._caller = caller
        self._options = options
        self._rules = rules
        self._last = self._attempted = _NOTHING
        self._failure: RockethaError | None = None
        self._receiving: tuple[LogIndex, bytes] | None = None

    @classmethod
    def open(
        cls,
        files: SnapshotFiles,
        log: LogStore,
        caller: StateMachineCaller,
        options: SnapshotOptions,
        rules: SnapshotRules = SNAPSHOT_RULES,
    ) -> tuple[SnapshotManager, SnapshotsLoaded]:
        """Load the newest snapshot that is whole and apply the log behind it, all of it.

        A damaged one is deleted, and the one before it is tried.

        Spec: SnapshotLoading!Start, SnapshotLoading!LoadNewest
        Raises: SnapshotGapError if the log does not go on where the snapshot ends; FormatError,
            DiskError
        """
        manager = cls(files, log, caller, options, rules)
        return manager, manager.start()

    def start(self, *, follows: bool = False) -> SnapshotsLoaded:
        """Do what `open` does, once, with a manager that was made of its parts.

        A node that follows a leader does not know what of its log was agreed on, and applies none
        of it yet.

        Raises: as `open`
        """
        self._files.make_durable()
        damaged = self._load_newest()
        loaded = self._last
        if not self._rules.may_replay(loaded, self._log.first_index):
            raise SnapshotGapError(first_index=self._log.first_index, loaded=loaded)
        if not follows:
            self._caller.learn_commit(self._log.end_index)
        return SnapshotsLoaded(index=loaded, damaged=damaged, replayed=self._replay())

    @property
    def applied(self) -> SnapshotMeta:
        """Return index and term of the last entry that was applied."""
        return self._caller.applied

    @property
    def last_snapshot(self) -> LogIndex:
        """Return the index of the last snapshot that was read."""
        return self._last

    @property
    def receiving(self) -> LogIndex | None:
        """Return the index of the leader's snapshot that is on its way."""
        return None if self._receiving is None else self._receiving[0]

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

    def append(self, index: LogIndex, entry: bytes, term: Term) -> None:
        """Make an entry of a leader durable, in the place of what another leader wrote there.

        Spec: SnapshotLoading!AppendEntry
        Raises: EncodingError, DiskError; then nobody knows whether the entry is there.
        """
        if index <= self._log.end_index:
            self._log.overwrite(index, entry, term)
        else:
            self._log.append(entry, term)

    def apply_next(self) -> bool:
        """Apply the next entry again if it was agreed on and is there, and tell whether it was.

        Raises: FormatError, DiskError
        """
        index = LogIndex(self._caller.applied.last_included_index + 1)
        if index > self._caller.commit or not self._log.first_index <= index <= self._log.end_index:
            return False
        self._apply(index, self._log.entry(index))
        return True

    def save_if_due(self) -> None:
        """Save a snapshot if there were enough entries since the last one, and clean up.

        A snapshot that the disk has damaged, or that would be too large, is no error: the log is
        still there, and after as many entries there is another attempt (see `failure`). While a
        leader's snapshot is on its way there is none.

        Spec: SnapshotLoading!Save, SnapshotLoading!ReadBack
        Raises: DiskError
        """
        applied = self._caller.applied.last_included_index
        self._cut_to(self._rules.cut_to_applied(applied, lambda: self._files.indexes))
        if self._receiving is not None:
            return
        if applied - max(self._last, self._attempted) < self._options.snapshot_threshold:
            return
        self._attempted = applied
        try:
            saved = self._caller.save()
            index, data = saved.meta.last_included_index, saved.encoded(self._rules)
            self._write(index, data)
            self._files.read_back(index, data)
        except (SnapshotError, EncodingError) as error:
            self._failure = error
            return
        self._failure = None
        self._last = index
        self.clean_up()

    def install(self, data: bytes) -> bool:
        """Take the leader's snapshot, and tell whether it was taken.

        Raises: SnapshotError if it is damaged, or was on this disk; EncodingError, DiskError
        """
        taken = self.receive(data)
        if taken:
            self.load_received()
        return taken

    def receive(self, data: bytes) -> bool:
        """Put the leader's snapshot on the disk if it is ahead of all that this node knows.

        It goes the way over the disk, as one of the own does. One at a time is on its way.

        Spec: SnapshotLoading!Install
        Raises: SnapshotError if it is damaged; EncodingError, DiskError
        """
        index = SnapshotReader.of(data).meta.last_included_index
        is_fresh = self._rules.is_fresh(index, self._caller.commit, self._last)
        if not is_fresh or not self._rules.may_install(self._receiving):
            return False
        self._receiving = index, data
        try:
            self._write(index, data)
        except DiskError:
            self._receiving = None
            raise
        return True

    def load_received(self) -> None:
        """Read the leader's snapshot back, and load it unless it is passed meanwhile.

        The log that goes on behind it stays.

        Spec: SnapshotLoading!ReadBack
        Raises: SnapshotError if it was damaged on this disk; DiskError
        """
        assert self._receiving is not None
        index, data = self._receiving
        self._receiving = self._rules.after_install(self._receiving)
        reader = self._files.read_back(index, data)
        if self._caller.validity(reader.meta) is Validity.LOADABLE:
            self._caller.load(reader)
            self._fit_log(reader.meta)
        self._last = LogIndex(max(self._last, index))

    def clean_up(self) -> None:
        """Delete the snapshots that are too many, then the log before the oldest one that stays.

        Spec: SnapshotLoading!DeleteExpired, SnapshotLoading!CutLog
        Raises: DiskError
        """
        proven = [index for index in self._files.indexes if index <= self._last]
        newest = proven[-self._options.max_snapshot_reserved_num :]
        self._delete(proven[: -len(newest)])
        self._cut_to(self._rules.cut_to(newest, self._options.max_snapshot_reserved_num))

    def _write(self, index: LogIndex, data: bytes) -> None:
        self._files.write(index, data)
        self._delete(self._rules.expired_when_written(lambda: self._files.indexes, index))

    def _delete(self, indexes: Iterable[LogIndex]) -> None:
        for index in indexes:
            self._files.remove(index)

    def _cut_to(self, index: LogIndex | None) -> None:
        if index is not None and self._log.first_index <= index <= self._log.end_index:
            self._log.cut(index)

    def _load_newest(self) -> tuple[SnapshotError, ...]:
        damaged: list[SnapshotError] = []
        for index in reversed(self._files.indexes):
            try:
                reader = self._files.read(index)
                self._caller.load(reader)
            except SnapshotError as error:
                damaged.append(error)
                self._rules.after_failed_load(partial(self._fill_damaged, index))
                self._files.remove(index)
                continue
            self._last = self._attempted = index
            if index + 1 >= self._log.first_index:
                self._fit_log(reader.meta)
            break
        return tuple(damaged)

    def _fill_damaged(self, index: LogIndex) -> None:
        """Put what can be read of a snapshot into the machine. Raises: SnapshotError"""
        self._caller.fill(self._files.read(index, accept_damaged=True))

    def _fit_log(self, meta: SnapshotMeta) -> None:
        """Drop the log if it does not have the snapshot's last entry."""
        index, term = meta.last_included_index, meta.last_included_term
        if not self._rules.keeps_log(self._log.term_of(index), term):
            self._log.reset(index, term)

    def _replay(self) -> int:
        """Apply all that was agreed on, with one reading of the log, and tell how much."""
        first = max(self._caller.applied.last_included_index + 1, self._log.first_index)
        count = max(0, self._caller.commit - first + 1)
        for index, entry in enumerate(islice(self._log.entries(LogIndex(first)), count), first):
            self._apply(LogIndex(index), entry)
        return count

    def _apply(self, index: LogIndex, entry: bytes) -> None:
        term = self._log.term_of(index)
        assert term is not None, index
        self._caller.replay(entry, term)
