"""`rocketproof mutants`: every known bug, in the specification and in the implementation."""

from __future__ import annotations

import functools
import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import assert_never

import click
from rich.markup import escape

from rocketha.known_bugs import Bug
from rocketha.sim.engine.options import SimOptions
from rocketproof.commands.engine_option import engine_option, tell_engines
from rocketproof.commands.output_options import verbose_option
from rocketproof.commands.simulation_options import repeat_command
from rocketproof.counterexample import counterexample_lines, indented
from rocketproof.engines import Judges
from rocketproof.known_bugs import (
    DEFAULT_SEEDS,
    BugRow,
    Caught,
    NotCaught,
    NotTried,
    SearchResult,
    Unclear,
    search_seeds,
)
from rocketproof.names import did_you_mean
from rocketproof.native_entries import confirmed
from rocketproof.output import command_with, print_text
from rocketproof.progress_display import open_progress_display
from rocketproof.protocols import PROTOCOLS
from rocketproof.run_judge import by_constants
from rocketproof.runs import recorded_traces, simulate_traces
from rocketproof.trace_inputs import SpecChoice
from tlatrace.heartbeat import duration
from tlatrace.judgement.verdict import Diverges, Undecided, Verdict
from tlatrace.terminal import open_console, open_table
from tlatrace.tools.check import Engine
from tlatrace.tools.manifest import Manifest, Mutant, read_manifest
from tlatrace.tools.runs import check_entry
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Header, Trace

__all__ = ["command", "shown_again"]


