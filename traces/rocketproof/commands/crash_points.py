"""`rocketproof crash-points`: the same run again and again, and each time a node ends elsewhere."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from rocketha.sim.engine.crash_points import ENDS, CrashPoint
from rocketha.sim.engine.options import SimOptions
from rocketproof.commands.seed_range import seed_range
from rocketproof.commands.simulation_options import (
    refuse_strange_options,
    refuse_without_traces,
    simulation_options,
)
from rocketproof.crash_points import (
    Crashed,
    crash_points,
    operation_points,
    run_crash_points,
)
from rocketproof.names import Named
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled, scheduled_json
from rocketproof.shrinking import How
from rocketproof.trace_inputs import SpecChoice

__all__ = ["command"]

_SHOWN: Final = 20
"""So many failing crash points are shown."""
_SCHEDULE: Final = "crash-point.json"
_SEAMS: Final = "seams"
_OPERATIONS: Final = "operations"
_PLACES: Final = (_SEAMS, _OPERATIONS)


def _seeds(_context: click.Context, _param: click.Parameter, text: str) -> range:
    return seed_range(text)


@click.command(epilog="Example:  rocketproof crash-points legacy_replication --seeds 1..2")
@click.argument("protocol", type=Named(PROTOCOLS))
@click.option(
    "--seeds", required=True, callback=_seeds, metavar="A..B", help="Both included, or one."
)
@simulation_options
@click.option(
    "--end",
    "ends",
    type=click.Choice([end.value for end in ENDS]),
    multiple=True,
    help="How nodes end; may be given more than once. Without it in every way.",
)
@click.option(
    "--at",
    "place",
    type=click.Choice(_PLACES),
    default=_SEAMS,
    show_default=True,
    help="Where nodes end: between effects, or before operations of their disks, in an effect or "
    "while they start.",
)
@click.option(
    "--alike",
    type=click.IntRange(min=1),
    help="Of operations that do the same to the same kind of file in the same kind of effect, try "
    "so many, which the seed draws. Without it all.",
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Try every Nth crash point only.",
)
@click.option(
    "--clients", is_flag=True, help="Ask only what clients saw, and whether runs come back to life."
)
@click.option("--workers", type=click.IntRange(1, 256), default=2, show_default=True)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help=f"Write the schedule of the first failing run ({_SCHEDULE}) to DIR.",
)
@click.option("--spec-root", type=click.Path(path_type=Path), help="Folder of the specifications.")
def command(
    options: SimOptions,
    *,
    protocol: str,
    seeds: range,
    ends: Sequence[str],
    place: str,
    alike: int | None,
    every: int,
    clients: bool,
    workers: int,
    out: Path | None,
    spec_root: Path | None,
) -> None:
    """End a node of PROTOCOL between any two effects of any step, one run for each.

    A run of a seed has a crash point for each two effects that follow each other in a step, of each
    node, and for each way to end there; with --at operations, before each operation that changes a
    disk or makes something durable, where the simulation has such disks: those of DLedger's
    members. Each is a run of its own, which is held against the TLA+ text by whole states and by
    what its nodes wrote, against what is promised to clients, and must come back to life.

    Exit codes: 0 all runs conform; 1 one does not; 3 runs did not come back to life, or no node
    ended at a crash point.
    """
    refuse_strange_options(options, PROTOCOLS[protocol].simulation)
    refuse_without_traces(protocol, "crash-points")
    chosen = [end for end in ENDS if not ends or end.value in ends]
    if alike is not None and place != _OPERATIONS:
        raise click.UsageError(f"--alike is for --at {_OPERATIONS}")
    runs: list[Scheduled] = []
    for seed in seeds:
        if place == _SEAMS:
            runs += crash_points(protocol, seed, options, chosen)
        else:
            kinds = operation_points(protocol, seed, options, chosen, alike=alike)
            runs += (run for some in kinds for run in some)
    choice = None if clients else SpecChoice(spec_root=spec_root)
    found = list(run_crash_points(runs[::every], choice, workers=workers))
    failing = sorted((one for one in found if one.how is not None), key=_place)
    for one in failing[:_SHOWN]:
        click.echo(f"{_where(one)}: {one.words}")
    if len(failing) > _SHOWN:
        click.echo(f"... and {len(failing) - _SHOWN} more")
    if failing and out is not None:
        _write(out, failing[0])
    struck = sum(one.struck for one in found)
    of = f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}"
    click.echo(
        f"{len(found)} of {len(runs)} crash points of {of}: a node ended at {struck}, "
        f"{len(failing)} failing"
    )
    sys.exit(_exit_code(struck, failing))


def _exit_code(struck: int, failing: Sequence[Crashed]) -> int:
    """Return 1 for a run that is wrong, 3 where runs are dead or nothing was put to the test."""
    if any(one.how in (How.REJECTED, How.BROKEN) for one in failing):
        return 1
    return 3 if failing or not struck else 0


def _place(one: Crashed) -> tuple[int, CrashPoint]:
    return one.scheduled.seed, one.point


def _where(one: Crashed) -> str:
    return f"seed {one.scheduled.seed}, {one.point}"


def _write(folder: Path, one: Crashed) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _SCHEDULE
    path.write_bytes(scheduled_json(one.scheduled))
    parts = ["rocketproof", "simulate", one.scheduled.protocol, "--schedule", str(path), "--judge"]
    click.echo(f"again: {shlex.join(parts)}")
