"""`rocketproof corpus`: make and judge many traces, in processes or on Spark."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.options import SimOptions
from rocketproof.commands.simulation_options import (
    refuse_strange_options,
    refuse_without_traces,
    repeat_command,
    simulation_options,
)
from rocketproof.commands.spark_options import SparkPlace, open_spark, spark_options
from rocketproof.commands.spec_options import map_option, spec_options
from rocketproof.corpus_judge import AUTO, CORPUS_ENGINES, NATIVE, judge_corpora
from rocketproof.corpus_runs import simulated_runs
from rocketproof.names import Named
from rocketproof.output import print_text
from rocketproof.protocols import PROTOCOLS
from rocketproof.trace_inputs import SpecChoice, find_logs, find_trace_files
from tlatrace.errors import ToolError
from tlatrace.extras import installed, need
from tlatrace.harmless import harmless
from tlatrace.judgement.verdict import exit_code
from tlatrace.matching import read_mapping
from tlatrace.report.corpus_json import corpus_json
from tlatrace.report.corpus_text import corpus_text
from tlatrace.terminal import columns
from tlatrace.tools.java import find_java
from tlatrace.values import Json

if TYPE_CHECKING:  # imported when it is needed: `--help` waits neither for Arrow nor for Spark
    from tlatrace.corpus.finished import Generated
    from tlatrace.corpus.generate import MakeParts
    from tlatrace.corpus.validate import Driver

__all__ = ["command", "suited_driver"]

_EXIT_FAILED = 2
_FOLDER = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(path_type=Path)
_ALL = "all"
_AUTO, _LOCAL, _SPARK, _SORT = "auto", "local", "spark", "spark-sort"
_LOCAL_STEPS = 1_000_000
"""A corpus of so many steps is judged in less time than Spark needs to be worth its start."""
_IN_PROCESS = SparkPlace(None)
_MAKER = click.option(
    "--driver",
    type=click.Choice([_LOCAL, _SPARK]),
    default=_LOCAL,
    show_default=True,
    help="Who makes the parts: processes of this machine, or Spark tasks.",
)
_CORES = click.option(
    "--cores", type=click.IntRange(min=1), help="Tasks at a time; without it all cores."
)
_FORCE = click.option("--force", is_flag=True, help="Replace the corpus that is there.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")


def _sample(_: click.Context, __: click.Parameter, value: str) -> int | None:
    """Read a number; None for all."""
    if value == _ALL:
        return None
    if not value.isdecimal():
        raise click.BadParameter("neither a number nor all")
    return int(value)


@click.group(epilog="Example:  rocketproof corpus validate build/corpus")
def command() -> None:
    """Generate, import and validate many runs."""


@command.command(
    epilog="Example:  rocketproof corpus generate epoch_truncation --runs 2000 --out build/corpus"
)
@click.argument("protocol", type=Named(PROTOCOLS))
@click.option("--runs", type=click.IntRange(min=1), required=True, help="One run a seed.")
@click.option("--out", type=_FOLDER, required=True, metavar="DIR", help="A new or empty folder.")
@click.option("--first-seed", type=click.IntRange(min=0), default=0, show_default=True)
@simulation_options
@spark_options
@_MAKER
@_CORES
@_FORCE
@_JSON
def generate(
    options: SimOptions,
    *,
    protocol: str,
    runs: int,
    out: Path,
    first_seed: int,
    place: SparkPlace,
    driver: str,
    cores: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Simulate the implementation of PROTOCOL once for each seed and write the traces as Parquet.

    The same seeds give the same traces. A run that fails is a row with the reason. A run of
    sync_state_set is a trace for each master epoch: the second of seed 7 is named
    seed-0000000007/2. Traces of different constants become a corpus of each set of constants, in
    folders below DIR, and are judged together.

    Exit codes: 0 all runs are there, 2 some failed, or nothing could be written.
    """
    from tlatrace.corpus.generate import generate_corpus

    refuse_without_traces(protocol, "corpus")
    refuse_strange_options(options, PROTOCOLS[protocol].simulation)
    started = time.monotonic()
    reproduce = repeat_command(protocol, options)
    source: dict[str, Json] = {
        "kind": "simulation",
        "protocol": protocol,
        "bugs": [bug.value for bug in Bug if bug in options.bugs],
        "faults": [fault.value for fault in Fault if fault in options.faults],
        "command": reproduce,
    }
    with _parts(driver, cores, place) as make_parts:
        began = time.monotonic()
        made = generate_corpus(
            make_parts,
            out,
            simulated_runs(protocol, options),
            first_seed=first_seed,
            runs=runs,
            source=source,
            reproduce=reproduce,
            force=force,
        )
        ended = time.monotonic()
    plug = PROTOCOLS[protocol]
    what = "master epochs" if plug.has_master_epochs else "traces" if plug.traces_are else "runs"
    _print_made(made, out, what, (began - started, ended - began), as_json)