@click.command(epilog="Example:  rocketproof mutants epoch_truncation")
@click.argument("protocol", required=False)
@click.option("--bug", "bugs", multiple=True, metavar="NAME", help="This row only; repeatable.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    help=f"Runs to try for each bug (the manifest's number, else {DEFAULT_SEEDS}).",
)
@click.option("--no-runs", is_flag=True, help="TLC only: do not run the implementation.")
@engine_option
@click.option("--records", is_flag=True, help="Judge runs by what each node wrote for itself.")
@click.option("--spec-root", type=click.Path(path_type=Path), help="Folder of specifications.")
@verbose_option
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(
    protocol: str | None,
    bugs: tuple[str, ...],
    seeds: int | None,
    no_runs: bool,
    engine: Engine,
    records: bool,
    spec_root: Path | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Find every known bug twice: in the TLA+ text by TLC, in the implementation by traces.

    Where the implementation has no switch for a bug, TLC decides alone, and the row says so. A row
    that is open comes with the command that shows why.

    Exit codes: 0 all rows closed, 1 a row is open, 2 an error, 3 nothing was examined.
    """
    manifest = read_manifest(find_spec_root(spec_root))
    if protocol is not None and protocol not in manifest.protocols:
        known = ", ".join(manifest.protocols)
        meant = did_you_mean(protocol, manifest.protocols)
        raise click.UsageError(
            f"{protocol!r} is no protocol of the manifest{meant} (known: {known})"
        )
    recorded = [name for name, plug in PROTOCOLS.items() if plug.records is not None]
    if records and protocol not in recorded:
        raise click.UsageError(f"--records is for one of: {', '.join(recorded)}")
    mutants = [m for m in manifest.mutants if protocol in (None, m.protocol)]
    unknown = sorted(set(bugs) - {m.name for m in mutants})
    if unknown:
        names = [m.name for m in mutants]
        meant, known = did_you_mean(unknown[0], names), ", ".join(names)
        raise click.UsageError(f"no such mutant: {', '.join(unknown)}{meant} (known: {known})")
    mutants = [m for m in mutants if not bugs or m.name in bugs]
    rows: list[BugRow] = []
    began = time.monotonic()
    with open_progress_display("starting TLC", quiet=as_json) as display:
        for number, mutant in enumerate(mutants, start=1):
            head, start = f"{number}/{len(mutants)}", time.monotonic()
            display.doing(f"{head} {mutant.name}: {mutant.title}")
            checked = confirmed(manifest, mutant) if engine == "native" else None
            checked = checked or check_entry(manifest, mutant)
            runs: SearchResult = NotTried()
            if mutant.bug and not no_runs:
                runs = _searched(manifest, mutant, seeds=seeds, records=records)
            row = BugRow(mutant=mutant, tlc=checked.row, runs=runs)
            rows.append(row)
            display.line(f"{head} {_text(row, no_runs)}, {time.monotonic() - start:.1f} s")
            if verbose or not row.tlc.ok:
                for line in (*filter(None, [row.tlc.message]), *counterexample_lines(checked.run)):
                    display.line(indented(line))
    again = functools.partial(
        shown_again, seeds=seeds, no_runs=no_runs, records=records, spec_root=spec_root
    )
    if as_json:
        answer = [{**_row_json(row, no_runs), "command": again(row)} for row in rows]
        click.echo(json.dumps(answer, indent=2))
    else:
        if verbose:
            _print_table(rows, no_runs)
        more = "" if verbose else command_with("--verbose")
        tell_engines(engine, [row.tlc for row in rows])
        print_text("\n".join(_summary(rows, no_runs, again, time.monotonic() - began, more)))
    if not rows:
        sys.exit(3)
    sys.exit(0 if all(_closed(row, no_runs) for row in rows) else 1)


def _searched(
    manifest: Manifest, mutant: Mutant, *, seeds: int | None, records: bool
) -> SearchResult:
    traces = recorded_traces if records else simulate_traces
    return search_seeds(
        functools.partial(traces, mutant.protocol, bugs=tuple(switches_of(mutant))),
        judge_of(manifest, by_tlc=not records),
        seeds=seeds or mutant.seeds or DEFAULT_SEEDS,
    )


def switches_of(mutant: Mutant) -> list[str]:
    """Return the switches of a bug; a name joins several bugs, or a bug and a property, by _."""
    known = PROTOCOLS[mutant.protocol].bugs if mutant.protocol in PROTOCOLS else frozenset()
    values = {bug.value for bug in known}
    return [part for part in mutant.name.split("_") if part in values]


def judge_of(
    manifest: Manifest, *, by_tlc: bool = True
) -> Callable[[Sequence[Trace]], list[Verdict]]:
    """Return a judge of traces: the compiled model, and TLC on the first trace that it rejects.

    TLC cannot be asked about partial traces.
    """
    choice = SpecChoice(spec_root=manifest.root)

    def judge(traces: Sequence[Trace]) -> list[Verdict]:
        verdicts: list[Verdict] = [Undecided("it has no event")] * len(traces)
        for told in by_constants(traces):
            some = [traces[at] for at in told]
            found = Judges(choice=choice).judge(_header(some[0]), some).verdicts
            for at, verdict in zip(told, found, strict=True):
                verdicts[at] = verdict
        for at, verdict in enumerate(verdicts):
            if isinstance(verdict, Diverges) and by_tlc:
                trace = traces[at]
                other = Judges(choice=choice, engine="tlc").judge(_header(trace), [trace])
                verdicts[at] = _agreed(verdict, other.verdicts[0])
                break
        return verdicts

    return judge


def _header(trace: Trace) -> Header:
    assert trace.header is not None, "the simulator writes a header"
    return trace.header


def _agreed(verdict: Diverges, by_tlc: Verdict) -> Verdict:
    if isinstance(by_tlc, Diverges) and by_tlc.step == verdict.step:
        return verdict
    return Undecided(f"the compiled model rejects step {verdict.step}, and TLC says: {by_tlc}")


def shown_again(
    row: BugRow, *, seeds: int | None, no_runs: bool, spec_root: Path | None, records: bool = False
) -> str | None:
    """Return the command that shows why a row is open; None for one that is closed.

    Where a run that should conform does not, it is that run; else both sides are asked once more.
    """
    if _closed(row, no_runs):
        return None
    mutant = row.mutant
    if row.tlc.ok and isinstance(row.runs, Caught) and spec_root is None and not records:
        bugs = frozenset([Bug(name) for name in switches_of(mutant)])
        options = SimOptions(brokers=PROTOCOLS[mutant.protocol].brokers, bugs=bugs)
        return repeat_command(mutant.protocol, options, row.runs.seed)
    parts = ["rocketproof", "mutants", mutant.protocol, "--bug", mutant.name]
    parts += [] if seeds is None else ["--seeds", str(seeds)]
    parts += ["--no-runs"] if no_runs else []
    parts += ["--records"] if records else []
    parts += [] if spec_root is None else ["--spec-root", str(spec_root)]
    return shlex.join(parts)


def _closed(row: BugRow, no_runs: bool) -> bool:
    return row.tlc.ok if no_runs else row.closed


def _runs_text(runs: SearchResult) -> str:
    match runs:
        case Caught(seed=seed, tried=tried, step=step, action=action):
            return f"caught after {tried} (seed {seed}, step {step}, {action})"
        case NotCaught(tried=tried):
            return f"none of {tried} diverges"
        case Unclear(seed=seed, reason=reason):
            return f"seed {seed} undecided: {reason}"
        case NotTried():
            return "TLC only"
        case _ as unreachable:
            assert_never(unreachable)


def _text(row: BugRow, no_runs: bool) -> str:
    """Say in a line what both sides found."""
    tlc = row.tlc.found if row.tlc.ok else f"{row.tlc.found} (expected: {row.tlc.expected})"
    runs = "not run" if no_runs and not row.tlc_only else _runs_text(row.runs)
    closed = "closed" if _closed(row, no_runs) else "OPEN"
    return f"{row.mutant.protocol} {row.mutant.name}: {tlc}; {runs}; {closed}"


def _print_table(rows: Sequence[BugRow], no_runs: bool) -> None:
    names = ("bug", "what is wrong", "found by TLC", "in the implementation: seeds", "")
    table = open_table("Known bugs", *names)
    for row in rows:
        closed = _closed(row, no_runs)
        table.add_row(
            row.mutant.name,
            escape(row.mutant.title),
            escape(row.tlc.found if row.mutant.expect == "killed" else "harmless here"),
            escape("not run" if no_runs and not row.tlc_only else _runs_text(row.runs)),
            "[green]closed[/]" if closed else "[red]OPEN[/]",
        )
    open_console().print(table)
    for row in rows:
        if row.mutant.reason is not None:
            print_text(f"{row.mutant.name} is harmless: {row.mutant.reason}.")


def _summary(
    rows: Sequence[BugRow],
    no_runs: bool,
    again: Callable[[BugRow], str | None],
    seconds: float,
    more: str,
) -> Iterator[str]:
    unseen = [row.mutant.name for row in rows if row.mutant.name in _unseen_switches(row)]
    if unseen:
        yield f"there is a switch, and no run was found that shows it: {', '.join(unseen)}"
    still_open = [row for row in rows if not _closed(row, no_runs)]
    for row in still_open:
        yield f"open: {_text(row, no_runs)}"
        yield f"  {again(row)}"
    alone = sum(row.tlc_only for row in rows)
    counts = f"{len(rows)} rows, {len(still_open)} open, {alone} by TLC only"
    yield f"{counts}; {duration(seconds)}"
    if more:
        yield f"more:  {more}"


def _unseen_switches(row: BugRow) -> list[str]:
    return switches_of(row.mutant) if row.tlc_only else []


def _row_json(row: BugRow, no_runs: bool) -> dict[str, object]:
    return {
        "bug": row.mutant.name,
        "protocol": row.mutant.protocol,
        "title": row.mutant.title,
        "expect": row.mutant.expect,
        "tlc": asdict(row.tlc),
        "runs": {"outcome": type(row.runs).__name__, **asdict(row.runs)},
        "tlc_only": row.tlc_only,
        "closed": _closed(row, no_runs),
    }
