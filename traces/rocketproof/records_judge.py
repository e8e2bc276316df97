"""Hold what the nodes of a run wrote against a specification, and say which record is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeRecord, RecordError
from rocketproof.plug import ProtocolPlug
from rocketproof.record_projection import record_of_event
from rocketproof.run_judge import judge_traces, of_master_epoch
from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import TraceFormatError
from tlatrace.judgement.verdict import Diverges, Verdict, combine
from tlatrace.report.results import TraceResult
from tlatrace.trace import Trace

__all__ = ["judge_records", "traces_of", "verdict_of"]


def traces_of(plug: ProtocolPlug[Any], folder: Path, logs: Sequence[NodeLog]) -> tuple[Trace, ...]:
    """Make the traces of what nodes wrote to a folder.

    Raises:
        TraceFormatError: a record lacks what its kind has, or they do not belong together.
    """
    try:
        return plug.traces_of_records(logs)
    except RecordError as error:
        if error.record is None:
            raise TraceFormatError(folder, None, error.reason) from None
        raise TraceFormatError(*_place(logs, error.record), str(error)) from None


def judge_records(
    plug: ProtocolPlug[Any],
    folder: Path,
    logs: Sequence[NodeLog],
    traces: Sequence[Trace],
    *,
    invariants: tuple[str, ...] = (),
) -> tuple[TraceResult, ...]:
    """Judge the traces; of a divergence say the record that the step is made of.

    None of the `invariants` named: all that the specification's small model has.
    """
    choice = SpecChoice(invariants=invariants)
    results = judge_traces(traces, [folder] * len(traces), choice)
    return tuple(
        replace(_placed(plug, logs, at, result), path=f"{folder}{of_master_epoch(trace)}")
        for at, (trace, result) in enumerate(zip(traces, results, strict=True))
    )


def _placed(
    plug: ProtocolPlug[Any], logs: Sequence[NodeLog], at: int, result: TraceResult
) -> TraceResult:
    """Say of which record the step is made at which the trace of this number diverges."""
    if not isinstance(result.outcome, Diverges):
        return result
    assert plug.records is not None
    projection = plug.records([log.header for log in logs])
    record = record_of_event(projection, logs, result.outcome.step, of=at)
    log, line = (None, None) if record is None else _place(logs, record)
    return replace(result, log=log, line=line)


def verdict_of(results: Sequence[TraceResult]) -> Verdict:
    """Combine the verdicts of the traces of a run."""
    outcomes = [result.outcome for result in results]
    assert not any(isinstance(outcome, str) for outcome in outcomes), "no trace is a file"
    return combine([outcome for outcome in outcomes if not isinstance(outcome, str)])


def _place(logs: Sequence[NodeLog], record: NodeRecord) -> tuple[str, int]:
    (log,) = [one for one in logs if one.header.node == record.node]
    return log.place_of(record)