@command.command(
    "import", epilog="Example:  rocketproof corpus import traces/ --out build/recorded"
)
@click.argument("traces", nargs=-1, required=True, type=_FILE, metavar="TRACE...")
@click.option("--out", type=_FOLDER, required=True, metavar="DIR", help="A new or empty folder.")
@map_option
@_MAKER
@_CORES
@_FORCE
@_JSON
def import_(
    *,
    traces: tuple[Path, ...],
    map_file: Path | None,
    out: Path,
    driver: str,
    cores: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write recorded traces as a corpus; a folder stands for the traces in it.

    All traces must have the same specification, and show whole states. Those of different constants
    become a corpus of each set, in folders below DIR, and are judged together. With --map, they are
    logs of another system.

    Exit codes: 0 all traces are there, 2 some are unreadable, or nothing could be written.
    """
    from tlatrace.corpus.generate import import_corpus

    started = time.monotonic()
    mapping = None if map_file is None else read_mapping(map_file)
    files = find_trace_files(traces) if mapping is None else find_logs(traces, mapping)
    with _parts(driver, cores) as make_parts:
        began = time.monotonic()
        made = import_corpus(make_parts, out, files, mapping=mapping, force=force)
        ended = time.monotonic()
    _print_made(made, out, "traces", (began - started, ended - began), as_json)


@command.command(
    epilog="Example:  rocketproof corpus validate build/corpus --report build/report.html"
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@spec_options
@map_option
@click.option(
    "--engine",
    type=click.Choice(CORPUS_ENGINES),
    default=AUTO,
    show_default=True,
    help="Machine code, and Python for what is not sure; Python alone; or besides, TLC on a random"
    " sample, or all, and on what is rejected. auto: machine code if it is there, or soon is.",
)
@click.option(
    "--driver",
    type=click.Choice([_AUTO, _LOCAL, _SPARK, _SORT]),
    default=_AUTO,
    show_default=True,
    help="Processes of this machine, Spark tasks, or Spark tasks for steps in any order;"
    f" auto: Spark beyond {_LOCAL_STEPS:,} steps, if it is there, with Java.",
)
@click.option(
    "--store",
    type=_FOLDER,
    metavar="DIR",
    help="Keep what is accepted here, and do not judge it again.",
)
@click.option(
    "--sample",
    callback=_sample,
    metavar="N|all",
    default="1000",
    show_default=True,
    help="Accepted transitions that TLC judges, too; all: every one, in tasks, as the model does.",
)
@click.option(
    "--sample-seed",
    type=click.IntRange(min=0),
    default=0,
    help="Another sample.",
    show_default=True,
)
@click.option("--report", type=_FILE, metavar="FILE.html", help="Write a page about it.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Diverging traces, and undecided ones, that are listed.",
)
@spark_options
@_CORES
@_JSON
def validate(
    choice: SpecChoice,
    *,
    folder: Path,
    map_file: Path | None,
    engine: str,
    place: SparkPlace,
    driver: str,
    store: Path | None,
    sample: int | None,
    sample_seed: int,
    report: Path | None,
    limit: int,
    cores: int | None,
    as_json: bool,
) -> None:
    """Hold every trace of the corpus in DIR against the TLA+ text.

    Without --spec, the specification is found below the spec root by its name, its constants are
    those of the traces, and the invariants are those of the small model beside it. With --map, DIR
    holds logs of another system, which are imported first, into a folder that is deleted.

    Exit codes: 0 all conform, 1 some diverge, 3 some are undecided, or of runs that did not come
    back to life; 2 when DIR is no corpus or a tool fails.
    """
    if map_file is not None and place.master is not None:
        raise click.UsageError("--map writes a corpus of this machine: import, then use --master")
    if report is not None:
        need("report")
    if engine == NATIVE:
        need("native")
    with _imported(folder, map_file, cores) as corpus:
        result = judge_corpora(
            corpus,
            choice,
            lambda steps: _driver(driver, cores, steps, place),
            engine=engine,
            sample=sample,
            store=store,
            seed=sample_seed,
        )
        result = replace(result, folder=folder)
    if report is not None:
        from tlatrace.report.corpus_html import write_corpus_html

        try:
            write_corpus_html(report, result, limit)
        except OSError as error:
            raise click.FileError(str(report), error.strerror or "") from error
    if as_json:
        click.echo(json.dumps(corpus_json(result, limit), indent=2))
    else:
        click.echo(corpus_text(result, limit, columns()), nl=False)
        if report is not None:
            print_text(f"\nreport      {report}")
    sys.exit(exit_code(result.verdict))


@contextmanager
def _imported(folder: Path, map_file: Path | None, cores: int | None) -> Iterator[Path]:
    """Give the folder of a corpus: without a mapping the folder itself, else one of its logs."""
    if map_file is None:
        yield folder
        return
    from tlatrace.corpus.generate import import_corpus, make_here

    mapping = read_mapping(map_file)
    logs = find_logs([folder], mapping)
    with TemporaryDirectory(prefix="rocketproof-logs-", ignore_cleanup_errors=True) as temporary:
        corpus = Path(temporary) / "corpus"
        import_corpus(make_here(cores), corpus, logs, mapping=mapping)
        yield corpus


@contextmanager
def _parts(driver: str, cores: int | None, place: SparkPlace = _IN_PROCESS) -> Iterator[MakeParts]:
    """Choose who makes the parts of a corpus."""
    from tlatrace.corpus.generate import make_here

    if driver == _LOCAL:
        yield make_here(cores)
        return
    from tlatrace.corpus.on_spark import SparkParts

    with open_spark(place, cores) as spark:
        yield SparkParts(spark)


def suited_driver(steps: int) -> str:
    """Name the driver for a corpus of so many steps."""
    if steps <= _LOCAL_STEPS or not installed("spark"):
        return _LOCAL
    try:
        find_java()
    except ToolError:
        return _LOCAL
    return _SPARK


@contextmanager
def _driver(name: str, cores: int | None, steps: int, place: SparkPlace) -> Iterator[Driver]:
    """Choose who brings so many steps to the kernels."""
    from tlatrace.corpus.local import LocalDriver

    if name == _AUTO:
        name = suited_driver(steps)
    if name == _LOCAL:
        yield LocalDriver(cores)
        return
    from tlatrace.corpus.on_spark import ScanDriver, SortDriver

    with open_spark(place, cores) as spark:
        yield ScanDriver(spark) if name == _SPARK else SortDriver(spark, steps)


def _print_made(
    made: Generated, folder: Path, what: str, seconds: tuple[float, float], as_json: bool
) -> None:
    """Print what was made; exit with 2 if a trace is missing."""
    manifest = made.manifest
    if as_json:
        answer: dict[str, Json] = {
            "corpus": str(folder),
            "corpora": made.corpora,
            "spec": manifest.spec,
            "traces": manifest.traces,
            "steps": manifest.steps,
            "failed": manifest.failed,
            "failures": [{"trace": name, "reason": reason} for name, reason in made.failures],
            "seconds": {"start": round(seconds[0], 2), "work": round(seconds[1], 2)},
        }
        click.echo(json.dumps(answer, indent=2))
    else:
        rate = manifest.traces / max(seconds[1], 0.001)
        print_text(
            f"{harmless(str(folder))}: {manifest.traces:,} {what}, "
            f"{manifest.steps:,} steps of {manifest.spec}"
            + (f", a corpus for each of {made.corpora} sets of constants" * (made.corpora > 1))
            + f"\n{seconds[1]:.1f} s, {rate:,.0f} {what}/s"
            + (f", and {seconds[0]:.1f} s to start Spark" if seconds[0] > 0.5 else "")
        )
        for name, reason in made.failures:
            print_text(f"{harmless(name)} failed: {harmless(reason)}", err=True)
        if made.failures and manifest.reproduce is not None:
            print_text(f"make one again with: {manifest.reproduce}", err=True)
    if manifest.failed:
        if not as_json:
            click.echo(f"{manifest.failed:,} of {manifest.traces:,} {what} failed", err=True)
        sys.exit(_EXIT_FAILED)
