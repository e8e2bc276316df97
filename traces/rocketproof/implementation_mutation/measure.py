"""The processes of a sample of mutations, and what came of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Final

from rocketproof.implementation_mutation.child import work
from rocketproof.implementation_mutation.mutation import Mutation
from rocketproof.implementation_mutation.rates import Rate
from rocketproof.implementation_mutation.run_task import (
    TRACES,
    Column,
    Digests,
    Examined,
    MutatedModule,
    Rejected,
    RunKey,
    RunTask,
)
from rocketproof.output import print_text
from tlatrace.corpus.processes import NoResult, run_apart
from tlatrace.errors import ToolError

__all__ = ["GROUPS", "Class", "Measurement", "MutationResult", "Sample", "measured"]

_TIMEOUT_S: Final = 900.0
"""A process that takes longer is ended; each of its runs has a limit of its own."""

WITHOUT_ERRORS: Final = TRACES | {
    Column.HISTORIES,
    Column.LIVENESS,
    Column.OBLIGATIONS,
    Column.CRASH_POINTS,
}
ALL_RUNS: Final = WITHOUT_ERRORS | {Column.ERRORS}
_SEAMS: Final = 12
"""So many crash points between effects, of each of..."""
_SEEDS_WITH_SEAMS: Final = 2
"""...the first seeds, are tried of what nothing else rejects,..."""
_OPERATIONS: Final = 8
"""...and before operations of disks of so many kinds, half of them the rarest, of each of..."""
_SEEDS_WITH_OPERATIONS: Final = 10
"""...these."""

GROUPS: Final[Mapping[str, frozenset[Column]]] = {
    **{column.value: frozenset({column}) for column in (Column.WHOLE_STATES, Column.RECORDS)},
    "traces": TRACES,
    Column.HISTORIES.value: frozenset({Column.HISTORIES}),
    Column.LIVENESS.value: frozenset({Column.LIVENESS}),
    Column.OBLIGATIONS.value: frozenset({Column.OBLIGATIONS}),
    Column.ERRORS.value: frozenset({Column.ERRORS}),
    Column.CRASH_POINTS.value: frozenset({Column.CRASH_POINTS}),
    "all but errors": WITHOUT_ERRORS,
    "all": ALL_RUNS,
    Column.UNIT_TESTS.value: frozenset({Column.UNIT_TESTS}),
}
"""Name in a report -> the columns of which one is enough."""


class Class(StrEnum):
    """What a mutation is counted as."""

    PLAIN = "plain"
    NEVER_EXECUTED = "never executed"
    """No seed comes to its lines; it counts as not rejected."""
    TIMER = "timer"
    """It can only make something happen earlier or later; counted apart."""
    EQUIVALENT = "equivalent"
    """Known to change nothing; not counted."""
    REFUSED = "refused by types"
    """The type checker refuses it; not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What is to be examined."""

    protocol: str
    mutations: Sequence[Mutation]
    seeds: Sequence[int]
    equivalents: Mapping[str, str]
    """Id -> why a mutation changes nothing."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Id -> what the type checker says of it."""
    tests: tuple[Path, ...] = ()
    """Folders of unit tests; () if they are not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationResult:
    """What came of a mutation."""

    mutation: Mutation
    of_class: Class
    rejected: Mapping[Column, Rejected] = field(default_factory=dict)
    runs: int = 0
    """Runs that were made: those that do not come to its lines are as without it."""
    undecided: int = 0

    def is_rejected_by(self, columns: frozenset[Column]) -> bool:
        """Tell whether one of the columns rejects it."""
        return bool(columns & self.rejected.keys())


@dataclass(frozen=True)
class Measurement:
    """The results of a sample."""

    sample: Sample
    results: Sequence[MutationResult]
    """In the order of the draw."""

    @cached_property
    def counted(self) -> list[MutationResult]:
        """Return those that rates are of: nothing that is counted apart."""
        return self.of_class(Class.PLAIN, Class.NEVER_EXECUTED)

    def of_class(self, *classes: Class) -> list[MutationResult]:
        """Return the results of some classes."""
        return [one for one in self.results if one.of_class in classes]

    def rate(self, group: str, results: Sequence[MutationResult] | None = None) -> Rate:
        """Return the rate of a group of columns (`GROUPS`), of those that count or of others."""
        some = self.counted if results is None else results
        return Rate(sum(one.is_rejected_by(GROUPS[group]) for one in some), len(some))

    @property
    def survivors(self) -> list[MutationResult]:
        """Return the mutations that no run rejects, timers among them, known equivalents not."""
        some = self.of_class(Class.PLAIN, Class.NEVER_EXECUTED, Class.TIMER)
        return [one for one in some if not one.is_rejected_by(ALL_RUNS)]


def measured(sample: Sample, *, workers: int) -> Iterator[MutationResult]:
    """Yield the result of each mutation, in any order.

    First the implementation runs as it is, if there is anything left to run: that says which seeds
    come to which mutation. A seed that is rejected then is an error, a crash point is left out, and
    standard error says so.

    Raises: ToolError
    """
    looked_at = []
    for one in sample.mutations:
        if one.id in sample.equivalents:
            yield MutationResult(mutation=one, of_class=Class.EQUIVALENT)
        elif one.id in sample.refused:
            yield MutationResult(mutation=one, of_class=Class.REFUSED)
        else:
            looked_at.append(one)
    if not looked_at:
        return
    baseline = _baseline(sample, workers=workers)
    tasks: dict[RunTask, Mutation] = {}
    results: dict[str, list[Examined]] = {}
    open_tasks: dict[str, int] = {}
    for one in looked_at:
        its_tasks = _tasks_of(one, sample, baseline)
        if not its_tasks:
            yield MutationResult(mutation=one, of_class=Class.NEVER_EXECUTED)
        open_tasks[one.id] = len(its_tasks)
        tasks |= dict.fromkeys(its_tasks, one)
    for task, result in run_apart(tasks, work, workers=workers, timeout_s=_TIMEOUT_S):
        one = tasks[task]
        results.setdefault(one.id, []).append(_with_result(task, result))
        open_tasks[one.id] -= 1
        if not open_tasks[one.id]:
            yield _together(one, results.pop(one.id), comes=bool(_runs_of(one, baseline)))


@dataclass(frozen=True, slots=True)
class _Baseline:
    """The runs without a mutation."""

    executed: Mapping[RunKey, frozenset[tuple[str, int]]]
    digests: Mapping[RunKey, Digests]


def _tasks_of(one: Mutation, sample: Sample, baseline: _Baseline) -> list[RunTask]:
    mutated = MutatedModule(one.module, one.path, one.mutated(one.path.read_text("utf-8")))
    tasks = []
    runs = _runs_of(one, baseline)
    if runs:
        task = RunTask(
            protocol=sample.protocol, runs=runs, mutated=mutated, digests=baseline.digests
        )
        tasks.append(task)
    if sample.tests:
        tasks.append(
            RunTask(protocol=sample.protocol, runs=(), mutated=mutated, tests=sample.tests)
        )
    return tasks


def _runs_of(one: Mutation, baseline: _Baseline) -> tuple[RunKey, ...]:
    """Return the runs that come to a line of a mutation, those with crash points last.

    All others are as without it.
    """
    lines = {(str(one.path), line) for line in one.lines}
    found = [run for run, seen in baseline.executed.items() if lines & seen]
    return tuple(sorted(found, key=lambda run: (run.crash_point is not None, run)))


def _with_result(task: RunTask, result: Examined | NoResult) -> Examined:
    """Count a process that dies or does not end as one that stops with an error."""
    if isinstance(result, Examined):
        return result
    column = Column.UNIT_TESTS if task.tests else Column.ERRORS
    return Examined(rejected={column: Rejected(None, result.reason)})


def _together(one: Mutation, parts: Sequence[Examined], *, comes: bool) -> MutationResult:
    of_class = Class.TIMER if one.moves_timer else Class.PLAIN
    return MutationResult(
        mutation=one,
        of_class=of_class if comes else Class.NEVER_EXECUTED,
        rejected={column: how for part in parts for column, how in part.rejected.items()},
        runs=sum(part.runs for part in parts),
        undecided=sum(part.undecided for part in parts),
    )


def _baseline(sample: Sample, *, workers: int) -> _Baseline:
    """Run and judge the seeds without a mutation, and note which lines of mutations they come to.

    Raises: ToolError if one is rejected
    """
    lines: dict[str, set[int]] = {}
    for one in sample.mutations:
        lines.setdefault(str(one.path), set()).update(one.lines)
    watched = {path: frozenset(some) for path, some in lines.items()}
    keys = [RunKey(seed) for seed in sample.seeds]
    tasks = [
        RunTask(protocol=sample.protocol, runs=tuple(keys[at::workers]), watched=watched)
        for at in range(min(workers, len(keys)))
    ]
    tasks += [
        RunTask(
            protocol=sample.protocol,
            runs=(key,),
            watched=watched,
            seams=_SEAMS if number < _SEEDS_WITH_SEAMS else 0,
            operations=_OPERATIONS,
        )
        for number, key in enumerate(keys[:_SEEDS_WITH_OPERATIONS])
    ]
    if sample.tests:
        tasks.append(RunTask(protocol=sample.protocol, runs=(), tests=sample.tests))
    executed: dict[RunKey, frozenset[tuple[str, int]]] = {}
    digests: dict[RunKey, Digests] = {}
    for _, result in run_apart(tasks, work, workers=workers, timeout_s=_TIMEOUT_S):
        if isinstance(result, NoResult):
            raise ToolError("mutations", f"without a mutation, {result.reason}")
        for column, how in result.rejected.items():
            if column is Column.CRASH_POINTS:
                print_text(
                    f"left out: {how.run} is rejected without a mutation: {how.reason}", err=True
                )
                continue
            where = "" if how.run is None else f" {how.run}"
            said = f"{column} reject{where} without a mutation: {how.reason}"
            raise ToolError("mutations", said)
        executed |= result.executed
        digests |= result.digests
    return _Baseline(executed, digests)
