"""The ledger: what recorded runs of releases show of each row of the museum, as a page."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from rocketproof.peer_runs import JudgedRun, JudgedTrace
from tlatrace.errors import ToolError
from tlatrace.judgement.verdict import Diverges

__all__ = ["Row", "Shown", "ledger_page", "read_rows", "shown_by"]

_TITLE: Final = "# What real releases show"
_ABOUT: Final = """\
Made of recorded runs by

```
rocketproof peer rocketmq ledger RUN... --out peers/rocketmq/LEDGER.md
```

A row is *shown* by a run whose trace diverges from the TLA+ text and conforms with the operators
of the row (alone, or with those beside it), by messages that were acknowledged and are gone, or by
what the scenario is about: a trace that diverges, steps that should be few, or what clients saw
while a slave acted for its master. *Not shown* says how often its scenario was played without that,
which proves no absence. Runs that came to no end count for nothing but what they show.
"""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row: what may be wrong, and which scenarios look for it."""

    name: str
    title: str
    shown_by: Literal["explained", "lost", "diverges", "steps", "seen"]
    scenarios: tuple[str, ...] = ()
    action: str | None = None
    """Whose steps show it."""
    steps: int = 1
    """From so many on."""
    said: dict[str, str] = {}
    """Version -> what runs cannot say."""


class _Rows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    row: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """How a run shows a row."""

    run: JudgedRun
    how: str
    trace: JudgedTrace | None = None
    """The trace that does; None: clients saw it."""


def read_rows(path: Path) -> tuple[Row, ...]:
    """Read the rows of a ledger. Raises: ToolError"""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
        return msgspec.convert(tables, _Rows).row
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.MsgspecError) as error:
        raise ToolError("ledger", f"{path}: {error}") from None


def ledger_page(rows: Sequence[Row], runs: Sequence[JudgedRun]) -> str:
    """Write the ledger of runs; a row that no run and nobody speaks of is open.

    Runs under rocketha's controller say nothing of a release, and are left out.
    """
    runs = [run for run in runs if not run.run.controller]
    versions = sorted({run.run.version for run in runs} | {v for row in rows for v in row.said})
    lines = [_TITLE, "", _ABOUT, f"{len(runs)} runs.", ""]
    lines.append(f"| row | what | {' | '.join(versions)} |")
    lines.append(f"|---|---|{'---|' * len(versions)}")
    for row in rows:
        cells = [_cell(row, version, runs) for version in versions]
        lines.append(f"| {row.name} | {row.title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row, version: str, runs: Sequence[JudgedRun]) -> str:
    mine = [one for one in runs if one.run.version == version]
    played = [one for one in mine if one.run.scenario in row.scenarios and not one.run.trouble]
    shown = [found for one in mine if (found := shown_by(row, one)) is not None]
    said = row.said.get(version)
    if shown:
        whole = [one for one in shown if one.run in played]
        often = f"{len(whole)} of {len(played)} runs of {_names(played)}" if played else ""
        others = sorted({one.run.run.scenario for one in shown if one.run not in played})
        elsewhere = f"also in {', '.join(others)}" if others else ""
        parts = [part for part in (often, elsewhere, shown[0].how) if part]
        return f"**shown**: {'; '.join(parts)}"
    if played:
        text = f"not shown: 0 of {len(played)} runs of {_names(played)}"
        return f"{text}; {said}" if said else text
    return said or "open: no run"


def _names(runs: Sequence[JudgedRun]) -> str:
    return ", ".join(f"`{name}`" for name in sorted({one.run.scenario for one in runs}))


def shown_by(row: Row, run: JudgedRun) -> Shown | None:
    """Say how a run shows a row; None if it does not."""
    if row.shown_by == "lost":
        if run.run.scenario not in row.scenarios or not run.run.played.lost:
            return None
        lost = len(run.run.played.lost)
        return Shown(run, f"{lost} of {len(run.run.played.acknowledged)} messages are gone")
    if row.shown_by == "steps":
        return _by_steps(row, run)
    if row.shown_by == "seen":
        seen = run.run.outcome if run.run.scenario in row.scenarios else None
        return Shown(run, seen.words) if seen is not None and seen.broken else None
    for trace, outcome in _diverging(run):
        if row.shown_by == "diverges":
            if run.run.scenario in row.scenarios:
                how = f"{trace.result.spec} diverges at `{outcome.action}`"
                return Shown(run, how, trace)
        elif any(row.name in names.split("+") for names in trace.explained_by):
            how = f"{trace.result.spec} diverges at `{outcome.action}`"
            how += f", conforms with {' or '.join(trace.explained_by)}"
            if run.run.broken:
                how += f"; {len(run.run.broken)} acknowledged messages are gone"
            return Shown(run, how, trace)
    return None


def _by_steps(row: Row, run: JudgedRun) -> Shown | None:
    assert row.action is not None, f"{row.name} names no action"
    if run.run.scenario not in row.scenarios:
        return None
    for trace in run.traces:
        if (steps := trace.steps_of(row.action)) >= row.steps:
            return Shown(run, f"{steps} steps `{row.action}`", trace)
    return None


def _diverging(run: JudgedRun) -> Iterator[tuple[JudgedTrace, Diverges]]:
    for trace in run.traces:
        if isinstance(trace.result.outcome, Diverges):
            yield trace, trace.result.outcome
