"""`rocketproof rings`: all models, witnesses and mutants of a ring, against what is recorded."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Final

import click

from rocketproof.commands.engine_option import engine_option, tell_engines
from rocketproof.commands.output_options import verbose_option
from rocketproof.entry_display import EntryDisplay, print_table, summary
from rocketproof.file_check import describe_jar
from rocketproof.native_entries import confirmed
from rocketproof.output import print_text
from rocketproof.progress_display import open_progress_display
from rocketproof.rings import Progress, run_ring
from tlatrace.tools.check import CheckRow, Engine, exit_code
from tlatrace.tools.jar import TlcJar, find_jar, open_jar
from tlatrace.tools.manifest import Checkable, Manifest, Ring, key_of, read_manifest
from tlatrace.tools.measured import MEASURED_NAME, Key
from tlatrace.tools.measurements import Measurements, refuse_shipped, when_run
from tlatrace.tools.runs import CheckedEntry, check_entry
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc import Stop, all_workers

__all__ = ["command"]

_UNTIL_DONE: Final = 7 * 24 * 3600.0


@click.command(epilog="Example:  rocketproof rings --push --budget 600")
@click.option("--push", "ring", flag_value="push", default="push", help="What CI runs (default).")
@click.option("--weekly", "ring", flag_value="weekly", help="The rest; records what it measures.")
@click.option(
    "--only",
    multiple=True,
    metavar="PROTOCOL[/NAME]",
    help="These entries of the ring only; repeatable.",
)
@click.option(
    "--not-since",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Only what was not run on this day or later, as it is now.",
)
@click.option("--budget", "budget_s", type=click.FloatRange(min=0), help="Seconds for all of it.")
@click.option("--timeout", "timeout_s", default=7200.0, show_default=True, help="Seconds a run.")
@engine_option
@click.option(
    "--jobs", type=click.IntRange(1), help="Runs of TLC at once (default: one for each core)."
)
@click.option("--jar", "jar_path", type=click.Path(path_type=Path), help="Another TLC jar.")
@click.option("--spec-root", type=click.Path(path_type=Path), help="Folder of specifications.")
@click.option(
    "--record/--no-record",
    "write",
    default=None,
    help=f"Write into {MEASURED_NAME} what is new, and the date of the rest (default: --weekly).",
)
@click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="The date to record.")
@verbose_option
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(
    ring: Ring,
    only: tuple[str, ...],
    not_since: datetime | None,
    budget_s: float | None,
    timeout_s: float,
    engine: Engine,
    jobs: int | None,
    jar_path: Path | None,
    spec_root: Path | None,
    write: bool | None,
    day: datetime | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Have TLC check a whole ring: distinct states, depths and lengths are those of the manifest.

    Models must hold or fall, witnesses must be reached, mutants must be killed or be harmless. Each
    runs with one worker of TLC, several at once. What the budget or the timeout ends is undecided.

    Exit codes: 0 as expected, 1 not, 2 an error in a specification or a tool, 3 undecided, or
    nothing to run.
    """
    jar = open_jar(jar_path) if jar_path is not None else find_jar()
    manifest = read_manifest(find_spec_root(spec_root))
    measurements = Measurements(manifest.measured)
    entries = _chosen(manifest, ring, only)
    if not_since is not None:
        entries = [e for e in entries if _is_older(measurements, e, not_since.date())]
    today = (day or datetime.now(UTC)).date()
    recording = _is_recorded(ring, engine, write)
    if recording and entries:  # what cannot be written is not measured first
        refuse_shipped(manifest)
        measurements.write(manifest, {entry.protocol for entry in entries})
    by_key = {key_of(entry): entry for entry in entries}
    found: dict[Key, CheckedEntry] = {}
    began = time.monotonic()
    with open_progress_display("starting TLC", quiet=as_json) as display:
        shown = EntryDisplay(display, measurements, verbose=verbose)

        def done(row: CheckRow, progress: Progress) -> None:
            shown.done(row, progress)
            if recording:
                entry, checked = by_key[row.key], found.pop(row.key, None)
                if measurements.current(entry) is None and checked is not None:
                    measurements.record(checked, on=today, tlc=jar.version)
                measurements.renew(entry, row, on=today, tlc=jar.version)
                measurements.write(manifest, [row.protocol])

        rows = run_ring(
            entries,
            partial(_check, manifest, jar, shown, engine, found),
            measurements,
            jobs=jobs or all_workers(),
            budget_s=_UNTIL_DONE if budget_s is None else budget_s,
            timeout_s=timeout_s,
            on_done=done,
        )
    if as_json:
        click.echo(_as_json(ring, jar, rows))
    else:
        if verbose:
            print_table(rows, f"The {ring} ring")
        tell_engines(engine, rows)
        print_text(when_run(manifest, ring, measurements))
        print_text(summary(rows, f"of the {ring} ring", time.monotonic() - began))
    sys.exit(exit_code(rows))


def _as_json(ring: Ring, jar: TlcJar, rows: Sequence[CheckRow]) -> str:
    shown = [asdict(row) | {"ok": row.ok} for row in rows]
    return json.dumps({"ring": ring, "jar": describe_jar(jar), "rows": shown}, indent=2)


def _is_recorded(ring: Ring, engine: Engine, write: bool | None) -> bool:
    """Tell whether to record. Raises: click.UsageError where it is not TLC that finds it."""
    if engine == "tlc":
        return ring == "weekly" if write is None else write
    if write:
        raise click.UsageError("--record writes what TLC found: it goes with --engine tlc")
    return False


def _check(
    manifest: Manifest,
    jar: TlcJar,
    shown: EntryDisplay,
    engine: Engine,
    found: dict[Key, CheckedEntry],
    entry: Checkable,
    *,
    timeout_s: float,
    stop: Stop,
) -> CheckRow:
    """Check an entry, and put what TLC found into `found`."""
    shown.begins(entry)
    began = time.monotonic()
    if engine == "native":
        checked = confirmed(manifest, entry, timeout_s=timeout_s, stop=stop)
        if checked is not None:
            shown.ends(checked)
            return checked.row
        timeout_s = max(timeout_s - (time.monotonic() - began), 0.1)
    checked = check_entry(
        manifest,
        entry,
        timeout_s=timeout_s,
        workers=1,
        jar=jar,
        on_progress=partial(shown.seen, entry),
        stop=stop,
    )
    found[key_of(entry)] = checked
    shown.ends(checked)
    return checked.row


def _chosen(manifest: Manifest, ring: Ring, only: Sequence[str]) -> list[Checkable]:
    """Choose the entries to run.

    Raises: click.UsageError when a name is not in the ring.
    """
    entries = manifest.ring(ring)
    for wish in only:
        if not any(_is_named(entry, wish) for entry in entries):
            known = ", ".join(dict.fromkeys(entry.protocol for entry in entries))
            raise click.UsageError(
                f"there is no {wish!r} in the {ring} ring (its protocols: {known or 'none'})"
            )
    return [e for e in entries if not only or any(_is_named(e, wish) for wish in only)]


def _is_named(entry: Checkable, wish: str) -> bool:
    return wish in (entry.protocol, f"{entry.protocol}/{entry.name}")


def _is_older(measurements: Measurements, entry: Checkable, day: date) -> bool:
    row = measurements.current(entry)
    return row is None or row.date < day
