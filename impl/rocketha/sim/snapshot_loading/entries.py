"""The entries on which a group of register machines agrees, and what they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from rocketha.replicated_log.register import RegisterStateMachine, push_set
from rocketha.replicated_log.snapshot_files import SnapshotMeta, SnapshotWriter
from rocketha.types import LogIndex, Term

__all__ = ["RegisterHistory", "draw_history"]

_KEYS: Final = ("a", "b", "c", "d")
_TERMS: Final = tuple([Term(number) for number in (1, 3, 4, 7, 8) for _ in range(12)])
"""Of all runs, so that one model judges them."""
_STRAY: Final = Term(5)
"""The term of a leader that does not last; the group goes on from 4 to 7."""


class RegisterHistory:
    """Entries, their terms, and the registers after each; each beginning makes other registers."""

    def __init__(self, entries: Sequence[bytes], terms: Sequence[Term], stray: Term) -> None:
        """Take the entries and their terms; indexes count from 1.

        A leader that does not last has the term `stray`.
        """
        assert len(entries) == len(terms)
        assert stray not in terms
        self.stray = stray
        self._entries = tuple(entries)
        self.terms = tuple(terms)
        self._snapshots: list[bytes] = []
        machine = RegisterStateMachine()
        states: list[Mapping[str, int]] = [machine.values]
        for index, (entry, term) in enumerate(zip(entries, terms, strict=True), start=1):
            machine.on_replay(entry)
            assert machine.values not in states, index
            states.append(machine.values)
            meta = SnapshotMeta(last_included_index=LogIndex(index), last_included_term=term)
            writer = SnapshotWriter(meta)
            machine.on_snapshot_save(writer)
            self._snapshots.append(writer.encoded())
        self.states = tuple(states)
        """The registers after so many entries."""

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def entry(self, index: int) -> bytes:
        """Return an entry."""
        return self._entries[index - 1]

    def term(self, index: int) -> Term:
        """Return the term of an entry."""
        return self.terms[index - 1]

    def stray_entry(self, index: int) -> bytes:
        """Return what a leader that does not last writes at an index."""
        return push_set("stray", index)

    def snapshot(self, index: int) -> bytes:
        """Return the snapshot that a leader has after an entry."""
        return self._snapshots[index - 1]


def draw_history(rng: Random) -> RegisterHistory:
    """Draw entries that set registers and remove them."""
    machine, seen = RegisterStateMachine(), [dict[str, int]()]
    entries: list[bytes] = []
    while len(entries) < len(_TERMS):
        key = rng.choice(_KEYS)
        gone = key in machine.values and rng.randrange(2) == 0
        after = {name: value for name, value in machine.values.items() if name != key}
        if not gone:
            after[key] = len(entries) + 1
        if after not in seen:
            seen.append(after)
            entries.append(push_set(key, after.get(key)))
            machine.on_replay(entries[-1])
    return RegisterHistory(entries, _TERMS, _STRAY)
