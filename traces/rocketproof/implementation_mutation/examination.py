"""The runs of one mutation, seed by seed, and who rejects them.

It is imported in a process in which one module of the implementation is mutated. A column that has
rejected a mutation is not asked again, and judges of traces least of all: they cost the most.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import groupby
from random import Random
from time import process_time
from typing import Any, Final

from rocketha.histories import Broken
from rocketha.obligations.obligation import ObligationFindings
from rocketha.recording.node_log import NodeLines
from rocketha.recording.record import RecordError
from rocketha.sim.engine.crash_points import CrashPoint
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketha.sim.engine.report import SimReport
from rocketproof.crash_points import crash_points, operation_points
from rocketproof.engines import Judges, match_by_model
from rocketproof.implementation_mutation.limits import NoEnd, cpu_limit, memory_limit
from rocketproof.implementation_mutation.line_watch import LineWatch
from rocketproof.implementation_mutation.run_task import (
    TRACES,
    Column,
    Digests,
    Examined,
    Rejected,
    RunKey,
    RunTask,
)
from rocketproof.plug import ProtocolPlug
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled
from rocketproof.trace_inputs import SpecChoice
from tlatrace.judgement.verdict import Diverges, Undecided
from tlatrace.matching import Budget
from tlatrace.oracle import Model
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import dump_trace

__all__ = ["examine"]

_RUN_CPU_S: Final = 10.0
"""A run of a DLedger group, with its traces, takes 1 s as it is."""
_JUDGE_S: Final = 10.0
"""Of a trace; who has not judged it then is undecided, which rejects nothing."""
_ALL_CPU_S: Final = 90.0
"""Of a mutation whose runs and judges take longer, no more are made: eight runs of a DLedger group,
with their traces, take half of it."""
_JUDGED_EVENTS: Final = 3_000
"""Runs have 200 to 500; one that does not come back to life ends 400 actions after the faults, and
it is the last event that says so."""
_RUNS_A_COLLECTION: Final = 5
_OF_RUNS: Final = frozenset(Column) - TRACES - {Column.CRASH_POINTS, Column.UNIT_TESTS}


def examine(task: RunTask, watch: LineWatch) -> Examined:
    """Make the runs of a task until every column has rejected one, or there are no more.

    Traces are asked until one is rejected, of whole states or of records.
    """
    subject = _Subject(PROTOCOLS[task.protocol], task.digests)
    gc.freeze()
    for number, run in enumerate(_runs(task)):
        if watch.is_asked:
            subject.watch(run, watch)
        elif process_time() > _ALL_CPU_S or not subject.makes(run):
            break
        subject.make(run)
        if number % _RUNS_A_COLLECTION == _RUNS_A_COLLECTION - 1:
            gc.collect()
    return Examined(
        rejected=subject.rejected,
        runs=subject.runs,
        executed={
            run: seen for run, seen in watch.executed.items() if run not in subject.rejected_runs
        },
        digests=subject.digests,
        undecided=subject.undecided,
    )


def _runs(task: RunTask) -> Iterator[RunKey]:
    """Yield the runs of a task, and those of crash points that are drawn."""
    yield from task.runs
    for run in task.runs:
        for scheduled in _drawn(task, run.seed):
            point = _point(scheduled)
            at = (point.node, point.seam, point.effect, point.operation, point.end.value)
            yield RunKey(run.seed, at)


def _drawn(task: RunTask, seed: int) -> Iterator[Scheduled]:
    """Draw crash points of a seed: of seams any, and operations of several kinds, one of each.

    Half of the kinds are those that a run has the fewest of: what it does often ends now and then
    by the faults that its seed draws. Only a process that ends leaves what a start has to make
    durable, so one ends at each of them, whatever else does.
    """
    options, rng = PROTOCOLS[task.protocol].configured(seed), Random(seed)
    if task.seams:
        points = crash_points(task.protocol, seed, options)
        yield from rng.sample(points, min(task.seams, len(points)))
    if not task.operations:
        return
    kinds = [*operation_points(task.protocol, seed, options)]
    rng.shuffle(kinds)
    kinds.sort(key=len)
    rare, others = kinds[: task.operations // 2], kinds[task.operations // 2 :]
    for alike in (*rare, *rng.sample(others, min(task.operations - len(rare), len(others)))):
        drawn = rng.choice(alike)
        yield drawn
        if _point(drawn).end is not Fault.PROCESS_CRASH:
            yield from [one for one in alike if _point(one) == _process_ends(_point(drawn))]


def _point(scheduled: Scheduled) -> CrashPoint:
    point = scheduled.schedule.crash_point
    assert point is not None
    return point


def _process_ends(point: CrashPoint) -> CrashPoint:
    return replace(point, end=Fault.PROCESS_CRASH)


def _scheduled(protocol: str, run: RunKey) -> Scheduled:
    schedule = UNRESTRICTED
    if run.crash_point is not None:
        node, seam, effect, operation, end = run.crash_point
        point = CrashPoint(node=node, seam=seam, effect=effect, operation=operation, end=Fault(end))
        schedule = replace(schedule, crash_point=point)
    return Scheduled(
        protocol=protocol,
        seed=run.seed,
        options=PROTOCOLS[protocol].configured(run.seed),
        schedule=schedule,
    )


class _Subject:
    """The implementation as it is in this process, and what was found of it so far."""

    def __init__(self, plug: ProtocolPlug[Any], known: Mapping[RunKey, Digests]) -> None:
        self._plug, self._known = plug, known
        self._judge = _Judge()
        self.rejected: dict[Column, Rejected] = {}
        self.digests: dict[RunKey, Digests] = {}
        self.rejected_runs: set[RunKey] = set()
        self.runs = 0
        self.undecided = 0

    def _reject(self, column: Column, run: RunKey, reason: str) -> None:
        if run.crash_point is not None:
            column, reason = Column.CRASH_POINTS, f"{column}: {reason}"
        self.rejected.setdefault(column, Rejected(run, reason))
        self.rejected_runs.add(run)

    def makes(self, run: RunKey) -> bool:
        """Tell whether a run can show more than is known."""
        if run.crash_point is not None:
            return not self.rejected
        return self._asks_traces() or bool(_OF_RUNS - self.rejected.keys())

    def _asks_traces(self) -> bool:
        return not TRACES & self.rejected.keys()

    def watch(self, run: RunKey, watch: LineWatch) -> None:
        """Make a run of which only the lines are of interest that it executes."""
        scheduled = _scheduled(self._plug.name, run)
        with watch.lines(run):
            self._guarded(run, lambda: self._unobserved(run, scheduled, NodeLines()))

    def make(self, run: RunKey) -> None:
        """Make a run, and ask the columns; those of traces until one rejects."""
        self.runs += 1
        scheduled = _scheduled(self._plug.name, run)
        if not self._asks_traces():
            self._guarded(run, lambda: self._unobserved(run, scheduled, NodeLines()))
            return
        lines, traces = NodeLines(), list[Trace]()
        if not self._guarded(run, lambda: self._observed(run, scheduled, lines, traces)):
            lines = NodeLines()  # the projection may have failed, not the implementation
            self._guarded(run, lambda: self._unobserved(run, scheduled, lines))
        known = self._known.get(run)
        found = _digests(traces, lines)
        self.digests[run] = found
        if known is None or known.whole_states != found.whole_states:
            self._ask(Column.WHOLE_STATES, run, traces)
        if self._plug.records is None or not lines.lines:
            return
        if known is None or known.records != found.records:
            recorded: list[Trace] = []
            if self._guarded(run, lambda: recorded.extend(self._recorded(lines))):
                self._ask(Column.RECORDS, run, recorded)

    def _guarded(
        self, run: RunKey, act: Callable[[], None], *, cpu_s: float | None = _RUN_CPU_S
    ) -> bool:
        """Do something, and tell whether it was done; an error, or no end, is a rejection."""
        try:
            with nullcontext() if cpu_s is None else cpu_limit(cpu_s):
                act()
        except NoEnd:
            self._reject(Column.ERRORS, run, f"no end within {cpu_s:.0f} s of the processor")
        except Exception as error:  # whatever it is: a mutation may break anything
            self._reject(Column.ERRORS, run, f"{type(error).__name__}: {error}")
        else:
            return True
        return False

    # ---- runs ----

    def _observed(
        self, key: RunKey, scheduled: Scheduled, lines: NodeLines, traces: list[Trace]
    ) -> None:
        with memory_limit():
            run = self._plug.run_scheduled(scheduled, write=lines.write, errors_are_failures=True)
        traces += run.traces
        self._note(key, run.report, run.clients.check(), run.obligations)

    def _unobserved(self, key: RunKey, scheduled: Scheduled, lines: NodeLines) -> None:
        with memory_limit():
            run = self._plug.record(scheduled, lines.write)
        self._note(key, run.report, run.clients.check(), run.obligations)

    def _recorded(self, lines: NodeLines) -> Sequence[Trace]:
        try:
            return self._plug.traces_of_records(lines.logs())
        except RecordError as error:
            if error.record is not None:
                raise
            return ()  # nothing of the specification has happened

    def _note(
        self, run: RunKey, report: SimReport, verdict: object, findings: ObligationFindings
    ) -> None:
        promises = self._plug.keeps_promises(self._plug.configured(run.seed))
        if promises and isinstance(verdict, Broken):
            self._reject(Column.HISTORIES, run, verdict.in_words())
        if findings.broken is not None:
            self._reject(Column.OBLIGATIONS, run, findings.broken.in_words())
        if report.failure is not None:
            self._reject(Column.ERRORS, run, report.failure)
        elif not report.lives:
            self._reject(Column.LIVENESS, run, "does not come back to life")

    # ---- the TLA+ text ----

    def _ask(self, column: Column, run: RunKey, traces: Sequence[Trace]) -> None:
        """Hold traces against the text; how long that takes is no fault of the implementation."""
        self._guarded(run, lambda: self._judged(column, run, traces), cpu_s=None)

    def _judged(self, column: Column, run: RunKey, traces: Sequence[Trace]) -> None:
        options = self._plug.configured(run.seed)
        kept = () if self._plug.keeps_promises(options) else self._plug.kept_without_promises
        for verdict in self._judge.verdicts(traces, kept):
            if isinstance(verdict, Diverges):
                what = "the initial state" if verdict.action is None else verdict.action
                self._reject(column, run, f"step {verdict.step}, {what}")
                return
            self.undecided += isinstance(verdict, Undecided)


class _Judge:
    """The compiled model of each set of constants, loaded once."""

    def __init__(self) -> None:
        self._judges: dict[tuple[str, ...], Judges] = {}
        self._models: dict[object, Model] = {}

    def verdicts(self, traces: Sequence[Trace], kept: tuple[str, ...]) -> Iterator[object]:
        """Yield the verdict of each trace that has a step; of some runs fewer invariants hold."""
        if kept not in self._judges:
            choice = SpecChoice(invariants=kept)
            self._judges[kept] = Judges(choice=choice, budget=Budget(seconds=_JUDGE_S))
        judges = self._judges[kept]
        choice = judges.choice
        with_steps = [
            replace(trace, events=trace.events[:_JUDGED_EVENTS]) for trace in traces if trace.events
        ]
        for key, some in groupby(with_steps, key=lambda trace: choice.key(_header(trace))):
            alike = list(some)
            header = _header(alike[0])
            if (kept, key) not in self._models:
                self._models[kept, key] = choice.model(header)
            yield from match_by_model(judges, self._models[kept, key], header, alike)


def _digests(traces: Sequence[Trace], lines: NodeLines) -> Digests:
    written = (part for one in traces for part in dump_trace(_header(one), one.events))
    recorded = (part for node in sorted(lines.lines) for part in lines.lines[node])
    return Digests(*(hashlib.sha256(b"".join(parts)).hexdigest() for parts in (written, recorded)))


def _header(trace: Trace) -> Any:
    assert trace.header is not None, "a projection writes it"
    return trace.header
