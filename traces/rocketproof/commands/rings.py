"""`rocketproof rings`: all models, witnesses and mutants of a ring, against what is recorded."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rocketproof.file_check import describe_jar
from rocketproof.rings import NOT_RUN, Progress, run_ring
from rocketproof.saying import say
from tlatrace.heartbeat import heartbeat
from tlatrace.tools.check import CheckRow, Status, exit_code
from tlatrace.tools.jar import TlcJar, find_jar, open_jar
from tlatrace.tools.manifest import Checkable, Manifest, Model, Ring, read_manifest
from tlatrace.tools.measured import MEASURED_NAME, Measurements, read_measured, told_of
from tlatrace.tools.record import refuse_shipped
from tlatrace.tools.runs import check_entry
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc import Stop, TlcProgress, all_workers

__all__ = ["command"]

_COLOURS: Final[dict[Status, str]] = {
    "as expected": "green",
    "not as expected": "red",
    "error": "red",
    "undecided": "yellow",
}
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
@click.option(
    "--jobs", type=click.IntRange(1), help="Runs of TLC at once (default: one for each core)."
)
@click.option("--jar", "jar_path", type=click.Path(path_type=Path), help="Another TLC jar.")
@click.option("--spec-root", type=click.Path(path_type=Path), help="Folder with manifest.toml.")
@click.option(
    "--record/--no-record",
    "write",
    default=None,
    help=f"Write what is measured into {MEASURED_NAME} beside the manifest (default: --weekly).",
)
@click.option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="The date to record.")
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(
    ring: Ring,
    only: tuple[str, ...],
    not_since: datetime | None,
    budget_s: float | None,
    timeout_s: float,
    jobs: int | None,
    jar_path: Path | None,
    spec_root: Path | None,
    write: bool | None,
    day: datetime | None,
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
    path = manifest.root / MEASURED_NAME
    measurements = read_measured(path)
    entries = _chosen(manifest, ring, only)
    if not_since is not None:
        entries = [e for e in entries if _is_older(measurements, e, not_since.date())]
    today = (day or datetime.now(UTC)).date()
    recording = write if write is not None else ring == "weekly"
    if recording and entries:  # what cannot be written is not measured first
        refuse_shipped(manifest)
        measurements.write(manifest, path)
    with _shown() as show:

        def done(row: CheckRow, progress: Progress) -> None:
            show.done(row, progress)
            if recording:
                measurements.add(row, on=today, tlc=jar.version)
                measurements.write(manifest, path)

        rows = run_ring(
            entries,
            partial(_check, manifest, jar, show),
            measurements,
            jobs=jobs or all_workers(),
            budget_s=_UNTIL_DONE if budget_s is None else budget_s,
            timeout_s=timeout_s,
            on_done=done,
        )
    if as_json:
        answer = {
            "ring": ring,
            "jar": describe_jar(jar),
            "rows": [asdict(row) | {"ok": row.ok} for row in rows],
        }
        click.echo(json.dumps(answer, indent=2))
    else:
        _print_rows(rows, ring)
        say(told_of(manifest, ring, measurements))
    sys.exit(exit_code(rows))


def _check(
    manifest: Manifest,
    jar: TlcJar,
    show: Shown,
    entry: Checkable,
    *,
    timeout_s: float,
    stop: Stop,
) -> CheckRow:
    return check_entry(
        manifest,
        entry,
        timeout_s=timeout_s,
        workers=1,
        jar=jar,
        on_progress=partial(show.running, entry),
        stop=stop,
    ).row


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


class Shown:
    """Tells of entries that are done, how long the rest will take, and that TLC is alive."""

    def __init__(self, tell: Callable[[str], None], doing: Callable[[str], None]) -> None:
        """`tell` what is to be read, and what is being `doing` to whoever asks now and then."""
        self._tell, self._doing, self._ended = tell, doing, ""

    def done(self, row: CheckRow, progress: Progress) -> None:
        """Tell of an entry that is done."""
        self._ended = f"{progress.done}/{progress.total} "
        self._tell(_line(row, progress))

    def running(self, entry: Checkable, seen: TlcProgress) -> None:
        """Say how far a search is; from any thread."""
        of = f" of {entry.distinct:,}" if isinstance(entry, Model) and entry.distinct else ""
        found = f"{seen.distinct:,}{of} states"
        self._doing(f"{self._ended}{entry.protocol} {entry.name}: {found}")


@contextmanager
def _shown() -> Iterator[Shown]:
    """Tell on standard error: in a line that changes, or lines where it is no terminal."""
    console = Console(stderr=True)
    with heartbeat("starting TLC") as beat:
        if not console.is_terminal:
            yield Shown(partial(say, err=True), beat)
            return
        with console.status("starting TLC") as status:

            def doing(line: str) -> None:
                beat(line)
                status.update(escape(line))

            yield Shown(lambda line: status.update(escape(line)), doing)


def _line(row: CheckRow, progress: Progress) -> str:
    left = f"; about {_duration(progress.left_s)} left" if progress.expected else ""
    what = f"{row.protocol} {row.name}: {row.found}, {row.status}, {row.seconds:.1f} s"
    return f"{progress.done}/{progress.total} {what}{left}"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _print_rows(rows: Sequence[CheckRow], ring: Ring) -> None:
    table = Table(title=f"The {ring} ring")
    for name in ("kind", "protocol", "name", "result"):
        table.add_column(name, overflow="fold")
    for name in ("states", "depth", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for row in rows:
        table.add_row(
            row.kind,
            row.protocol,
            row.name,
            escape(row.found if row.ok else f"{row.found} (expected: {row.expected})"),
            "" if row.distinct is None else f"{row.distinct:,}",
            "" if row.depth is None else str(row.depth),
            f"{row.seconds:.1f}",
            f"[{_COLOURS[row.status]}]{row.status}[/]",
        )
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    for row in rows:
        if row.message:
            say(f"{row.protocol} {row.name}: {row.message}")
    say(_summary(rows, ring))


def _summary(rows: Sequence[CheckRow], ring: Ring) -> str:
    if not rows:
        return f"nothing of the {ring} ring was run: that is no pass"
    counts = {status: sum(row.status == status for row in rows) for status in _COLOURS}
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    left_out = sum(row.found == NOT_RUN for row in rows)
    not_run = f" ({left_out} not run: the budget is spent)" if left_out else ""
    seconds = sum(row.seconds for row in rows)
    return f"{len(rows)} of the {ring} ring: {told}{not_run}; {_duration(seconds)} of TLC"
