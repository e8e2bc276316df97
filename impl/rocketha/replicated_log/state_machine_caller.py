"""How far a state machine is, and whether a snapshot may take its state's place.

Source: RIP-59, "StateMachineCaller", the validity rule; openmessaging/dledger `StateMachineCaller`,
which compares indexes only and does not raise the commit index of a follower (B58)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Final, TypeVar

from rocketha.known_bugs.bug import NO_BUGS, Bug, Bugs
from rocketha.replicated_log.snapshot_files import SnapshotMeta, SnapshotReader, SnapshotWriter
from rocketha.replicated_log.state_machine import StateMachine
from rocketha.types import LogIndex, Term

__all__ = ["StateMachineCaller", "Validity"]

T = TypeVar("T")

_BEGINNING: Final = SnapshotMeta(last_included_index=LogIndex(0), last_included_term=Term(0))


class Validity(Enum):
    """What a snapshot is for a state machine that is somewhere already."""

    EXPIRED = "expired"
    """The state machine has passed it."""
    LOADABLE = "loadable"


class StateMachineCaller:
    """Applies entries to one state machine, saves it, and loads it."""

    __slots__ = ("_applied", "_bugs", "_commit", "_machine")

    def __init__(self, machine: StateMachine, bugs: Bugs = NO_BUGS) -> None:
        """Take a machine that has applied nothing."""
        self._machine = machine
        self._bugs = bugs
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
        """Compare terms first, then indexes; a snapshot of the present state can be loaded."""
        at = (self._applied.last_included_term, self._applied.last_included_index)
        offered = (meta.last_included_term, meta.last_included_index)
        is_older = at > offered
        if Bug.TERM_FIRST in self._bugs:
            is_older = at[1] > offered[1]
        return Validity.EXPIRED if is_older else Validity.LOADABLE

    def save(self) -> SnapshotWriter:
        """Collect the state of this moment, under the index of this moment."""
        at = self._applied
        if Bug.SNAP_AT_APPLIED in self._bugs:
            at = replace(at, last_included_index=self.commit)
        writer = SnapshotWriter(at)
        self._machine.on_snapshot_save(writer)
        return writer

    def fill(self, reader: SnapshotReader) -> None:
        """Put what is in a snapshot into the machine, and nothing else. Raises: SnapshotError"""
        self._machine.on_snapshot_load(reader)

    def load(self, reader: SnapshotReader) -> None:
        """Put a snapshot in the place of the state. What is in it was agreed on.

        Raises: SnapshotError; then the state is what it was.
        """
        self.fill(reader)
        self._applied = reader.meta
        if Bug.B58 not in self._bugs:
            self.learn_commit(reader.meta.last_included_index)
