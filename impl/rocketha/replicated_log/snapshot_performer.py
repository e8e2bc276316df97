"""What performs the effects of a node with snapshots, and what its core may look at."""

from __future__ import annotations

from itertools import islice
from typing import assert_never, get_args

from rocketha.replicated_log.log import LogStore
from rocketha.replicated_log.rules import SNAPSHOT_RULES, SnapshotRules, Validity
from rocketha.replicated_log.snapshot_effects import (
    AppendEntry,
    ApplyEntry,
    CutLog,
    DeleteSnapshot,
    DropDamaged,
    EntriesReplayed,
    LearnCommit,
    LoadState,
    OverwriteEntries,
    ReplayLog,
    ResetLog,
    SnapshotEffect,
    StateLoaded,
    SyncNames,
    WriteSnapshot,
)
from rocketha.replicated_log.snapshot_files import (
    SnapshotFiles,
    SnapshotMeta,
    SnapshotWriter,
)
from rocketha.replicated_log.state_machine import DecodedSnapshot
from rocketha.replicated_log.state_machine_caller import StateMachineCaller
from rocketha.runtime.performer import Performer
from rocketha.types import LogIndex, Term

__all__ = ["SnapshotPerformer", "SnapshotView"]


class SnapshotView:
    """Log, snapshots and state machine of a node, as its core sees them: it changes nothing."""

    __slots__ = ("_caller", "_files", "_log")

    def __init__(self, files: SnapshotFiles, log: LogStore, caller: StateMachineCaller) -> None:
        """Look at these."""
        self._files = files
        self._log = log
        self._caller = caller

    @property
    def first_index(self) -> LogIndex:
        """Return the index of the first entry of the log, or where it would be."""
        return self._log.first_index

    @property
    def end_index(self) -> LogIndex:
        """Return the index of the last entry of the log."""
        return self._log.end_index

    def term_of(self, index: LogIndex) -> Term | None:
        """Return the term of an entry, or of the one before the first; None of others."""
        return self._log.term_of(index)

    def entry(self, index: LogIndex) -> bytes:
        """Read an entry that is there. Raises: DiskError"""
        return self._log.entry(index)

    @property
    def applied(self) -> SnapshotMeta:
        """Return index and term of the last entry that was applied."""
        return self._caller.applied

    @property
    def commit(self) -> LogIndex:
        """Return the index up to which entries are known to be agreed on."""
        return self._caller.commit

    def validity(self, meta: SnapshotMeta) -> Validity:
        """Say what a snapshot is for the present state."""
        return self._caller.validity(meta)

    def save(self) -> SnapshotWriter:
        """Collect the state of this moment."""
        return self._caller.save()

    def snapshots(self) -> tuple[LogIndex, ...]:
        """Return the indexes of the snapshots that are on the disk, in their order."""
        return self._files.indexes

    def read(self, index: LogIndex) -> DecodedSnapshot:
        """Read a snapshot that can be loaded. Raises: SnapshotError, DiskError"""
        return self._caller.decoded(self._files.read(index))

    def read_back(self, index: LogIndex, data: bytes) -> DecodedSnapshot:
        """Read what was written, which can be loaded. Raises: SnapshotError, DiskError"""
        return self._caller.decoded(self._files.read_back(index, data))


class SnapshotPerformer(Performer[StateLoaded | EntriesReplayed, object]):
    """Has the log, the snapshots and the state machine of a node."""

    effects = get_args(SnapshotEffect)

    def __init__(
        self,
        files: SnapshotFiles,
        log: LogStore,
        caller: StateMachineCaller,
        rules: SnapshotRules = SNAPSHOT_RULES,
    ) -> None:
        """Take them."""
        self._files = files
        self._log = log
        self._caller = caller
        self._rules = rules

    def perform(self, effect: SnapshotEffect, action: object) -> None:
        """Write, delete, or change the state. Raises: FormatError, EncodingError, DiskError"""
        del action
        match effect:
            case AppendEntry(entry=entry, term=term):
                self._log.append(entry, term)
            case OverwriteEntries(index=index, entry=entry, term=term):
                self._log.overwrite(index, entry, term)
            case CutLog(index=index):
                self._log.cut(index)
            case ResetLog(index=index, term=term):
                self._log.reset(index, term)
            case SyncNames():
                self._files.make_durable()
            case WriteSnapshot(index=index, data=data):
                self._files.write(index, data)
            case DeleteSnapshot(index=index):
                self._files.remove(index)
            case DropDamaged(index=index):
                self._rules.after_failed_load(lambda: self._fill_damaged(index))
                self._files.remove(index)
            case LearnCommit(index=index):
                self._caller.learn_commit(index)
            case ApplyEntry(entry=entry, term=term):
                self._caller.replay(entry, term)
            case LoadState(snapshot=snapshot, at_start=at_start):
                self._caller.load(snapshot)
                self.node.hear_next(StateLoaded(snapshot.meta, at_start))
            case ReplayLog(all_agreed=all_agreed):
                self._replay(all_agreed=all_agreed)
            case _ as unreachable:
                assert_never(unreachable)

    def _fill_damaged(self, index: LogIndex) -> None:
        """Put what can be read of a snapshot into the machine. Raises: SnapshotError"""
        found = self._files.read(index, accept_damaged=True)
        self._caller.fill(self._caller.decoded(found))

    def _replay(self, *, all_agreed: bool) -> None:
        log, caller = self._log, self._caller
        if all_agreed:
            caller.learn_commit(log.end_index)
        first = max(caller.applied.last_included_index + 1, log.first_index)
        count = max(0, caller.commit - first + 1)
        for index, entry in enumerate(islice(log.entries(LogIndex(first)), count), first):
            term = log.term_of(LogIndex(index))
            assert term is not None, index
            caller.replay(entry, term)
        self.node.hear_next(EntriesReplayed())
