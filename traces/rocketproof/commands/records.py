"""`rocketproof records`: what the nodes of a run wrote, as one trace."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from rocketha.recording.node_log import NodeLog, read_logs
from rocketha.recording.record import NodeRecord, RecordError
from rocketproof.output import print_text
from rocketproof.plug import ProtocolPlug
from rocketproof.protocols import PROTOCOLS
from rocketproof.record_projection import record_of_event
from rocketproof.run_judge import judge_traces
from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import ToolError, TraceFormatError
from tlatrace.judgement.verdict import Diverges, combine, exit_code
from tlatrace.report.results import TraceResult
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import write_trace
from tlatrace.values import Json

__all__ = ["command"]

_SUFFIXES: Final = (".ndjson", ".ndjson.gz")


def _out(_context: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and not path.name.endswith(_SUFFIXES):
        raise click.BadParameter(f"{path.name!r} does not end with {' or '.join(_SUFFIXES)}.")
    return path


@click.command(epilog="Example:  rocketproof records R --judge")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_out,
    metavar="FILE",
    help="Write the trace to FILE, which ends with .ndjson or .ndjson.gz.",
)
@click.option(
    "--judge",
    is_flag=True,
    help="Hold the trace against the TLA+ text; the exit code is that of the verdict.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(folder: Path, *, out: Path | None, judge: bool, as_json: bool) -> None:
    """Merge what the nodes of a run wrote to DIR, one file a node, and make one trace of it.

    `simulate --records DIR` writes such files; traces/RECORDS.md says what is in them. The trace is
    partial: it shows what nodes know, and the judge searches for the rest.

    Exit codes: 0; with --judge 1 if the trace diverges, and 3 if it is undecided; 2 if the files
    are no records of one run.
    """
    try:
        logs = read_logs(folder)
    except OSError as error:
        where = error.filename or folder
        raise ToolError("records", f"cannot read {where}: {error.strerror}") from None
    plug = _plug(logs)
    try:
        trace = plug.trace_of_records(logs)
    except RecordError as error:
        if error.record is None:
            raise TraceFormatError(folder, None, error.reason) from None
        raise TraceFormatError(*_place(logs, error.record), str(error)) from None
    if out is not None:
        try:
            write_trace(out, trace)
        except OSError as error:
            raise ToolError("records", f"cannot write {out}: {error.strerror}") from None
    result = _judged(plug, folder, logs, trace) if judge else None
    if as_json:
        click.echo(json.dumps(_figures(logs, trace, result), sort_keys=True))
    else:
        _print(logs, trace, out, result)
    if result is not None:
        assert not isinstance(result.outcome, str), "a trace of records is no file"
        sys.exit(exit_code(combine([result.outcome])))


def _plug(logs: Sequence[NodeLog]) -> ProtocolPlug[Any]:
    """Find the protocol of logs. Raises: TraceFormatError"""
    name = logs[0].header.protocol
    plug = PROTOCOLS.get(name)
    if plug is None or plug.records is None:
        raise TraceFormatError(logs[0].name, 1, f"no trace is made of records of {name!r}")
    return plug


def _place(logs: Sequence[NodeLog], record: NodeRecord) -> tuple[str, int]:
    (log,) = [one for one in logs if one.header.node == record.node]
    return log.place_of(record)


def _judged(
    plug: ProtocolPlug[Any], folder: Path, logs: Sequence[NodeLog], trace: Trace
) -> TraceResult:
    """Judge the trace; of a divergence say the record that the step is made of."""
    (result,) = judge_traces([trace], [folder], SpecChoice())
    if not isinstance(result.outcome, Diverges):
        return result
    assert plug.records is not None
    projection = plug.records([log.header for log in logs])
    record = record_of_event(projection, logs, result.outcome.step)
    log, line = (None, None) if record is None else _place(logs, record)
    return replace(result, log=log, line=line)


def _print(
    logs: Sequence[NodeLog], trace: Trace, out: Path | None, result: TraceResult | None
) -> None:
    records = sum(len(log.records) for log in logs)
    print_text(
        f"{logs[0].header.protocol}: {len(logs)} nodes, {records} records, "
        f"{len(trace.events)} events"
    )
    if out is not None:
        print_text(f"written to {out}")
    if result is not None:
        print_text(result.summary)


def _figures(logs: Sequence[NodeLog], trace: Trace, result: TraceResult | None) -> dict[str, Json]:
    figures: dict[str, Json] = {
        "protocol": logs[0].header.protocol,
        "nodes": {log.header.node: len(log.records) for log in logs},
        "events": len(trace.events),
    }
    if result is not None:
        figures["trace"] = result.to_json()
    return figures
