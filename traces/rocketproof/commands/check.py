"""`rocketproof check`: run TLC and compare with the manifest, or run it on any specification."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rocketproof.counterexample import told
from rocketproof.file_check import FileCheck, by_model, by_tlc, describe_jar
from rocketproof.names import did_you_mean
from rocketproof.saying import say
from tlatrace.heartbeat import heartbeat, left_text
from tlatrace.tools.check import CheckRow, exit_code
from tlatrace.tools.jar import TlcJar, find_jar, open_jar
from tlatrace.tools.manifest import Manifest, Model, Witness, read_manifest
from tlatrace.tools.record import record, refuse_shipped
from tlatrace.tools.runs import CheckedEntry, check_entry
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc import TlcProgress

_COLOURS = {
    "as expected": "green",
    "not as expected": "red",
    "error": "red",
    "undecided": "yellow",
}


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
    type=click.Choice(["tlc", "compiled"]),
    default="tlc",
    show_default=True,
    help="Who searches the states of FILE.tla; the compiled model needs no time to start.",
)
@click.option("--choose-any", is_flag=True, help="CHOOSE may take any: the compiled model does.")
@click.option("--max-states", type=click.IntRange(1), help="Where the compiled model gives up.")
@click.option("--workers", type=click.IntRange(1), help="TLC's threads (depths need one).")
@click.option("--timeout", "timeout_s", default=3600.0, show_default=True, help="Seconds a run.")
@click.option("--jar", "jar_path", type=click.Path(path_type=Path), help="Another TLC jar.")
@click.option("--spec-root", type=click.Path(path_type=Path), help="Folder with manifest.toml.")
@click.option("--record", "write", is_flag=True, help="Write the counts into the manifest.")
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
    write: bool,
    as_json: bool,
) -> None:
    """Run TLC and compare its result with the one that the manifest expects.

    Without --model: the models of the push ring, and the witnesses, situations that must be
    reached. A model that is violated is told step by step, if a protocol or a model is named. A
    FILE.tla is checked by its configuration, by default the one with its name; with --engine
    compiled by the model that judges traces, which checks invariants and ASSUMEs, no PROPERTY.

    Exit codes: 0 as expected, 1 not, 2 an error in a specification or a tool, 3 undecided.
    """
    jar = open_jar(jar_path) if jar_path is not None else find_jar()
    of_file = {
        "--config": config,
        "--library": libraries,
        "--no-deadlock": no_deadlock,
        "--engine": engine == "compiled",
        "--choose-any": choose_any,
        "--max-states": max_states,
    }
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
        )
        _check_file(job, None if engine == "compiled" else jar, as_json)
    for option in [option for option, value in of_file.items() if value]:
        raise click.UsageError(f"{option} goes with a FILE.tla")
    manifest = read_manifest(find_spec_root(spec_root))
    if write:
        refuse_shipped(manifest)
    entries = _choose(manifest, target, model_name, everything)
    results = _run_entries(manifest, entries, workers, timeout_s, jar)
    if write:
        written = record(manifest, results)
        click.echo(f"recorded in {manifest.path}: {', '.join(written) or 'nothing'}", err=True)
    rows = [checked.row for checked in results]
    if as_json:
        answer = {"jar": describe_jar(jar), "rows": [asdict(row) | {"ok": row.ok} for row in rows]}
        click.echo(json.dumps(answer, indent=2))
    else:
        _print_rows(rows)
        if target is not None or model_name is not None:
            _print_counterexamples(results)
    sys.exit(exit_code(rows))


def _check_file(job: FileCheck, jar: TlcJar | None, as_json: bool) -> NoReturn:
    """Check a specification that no manifest describes, without a jar by the compiled model."""
    with _status() as show:
        found = by_model(job, show) if jar is None else by_tlc(job, jar, show)
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2))
    else:
        say(found.as_text())
    sys.exit(found.exit_code)


def _run_entries(
    manifest: Manifest,
    entries: Sequence[Model | Witness],
    workers: int | None,
    timeout_s: float,
    jar: TlcJar,
) -> list[CheckedEntry]:
    results: list[CheckedEntry] = []
    with _status() as show:
        for number, entry in enumerate(entries, start=1):
            head = f"{number}/{len(entries)} {entry.protocol} {entry.name}"
            checked = check_entry(
                manifest,
                entry,
                workers=workers,
                timeout_s=timeout_s,
                jar=jar,
                on_progress=_told_with_rest(show, head, entry),
            )
            results.append(checked)
    return results


def _choose(
    manifest: Manifest, protocol: str | None, model_name: str | None, everything: bool
) -> tuple[Model | Witness, ...]:
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


def _told_with_rest(
    show: Callable[[str, int, int], None], head: str, entry: Model | Witness
) -> Callable[[TlcProgress], None]:
    """Return what tells TLC's progress, and the time that is left by the count in the manifest."""
    total = entry.distinct if isinstance(entry, Model) else None
    began = time.monotonic()

    def told(seen: TlcProgress) -> None:
        left = left_text(seen.distinct, total, time.monotonic() - began)
        show(f"{head}, {left}" if left else head, seen.distinct, seen.queue)

    return told


def _no_protocol(name: str, manifest: Manifest) -> str:
    meant = did_you_mean(name, manifest.protocols)
    known = ", ".join(manifest.protocols)
    return f"{name!r} is no protocol of the manifest{meant} (known: {known})"


@contextmanager
def _status() -> Iterator[Callable[[str, int, int], None]]:
    """Show how many states there are, and how many to do; in a log a line now and then."""
    console = Console(stderr=True)
    with ExitStack() as stack:
        tell = stack.enter_context(heartbeat("searching"))
        status = stack.enter_context(console.status("searching")) if console.is_terminal else None

        def show(head: str, found: int, to_do: int) -> None:
            line = f"{head}: {found:,} states, {to_do:,} to do"
            tell(line)
            if status is not None:
                status.update(escape(line))

        yield show


def _print_rows(rows: list[CheckRow]) -> None:
    table = Table(title="What TLC found")
    for name in ("protocol", "model or witness", "result"):
        table.add_column(name, overflow="fold")
    for name in ("states", "depth", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("expected", overflow="fold")
    table.add_column("verdict")
    for row in rows:
        table.add_row(
            row.protocol,
            row.name,
            escape(row.found),
            "" if row.distinct is None else f"{row.distinct:,}",
            "" if row.depth is None else str(row.depth),
            f"{row.seconds:.1f}",
            escape(row.expected),
            f"[{_COLOURS[row.status]}]{row.status}[/]",
        )
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    for row in rows:
        if row.message:
            console.print(f"{row.protocol} {row.name}: {escape(row.message)}", highlight=False)


def _print_counterexamples(results: list[CheckedEntry]) -> None:
    """Tell how models come to be violated, those that must be, too."""
    for checked in results:
        if isinstance(checked.entry, Model) and checked.run.states:
            click.echo(f"\n{checked.entry.protocol} {checked.entry.name}: {checked.row.found}")
            for line in told(checked.run):
                say(line)
