"""Campaigns: many seeds of a simulated cluster or node, and what its clients saw.

No trace is made and nothing is judged by the specification: this asks only what is promised to
clients, and whether the cluster comes back to life when the faults end. It is ten times cheaper,
and it knows nothing of the protocol.
"""

from __future__ import annotations

import gc
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Final

from rocketha.histories import AllKept, AnyVerdict, Broken, Undecided
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.report import SimReport
from rocketproof.protocols import PROTOCOLS
from tlatrace.corpus.processes import run_tasks

__all__ = ["Campaign", "Ending", "SeedResult", "run_campaign", "run_seed"]

_SEEDS_A_TASK: Final = 8


class Ending(StrEnum):
    """What came of one seed; the value is what a report calls it."""

    KEPT = "kept"
    """All promises, and the cluster came back to life."""
    EXCUSED = "excused"
    """All promises; it could not come back to life, because no member has a whole log or the node
    no whole snapshot."""
    UNDECIDED = "undecided"
    """Nothing was put to the test."""
    BROKEN = "broken"
    """A promise."""
    STUCK = "stuck"
    """All promises, but the cluster did not come back to life."""
    ENDED = "ended early"
    """All promises, until an implementation with a bug switched on stopped with an error."""
    FAILED = "failed"
    """An error that no bug is there to explain stopped the run."""
    DIFFERS = "differs"
    """The same seed gave another run."""


_DEAD: Final = frozenset({Ending.STUCK, Ending.ENDED})
_FAILING: Final = _DEAD | {Ending.BROKEN, Ending.FAILED, Ending.DIFFERS}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedResult:
    """What came of one seed."""

    seed: int
    ending: Ending
    reason: str = ""
    faults: tuple[tuple[str, int], ...] = ()
    virtual_ms: int = 0
    counted: int = 0
    """What promises were kept of: see `Simulation.clients`."""
    parts: tuple[tuple[str, int], ...] = ()
    """The same by kinds, where there are any."""
    due: tuple[tuple[str, int], ...] = ()
    """Obligation of nodes -> occasions on which it was due."""
    promises: tuple[str, ...] = ()
    """Those that are broken."""

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
    counted: int = 0
    parts: Counter[str] = field(default_factory=Counter)
    due: Counter[str] = field(default_factory=Counter)
    failing: list[SeedResult] = field(default_factory=list)
    """In the order of their seeds."""

    @property
    def broken(self) -> dict[str, list[SeedResult]]:
        """Return for each promise that is broken in which seeds it is, by its name."""
        broken: dict[str, list[SeedResult]] = {}
        for result in self.failing:
            for promise in result.promises:
                broken.setdefault(promise, []).append(result)
        return dict(sorted(broken.items()))

    def add(self, result: SeedResult) -> None:
        """Count a seed."""
        self.seeds += 1
        self.endings[result.ending] += 1
        self.faults.update(dict(result.faults))
        self.virtual_ms += result.virtual_ms
        self.counted += result.counted
        self.parts.update(dict(result.parts))
        self.due.update(dict(result.due))
        if result.fails:
            self.failing.append(result)
            self.failing.sort(key=lambda one: one.seed)

    @property
    def exit_code(self) -> int:
        """Return 1 if a seed failed, 3 if some are dead or none shows that promises are kept, or 0.

        A dead run is no evidence, here as for `simulate --judge` and for corpora.
        """
        if any(one.ending not in _DEAD for one in self.failing):
            return 1
        return 0 if self.endings[Ending.KEPT] and not self.failing else 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    protocol: str
    seeds: tuple[int, ...]
    options: SimOptions
    repeat: bool


def run_campaign(
    protocol: str,
    seeds: Sequence[int],
    options: SimOptions,
    *,
    workers: int,
    repeat: bool = False,
) -> Iterator[SeedResult]:
    """Yield the result of each seed of a protocol, in any order.

    With `repeat` each runs twice.

    Raises: ToolError if a worker dies
    """
    tasks = [
        _Task(protocol=protocol, seeds=tuple(some), options=options, repeat=repeat)
        for some in (seeds[at : at + _SEEDS_A_TASK] for at in range(0, len(seeds), _SEEDS_A_TASK))
    ]
    for results in run_tasks(
        tasks, _run_task, cores=workers, label="seeds", weight=lambda task: len(task.seeds)
    ):
        yield from results


def _run_task(task: _Task) -> tuple[SeedResult, ...]:
    run = partial(run_seed, task.protocol, repeat=task.repeat)
    results = tuple(run(seed, task.options) for seed in task.seeds)
    gc.collect()  # workers do not collect by themselves
    return results


def run_seed(protocol: str, seed: int, options: SimOptions, *, repeat: bool = False) -> SeedResult:
    """Run one seed and hold its history against what is promised."""
    try:
        result, digest = _run_once(protocol, seed, options)
        if repeat and _run_once(protocol, seed, options)[1] != digest:
            return SeedResult(seed=seed, ending=Ending.DIFFERS, reason="another run, other bytes")
    except Exception as error:
        # Whatever it is, the seed that shows it is worth more than the campaign.
        return SeedResult(
            seed=seed, ending=Ending.FAILED, reason=f"{type(error).__name__}: {error}"
        )
    return result


def _run_once(protocol: str, seed: int, options: SimOptions) -> tuple[SeedResult, str]:
    run = PROTOCOLS[protocol].observe(seed, options)
    report, verdict = run.report, run.check()
    ending, reason = _ending(report, verdict)
    result = SeedResult(
        seed=seed,
        ending=ending,
        reason=reason,
        faults=tuple(report.faults.items()),
        virtual_ms=report.virtual_ms,
        counted=verdict.counted if isinstance(verdict, AllKept) else 0,
        parts=tuple(verdict.parts.items()) if isinstance(verdict, AllKept) else (),
        due=tuple(run.obligations.counted.items()),
        promises=(verdict.promise, *verdict.also) if isinstance(verdict, Broken) else (),
    )
    content = run.clients.content() + repr(report).encode()
    return result, hashlib.sha256(content).hexdigest()


def _ending(report: SimReport, verdict: AnyVerdict) -> tuple[Ending, str]:
    if isinstance(verdict, Broken):
        return Ending.BROKEN, verdict.in_words()
    if report.failure is not None:
        return Ending.ENDED, report.failure
    if not report.lives:
        return Ending.STUCK, "did not come back to life when the faults ended"
    if isinstance(verdict, Undecided):
        return Ending.UNDECIDED, verdict.reason
    return (Ending.KEPT if report.converged else Ending.EXCUSED), ""
