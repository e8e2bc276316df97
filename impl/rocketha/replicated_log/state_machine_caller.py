"""How far a state machine is, and whether a snapshot may take its state's place.

Source: RIP-59, "StateMachineCaller", the validity rule; openmessaging/dledger `StateMachineCaller`,
which compares indexes only and does not raise the commit index of a follower (B58)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from rocketha.replicated_log.rules import SNAPSHOT_RULES, SnapshotRules, Validity
from rocketha.replicated_log.snapshot_files import SnapshotMeta, SnapshotReader, SnapshotWriter
from rocketha.replicated_log.state_machine import DecodedSnapshot, StateMachine
from rocketha.types import LogIndex, Term

__all__ = ["StateMachineCaller"]

T = TypeVar("T")

_BEGINNING: Final = SnapshotMeta(last_included_index=LogIndex(0), last_included_term=Term(0))


class StateMachineCaller:
    """Applies entries to one state machine, saves it, and loads it."""

    __slots__ = ("_applied", "_commit", "_machine", "_rules")

    def __init__(self, machine: StateMachine[Any], rules: SnapshotRules = SNAPSHOT_RULES) -> None:
        """Take a machine that has applied nothing."""
        self._machine = machine
        self._rules = rules
        self._applied = _BEGINNING
        self._commit = 0

    @property
    def applied(self) -> SnapshotMeta:
        """Return index and term of the last entry that was applied."""
        return self._applied

    @property
    def commit(self) -> LogIndex:
        """Return the index up to which entries are known to be agreed on."""
        return LogIndex(self._commit)

    def learn_commit(self, index: LogIndex) -> None:
        """Learn that everything up to this entry was agreed on.

        Spec: SnapshotLoading!Commit
        """
        self._commit = max(self._commit, index)

    def apply(self, term: Term, apply: Callable[[], T]) -> T:
        """Apply the next entry, which must be agreed on.

        Spec: SnapshotLoading!Apply
        """
        index = self._applied.last_included_index + 1
        assert index <= self._commit, (index, self._commit)
        done = apply()
        self._applied = SnapshotMeta(last_included_index=LogIndex(index), last_included_term=term)
        return done

    def replay(self, entry: bytes, term: Term) -> None:
        """Apply the next entry again, after a start. Raises: FormatError"""
        self.apply(term, lambda: self._machine.on_replay(entry))

    def validity(self, meta: SnapshotMeta) -> Validity:
        """Say what a snapshot is for the present state."""
        applied = (self._applied.last_included_term, self._applied.last_included_index)
        offered = (meta.last_included_term, meta.last_included_index)
        return self._rules.validity(self._rules.is_older(offered, applied))

    def save(self) -> SnapshotWriter:
        """Collect the state of this moment, under the index of this moment."""
        index = self._rules.snap_index(self._applied.last_included_index, self.commit)
        writer = SnapshotWriter(replace(self._applied, last_included_index=index))
        self._machine.on_snapshot_save(writer)
        return writer

    def decoded(self, reader: SnapshotReader) -> DecodedSnapshot:
        """Return what is in a snapshot, so that it can be loaded. Raises: SnapshotError"""
        return DecodedSnapshot(reader.meta, self._machine.decode_snapshot(reader))

    def fill(self, snapshot: DecodedSnapshot) -> None:
        """Put what is in a snapshot into the machine, and nothing else."""
        self._machine.on_snapshot_load(snapshot.state)

    def load(self, snapshot: DecodedSnapshot) -> None:
        """Put a snapshot in the place of the state. What is in it was agreed on."""
        self.fill(snapshot)
        self._applied = snapshot.meta
        index = snapshot.meta.last_included_index
        self.learn_commit(self._rules.commit_after_load(index, self.commit))
