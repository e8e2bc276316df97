"""`rocketproof simulate`: one run of the implementation under faults, as a trace or as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import click

from rocketha.bugs import Bug
from rocketha.sim import ALL_FAULTS, NO_FAULTS, Fault, Faults, SimOptions, SimReport
from rocketha.sim.options import BROKERS_MAX, STEPS_MAX
from rocketproof.projection import PROTOCOLS
from rocketproof.timeline import timeline
from tlatrace.errors import ToolError
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import write_trace

__all__ = ["command"]

_SUFFIXES: Final = (".ndjson", ".ndjson.gz")


def _faults(_context: click.Context, _param: click.Parameter, text: str) -> Faults:
    if text == "all":
        return ALL_FAULTS
    if text == "none":
        return NO_FAULTS
    known = {fault.value: fault for fault in Fault}
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise click.BadParameter(f"{name!r} is none of all, none, {', '.join(known)}.")
    return frozenset(known[name] for name in names)


def _out(_context: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and not path.name.endswith(_SUFFIXES):
        raise click.BadParameter(f"{path.name!r} does not end with {' or '.join(_SUFFIXES)}.")
    return path


@click.command(
    epilog="Example:  rocketproof simulate epoch_truncation --seed 7 --out run.ndjson",
)
@click.argument("protocol", type=click.Choice(list(PROTOCOLS)))
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Same seed, same run.")
@click.option(
    "--faults",
    default="all",
    show_default=True,
    callback=_faults,
    metavar="LIST|all|none",
    help="Faults that may happen: " + ", ".join(Fault) + ".",
)
@click.option(
    "--bug",
    "bugs",
    type=click.Choice([bug.value for bug in Bug]),
    multiple=True,
    help="Put a known bug into the implementation; may be given more than once.",
)
@click.option("--brokers", type=click.IntRange(1, BROKERS_MAX), default=3, show_default=True)
@click.option(
    "--steps",
    type=click.IntRange(0, STEPS_MAX),
    help="Actions before the faults end; without it the seed decides.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_out,
    metavar="FILE",
    help="Write the trace to FILE, which ends with .ndjson or .ndjson.gz.",
)
@click.option("--timeline", "show", is_flag=True, help="Print the timeline, with --out, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures of the run as JSON only.")
def command(
    *,
    protocol: str,
    seed: int,
    faults: Faults,
    bugs: tuple[str, ...],
    brokers: int,
    steps: int | None,
    out: Path | None,
    show: bool,
    as_json: bool,
) -> None:
    """Run the implementation of PROTOCOL once, with faults that the seed draws.

    Without --out it prints a timeline: one line an action, with what the action changed.
    """
    strange = sorted({Bug(name) for name in bugs} - PROTOCOLS[protocol].bugs)
    if strange:
        known = ", ".join(sorted(PROTOCOLS[protocol].bugs))
        raise click.UsageError(f"{protocol} has no bug {strange[0]} (it has {known})")
    options = SimOptions(
        brokers=brokers,
        steps=steps,
        faults=faults,
        bugs=frozenset(Bug(name) for name in bugs),
    )
    run = PROTOCOLS[protocol].run(seed, options)
    if out is not None:
        try:
            write_trace(out, run.trace)
        except OSError as error:
            raise ToolError("simulate", f"cannot write {out}: {error.strerror}") from None
    if as_json:
        click.echo(json.dumps(_figures(run.report, run.trace), sort_keys=True))
        return
    if out is None or show:
        for line in timeline(run.trace):
            click.echo(line)
    click.echo(_summary(run.report, run.trace))
    if out is not None:
        click.echo(f"written to {out}")


def _summary(report: SimReport, trace: Trace) -> str:
    faults = ", ".join(f"{name} {count}" for name, count in report.faults.items()) or "none"
    end = "converged" if report.converged else "did not converge"
    if report.failure is not None:
        end = f"ended early: {report.failure}"
    seconds = report.virtual_ms / 1000
    return (
        f"seed {report.seed}: {len(trace.events)} events in {seconds:.1f} virtual seconds, {end}\n"
        f"faults: {faults}"
    )


def _figures(report: SimReport, trace: Trace) -> dict[str, object]:
    return {
        "converged": report.converged,
        "events": len(trace.events),
        "failure": report.failure,
        "faults": dict(report.faults),
        "seed": report.seed,
        "virtual_ms": report.virtual_ms,
    }
