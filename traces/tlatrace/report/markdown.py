"""Verdicts as a Markdown summary, as code forges show beside a build."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from tlatrace.harmless import harmless
from tlatrace.report.results import Status, TraceResult

__all__ = ["markdown_summary"]

_ORDER: Final[tuple[Status, ...]] = ("diverges", "unreadable", "undecided", "conforms")
_ROWS_SHOWN: Final = 200


def markdown_summary(results: Sequence[TraceResult]) -> str:
    """Write the counts, and a table with the worst traces first."""
    counts = Counter(result.status for result in results)
    heading = ", ".join([f"{counts[status]} {status}" for status in _ORDER if counts[status]])
    ordered = sorted(results, key=lambda result: (_ORDER.index(result.status), result.path))
    lines = [
        "## Traces against the specification",
        "",
        f"{len(results)} trace{'' if len(results) == 1 else 's'}: {heading or 'none'}",
        "",
        "| trace | specification | verdict | logged |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {_cell(result.path)} | {_cell(result.spec or '')} | {_cell(result.text)} |"
        f" {_logged(result)} |"
        for result in ordered[:_ROWS_SHOWN]
    ]
    if len(ordered) > _ROWS_SHOWN:
        lines += ["", f"{len(ordered) - _ROWS_SHOWN} more traces are not shown."]
    return "\n".join(lines) + "\n"


def _logged(result: TraceResult) -> str:
    return "" if result.logged is None else _cell(result.logged.text().removesuffix(" logged"))


def _cell(text: str) -> str:
    """Keep a text of a trace from being read as Markdown or HTML."""
    text = harmless(text)
    for character in "\\`*_{}[]<>|~#":
        text = text.replace(character, "\\" + character)
    return " ".join(text.split())
