"""`rocketproof check`: run TLC and compare with the manifest, or run it on any specification."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rocketproof.counterexample import told
from tlatrace.errors import SpecError
from tlatrace.tools.check import CheckRow, exit_code
from tlatrace.tools.jar import TlcJar, find_jar, open_jar
from tlatrace.tools.manifest import Manifest, Model, Witness, read_manifest
from tlatrace.tools.record import record
from tlatrace.tools.runs import CheckedEntry, check_entry
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc import TlcProgress, TlcRun, run_tlc
from tlatrace.tools.tlc_output import Outcome

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
    FILE.tla is checked by its configuration, by default the one with its name.

    Exit codes: 0 as expected, 1 not, 2 an error in a specification or a tool, 3 undecided.
    """
    jar = open_jar(jar_path) if jar_path is not None else find_jar()
    if target is not None and target.endswith(".tla"):
        module = Path(target)
        _check_file(module, config or module.with_suffix(".cfg"), workers, timeout_s, jar, as_json)
        return
    if config is not None:
        raise click.UsageError("--config goes with a FILE.tla")
    manifest = read_manifest(find_spec_root(spec_root))
    entries = _choose(manifest, target, model_name, everything)

    results: list[CheckedEntry] = []
    with _status() as show:
        for number, entry in enumerate(entries, start=1):
            checked = check_entry(
                manifest,
                entry,
                workers=workers,
                timeout_s=timeout_s,
                jar=jar,
                on_progress=partial(show, f"{number}/{len(entries)} {entry.protocol} {entry.name}"),
            )
            results.append(checked)
    if write:
        written = record(manifest, results)
        click.echo(f"recorded in {manifest.path}: {', '.join(written) or 'nothing'}", err=True)
    rows = [checked.row for checked in results]
    if as_json:
        answer = {"jar": _describe(jar), "rows": [asdict(row) | {"ok": row.ok} for row in rows]}
        click.echo(json.dumps(answer, indent=2))
    else:
        _print_rows(rows)
        if target is not None or model_name is not None:
            _print_counterexamples(results)
    sys.exit(exit_code(rows))


def _choose(
    manifest: Manifest, protocol: str | None, model_name: str | None, everything: bool
) -> tuple[Model | Witness, ...]:
    """Choose the entries to check.

    Raises: click.UsageError when a name is not in the manifest.
    """
    if protocol is not None and protocol not in manifest.protocols:
        known = ", ".join(manifest.protocols)
        raise click.UsageError(f"{protocol!r} is no protocol of the manifest (known: {known})")
    models = [m for m in manifest.models if protocol in (None, m.protocol)]
    if model_name is not None:
        named = tuple(model for model in models if model.name == model_name)
        if not named:
            known = ", ".join(model.name for model in models)
            raise click.UsageError(f"there is no model {model_name!r} (known: {known})")
        return named
    witnesses = [w for w in manifest.witnesses if protocol in (None, w.protocol)]
    return (*(m for m in models if everything or m.ring == "push"), *witnesses)


@contextmanager
def _status() -> Iterator[Callable[[str, TlcProgress], None]]:
    """Show what TLC is doing, on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _head, _seen: None
        return
    with console.status("TLC is running") as status:

        def show(head: str, seen: TlcProgress) -> None:
            status.update(escape(f"{head}: {seen.distinct:,} states, {seen.queue:,} to do"))

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
                click.echo(line)


def _check_file(
    module: Path,
    config: Path,
    workers: int | None,
    timeout_s: float,
    jar: TlcJar,
    as_json: bool,
) -> None:
    """Run TLC on a specification that no manifest describes, and exit."""
    if not config.is_file():
        raise SpecError(config, "there is no such configuration (say which with --config)")
    with _status() as show:
        run = run_tlc(
            module,
            config,
            workers=workers or 1,
            timeout_s=timeout_s,
            check_deadlock=True,
            jar=jar,
            on_progress=partial(show, module.name),
        )
    if as_json:
        click.echo(json.dumps(_run_json(run, jar), indent=2))
    else:
        _print_run(module, run)
    if run.outcome is Outcome.SUCCESS:
        sys.exit(0)
    if run.is_verdict:
        sys.exit(1)
    sys.exit(3 if run.outcome in (Outcome.CRASH, Outcome.TIMEOUT) else 2)


def _print_run(module: Path, run: TlcRun) -> None:
    what = f"{run.outcome}" + (f": {run.violated}" if run.violated else "")
    counts = "" if run.distinct is None else f", {run.distinct:,} distinct states"
    depth = "" if run.depth is None else f", depth {run.depth}"
    click.echo(f"{module.name}: {what}{counts}{depth}, {run.seconds:.1f} s")
    if run.message:
        click.echo(run.message)
    for state in run.states:
        click.echo(f"\n{state.number}: {state.action or 'initial state'}\n{state.text}")
    if run.loop_to is not None:
        click.echo(f"\nand from state {run.loop_to} again, for ever")
    if run.stutters:
        click.echo("\nand then nothing, for ever")
    for line in run.printed:
        click.echo(line)


def _run_json(run: TlcRun, jar: TlcJar) -> dict[str, object]:
    return {
        "jar": _describe(jar),
        "outcome": run.outcome.value,
        "violated": run.violated,
        "distinct": run.distinct,
        "generated": run.generated,
        "depth": run.depth,
        "seconds": round(run.seconds, 3),
        "message": run.message,
        "states": [{"action": state.action, "text": state.text} for state in run.states],
        "loop_to": run.loop_to,
        "stutters": run.stutters,
        "printed": list(run.printed),
    }


def _describe(jar: TlcJar) -> dict[str, str | bool]:
    return {
        "path": os.fspath(jar.path),
        "version": jar.version,
        "sha256": jar.sha256,
        "pinned": jar.pinned,
    }
