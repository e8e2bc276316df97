"""What is printed of what TLC checks of the manifest: lines, a table, and a summary last."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rich.markup import escape

from rocketproof.counterexample import counterexample_lines, indented
from rocketproof.progress_display import ProgressDisplay
from rocketproof.rings import NOT_RUN, Progress
from tlatrace.heartbeat import duration, left_text
from tlatrace.terminal import open_console, open_table
from tlatrace.tools.check import CheckRow, Engine, Status
from tlatrace.tools.manifest import Checkable, key_of
from tlatrace.tools.measured import Key
from tlatrace.tools.measurements import Measurements
from tlatrace.tools.runs import CheckedEntry
from tlatrace.tools.tlc import TlcProgress

__all__ = ["ENGINES", "EntryDisplay", "how_far", "print_table", "row_text", "summary"]

_COLOURS: Final[dict[Status, str]] = {
    "as expected": "green",
    "not as expected": "red",
    "error": "red",
    "undecided": "yellow",
}
ENGINES: Final[Mapping[Engine, str]] = {"native": "machine code", "tlc": "TLC"}
"""Who checks, as a row names it, and as a person does."""
_BESIDE: Final = 1.2
"""With so many times the seconds that passed, runs of TLC were beside each other."""


class EntryDisplay:
    """Says which entries are done, which run and how far they are; from any thread."""

    def __init__(
        self,
        display: ProgressDisplay,
        measurements: Measurements,
        *,
        verbose: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Tell by `display`; with `verbose` counterexamples that must be there, too."""
        self._display, self._measurements = display, measurements
        self._verbose, self._clock = verbose, clock
        self._lock = threading.Lock()
        self._head = ""
        self._began: dict[Key, float] = {}
        self._running: dict[Key, str] = {}
        self._counterexamples: dict[Key, tuple[str, ...]] = {}

    def begins(self, entry: Checkable) -> None:
        """Say that an entry is being checked, and how long it took when it last was."""
        last = _recorded(self._measurements.seconds(entry))
        with self._lock:
            self._began[_key(entry)] = self._clock()
            self._running[_key(entry)] = f"{_name(entry)}: {last or 'starting'}"
            self._tell()

    def seen(self, entry: Checkable, seen: TlcProgress) -> None:
        """Say how far TLC is."""
        total, recorded = self._measurements.states(entry), self._measurements.seconds(entry)
        with self._lock:
            seconds = self._clock() - self._began[_key(entry)]
            far = how_far(seen, total, seconds, recorded)
            self._running[_key(entry)] = f"{_name(entry)}: {far}"
            self._tell()

    def ends(self, checked: CheckedEntry) -> None:
        """Keep the counterexample that is printed when the entry is said to be done."""
        shown = self._verbose or not checked.row.ok
        with self._lock:
            self._running.pop(_key(checked.row), None)
            self._counterexamples[_key(checked.row)] = (
                tuple(counterexample_lines(checked.run)) if shown else ()
            )

    def done(self, row: CheckRow, progress: Progress) -> None:
        """Print what was found, and how long the rest will take."""
        with self._lock:
            self._head = f"{progress.done}/{progress.total} done"
            lines = self._counterexamples.pop(_key(row), ())
            self._display.line(f"{progress.done}/{progress.total} {row_text(row)}{_left(progress)}")
            for line in (*([row.message] if row.message else ()), *lines):
                self._display.line(indented(line))
            self._tell()

    def _tell(self) -> None:
        self._display.doing("; ".join(filter(None, [self._head, *self._running.values()])))


def how_far(
    seen: TlcProgress, total: int | None, seconds: float, recorded: float | None = None
) -> str:
    """Say which part of the states that are recorded is found, and how long the rest will take.

    Where the pace says nothing yet, all of it took `recorded` seconds.
    """
    if total is None or seen.distinct > total:
        return f"{seen.distinct:,} states, {seen.queue:,} to do"
    left = left_text(seen.distinct, total, seconds) or _recorded(recorded)
    part = f"{100 * seen.distinct // total} % of {total:,} states"
    return f"{part}, {left}" if left else part


def row_text(row: CheckRow) -> str:
    """Say in a line what was found of an entry, and what was expected where that is different."""
    expected = "" if row.ok else f" (expected: {row.expected})"
    by = " of machine code" if row.engine == "native" else ""
    found = f"{row.found}{expected}, {row.status}, {row.seconds:.1f} s{by}"
    return f"{row.protocol} {row.name}: {found}"


def summary(rows: Sequence[CheckRow], what: str, seconds: float, more: str = "") -> str:
    """Say how much is as expected, what is not, how long it took, and what shows more.

    `what` says of what the rows are: "of the push ring".
    """
    if not rows:
        return f"nothing {what} was run: that is no pass"
    wrong = [
        f"{row.status}: {_name(row)}: {row.found} (expected: {row.expected})"
        for row in rows
        if not row.ok and row.found != NOT_RUN
    ]
    counts = Counter(row.status for row in rows)
    statuses = ", ".join(f"{counts[status]} {status}" for status in _COLOURS if counts[status])
    left_out = sum(row.found == NOT_RUN for row in rows)
    not_run = f" ({left_out} {NOT_RUN})" if left_out else ""
    took = duration(seconds) + _of_engines(rows, seconds)
    last = f"{len(rows)} {what}: {statuses}{not_run}; {took}"
    return "\n".join([*wrong, last, *([f"more:  {more}"] if more else [])])


def _of_engines(rows: Sequence[CheckRow], seconds: float) -> str:
    """Say how long each engine took, if it was not TLC alone, and one run after the other."""
    taken = {
        name: sum(row.seconds for row in rows if row.engine == engine)
        for engine, name in ENGINES.items()
        if any(row.engine == engine for row in rows)
    }
    if list(taken) == [ENGINES["tlc"]] and sum(taken.values()) <= _BESIDE * seconds:
        return ""
    return "".join([f", {duration(one)} of {name}" for name, one in taken.items()])


def print_table(rows: Sequence[CheckRow], title: str) -> None:
    """Print all rows in a table."""
    names = ("kind", "protocol", "name", "result", "states", "depth", "seconds", "by", "verdict")
    table = open_table(title, *names, right=("states", "depth", "seconds"))
    for row in rows:
        table.add_row(
            row.kind,
            escape(row.protocol),
            escape(row.name),
            escape(row.found if row.ok else f"{row.found} (expected: {row.expected})"),
            "" if row.distinct is None else f"{row.distinct:,}",
            "" if row.depth is None else str(row.depth),
            f"{row.seconds:.1f}",
            "" if row.engine is None else ENGINES[row.engine],
            f"[{_COLOURS[row.status]}]{row.status}[/]",
        )
    open_console().print(table)


def _recorded(seconds: float | None) -> str:
    return "" if seconds is None else f"{duration(seconds)} by what is recorded"


def _left(progress: Progress) -> str:
    return f"; about {duration(progress.left_s)} left" if progress.expected else ""


def _name(entry: Checkable | CheckRow) -> str:
    return f"{entry.protocol} {entry.name}"


def _key(entry: Checkable | CheckRow) -> Key:
    if isinstance(entry, CheckRow):
        return (entry.kind, entry.protocol, entry.name)
    return key_of(entry)
