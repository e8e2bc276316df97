"""The entries on which a group of register machines agrees, and what they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from random import Random
from typing import Final

from rocketha.formats.controller_snapshot import (
    Section,
    SectionType,
    SnapshotVersion,
    encode_snapshot,
)
from rocketha.formats.json_text import JsonValue, write_json
from rocketha.histories.register_files import fold, fold_one
from rocketha.types import Term

__all__ = ["RegisterHistory", "Sent", "draw_history", "push_set"]

_KEYS: Final = ("a", "b", "c", "d")
_TERMS: Final = tuple([Term(number) for number in (0, 3, 4, 7, 8) for _ in range(12)])
"""Of all runs, so that one model judges them. Those of term 0 are in a log without terms."""
_STRAY: Final = Term(5)
"""The term of a leader that does not last; the group goes on from 4 to 7."""


class Sent(Enum):
    """What arrives of a leader's snapshot."""

    WHOLE = "whole"
    DAMAGED = "damaged on its way"
    UNLOADABLE = "whole, and no registers are in it: no honest leader sends that"
    UNCHECKED = "without a checksum, as the unmerged branch writes it"
    OF_NO_TERM = "of the term -1, which no entry has"


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
        self.states: tuple[Mapping[str, int], ...] = tuple(fold(entries))
        """The registers after so many entries."""
        assert all(made not in self.states[:at] for at, made in enumerate(self.states))
        self._snapshots = [
            _snapshot(index, term, self.states[index]) for index, term in enumerate(terms, start=1)
        ]

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

    def snapshot(self, index: int, sent: Sent = Sent.WHOLE) -> bytes:
        """Return the snapshot that a leader has after an entry."""
        data = self._snapshots[index - 1]
        match sent:
            case Sent.DAMAGED:
                return data[:-1] + bytes([data[-1] ^ 1])
            case Sent.UNLOADABLE:
                return _snapshot(index, self.term(index), {"a": "no number"})
            case Sent.UNCHECKED:
                sections = _sections(index, self.term(index), self.states[index])
                return encode_snapshot(sections, SnapshotVersion.UNMERGED)
            case Sent.OF_NO_TERM:
                return _snapshot(index, Term(-1), self.states[index])
            case _:
                return data


def draw_history(rng: Random) -> RegisterHistory:
    """Draw entries that set registers and remove them."""
    registers: dict[str, int] = {}
    seen = [registers]
    entries: list[bytes] = []
    while len(entries) < len(_TERMS):
        key = rng.choice(_KEYS)
        gone = key in registers and rng.randrange(2) == 0
        entry = push_set(key, None if gone else len(entries) + 1)
        after = fold_one(registers, entry)
        if after not in seen:
            seen.append(after)
            entries.append(entry)
            registers = after
    return RegisterHistory(entries, _TERMS, _STRAY)


def _snapshot(index: int, term: Term, registers: Mapping[str, JsonValue]) -> bytes:
    """Write the snapshot that a leader has after an entry: its code is not that of the node."""
    return encode_snapshot(_sections(index, term, registers))


def _sections(index: int, term: Term, registers: Mapping[str, JsonValue]) -> list[Section]:
    meta = write_json({"lastIncludedIndex": index, "lastIncludedTerm": term})
    return [
        Section(SectionType.META, meta),
        Section(SectionType.REGISTER, write_json(dict(registers))),
    ]


def push_set(key: str, value: int | None) -> bytes:
    """Write an entry that sets a register, or removes it."""
    return write_json({"key": key} if value is None else {"key": key, "value": value})
