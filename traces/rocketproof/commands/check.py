"""`rocketproof check`: run TLC and compare with the manifest, or run it on any specification."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import click
from click.core import ParameterSource

from rocketproof.commands.output_options import verbose_option
from rocketproof.counterexample import indented
from rocketproof.counterexample_files import ItfFiles
from rocketproof.entry_display import EntryDisplay, print_table, summary
from rocketproof.file_check import FileCheck, by_model, by_tlc, describe_jar
from rocketproof.names import did_you_mean
from rocketproof.output import command_with, print_text
from rocketproof.progress_display import ProgressDisplay, open_progress_display
from rocketproof.rings import Progress, expected_seconds
from tlatrace.extras import need
from tlatrace.tools.check import CheckRow, exit_code
from tlatrace.tools.jar import TlcJar, find_jar, open_jar
from tlatrace.tools.manifest import Manifest, TlcModel, Witness, read_manifest
from tlatrace.tools.measured import MEASURED_NAME
from tlatrace.tools.measurements import Measurements, refuse_shipped
from tlatrace.tools.runs import CheckedEntry, check_entry
from tlatrace.tools.spec_root import find_spec_root

_OF_FILES: Final = ("config", "libraries", "no_deadlock", "engine", "choose_any", "max_states")
"""Parameters that only FILE.tla has."""


@click.command(epilog="Example:  rocketproof check epoch_truncation --model small")
@click.argument("target", metavar="[PROTOCOL|FILE.tla]", required=False)
@click.option("--model", "model_name", metavar="NAME", help="Check this model only.")
@click.option("--all", "everything", is_flag=True, help="Check the models of the weekly ring, too.")
@click.option("--config", type=click.Path(path_type=Path), help="Configuration for FILE.tla.")
@click.option(
    "--library",
    "libraries",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Look for the modules of FILE.tla here, too.",
)
@click.option("--no-deadlock", is_flag=True, help="FILE.tla may have states without a successor.")
@click.option(
    "--engine",
    type=click.Choice(["tlc", "compiled", "native"]),
    default="tlc",
    show_default=True,
    help="Who searches the states of FILE.tla: TLC, the compiled model, or machine code of it.",
)
@click.option("--choose-any", is_flag=True, help="CHOOSE may take any: the compiled model does.")
@click.option("--max-states", type=click.IntRange(1), help="Where the compiled model gives up.")
@click.option("--workers", type=click.IntRange(1), help="TLC's threads (depths need one).")
@click.option("--timeout", "timeout_s", default=3600.0, show_default=True, help="Seconds a run.")
@click.option("--jar", "jar_path", type=click.Path(path_type=Path), help="Another TLC jar.")
@click.option("--spec-root", type=click.Path(path_type=Path), help="Folder of specifications.")
@click.option(
    "--itf",
    type=click.Path(path_type=Path),
    metavar="FOLDER|FILE.itf.json",
    help="Write counterexamples in the Informal Trace Format, expected ones, too.",
)
@click.option("--record", "write", is_flag=True, help=f"Write new counts into {MEASURED_NAME}.")
@verbose_option
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(
    target: str | None,
    model_name: str | None,
    everything: bool,
    config: Path | None,
    libraries: tuple[Path, ...],
    no_deadlock: bool,
    engine: str,
    choose_any: bool,
    max_states: int | None,
    workers: int | None,
    timeout_s: float,
    jar_path: Path | None,
    spec_root: Path | None,
    itf: Path | None,
    write: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Run TLC and compare its result with the one that the manifest expects.

    Without --model: the models of the push ring, and the witnesses, situations that must be
    reached. A violation that is not expected is printed step by step; with --verbose every one is.
    A FILE.tla is checked by its configuration, by default the one with its name; with --engine
    compiled or native by the model that judges traces: all but liveness, whose names are said.
    Machine code names the actions that were never taken, and counts the others with --verbose.

    Exit codes: 0 as expected, 1 not, 2 an error in a specification or a tool, 3 undecided.
    """
    jar = open_jar(jar_path) if jar_path is not None else find_jar()
    if target is not None and target.endswith(".tla"):
        module = Path(target)
        job = FileCheck(
            module=module,
            config=config or module.with_suffix(".cfg"),
            libraries=libraries,
            deadlock=not no_deadlock,
            workers=workers or 1,
            timeout_s=timeout_s,
            max_states=max_states,
            choose_any=choose_any,
            native=engine == "native",
        )
        _check_file(job, jar if engine == "tlc" else None, itf, as_json=as_json, verbose=verbose)
    _refuse_options_of_files()
    manifest = read_manifest(find_spec_root(spec_root))
    if write:
        refuse_shipped(manifest)
    entries = _choose(manifest, target, model_name, everything)
    files = None if itf is None else ItfFiles(itf, several=len(entries) > 1)
    measurements, began = Measurements(manifest.measured), time.monotonic()
    with open_progress_display("starting TLC", quiet=as_json) as display:
        shown = EntryDisplay(display, measurements, verbose=verbose)
        results = _run_entries(
            *(manifest, entries, shown, measurements, partial(_keep, files, display)),
            workers=workers,
            timeout_s=timeout_s,
            jar=jar,
        )
    if files is not None and files.summary():
        print_text(files.summary(), err=True)
    if write:
        _record(manifest, measurements, results, jar.version)
    rows = [checked.row for checked in results]
    if as_json:
        answer = {"jar": describe_jar(jar), "rows": [asdict(row) | {"ok": row.ok} for row in rows]}
        click.echo(json.dumps(answer, indent=2))
    else:
        _print(rows, f"of {target or 'the manifest'}", time.monotonic() - began, verbose)
    sys.exit(exit_code(rows))


