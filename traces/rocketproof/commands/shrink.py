"""`rocketproof shrink`: make a failing run small enough to read."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.commands.simulation_options import (
    refuse_strange_options,
    refuse_without_traces,
    simulation_options,
)
from rocketproof.failing import RunJudge
from rocketproof.names import Named
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import run_scheduled
from rocketproof.schedule import Scheduled, scheduled_json
from rocketproof.shrinking import DEFAULT_RUNS, Attempt, How, Shrinking, Shrunk
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import ToolError
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import write_trace

__all__ = ["command"]

_TRACE: Final = "shrunk.ndjson"
_SCHEDULE: Final = "schedule.json"


@click.command(
    epilog="Example:  rocketproof shrink replica_group --seed 11 --bug B14 --out build/b14"
)
@click.argument("protocol", type=Named(PROTOCOLS))
@click.option("--seed", type=click.IntRange(min=0), required=True, help="A seed whose run fails.")
@simulation_options
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=DEFAULT_RUNS,
    show_default=True,
    help="Runs to try at most.",
)
@click.option(
    "--own",
    is_flag=True,
    help="Leave out only; do not look among other draws of the seed for a shorter way to fail.",
)
@click.option(
    "--clients",
    is_flag=True,
    help="Ask only what clients saw, and whether it comes back to life.",
)
@click.option(
    "--last",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="Steps of the timeline to show.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help=f"Write the trace ({_TRACE}) and the schedule that repeats the run ({_SCHEDULE}) to DIR.",
)
@click.option("--spec-root", type=click.Path(path_type=Path), help="Folder of specifications.")
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(
    options: SimOptions,
    *,
    protocol: str,
    seed: int,
    runs: int,
    own: bool,
    clients: bool,
    last: int,
    out: Path | None,
    spec_root: Path | None,
    as_json: bool,
) -> None:
    """Leave out of a failing run of PROTOCOL whatever it fails without.

    The smaller run must fail in the same way: the same action is not allowed by the specification,
    the same promise to a client is broken, or it does not come back to life. Unless --own is given,
    runs of other draws, with the faults and brokers that are left, count as smaller ones, too.

    Exit codes: 0 done, 2 an error, 3 there is nothing to shrink: the run does not fail.
    """
    refuse_strange_options(options, PROTOCOLS[protocol].simulation)
    if not clients:
        refuse_without_traces(protocol, "shrink without --clients")
    run = Scheduled(protocol=protocol, seed=seed, options=options, schedule=UNRESTRICTED)
    console = Console(stderr=True)
    with console.status("the run itself") as status:

        def show(tried: int, best: Attempt) -> None:
            left = f"{len(best.injected)} points, {best.failure.step} steps"
            status.update(f"{tried} of at most {runs} runs: {left}")

        judge = RunJudge(None if clients else SpecChoice(spec_root=spec_root))
        search = Shrinking(judge, runs=runs, redraws=not own, on_progress=show)
        shrunk = search.shrink(run)
    if shrunk is None:
        click.echo(f"seed {seed} does not fail: there is nothing to shrink", err=True)
        sys.exit(3)
    final = _final(shrunk.after)
    made = run_scheduled(final)
    trace = made.traces[shrunk.after.failure.trace] if made.traces else made.trace
    has_trace = PROTOCOLS[protocol].has_traces
    if out is not None:
        _write(out, final, trace if has_trace else None)
    if as_json:
        click.echo(json.dumps(_figures(shrunk), sort_keys=True))
        return
    for line in _report(shrunk, trace, last):
        click.echo(line)
    if out is not None:
        written = [out / _TRACE, out / _SCHEDULE] if has_trace else [out / _SCHEDULE]
        click.echo(f"written to {' and '.join(map(str, written))}")
        schedule = shlex.quote(str(out / _SCHEDULE))
        judged = " --judge" if has_trace else ""
        click.echo(f"again:  rocketproof simulate {protocol}{judged} --schedule {schedule}")


def _final(attempt: Attempt) -> Scheduled:
    """Cut the trace after the step that is wrong."""
    if attempt.failure.how is not How.REJECTED:
        return attempt.run
    return replace(attempt.run, events=attempt.failure.step + 1)


def _write(out: Path, final: Scheduled, trace: Trace | None) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        if trace is not None:
            write_trace(out / _TRACE, trace)
        (out / _SCHEDULE).write_bytes(scheduled_json(final))
    except OSError as error:
        raise ToolError("shrink", f"cannot write {error.filename}: {error.strerror}") from None


def _report(shrunk: Shrunk, trace: Trace, last: int) -> Iterator[str]:
    before, after = shrunk.before, shrunk.after
    what = f" ({before.failure.what})" if before.failure.what else ""
    yield f"seed {before.run.seed}: {before.failure.how}{what}: {before.failure.words}"
    yield f"{'':24}{'before':>8}{'after':>8}"
    for name, was, now in (
        ("steps until it fails", before.failure.step, after.failure.step),
        ("faults and calls", len(before.injected), len(after.injected)),
        ("brokers", before.run.options.brokers, after.run.options.brokers),
        ("virtual ms", before.failure.at_ms, after.failure.at_ms),
    ):
        yield f"{name:24}{was:>8}{now:>8}"
    drawn = after.run.schedule.redrawn
    yield f"{shrunk.runs} runs tried" + (
        f"; the smaller run has other draws of the seed (number {drawn})" if drawn else ""
    )
    yield ""
    yield "what is left:" if after.injected else "no fault and no call is left"
    for injected in after.injected:
        yield f"{injected.at_ms:>7}  {injected.point.kind:<20}  {injected.words}"
    yield ""
    heading, *lines = timeline(trace)
    left_out = len(lines) - last
    if lines:
        yield heading
    if left_out > 0:
        yield f"    ... {left_out} steps"
    yield from lines[max(0, left_out) :]
    yield f"{after.failure.how}: {after.failure.words}"


def _figures(shrunk: Shrunk) -> dict[str, object]:
    return {
        "seed": shrunk.before.run.seed,
        "how": shrunk.before.failure.how,
        "what": shrunk.before.failure.what,
        "runs": shrunk.runs,
        "redrawn": shrunk.after.run.schedule.redrawn,
        "before": _size(shrunk.before),
        "after": _size(shrunk.after),
        "left": [
            {"at_ms": h.at_ms, "kind": h.point.kind, "words": h.words}
            for h in shrunk.after.injected
        ],
    }


def _size(attempt: Attempt) -> dict[str, int]:
    return {
        "brokers": attempt.run.options.brokers,
        "points": len(attempt.injected),
        "steps": attempt.failure.step,
        "virtual_ms": attempt.failure.at_ms,
    }
