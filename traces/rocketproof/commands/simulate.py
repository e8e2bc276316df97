"""`rocketproof simulate`: one run of the implementation under faults, as a trace or as text."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from rocketha.histories import write_history
from rocketha.histories.clients import GroupClients
from rocketha.recording.node_log import RecordFiles
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketha.sim.engine.report import SimReport
from rocketproof.commands.simulation_options import (
    refuse_strange_options,
    refuse_without_traces,
    simulation_options,
)
from rocketproof.commands.trace_output import numbered_files, out_option
from rocketproof.names import Named
from rocketproof.output import print_text
from rocketproof.plug import ProtocolPlug, Run
from rocketproof.protocols import PROTOCOLS
from rocketproof.run_judge import judge_traces, run_verdict, verdict_lines
from rocketproof.runs import run_scheduled
from rocketproof.schedule import Scheduled, read_scheduled
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import ToolError
from tlatrace.judgement.verdict import exit_code, kind
from tlatrace.report.results import TraceResult
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import write_trace

__all__ = ["command"]


@click.command(
    epilog="Example:  rocketproof simulate epoch_truncation --seed 7 --out run.ndjson",
)
@click.argument("protocol", type=Named(PROTOCOLS))
@click.option("--seed", type=click.IntRange(min=0), help="Same seed, same run.")
@simulation_options
@click.option(
    "--schedule",
    "schedule_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The run of FILE, which `shrink` wrote, instead of that of a seed.",
)
@out_option
@click.option(
    "--master-epoch",
    type=click.IntRange(min=1),
    metavar="K",
    help="sync_state_set: the K-th master epoch of the run only.",
)
@click.option(
    "--history",
    "history_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="replica_group: write what clients saw to FILE, as JSON lines.",
)
@click.option(
    "--records",
    "records_folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Have each node write what it saw and did to a file in DIR, which is new or empty.",
)
@click.option(
    "--judge",
    is_flag=True,
    help="Hold the run against the TLA+ text at once; the exit code is that of the verdict.",
)
@click.option(
    "--timeline", "show", is_flag=True, help="Print the timeline, with --out and --judge, too."
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures of the run as JSON only.")
def command(
    options: SimOptions,
    *,
    protocol: str,
    seed: int | None,
    schedule_file: Path | None,
    out: Path | None,
    master_epoch: int | None,
    history_file: Path | None,
    records_folder: Path | None,
    judge: bool,
    show: bool,
    as_json: bool,
) -> None:
    """Run the implementation of PROTOCOL once, with faults that the seed draws.

    Without --out, --records and --judge it prints a timeline: one line an action, with what the
    action changed; of a protocol without traces, one line for each thing that befell its nodes.
    Runs have clients, too: producers, consumers, or who reads registers and the logs of replicas.
    What they saw is held against what is promised to them. A run of sync_state_set is one of
    replica_group, told as a trace for each master epoch.

    Exit codes: 0; 1 if a promise to a client is broken or, with --judge, the run diverges; 3 if it
    does not come back to life when its faults end or, with --judge, is undecided.
    """
    if out is not None or judge:
        refuse_without_traces(protocol, "--out" if out is not None else "--judge")
    scheduled = _scheduled(protocol, seed, options, schedule_file)
    if records_folder is not None:
        _refuse_folder(protocol, records_folder)
    run = run_scheduled(scheduled)
    history = run.clients.history if isinstance(run.clients, GroupClients) else None
    if history_file is not None and history is None:
        raise click.UsageError(f"{protocol} has no history to write")
    plug = PROTOCOLS[protocol]
    traces = _chosen(run, master_epoch, plug)
    is_one = master_epoch is not None or plug.traces_are is None
    written = {} if out is None else _files(out, traces, is_one=is_one)
    try:
        for path, trace in written.items():
            write_trace(path, trace)
        if history_file is not None and history is not None:
            write_history(history_file, history)
    except OSError as error:
        raise ToolError("simulate", f"cannot write {error.filename}: {error.strerror}") from None
    others = [] if history_file is None else [history_file]
    if records_folder is not None:
        others += _write_records(scheduled, records_folder)
    results = judge_traces(traces, list(written), SpecChoice()) if judge else None
    if as_json:
        click.echo(json.dumps(_figures(run, traces, results), sort_keys=True))
    else:
        if show or (out is None and records_folder is None and not judge):
            for trace in traces:
                for line in (*_heading(trace), *timeline(trace)):
                    click.echo(line)
            if not plug.has_traces:
                for one in run.injected:
                    click.echo(f"{one.at_ms:>7}  {one.point.kind:<20}  {one.words}")
        _print(run, traces, [*written, *others], results, plug)
    verdict = run_verdict(run, results)
    sys.exit(0 if verdict is None else exit_code(verdict))


def _print(
    run: Run,
    traces: tuple[Trace, ...],
    files: Sequence[Path],
    results: tuple[TraceResult, ...] | None,
    plug: ProtocolPlug[Any],
) -> None:
    click.echo(_summary(run.report, traces, plug))
    click.echo(f"history: {run.verdict.in_words()}")
    for file in files:
        click.echo(f"written to {file}")
    if results is not None:
        for line in verdict_lines(run, traces, results):
            print_text(line)


def _chosen(run: Run, master_epoch: int | None, plug: ProtocolPlug[Any]) -> tuple[Trace, ...]:
    """Return the traces that are asked for. Raises: UsageError"""
    if master_epoch is None:
        return run.traces
    if not plug.has_master_epochs:
        raise click.UsageError("only sync_state_set has master epochs")
    if master_epoch > len(run.traces):
        raise click.UsageError(f"the run has {len(run.traces)} master epochs")
    return (run.traces[master_epoch - 1],)


def _files(out: Path, traces: tuple[Trace, ...], *, is_one: bool) -> dict[Path, Trace]:
    """Name the file of each trace: run.ndjson, or run-1.ndjson, run-2.ndjson, ..."""
    if is_one:
        (only,) = traces
        return {out: only}
    return numbered_files(out, traces)


def _heading(trace: Trace) -> list[str]:
    """Say which master epoch it is, and who is who."""
    master_epoch = None if trace.header is None else trace.header.meta.get("master_epoch")
    if not isinstance(master_epoch, dict) or not isinstance(master_epoch["brokers"], dict):
        return []
    names = ", ".join(f"{name} is {broker}" for name, broker in master_epoch["brokers"].items())
    return ["", f"master epoch {master_epoch['number']}, of epoch {master_epoch['epoch']}: {names}"]


def _scheduled(
    protocol: str, seed: int | None, options: SimOptions, schedule_file: Path | None
) -> Scheduled:
    """Return the run that is asked for. Raises: UsageError, TraceFormatError"""
    if schedule_file is None:
        if seed is None:
            raise click.UsageError("Missing option '--seed' (or '--schedule').")
        refuse_strange_options(options, PROTOCOLS[protocol].simulation)
        return Scheduled(protocol=protocol, seed=seed, options=options, schedule=UNRESTRICTED)
    if seed is not None or options != SimOptions(brokers=PROTOCOLS[protocol].brokers):
        raise click.UsageError("--schedule says what the run is; there is no more to say")
    has_bugs = {name: plug.bugs for name, plug in PROTOCOLS.items()}
    scheduled = read_scheduled(schedule_file, has_bugs)
    if protocol != scheduled.protocol:
        raise click.UsageError(f"{schedule_file} is a schedule of {scheduled.protocol}")
    return scheduled


def _refuse_folder(protocol: str, folder: Path) -> None:
    """Refuse to write records that would be none, or beside other files. Raises: UsageError"""
    if PROTOCOLS[protocol].records is None:
        having = ", ".join(name for name, plug in PROTOCOLS.items() if plug.records is not None)
        raise click.UsageError(f"nodes of {protocol} write no records (those of {having} do)")
    try:
        is_empty = not folder.exists() or not any(folder.iterdir())
    except OSError as error:
        raise ToolError("simulate", f"cannot read {folder}: {error.strerror}") from None
    if not is_empty:
        raise click.UsageError(f"{folder} is not empty")


def _write_records(scheduled: Scheduled, folder: Path) -> list[Path]:
    """Run it again, which is the same run, and have its nodes recorded; return the files."""
    try:
        with RecordFiles(folder) as files:
            PROTOCOLS[scheduled.protocol].record(scheduled, files.write)
        return sorted(folder.iterdir())
    except OSError as error:
        where = error.filename or folder
        raise ToolError("simulate", f"cannot write {where}: {error.strerror}") from None


def _summary(report: SimReport, traces: tuple[Trace, ...], plug: ProtocolPlug[Any]) -> str:
    faults = ", ".join(f"{name} {count}" for name, count in report.faults.items()) or "none"
    end = "converged" if report.converged else "did not converge"
    if report.unavailable_because is not None:
        end += f": {report.unavailable_because}"
    if report.failure is not None:
        end = f"ended early: {report.failure}"
    seconds = report.virtual_ms / 1000
    of = f" of {len(traces)} {plug.traces_are}" if plug.traces_are and len(traces) != 1 else ""
    done = f"{_events(traces)} events{of}" if plug.has_traces else f"{report.actions} actions"
    return f"seed {report.seed}: {done} in {seconds:.1f} virtual seconds, {end}\nfaults: {faults}"


def _events(traces: tuple[Trace, ...]) -> int:
    return sum(len(trace.events) for trace in traces)


def _figures(
    run: Run, traces: tuple[Trace, ...], results: tuple[TraceResult, ...] | None
) -> dict[str, object]:
    report, verdict = run.report, run.verdict
    figures: dict[str, object] = {
        "converged": report.converged,
        "events": _events(traces),
        "failure": report.failure,
        "faults": dict(report.faults),
        "seed": report.seed,
        "virtual_ms": report.virtual_ms,
    }
    if verdict is not None:
        figures["history"] = verdict.in_words()
    if results is not None:
        figures["traces"] = [result.to_json() for result in results]
        verdict_of_all = run_verdict(run, results)
        assert verdict_of_all is not None, "it was judged"
        figures["verdict"] = kind(verdict_of_all)
    return figures
