"""`rocketproof mutate-implementation`: small mutations of the cores, and which runs reject them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Container, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import click

from rocketproof import protocols
from rocketproof.commands.seed_range import seed_range
from rocketproof.commands.simulation_options import refuse_without_traces
from rocketproof.implementation_mutation.equivalents import read_equivalents
from rocketproof.implementation_mutation.measure import (
    Measurement,
    MutationResult,
    Sample,
    measured,
)
from rocketproof.implementation_mutation.mutation import Mutation
from rocketproof.implementation_mutation.report import (
    measurement_json,
    measurement_text,
    result_line,
)
from rocketproof.implementation_mutation.sampling import all_mutations, core_folders, draw
from rocketproof.implementation_mutation.type_check import TypeCheck, has_type_checker
from rocketproof.names import Named
from rocketproof.output import print_text
from rocketproof.progress_display import open_progress_display
from rocketproof.protocols import PROTOCOLS
from tlatrace.heartbeat import duration
from tlatrace.tools.spec_root import find_spec_root

__all__ = ["command"]

_PERCENT: Final = click.FloatRange(0, 100)
_EQUIVALENTS: Final = "equivalent_mutations.toml"
"""The file of a protocol, beside its plug."""


@click.command(
    epilog="Example:  rocketproof mutate-implementation lock_quorum --sample 40 --seed 1"
)
@click.argument("protocol", type=Named(PROTOCOLS))
@click.option("--sample", type=click.IntRange(min=0), default=40, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of mutations.")
@click.option(
    "--seeds",
    default="0..19",
    show_default=True,
    metavar="A..B",
    help="Runs of each mutation, as far as they come to its lines.",
)
@click.option("--unit-tests", is_flag=True, help="Run the unit tests of the cores, too (checkout).")
@click.option(
    "--equivalents",
    type=click.Path(path_type=Path),
    help=f"Mutations known to be equivalent ({_EQUIVALENTS} of the protocol, if there is one).",
)
@click.option("--only", "ids", multiple=True, metavar="ID", help="This mutation; repeatable.")
@click.option("--at-least-traces", type=_PERCENT, metavar="PERCENT", help="For exit code 0.")
@click.option("--at-least-all", type=_PERCENT, metavar="PERCENT", help="For exit code 0.")
@click.option("--workers", type=click.IntRange(1, 256), default=2, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(
    *,
    protocol: str,
    sample: int,
    seed: int,
    seeds: str,
    unit_tests: bool,
    equivalents: Path | None,
    ids: tuple[str, ...],
    at_least_traces: float | None,
    at_least_all: float | None,
    workers: int,
    as_json: bool,
) -> None:
    """Mutate the cores of PROTOCOL one by one, run each, and count who rejects how many.

    A mutation is a small change of the text: a comparison, a guard, a number, an effect that is
    dropped or comes in another order, a field that keeps its value, a write that is not flushed.
    Its runs are judged by the TLA+ text, by what clients saw, by whether they live, and by what
    nodes owe; errors are counted, too. What survives all of them is shown as a diff.

    Of what survives until then, a node ends at some crash points of the first seeds.

    Mutations that only move a timer, those known to change nothing, and those that mypy refuses
    (where it is installed) are counted apart. Those to which no run comes count as not rejected.

    Exit codes: 0; 1 if a rate is below what is asked for; 2 if runs are rejected as they are; 3 if
    no mutation was examined.
    """
    refuse_without_traces(protocol, "mutate-implementation")
    plug = PROTOCOLS[protocol]
    runs = seed_range(seeds)
    path = equivalents or Path(protocols.__file__).parent / protocol / _EQUIVALENTS
    known = read_equivalents(path) if equivalents or path.is_file() else {}
    every = all_mutations(plug.cores)
    chosen = [one for one in every if one.id in ids]
    unknown = sorted(set(ids) - {one.id for one in chosen})
    if unknown:
        raise click.UsageError(f"no such mutation: {', '.join(unknown)}")
    refused: Mapping[str, str] = {}
    if not ids:
        chosen, refused = _drawn(every, sample, seed, known)
    asked = Sample(
        protocol=protocol,
        mutations=chosen,
        seeds=runs,
        equivalents=known,
        refused=refused,
        tests=_tests_of(plug.cores) if unit_tests else (),
    )
    began, results = time.monotonic(), list[MutationResult]()
    with open_progress_display("the implementation as it is", quiet=as_json) as display:
        for result in measured(asked, workers=workers):
            results.append(result)
            display.line(f"{len(results)}/{len(chosen)} {result_line(result)}")
            display.doing(f"{len(results)} of {len(chosen)} mutations")
    results.sort(key=lambda one: chosen.index(one.mutation))
    found = Measurement(asked, results)
    if as_json:
        click.echo(json.dumps(measurement_json(found), indent=2))
    else:
        print_text("\n".join(measurement_text(found)))
        for one in sorted(known.keys() - {one.id for one in every}):
            print_text(f"known to be equivalent, and there is no such mutation: {one}")
        print_text(duration(time.monotonic() - began))
    sys.exit(_exit_code(found, at_least_traces, at_least_all))


def _drawn(
    every: Sequence[Mutation], sample: int, seed: int, known: Container[str]
) -> tuple[list[Mutation], Mapping[str, str]]:
    """Draw mutations, and find those among them that the type checker refuses, with its reasons."""
    refused: dict[str, str] = {}
    with TypeCheck() if has_type_checker() else nullcontext() as types:
        if types is None:
            print_text("mypy is not installed: what it would refuse is counted", err=True)

        def is_apart(one: Mutation) -> bool:
            if one.moves_timer or one.id in known:
                return True
            error = None if types is None else types.refuses(one)
            if error is not None:
                refused[one.id] = error
            return error is not None

        return draw(every, sample, seed, is_apart), refused


def _exit_code(
    found: Measurement, at_least_traces: float | None, at_least_all: float | None
) -> int:
    if not any(one.runs for one in found.results):
        return 3
    below = [
        group
        for group, least in (("traces", at_least_traces), ("all", at_least_all))
        if least is not None and found.rate(group).percent < least
    ]
    return 1 if below else 0


def _tests_of(cores: tuple[str, ...]) -> tuple[Path, ...]:
    """Find the folders of unit tests. Raises: click.UsageError"""
    root = find_spec_root().parent / "tests" / "impl"
    folders = [root / folder for folder in core_folders(cores) if (root / folder).is_dir()]
    if not folders:
        raise click.UsageError("--unit-tests: the tests are not installed, only in a checkout")
    return tuple(folders)
