"""Verdicts as workflow commands of GitHub Actions: annotations at the trace and at the spec.

Source: GitHub Actions documentation, "Workflow commands for GitHub Actions", setting messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from tlatrace.harmless import harmless
from tlatrace.report.results import TraceResult

__all__ = ["github_annotations"]


def github_annotations(results: Sequence[TraceResult]) -> str:
    """Write one command a line for each trace that does not conform, "" if all do."""
    lines: list[str] = []
    for result in results:
        if result.status == "conforms":
            continue
        level = "warning" if result.status == "undecided" else "error"
        lines.append(_command(level, result.file, result.line or 1, None, result.text))
        if result.failing_conjunct is not None:
            place = result.failing_conjunct
            text = f"false for {harmless(result.path)}: {harmless(place.text)}"
            lines.append(_command("notice", place.path, place.line, place.column, text))
    return "".join([line + "\n" for line in lines])


def _command(level: str, path: str, line: int, column: int | None, text: str) -> str:
    place = f"file={_property(path)},line={line}" + (f",col={column}" if column else "")
    return f"::{level} {place}::{_data(text)}"


def _data(text: str) -> str:
    """Keep a text of a trace from ending the command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(path: str) -> str:
    """Keep a file name from ending the property; line breaks stay, so that it is still the file."""
    shown = "".join([letter if letter in "\r\n" else harmless(letter) for letter in path])
    return _data(shown).replace(":", "%3A").replace(",", "%2C")
