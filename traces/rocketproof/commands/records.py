"""`rocketproof records`: what the nodes of a run wrote, as one trace, or one a master epoch."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from rocketha.recording.node_log import NodeLog, read_logs
from rocketproof.commands.trace_output import numbered_files, out_option
from rocketproof.output import print_text
from rocketproof.plug import ProtocolPlug
from rocketproof.protocols import PROTOCOLS
from rocketproof.records_judge import judge_records, traces_of, verdict_of
from tlatrace.errors import ToolError, TraceFormatError
from tlatrace.judgement.verdict import exit_code, kind
from tlatrace.report.results import TraceResult
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import write_trace
from tlatrace.values import Json

__all__ = ["command"]


@click.command(epilog="Example:  rocketproof records R --judge")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@out_option
@click.option(
    "--judge",
    is_flag=True,
    help="Hold each trace against the TLA+ text; the exit code is that of the worst verdict.",
)
@click.option(
    "--protocol",
    type=click.Choice([name for name, plug in PROTOCOLS.items() if plug.records is not None]),
    help="Take them for records of this protocol, whatever they are said to be of; of dledger only "
    "what members did, such as the controllers of a group.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(
    folder: Path, *, out: Path | None, judge: bool, protocol: str | None, as_json: bool
) -> None:
    """Merge what the nodes of a run wrote to DIR, one file a node, and make one trace of it.

    `simulate --records DIR` writes such files; traces/RECORDS.md says what is in them. The trace is
    partial: it shows what nodes know, and the judge searches for the rest. Records of
    sync_state_set are a trace for each master epoch.

    Exit codes: 0; with --judge 1 if a trace diverges, and 3 if one is undecided; 2 if the files
    are no records of one run.
    """
    try:
        logs = read_logs(folder)
    except OSError as error:
        where = error.filename or folder
        raise ToolError("records", f"cannot read {where}: {error.strerror}") from None
    plug = _plug(logs, protocol)
    logs = tuple(plug.own_logs(logs))
    if not logs:
        raise TraceFormatError(folder, None, f"no node has written anything of {plug.name}")
    traces = traces_of(plug, folder, logs)
    written = {} if out is None else _files(out, traces, plug)
    try:
        for path, trace in written.items():
            write_trace(path, trace)
    except OSError as error:
        raise ToolError("records", f"cannot write {error.filename}: {error.strerror}") from None
    results = judge_records(plug, folder, logs, traces) if judge else ()
    if as_json:
        click.echo(json.dumps(_figures(plug, logs, traces, results), sort_keys=True))
    else:
        _print(plug, logs, traces, written, results)
    if results:
        sys.exit(exit_code(verdict_of(results)))


def _plug(logs: Sequence[NodeLog], protocol: str | None) -> ProtocolPlug[Any]:
    """Find the protocol of logs, or the one that is asked for. Raises: TraceFormatError"""
    name = protocol or logs[0].header.protocol
    plug = PROTOCOLS.get(name)
    if plug is None or plug.records is None:
        raise TraceFormatError(logs[0].name, 1, f"no trace is made of records of {name!r}")
    return plug


def _files(out: Path, traces: Sequence[Trace], plug: ProtocolPlug[Any]) -> Mapping[Path, Trace]:
    if plug.traces_are is not None:
        return numbered_files(out, traces)
    (only,) = traces
    return {out: only}


def _print(
    plug: ProtocolPlug[Any],
    logs: Sequence[NodeLog],
    traces: Sequence[Trace],
    written: Iterable[Path],
    results: Sequence[TraceResult],
) -> None:
    records = sum(len(log.records) for log in logs)
    events = sum(len(trace.events) for trace in traces)
    of = "" if plug.traces_are is None else f" of {len(traces)} {plug.traces_are}"
    print_text(f"{plug.name}: {len(logs)} nodes, {records} records, {events} events{of}")
    for path in written:
        print_text(f"written to {path}")
    for result in results:
        print_text(result.summary)
    if len(results) > 1:
        print_text(f"verdict: {kind(verdict_of(results))}")


def _figures(
    plug: ProtocolPlug[Any],
    logs: Sequence[NodeLog],
    traces: Sequence[Trace],
    results: Sequence[TraceResult],
) -> dict[str, Json]:
    figures: dict[str, Json] = {
        "protocol": plug.name,
        "nodes": {log.header.node: len(log.records) for log in logs},
        "events": sum(len(trace.events) for trace in traces),
    }
    if results and plug.traces_are is not None:
        figures["traces"] = [result.to_json() for result in results]
        figures["verdict"] = kind(verdict_of(results))
    elif results:
        figures["trace"] = results[0].to_json()
    return figures
