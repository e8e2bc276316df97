"""Known bugs of RocketMQ: is each one found by TLC, and by runs of the implementation?

A row is a mutant of the manifest. TLC must find it in the specification (or find
nothing, when the manifest calls it harmless), and when the implementation has a switch of that
name, a run with the switch on must leave the specification, or stay dead after its faults, within a
number of seeds (or none may, when it is harmless). A row for which one of the two is missing is
open. A mutant without a switch is closed by TLC alone, and its row says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.tools.check import CheckRow
from tlatrace.tools.manifest import Mutant
from tlatrace.trace import Trace

__all__ = [
    "DEAD",
    "DEFAULT_SEEDS",
    "BugRow",
    "Caught",
    "NotCaught",
    "NotTried",
    "SearchResult",
    "Unclear",
    "is_dead",
    "search_seeds",
]

DEFAULT_SEEDS: Final = 300
"""Runs that are tried for a bug before it counts as not caught."""

DEAD: Final = "it does not converge"
"""What is caught at the end of a run that stays dead."""

_EVENTS_OF_DEAD: Final = 1_000
"""So many events are judged of a run that stays dead: it goes on and on, and is caught anyway."""

FIRST_WAVE: Final = 15
"""Runs judged together at first; each further wave doubles them, as a start of TLC has a price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught:
    """A run with the switch on left the specification, or stayed dead."""

    seed: int
    tried: int
    """Seeds up to and including this one, counted from the first."""
    step: int
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCaught:
    """All runs conform."""

    tried: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """A run before the first caught one was undecided."""

    seed: int
    reason: str


@dataclass(frozen=True, slots=True)
class NotTried:
    """The implementation has no such switch."""


SearchResult: TypeAlias = Caught | NotCaught | Unclear | NotTried


@dataclass(frozen=True, slots=True, kw_only=True)
class BugRow:
    """One bug, in the specification and in the implementation."""

    mutant: Mutant
    tlc: CheckRow
    runs: SearchResult

    @property
    def tlc_only(self) -> bool:
        """Whether there is nothing to find in the implementation, for want of a switch."""
        return not self.mutant.bug

    @property
    def closed(self) -> bool:
        """Whether both sides found what the manifest expects."""
        if not self.tlc.ok:
            return False
        if self.mutant.expect == "harmless":
            return isinstance(self.runs, NotCaught | NotTried)
        return isinstance(self.runs, Caught | NotTried) and self.mutant.bug == isinstance(
            self.runs, Caught
        )


def search_seeds(
    simulate: Callable[[int], Trace | Sequence[Trace]],
    judge: Callable[[Sequence[Trace]], Sequence[Verdict]],
    *,
    seeds: int,
    first_seed: int = 0,
) -> SearchResult:
    """Simulate seeds in waves until the judge rejects one; at most `seeds` of them.

    A seed may be several traces, or none.

    A run is caught, too, that does not come back to life when its faults are over.

    Raises: whatever `simulate` and `judge` raise.
    """
    assert seeds >= 1
    judged = 0
    for wave in _waves(first_seed, first_seed + seeds):
        runs: list[tuple[int, Trace]] = []
        for seed in wave:
            made = _all_of(simulate(seed))
            runs += [(seed, trace) for trace in made]
            if any(map(is_dead, made)):
                break  # the search ends here at the latest
        verdicts = judge([_judged(trace) for _, trace in runs]) if runs else []
        judged += len(runs)
        for (seed, trace), verdict in zip(runs, verdicts, strict=True):
            match verdict:
                case Diverges(step=step, action=action):
                    return Caught(
                        seed=seed, tried=seed - first_seed + 1, step=step, action=action or "Next"
                    )
                case Undecided(reason=reason):
                    return Unclear(seed=seed, reason=reason)
                case Conforms():
                    if is_dead(trace):
                        last = len(trace.events) - 1
                        tried = seed - first_seed + 1
                        return Caught(seed=seed, tried=tried, step=last, action=DEAD)
    if not judged:
        return Unclear(seed=first_seed, reason="no run has a trace")
    return NotCaught(tried=seeds)


def _judged(trace: Trace) -> Trace:
    return replace(trace, events=trace.events[:_EVENTS_OF_DEAD]) if is_dead(trace) else trace


def _all_of(made: Trace | Sequence[Trace]) -> Sequence[Trace]:
    return (made,) if isinstance(made, Trace) else made


def is_dead(trace: Trace) -> bool:
    """Tell whether the simulator says that the run did not converge, though it could."""
    meta = {} if trace.header is None else trace.header.meta
    return meta.get("converged") is False and not meta.keys() & {"unavailable_because", "failure"}


def _waves(first: int, end: int) -> Iterator[range]:
    size = FIRST_WAVE
    while first < end:
        yield range(first, min(first + size, end))
        first += size
        size *= 2
