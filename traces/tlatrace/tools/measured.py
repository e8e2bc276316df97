"""What TLC found when it last ran on an entry of the manifest, and when: `measured.json` beside it.

A list of objects, one a line, in the order of the manifest. The manifest says what must be found;
this file says that it was. A row counts while it says what the manifest expects: where an entry was
changed since, it has not been run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from tlatrace.errors import SpecError
from tlatrace.tools.check import CheckRow, expected_of
from tlatrace.tools.manifest import Checkable, Manifest, Mutant, Ring, TlcModel, kind_of

__all__ = ["MEASURED_NAME", "Measured", "Measurements", "read_measured", "told_of"]

MEASURED_NAME: Final = "measured.json"

Key = tuple[str, str, str]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_NAMED: Final = 6
"""So many names of entries are listed; of more, how many they are."""


class Measured(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of TLC on one entry, with one worker."""

    kind: Literal["model", "witness", "mutant"]
    protocol: str
    name: str
    found: str
    """In the words of `tlatrace.tools.check`."""
    distinct: _Count | None
    depth: _Count | None
    length: _Count | None
    seconds: Annotated[float, msgspec.Meta(ge=0)]
    """By the clock, beside whatever else ran on the machine."""
    date: date
    tlc: str
    """The version of TLC."""

    @property
    def key(self) -> Key:
        """What it is of."""
        return (self.kind, self.protocol, self.name)


class Measurements:
    """All rows of the file; each entry of the manifest has one at most."""

    def __init__(self, rows: Iterable[Measured]) -> None:
        self._rows = {row.key: row for row in rows}

    def __iter__(self) -> Iterator[Measured]:
        return iter(self._rows.values())

    def of(self, entry: Checkable) -> Measured | None:
        """Return the last run of an entry, whatever it found."""
        return self._rows.get(_key(entry))

    def current(self, entry: Checkable) -> Measured | None:
        """Return the last run of an entry, if it found what the manifest says now."""
        row = self.of(entry)
        return row if row is not None and _agrees(entry, row) else None

    def seconds(self, entry: Checkable) -> float | None:
        """Say how long an entry takes; None where nobody knows."""
        row = self.of(entry)
        if row is not None:
            return row.seconds
        return entry.seconds if isinstance(entry, TlcModel) else None

    def states(self, entry: Checkable) -> int | None:
        """Say how many states TLC finds until it ends; None where nobody knows."""
        counted = entry.distinct if isinstance(entry, TlcModel | Mutant) else None
        row = self.current(entry)
        return counted or (row.distinct if row is not None else None)

    def add(self, row: CheckRow, *, on: date, tlc: str) -> None:
        """Take a run in which TLC judged; others have measured nothing."""
        if row.status in ("as expected", "not as expected"):
            measured = Measured(
                kind=row.kind,
                protocol=row.protocol,
                name=row.name,
                found=row.found,
                distinct=row.distinct,
                depth=row.depth,
                length=row.length,
                seconds=round(row.seconds, 1),
                date=on,
                tlc=tlc,
            )
            self._rows[measured.key] = measured

    def write(self, manifest: Manifest, path: Path) -> None:
        """Replace the file, without rows of entries that are gone.

        Raises: SpecError when it cannot be written.
        """
        rows = [row for row in map(self.of, manifest.checkable) if row is not None]
        lines = [json.dumps(msgspec.to_builtins(row), ensure_ascii=False) for row in rows]
        unfinished = path.with_name(path.name + ".new")
        try:
            unfinished.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
            os.replace(unfinished, path)
        except OSError as error:
            raise SpecError(path, f"cannot be written ({error.strerror})") from error


def read_measured(path: Path) -> Measurements:
    """Read the file; where there is none, nothing was measured.

    Raises: SpecError when it is no such list, or has two rows of one entry.
    """
    try:
        rows = msgspec.json.decode(path.read_bytes(), type=list[Measured])
    except FileNotFoundError:
        return Measurements(())
    except OSError as error:
        raise SpecError(path, f"cannot be read ({error.strerror})") from error
    except msgspec.MsgspecError as error:
        raise SpecError(path, str(error)) from error
    keys = [row.key for row in rows]
    for key in keys:
        if keys.count(key) > 1:
            raise SpecError(path, f"{' '.join(key)}: twice")
    return Measurements(rows)


def told_of(manifest: Manifest, ring: Ring, measurements: Measurements) -> str:
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


def _key(entry: Checkable) -> Key:
    return (kind_of(entry), entry.protocol, entry.name)


def _agrees(entry: Checkable, row: Measured) -> bool:
    """Tell whether the manifest expects this; a temporal violation has no length in its words."""
    return row.found in (expected_of(entry), expected_of(entry, exact=False))
