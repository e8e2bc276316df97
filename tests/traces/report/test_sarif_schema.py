"""SARIF is what the schema of the standard says it is."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from tests.traces.report.test_report import RESULTS, WITH_CONJUNCT
from tlatrace.judgement.verdict import Diverges
from tlatrace.report.results import TraceResult
from tlatrace.report.sarif import sarif_text

_PACKED: Final = Path(__file__).parent / "schemas" / "sarif-schema-2.1.0.json.gz"
_SHA256: Final = "6352a05f9d03f181b8d9c71a46bdacc4fcff9d8ade5364858b425ba0c0994ed7"

HOSTILE: Final = TraceResult(
    path="/tmp/% ü\udcff\n\x1b[31m?#.ndjson",
    spec="Mail\x00box",
    outcome=Diverges(3, "S\u202eend", "\ud800", "::error::"),
    line=1,
)


def schema() -> dict[str, Any]:
    """Unpack the schema, which is as OASIS wrote it."""
    text = gzip.decompress(_PACKED.read_bytes())
    assert hashlib.sha256(text).hexdigest() == _SHA256
    found: dict[str, Any] = json.loads(text)
    return found


def errors(document: object) -> list[str]:
    checker = jsonschema.Draft7Validator.FORMAT_CHECKER
    validator = jsonschema.Draft7Validator(schema(), format_checker=checker)
    return [error.json_path for error in validator.iter_errors(document)]


@pytest.mark.parametrize(
    "results",
    [[], RESULTS, [WITH_CONJUNCT], [*RESULTS, WITH_CONJUNCT, HOSTILE]],
    ids=["none", "each verdict", "a conjunct", "hostile names"],
)
def test_what_is_written_fits_the_schema(results: list[TraceResult]) -> None:
    document = json.loads(sarif_text(results, version="1.2.3"))

    assert errors(document) == []
    found = document["runs"][0]["results"]
    assert len(found) == sum(result.status != "conforms" for result in results)


def test_the_schema_refuses_what_does_not_fit() -> None:
    document = json.loads(sarif_text([WITH_CONJUNCT], version="1.2.3"))
    result = document["runs"][0]["results"][0]
    result["level"] = "fatal"
    result["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    del result["message"]
    document["runs"][0]["tool"]["driver"]["rocketproof"] = True

    assert len(errors(document)) == 4


def test_the_schema_refuses_a_place_that_names_no_file() -> None:
    document = json.loads(sarif_text([WITH_CONJUNCT], version="1.2.3"))
    (result,) = document["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    del place["artifactLocation"]

    assert errors(document) == ["$.runs[0].results[0].locations[0].physicalLocation"]
