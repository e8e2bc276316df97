"""Verdicts as SARIF 2.1.0: one result for each trace that does not conform, at its line.

The conjunct of the specification that forbids the step is a related location.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final
from urllib.parse import quote

from tlatrace.harmless import harmless
from tlatrace.report.results import Status, TraceResult
from tlatrace.values import Json

__all__ = ["sarif_text"]

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES: Final[dict[Status, tuple[str, str]]] = {
    "diverges": ("error", "The specification does not allow a step of the trace."),
    "undecided": ("warning", "There is no evidence that the specification allows the trace."),
    "unreadable": ("error", "The file is not a trace."),
}
"""rule -> (level, what it says)."""


def sarif_text(results: Sequence[TraceResult], *, version: str) -> str:
    """Write the results that do not conform; `version` is that of this tool."""
    rules: list[Json] = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}
        for name, (level, text) in _RULES.items()
    ]
    found: list[Json] = [_result(result) for result in results if result.status in _RULES]
    driver: dict[str, Json] = {"name": "rocketproof", "version": version, "rules": rules}
    document: dict[str, Json] = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": found}],
    }
    return json.dumps(document, indent=2) + "\n"


def _result(result: TraceResult) -> Json:
    answer: dict[str, Json] = {
        "ruleId": result.status,
        "level": _RULES[result.status][0],
        "message": {"text": result.text},
        "locations": [_location(result.file, {"startLine": result.line or 1})],
    }
    place = result.failing_conjunct
    if place is not None:
        region: dict[str, Json] = {"startLine": place.line, "startColumn": place.column}
        said: dict[str, Json] = {"message": {"text": harmless(place.text)}}
        answer["relatedLocations"] = [{"id": 1, **said, **_location(place.path, region)}]
    return answer


def _location(name: str, region: dict[str, Json]) -> dict[str, Json]:
    path = PurePath(name)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": dict(region)}}
