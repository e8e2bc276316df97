"""What TLC found last of the entries of a manifest: kept while a command runs, and written.

Counts are the expectations of the next check, so they change only where somebody asks for it:
`record` takes new ones of what ended as it is declared; `renew` takes the date and the time of what
was found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final

from tlatrace.errors import SpecError
from tlatrace.tools.check import CheckRow
from tlatrace.tools.manifest import Checkable, Manifest, Ring, TlcModel, found_of, key_of
from tlatrace.tools.measured import HOLDS, Key, Measured, violates, write_measured
from tlatrace.tools.runs import CheckedEntry
from tlatrace.tools.spec_root import is_shipped
from tlatrace.tools.tlc_output import Outcome

__all__ = ["Measurements", "refuse_shipped", "when_run"]

_NAMED: Final = 6
"""So many names of entries are listed; of more, how many they are."""


class Measurements:
    """The rows of all protocols; each entry of the manifest has one at most."""

    def __init__(self, rows: Mapping[Key, Measured]) -> None:
        """Begin with what a manifest has read."""
        self._rows = dict(rows)

    def current(self, entry: Checkable) -> Measured | None:
        """Return the last run of an entry, if it found what is declared now."""
        row = self._rows.get(key_of(entry))
        return row if row is not None and row.found == found_of(entry) else None

    def seconds(self, entry: Checkable) -> float | None:
        """Say how long an entry took, whatever it found; None where nobody knows."""
        row = self._rows.get(key_of(entry))
        return None if row is None else row.seconds

    def states(self, entry: Checkable) -> int | None:
        """Say how many states TLC finds until it ends; None where nobody knows."""
        row = self.current(entry)
        return None if row is None else row.distinct

    def renew(self, entry: Checkable, row: CheckRow, *, on: date, tlc: str) -> None:
        """Take the date and the seconds of a run that was as expected, and no other."""
        last = self.current(entry)
        if last is not None and row.ok:
            self._rows[key_of(entry)] = Measured(
                found=last.found,
                distinct=row.distinct,
                depth=last.depth,
                length=last.length,
                seconds=round(row.seconds, 1),
                date=on,
                tlc=tlc,
            )

    def record(self, checked: CheckedEntry, *, on: date, tlc: str) -> bool:
        """Take the counts of a run that ended as declared; tell whether they are new.

        Depths and lengths are taken only where TLC ran with one worker.
        """
        entry, run = checked.entry, checked.run
        last, found = self.current(entry), found_of(entry)
        if not _ended(checked, found) or (last is not None and run.outcome is Outcome.TEMPORAL):
            return False  # when TLC looks for a temporal violation says how long the first one is
        holds = found == HOLDS
        same = last is not None and last.distinct == run.distinct
        depth = run.depth if checked.exact else last.depth if last is not None and same else None
        row = Measured(
            found=found,
            distinct=run.distinct,
            depth=depth if holds and isinstance(entry, TlcModel) else None,
            length=None if holds else run.length,
            seconds=round(run.seconds, 1),
            date=on,
            tlc=tlc,
        )
        if last is not None and _counts(last) == _counts(row):
            return False
        self._rows[key_of(entry)] = row
        return True

    def write(self, manifest: Manifest, protocols: Iterable[str]) -> None:
        """Replace the files of these protocols, without rows of entries that are gone.

        Raises: SpecError when one cannot be written.
        """
        keys = {key_of(entry) for entry in manifest.checkable}
        for protocol in protocols:
            rows = [(k, row) for k, row in self._rows.items() if k in keys and k[1] == protocol]
            write_measured(manifest.root / protocol, rows)


def refuse_shipped(manifest: Manifest) -> None:
    """Refuse to record in folders that came with the package.

    Raises: SpecError when they did.
    """
    if is_shipped(manifest.root):
        raise SpecError(
            manifest.root,
            "is part of the installed package: copy its folder, and name the copy with --spec-root",
        )


def when_run(manifest: Manifest, ring: Ring, measurements: Measurements) -> str:
    """Say in a sentence when a ring was last run, or how much of it; the README repeats it."""
    entries = manifest.ring(ring)
    current = [row for row in map(measurements.current, entries) if row is not None]
    missing = [entry for entry in entries if measurements.current(entry) is None]
    what = f"of the {len(entries)} models, witnesses and mutants of the {ring} ring"
    if not current:
        return f"None {what} has been run."
    first, last = min(row.date for row in current), max(row.date for row in current)
    when = f"on {last}" if first == last else f"between {first} and {last}"
    by = " and ".join(sorted({row.tlc for row in current}))
    if not missing:
        return f"All {what} were run {when} by TLC {by}."
    names = [f"{entry.protocol} {entry.name}" for entry in missing]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    left = ", ".join(names[:_NAMED]) + more
    return f"{len(current)} {what} were run {when} by TLC {by}; not yet as they are now: {left}."


def _ended(checked: CheckedEntry, found: str) -> bool:
    """Tell whether a run ended as declared, with counts that may be compared."""
    run = checked.run
    if found == HOLDS:
        return run.outcome is Outcome.SUCCESS and run.distinct is not None
    named = run.violated is not None and found == violates(run.violated)
    return named and checked.exact and run.length is not None


def _counts(row: Measured) -> tuple[int | None, ...]:
    return row.distinct, row.depth, row.length
