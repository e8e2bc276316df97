"""Campaigns: many seeds of a simulated group, and what their clients saw.

No trace is made and nothing is judged by the specification: this asks only what a group promises to
its clients, and whether it comes back to life when the faults end. It is ten times cheaper, and it
knows nothing of the protocol.
"""

from __future__ import annotations

import gc
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from rocketha.histories import Broken, Kept, Undecided, Verdict, check_history
from rocketha.histories.jsonl import dump_history
from rocketha.sim import SimOptions, SimReport, simulate_group
from rocketha.sim.group_actions import NullGroupObserver
from tlatrace.corpus.processes import run_tasks

__all__ = ["Campaign", "Ending", "SeedResult", "run_campaign", "run_seed"]

_SEEDS_A_TASK: Final = 8


class Ending(StrEnum):
    """What came of one seed; the value is what a report calls it."""

    KEPT = "kept"
    """All promises, and the group came back to life."""
    EXCUSED = "excused"
    """All promises; nobody could be elected any more, because no member has a whole log."""
    UNDECIDED = "undecided"
    """Nothing was put to the test."""
    BROKEN = "broken"
    """A promise."""
    STUCK = "stuck"
    """All promises, but the group did not come back to life."""
    FAILED = "failed"
    """The implementation stopped with an error."""
    DIFFERS = "differs"
    """The same seed gave another run."""


_FAILING: Final = frozenset({Ending.BROKEN, Ending.STUCK, Ending.FAILED, Ending.DIFFERS})


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedResult:
    """What came of one seed."""

    seed: int
    ending: Ending
    reason: str = ""
    faults: tuple[tuple[str, int], ...] = ()
    virtual_ms: int = 0
    safe: int = 0
    """Messages that producers were told are safe."""

    @property
    def fails(self) -> bool:
        """Tell whether somebody has to look at it."""
        return self.ending in _FAILING


@dataclass(slots=True)
class Campaign:
    """The sums of a campaign."""

    seeds: int = 0
    endings: Counter[Ending] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    virtual_ms: int = 0
    safe: int = 0
    failing: list[SeedResult] = field(default_factory=list)
    """In the order of their seeds."""

    def add(self, result: SeedResult) -> None:
        """Count a seed."""
        self.seeds += 1
        self.endings[result.ending] += 1
        self.faults.update(dict(result.faults))
        self.virtual_ms += result.virtual_ms
        self.safe += result.safe
        if result.fails:
            self.failing.append(result)
            self.failing.sort(key=lambda one: one.seed)

    @property
    def exit_code(self) -> int:
        """Return 1 if a seed failed, 3 if none shows that promises are kept, else 0."""
        if self.failing:
            return 1
        return 0 if self.endings[Ending.KEPT] else 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    seeds: tuple[int, ...]
    options: SimOptions
    repeat: bool


def run_campaign(
    seeds: Sequence[int], options: SimOptions, *, workers: int, repeat: bool = False
) -> Iterator[SeedResult]:
    """Yield the result of each seed, in any order; with `repeat` each runs twice.

    Raises: ToolError if a worker dies
    """
    tasks = [
        _Task(seeds=tuple(seeds[at : at + _SEEDS_A_TASK]), options=options, repeat=repeat)
        for at in range(0, len(seeds), _SEEDS_A_TASK)
    ]
    for results in run_tasks(
        tasks, _run_task, cores=workers, label="seeds", weight=lambda task: len(task.seeds)
    ):
        yield from results


def _run_task(task: _Task) -> tuple[SeedResult, ...]:
    results = tuple(run_seed(seed, task.options, repeat=task.repeat) for seed in task.seeds)
    gc.collect()  # workers do not collect by themselves
    return results


def run_seed(seed: int, options: SimOptions, *, repeat: bool = False) -> SeedResult:
    """Run one seed and hold its history against what is promised."""
    try:
        result, digest = _run_once(seed, options)
        if repeat and _run_once(seed, options)[1] != digest:
            return SeedResult(seed=seed, ending=Ending.DIFFERS, reason="another run, other bytes")
    except Exception as error:
        # Whatever it is, the seed that shows it is worth more than the campaign.
        return SeedResult(
            seed=seed, ending=Ending.FAILED, reason=f"{type(error).__name__}: {error}"
        )
    return result


def _run_once(seed: int, options: SimOptions) -> tuple[SeedResult, str]:
    run = simulate_group(seed, options, NullGroupObserver())
    report, verdict = run.report, check_history(run.history)
    ending, reason = _ending(report, verdict)
    result = SeedResult(
        seed=seed,
        ending=ending,
        reason=reason,
        faults=tuple(report.faults.items()),
        virtual_ms=report.virtual_ms,
        safe=verdict.safe if isinstance(verdict, Kept) else 0,
    )
    content = dump_history(run.history) + repr(report).encode()
    return result, hashlib.sha256(content).hexdigest()


def _ending(report: SimReport, verdict: Verdict) -> tuple[Ending, str]:
    if isinstance(verdict, Broken):
        return Ending.BROKEN, verdict.in_words()
    if report.failure is not None:
        return Ending.FAILED, report.failure
    if not report.lives:
        return Ending.STUCK, "did not come back to life when the faults ended"
    if isinstance(verdict, Undecided):
        return Ending.UNDECIDED, verdict.reason
    return (Ending.KEPT if report.converged else Ending.EXCUSED), ""
