"""What a reader of one node with registers saw, and what such a node promises.

| promise  | in words                                                                           |
|----------|------------------------------------------------------------------------------------|
| EXACT    | whoever reads all registers gets those after a number of the agreed entries        |
| FORWARD  | while the node runs, a later read is never of fewer entries than one before it     |
| STAYS    | what the node was given or has shown, it never has to be given again               |
| REFUSAL  | a node that does not start had durable files, and the disk damaged as many of them |
|          | as it keeps; or one, after its leader's snapshot and before it could save its own  |
| COMPLETE | when the node has everything, the registers are those after all agreed entries     |

Agreed: at the time of the read. So nothing is half applied, left out, applied twice, or of a leader
that does not last, whether it came by an entry, a snapshot or a restart. After a restart a node may
show fewer entries than before it: it need not know which entries of its log were agreed on before
its leader says so. But none of them may be lost (STAYS).

The checker knows the registers after each entry and what went into the node and came out of it. It
knows nothing of snapshots, logs and indexes that the node keeps. Registers that are the same after
several numbers of entries are those of the number that suits the node best.

Source: RIP-59, whose register state machine is there so that what it shows can be checked
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from rocketha.histories.verdicts import AllKept, Broken, Promise, Undecided

__all__ = [
    "Damaged",
    "Faithful",
    "Given",
    "Healed",
    "Installed",
    "Keeping",
    "ReadVerdict",
    "Refused",
    "RegisterEvent",
    "Shown",
    "Started",
    "check_reads",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The node begins to start: it has forgotten what was not on its disk."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The node has taken an agreed entry that it did not have, and has said so."""

    index: int
    """From 1."""
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The leader's snapshot has come; the node may have taken it."""

    agreed: int
    """So many entries were agreed on; it is of no more."""
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """What a node was told to keep."""

    files: int
    """Snapshots."""
    every: int
    """Entries from one snapshot to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Somebody has read all registers."""

    registers: Mapping[str, int]
    agreed: int
    """So many entries were agreed on."""
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Damaged:
    """The disk has damaged a file that was durable."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The node does not start."""

    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Healed:
    """The faults have ended, and the node says that it has everything."""

    agreed: int
    """So many entries were agreed on."""
    at_ms: int


RegisterEvent: TypeAlias = Started | Given | Installed | Shown | Damaged | Refused | Healed


@dataclass(frozen=True, slots=True, kw_only=True)
class Faithful(AllKept):
    """All promises are kept."""

    reads: int
    """Those that got other registers than the one before."""
    entries: int
    """Of the read that was of most."""
    starts: int

    @property
    def counted(self) -> int:
        """Return the number of reads."""
        return self.reads

    def in_words(self) -> str:
        """Say it in a line."""
        return f"kept: {self.reads} reads, of up to {self.entries} entries, {self.starts} starts"


ReadVerdict: TypeAlias = Faithful | Broken | Undecided


def check_reads(
    made: Sequence[Mapping[str, int]], history: Sequence[RegisterEvent], keeping: Keeping
) -> ReadVerdict:
    """Hold a history against the promises, in the order of time.

    `made` has the registers after each number of entries, those after none first.
    """
    reader = _Reader(made, keeping)
    for event in history:
        broken = reader.sees(event)
        if broken is not None:
            return broken
    if not reader.most:
        return Undecided(reason="no entry was read")
    return Faithful(reads=reader.reads, entries=reader.most, starts=reader.starts)


class _Reader:
    """What is known so far."""

    def __init__(self, made: Sequence[Mapping[str, int]], keeping: Keeping) -> None:
        self.reads = self.starts = self.most = 0
        self._counts: dict[frozenset[tuple[str, int]], list[int]] = {}
        for count, registers in enumerate(made):
            self._counts.setdefault(frozenset(registers.items()), []).append(count)
        self._now = 0
        """The last read of this life is of so many entries, or of more."""
        self._last: Mapping[str, int] = {}
        self._had = 0
        """The node has had so many."""
        self._damaged = 0
        self._keeping = keeping
        self._has_own, self._own_at = True, 0
        """It has as many snapshots of its own as it keeps, or has them when it shows so many
        entries."""

    def sees(self, event: RegisterEvent) -> Broken | None:
        """Go on by an event; return the promise that it breaks."""
        match event:
            case Started():
                self.starts += 1
                self._now, self._last = 0, {}
            case Given():
                if event.index <= self._had:
                    what = f"entry {event.index} is given at {event.at_ms} ms"
                    return _broken(Promise.STAYS, f"{what} to a node that has had {self._had}")
                self._had = event.index
            case Installed():
                others = (self._keeping.files - 1) * self._keeping.every
                # A snapshot is saved before the entry behind it is applied.
                self._has_own, self._own_at = False, event.agreed + others + 1
            case Shown():
                return self._shows(event)
            case Damaged():
                self._damaged += 1
            case Refused():
                enough = self._keeping.files if self._has_own else 1
                if self._damaged < enough:
                    what = f"the node does not start at {event.at_ms} ms"
                    why = f"damaged files: {self._damaged}, enough would be {enough}"
                    return _broken(Promise.REFUSAL, f"{what}; {why}")
            case Healed():
                if event.agreed not in self._made_by(self._last):
                    what = f"{event.agreed} entries are said to be there at {event.at_ms} ms"
                    return _broken(Promise.COMPLETE, f"{what}, and a reader gets {self._words()}")
            case _:
                assert_never(event)
        return None

    def _shows(self, event: Shown) -> Broken | None:
        self._last = event.registers
        agreed = [count for count in self._made_by(event.registers) if count <= event.agreed]
        if not agreed:
            what = f"a reader gets {self._words()} at {event.at_ms} ms"
            why = f"which no number of the {event.agreed} agreed entries makes"
            return _broken(Promise.EXACT, f"{what}, {why}")
        # The fewest that suit leave most to later reads.
        later = [count for count in agreed if count >= self._now]
        if not later:
            what = f"a reader gets {self._words()} at {event.at_ms} ms"
            why = f"which {agreed[-1]} entries make, after what {self._now} had made"
            return _broken(Promise.FORWARD, f"{what}, {why}")
        self.reads += 1
        self._now = later[0]
        self.most = max(self.most, self._now)
        self._had = max(self._had, self._now)
        self._has_own = self._has_own or self._now >= self._own_at
        return None

    def _made_by(self, registers: Mapping[str, int]) -> Sequence[int]:
        """Return the numbers of entries that make these registers."""
        return self._counts.get(frozenset(registers.items()), ())

    def _words(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in sorted(self._last.items()))
        return values or "no registers"


def _broken(promise: Promise, reason: str) -> Broken:
    return Broken(promise=promise, reason=reason)