def _record(
    manifest: Manifest, measurements: Measurements, results: Sequence[CheckedEntry], tlc: str
) -> None:
    """Write the counts that are new, and say which."""
    today = datetime.now(UTC).date()
    new = [one.entry for one in results if measurements.record(one, on=today, tlc=tlc)]
    measurements.write(manifest, dict.fromkeys(entry.protocol for entry in new))
    names = ", ".join(f"{entry.protocol}/{entry.name}" for entry in new)
    click.echo(f"recorded in {MEASURED_NAME}: {names or 'nothing new'}", err=True)


def _keep(files: ItfFiles | None, display: ProgressDisplay, checked: CheckedEntry) -> None:
    """Write a counterexample to where it is wanted, expected or not."""
    if files is not None and checked.run.states:
        entry = checked.entry
        name = f"{entry.protocol}-{entry.name}"
        written = files.write(checked.run, name, entry.module.stem, checked.row.found)
        display.line(indented(written))


def _print(rows: Sequence[CheckRow], what: str, seconds: float, verbose: bool) -> None:
    if verbose:
        print_table(rows, "What TLC found")
    more = "" if verbose else command_with("--verbose")
    print_text(summary(rows, what, seconds, more))


def _refuse_options_of_files() -> None:
    """Refuse options that say nothing of the manifest's entries. Raises: click.UsageError"""
    context = click.get_current_context()
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if param.name not in _OF_FILES or source is ParameterSource.DEFAULT:
            continue
        if context.params[param.name] != param.default:
            raise click.UsageError(f"{param.opts[0]} goes with a FILE.tla")


def _check_file(
    job: FileCheck, jar: TlcJar | None, itf: Path | None, *, as_json: bool, verbose: bool
) -> NoReturn:
    """Check a specification that no manifest describes, without a jar by the compiled model."""
    files = None if itf is None else ItfFiles(itf, several=False)
    if job.native:
        need("native")
    with open_progress_display("searching", quiet=as_json) as display:

        def show(name: str, found: int, to_do: int) -> None:
            display.doing(f"{name}: {found:,} states, {to_do:,} to do")

        found = by_model(job, show) if jar is None else by_tlc(job, jar, show)
    if files is not None:
        what = f"{found.outcome}: {found.violated}"
        written = files.write(found, job.module.stem, job.module.stem, what) if found.states else ""
        print_text(written or files.summary(), err=True)
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2))
    else:
        print_text(found.as_text(verbose=verbose))
    sys.exit(found.exit_code)


def _run_entries(
    manifest: Manifest,
    entries: Sequence[TlcModel | Witness],
    shown: EntryDisplay,
    measurements: Measurements,
    keep: Callable[[CheckedEntry], None],
    *,
    workers: int | None,
    timeout_s: float,
    jar: TlcJar,
) -> list[CheckedEntry]:
    """Check them one after the other; `keep` says what to print of a counterexample besides."""
    results: list[CheckedEntry] = []
    progress = Progress(expected_seconds(entries, measurements), jobs=1)
    for entry in entries:
        shown.begins(entry)
        checked = check_entry(
            manifest,
            entry,
            workers=workers,
            timeout_s=timeout_s,
            jar=jar,
            on_progress=partial(shown.seen, entry),
        )
        shown.ends(checked)
        progress.take(checked.row)
        shown.done(checked.row, progress)
        keep(checked)
        results.append(checked)
    return results


def _choose(
    manifest: Manifest, protocol: str | None, model_name: str | None, everything: bool
) -> tuple[TlcModel | Witness, ...]:
    """Choose the entries to check.

    Raises: click.UsageError when a name is not in the manifest.
    """
    if protocol is not None and protocol not in manifest.protocols:
        raise click.UsageError(_no_protocol(protocol, manifest))
    models = [m for m in manifest.models if protocol in (None, m.protocol)]
    if model_name is not None:
        named = tuple(model for model in models if model.name == model_name)
        if not named:
            names = list(dict.fromkeys(model.name for model in models))
            meant = did_you_mean(model_name, names)
            known = ", ".join(names)
            raise click.UsageError(f"there is no model {model_name!r}{meant} (known: {known})")
        return named
    witnesses = [w for w in manifest.witnesses if protocol in (None, w.protocol)]
    return (*(m for m in models if everything or m.ring == "push"), *witnesses)


def _no_protocol(name: str, manifest: Manifest) -> str:
    meant = did_you_mean(name, manifest.protocols)
    known = ", ".join(manifest.protocols)
    return f"{name!r} is no protocol of the manifest{meant} (known: {known})"
