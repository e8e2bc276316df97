"""Every crash point of a run, one after the other: the same seed, and a node that ends there.

A run passes seams, one between any two effects of a step, and nodes use disks: each operation of an
effect or a start is a crash point, too (`rocketha.sim.engine.crash_points`). Up to it the run is
the same; behind it the node is down, comes back soon, and everything else goes on. What comes of it
is held against the specification, by whole states and by what the nodes wrote, against what is
promised to clients, and it must come back to life: as any run.

Operations are alike that do the same to the same kind of file in the same kind of effect. A run has
hundreds of some, and one of others.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from rocketha.sim.engine.crash_points import ENDS, CrashPoint
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.failing import RunJudge
from rocketproof.plug import Run
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import run_scheduled
from rocketproof.schedule import Scheduled
from rocketproof.shrinking import Failure, How
from rocketproof.trace_inputs import SpecChoice
from tlatrace.corpus.processes import run_tasks

__all__ = [
    "Crashed",
    "crash_points",
    "judge_crash_point",
    "operation_points",
    "run_crash_points",
]

_POINTS_A_TASK: Final = 6
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """What came of a run in which a node ended at a crash point."""

    scheduled: Scheduled
    struck: bool
    """The node ended there. A run spares a node that must not end now: its specification has no
    such crash."""
    how: How | None = None
    """How the run fails; None: it does not."""
    words: str = ""

    @property
    def point(self) -> CrashPoint:
        """Return the crash point."""
        point = self.scheduled.schedule.crash_point
        assert point is not None
        return point


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    runs: tuple[Scheduled, ...]
    choice: SpecChoice | None


def crash_points(
    protocol: str, seed: int, options: SimOptions, ends: Sequence[Fault] = ENDS
) -> tuple[Scheduled, ...]:
    """Return the runs that end a node at each seam of a seed's run, in each of these ways."""
    return tuple(
        _with_point(protocol, seed, options, CrashPoint(node=node, seam=seam, end=end))
        for node, passed in sorted(PROTOCOLS[protocol].observe(seed, options).seams.items())
        for seam in range(1, passed + 1)
        for end in _possible(protocol, ends)
    )


def operation_points(
    protocol: str,
    seed: int,
    options: SimOptions,
    ends: Sequence[Fault] = ENDS,
    *,
    alike: int | None = None,
) -> tuple[tuple[Scheduled, ...], ...]:
    """Return the runs that end a node before each operation of a disk, in each of these ways.

    Those with operations that are alike are together: all, or so many, which the seed draws.
    """
    kinds: dict[str, list[CrashPoint]] = {}
    for node, uses in sorted(PROTOCOLS[protocol].observe(seed, options).disk_use.items()):
        for use in uses:
            for number, operation in enumerate(use.operations, start=1):
                kind = f"{use.what}: {_NUMBER.sub('N', operation)}"
                kinds.setdefault(kind, []).extend(
                    CrashPoint(node=node, effect=use.number, operation=number, end=end)
                    for end in _possible(protocol, ends)
                )
    rng = Random(seed)
    return tuple(
        tuple(
            _with_point(protocol, seed, options, point)
            for point in (points if alike is None else _some(points, alike, rng))
        )
        for _, points in sorted(kinds.items())
    )


def _some(points: Sequence[CrashPoint], count: int, rng: Random) -> list[CrashPoint]:
    return sorted(rng.sample(points, min(count, len(points))))


def _possible(protocol: str, ends: Sequence[Fault]) -> list[Fault]:
    return [end for end in ends if end in PROTOCOLS[protocol].faults]


def _with_point(protocol: str, seed: int, options: SimOptions, point: CrashPoint) -> Scheduled:
    schedule = replace(UNRESTRICTED, crash_point=point)
    return Scheduled(protocol=protocol, seed=seed, options=options, schedule=schedule)


def run_crash_points(
    runs: Sequence[Scheduled], choice: SpecChoice | None, *, workers: int
) -> Iterator[Crashed]:
    """Yield what comes of each run, in any order; without a choice only clients are asked.

    Raises: ToolError if a worker dies, or a judge has no verdict
    """
    tasks = [
        _Task(runs=tuple(runs[at : at + _POINTS_A_TASK]), choice=choice)
        for at in range(0, len(runs), _POINTS_A_TASK)
    ]
    for results in run_tasks(
        tasks, _run_task, cores=workers, label="crash points", weight=lambda task: len(task.runs)
    ):
        yield from results


def _run_task(task: _Task) -> tuple[Crashed, ...]:
    judge = RunJudge(task.choice)
    results = tuple(judge_crash_point(scheduled, judge) for scheduled in task.runs)
    gc.collect()  # workers do not collect by themselves
    return results


def judge_crash_point(scheduled: Scheduled, judge: RunJudge) -> Crashed:
    """Simulate such a run and judge it.

    Raises: ToolError: the compiled model has no verdict.
    """
    run = run_scheduled(scheduled)
    failure = judge.failure(run) or judge.failure_of_records(scheduled)
    return Crashed(
        scheduled=scheduled,
        struck=_struck(run),
        how=None if failure is None else failure.how,
        words="" if failure is None else _words(failure),
    )


def _struck(run: Run) -> bool:
    return run.report.faults.get(Fault.CUT_IN_STEP, 0) > 0


def _words(failure: Failure) -> str:
    return f"{failure.what}: {failure.words}" if failure.what else failure.words
