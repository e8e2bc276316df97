"""What a simulated run comes to: for the TLA+ text, for its clients, and whether it lives.

The worst of the three decides: a step that the specification does not allow and a promise to a
client that is broken are bad news of the implementation, and a run that does not come back to life
when its faults are over is no good news.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from rocketha.histories import Broken
from rocketproof.engines import Judges
from rocketproof.plug import Run
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict, combine
from tlatrace.logged import together
from tlatrace.report.results import TraceResult
from tlatrace.trace import Header, Trace
from tlatrace.values import canonical_state

__all__ = ["by_constants", "judge_traces", "of_master_epoch", "run_verdict", "verdict_lines"]

_HEADER_LINES: Final = 2
"""Line of step 0 in a file: lines are counted from 1, and the first one is the header."""


def judge_traces(
    traces: Sequence[Trace], files: Sequence[Path], choice: SpecChoice
) -> tuple[TraceResult, ...]:
    """Hold the traces of one run, which may be written to files, against the specification.

    A trace without an event has no result.

    Raises: as `Judges.judge`.
    """
    results: dict[int, TraceResult] = {}
    for told in by_constants(traces):
        results |= _judge_alike(traces, told, files, choice)
    return tuple(results[at] for at in sorted(results))


def by_constants(traces: Sequence[Trace]) -> list[list[int]]:
    """Return which traces have the same constants, and can be judged together; none is empty."""
    groups: dict[str, list[int]] = {}
    for at, trace in enumerate(traces):
        if trace.events:
            groups.setdefault(canonical_state(_header(trace).constants), []).append(at)
    return list(groups.values())


def _judge_alike(
    traces: Sequence[Trace], told: Sequence[int], files: Sequence[Path], choice: SpecChoice
) -> dict[int, TraceResult]:
    """Judge those of the traces that have the same constants. Raises: as `Judges.judge`."""
    header = _header(traces[told[0]])
    judged = Judges(choice=choice).judge(header, [traces[at] for at in told])
    results = {}
    for position, (at, verdict) in enumerate(zip(told, judged.verdicts, strict=True)):
        line = verdict.step + _HEADER_LINES if isinstance(verdict, Diverges) and files else None
        results[at] = TraceResult(
            path=str(files[at]) if files else _name(traces[at]),
            spec=header.spec,
            outcome=verdict,
            line=line,
            warnings=judged.warnings,
            failing_conjunct=judged.failing_conjuncts.get(position),
            logged=judged.logged[position],
        )
    return results


def _header(trace: Trace) -> Header:
    assert trace.header is not None, "the simulator writes a header"
    return trace.header


def _name(trace: Trace) -> str:
    assert trace.header is not None, "the simulator writes a header"
    return f"seed {trace.header.seed}{of_master_epoch(trace)}"


def of_master_epoch(trace: Trace) -> str:
    """Say which master epoch of its run a trace is: ", master epoch 2"; "" if it is the run."""
    found = None if trace.header is None else trace.header.meta.get("master_epoch")
    return f", master epoch {found['number']}" if isinstance(found, dict) else ""


def run_verdict(run: Run, results: Sequence[TraceResult] | None) -> Verdict | None:
    """Combine what is known of a run; `results` is None where its traces were not judged.

    Then a run without bad news has no verdict: nothing was examined.
    """
    parts: list[Verdict] = []
    if results is not None:
        outcomes = [one.outcome for one in results]
        parts.append(combine([Undecided(o) if isinstance(o, str) else o for o in outcomes]))
    told = run.verdict
    if isinstance(told, Broken):
        parts.append(Diverges(0, None, "what is promised to clients", told.in_words()))
    if not run.report.lives:
        parts.append(Undecided(_death(run)))
    return combine(parts) if parts else None


def _death(run: Run) -> str:
    if run.report.failure is not None:
        return f"the run ended early: {run.report.failure}"
    return "the run did not come back to life when its faults ended"


def verdict_lines(
    run: Run, traces: Sequence[Trace], results: Sequence[TraceResult]
) -> Iterator[str]:
    """Say what a judged run comes to, the verdict last."""
    told = [trace for trace in traces if trace.events]
    for trace, result in zip(told, results, strict=True):
        if isinstance(result.outcome, Diverges):
            yield next(islice(timeline(trace), result.outcome.step + 1, None))
        if not isinstance(result.outcome, Conforms):
            yield result.summary
    verdict = run_verdict(run, results)
    match verdict:
        case Conforms(events=events):
            of = f" of {len(results)} traces" if len(results) > 1 else ""
            logged = together([one.logged for one in results if one.logged is not None])
            yield f"verdict: conforms, {events} events{of}; {logged.text()}"
        case Diverges():
            why = f": {run.verdict.in_words()}" if isinstance(run.verdict, Broken) else ""
            yield f"verdict: diverges{why}"
        case Undecided(reason=reason):
            yield f"verdict: undecided: {reason}"
        case None:
            raise AssertionError("a run that was judged has a verdict")
