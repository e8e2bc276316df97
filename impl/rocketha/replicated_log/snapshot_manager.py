"""The snapshots and the log of one node, kept together: the host of its core.

When snapshots are written, loaded and deleted `rocketha.replicated_log.snapshot_core` says; what it
says is done to the disk by `snapshot_performer`, before a call returns.

Source: RIP-59, "SnapshotManager"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from rocketha.errors import RockethaError, SnapshotError
from rocketha.replicated_log.log import NO_TERM, LogStore
from rocketha.replicated_log.rules import SNAPSHOT_RULES, SnapshotRules
from rocketha.replicated_log.snapshot_core import (
    ApplyDue,
    CleanUpDue,
    CommitLearned,
    EntryReceived,
    LoadDue,
    SaveDue,
    SnapshotCore,
    SnapshotEvent,
    SnapshotOptions,
    SnapshotReceived,
    SnapshotState,
    StartDue,
)
from rocketha.replicated_log.snapshot_files import SnapshotFiles, SnapshotMeta
from rocketha.replicated_log.snapshot_performer import SnapshotPerformer, SnapshotView
from rocketha.replicated_log.state_machine_caller import StateMachineCaller
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.ports import Recorder
from rocketha.types import LogIndex, Term, TimestampMs

__all__ = ["SnapshotManager", "SnapshotOptions", "SnapshotsLoaded"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotsLoaded:
    """Where a node that started got its state from."""

    index: LogIndex
    """Of the snapshot; 0: of none."""
    damaged: tuple[SnapshotError, ...]
    """Why newer snapshots were passed over and deleted."""
    replayed: int
    """Entries that were applied behind the snapshot."""


class _NoClock:
    """Nothing that happens to snapshots depends on the time."""

    def now_ms(self) -> TimestampMs:
        return TimestampMs(0)


class _NoRecorder:
    """Nobody notes what the node does."""

    def stepped(self, event: SnapshotEvent, action: None) -> None:
        pass


_NO_RECORDER: Final = _NoRecorder()


class SnapshotManager:
    """Keeps the snapshots and the log of one node together. Make it with `SnapshotManager.open`."""

    __slots__ = ("_caller", "_host", "_log")

    def __init__(
        self,
        files: SnapshotFiles,
        log: LogStore,
        caller: StateMachineCaller,
        options: SnapshotOptions,
        rules: SnapshotRules = SNAPSHOT_RULES,
        *,
        recorder: Recorder[SnapshotEvent, None] = _NO_RECORDER,
    ) -> None:
        """Take the parts of a node that has not started."""
        self._log = log
        self._caller = caller
        view = SnapshotView(files, log, caller)
        self._host: NodeHost[SnapshotState, SnapshotEvent, None] = NodeHost(
            SnapshotCore(options, rules),
            (SnapshotPerformer(files, log, caller, rules),),
            clock=_NoClock(),
            recorder=recorder,
            see=lambda: view,
        )
        self._host.state = SnapshotState()

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

        Raises: SnapshotGapError if the log does not go on where the snapshot ends; FormatError,
            DiskError
        """
        manager = cls(files, log, caller, options, rules)
        return manager, manager.start(follows=False)

    def start(self, *, follows: bool) -> SnapshotsLoaded:
        """Do what `open` does, once, with a manager that was made of its parts.

        A node that follows a leader does not know what of its log was agreed on, and applies none
        of it yet.

        Raises: as `open`
        """
        self._host.take(StartDue(follows))
        state = self._state
        replayed = self.applied.last_included_index - state.last
        return SnapshotsLoaded(index=state.last, damaged=state.damaged, replayed=replayed)

    @property
    def _state(self) -> SnapshotState:
        assert self._host.state is not None
        return self._host.state

    @property
    def applied(self) -> SnapshotMeta:
        """Return index and term of the last entry that was applied."""
        return self._caller.applied

    @property
    def last_snapshot(self) -> LogIndex:
        """Return the index of the last snapshot that was read."""
        return self._state.last

    @property
    def receiving(self) -> LogIndex | None:
        """Return the index of the leader's snapshot that is on its way."""
        receiving = self._state.receiving
        return None if receiving is None else receiving[0]

    @property
    def failure(self) -> RockethaError | None:
        """Return why the last snapshot, of the own or a leader's, does not count, if so."""
        return self._state.failure

    @property
    def damaged(self) -> int:
        """Return how many snapshots the start has passed over."""
        return len(self._state.damaged)

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
        """Make an entry of a leader durable.

        Raises: EncodingError, DiskError; then nobody knows whether the entry is there.
        """
        self._host.take(EntryReceived(index, entry, term))

    def learn_commit(self, index: LogIndex) -> None:
        """Learn that the group has agreed on everything up to this entry."""
        self._host.take(CommitLearned(index))

    def apply_next(self) -> bool:
        """Apply the next entry again if it was agreed on and is there, and tell whether it was.

        Raises: FormatError, DiskError
        """
        before = self._caller.applied
        self._host.take(ApplyDue())
        return self._caller.applied is not before

    def save_if_due(self) -> None:
        """Save a snapshot if there were enough entries since the last one, and clean up.

        One that could not be made is no error (see `failure`). Raises: DiskError
        """
        self._host.take(SaveDue())

    def receive(self, data: bytes) -> None:
        """Put the leader's snapshot on the disk if it is ahead of all that this node knows.

        Raises: SnapshotError if it is damaged; EncodingError, DiskError
        """
        self._host.take(SnapshotReceived(data))

    def load_received(self) -> None:
        """Read the leader's snapshot back, and load it unless it is passed meanwhile.

        One that cannot be loaded is no error (see `failure`). Raises: DiskError
        """
        self._host.take(LoadDue())

    def clean_up(self) -> None:
        """Delete the snapshots that are too many, then the log before the oldest one that stays.

        Raises: DiskError
        """
        self._host.take(CleanUpDue())
