"""`rocketproof view --itf`: traces as other tools read them, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from rocketproof.cli import main
from tests.source_files import ROOT
from tlatrace.trace.itf import read_itf
from tlatrace.trace.ndjson import read_trace

SAMPLES: Final = ROOT / "traces" / "samples" / "epoch_truncation"


def view(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["view", *map(str, words)])


@pytest.mark.parametrize("name", ["bug_B05_seed_21", "partial_from_step_12"])
def test_a_trace_is_written_as_itf_and_read_back_equal(name: str, tmp_path: Path) -> None:
    run = SAMPLES / f"{name}.ndjson"

    made = view(run, "--itf", "--out", tmp_path)

    assert made.exit_code == 0, made.output
    written = tmp_path / f"{name}.itf.json"
    trace = read_trace(run)
    assert made.stdout == f"{written}: {len(trace.events)} states\n"
    assert read_itf(written) == trace
    document = json.loads(written.read_text("utf-8"))
    assert document["#meta"]["format"] == "ITF"
    assert [state["#meta"]["index"] for state in document["states"]] == list(
        range(len(trace.events))
    )


def test_without_an_operator_something_has_to_be_asked_for(tmp_path: Path) -> None:
    run = SAMPLES / "bug_B05_seed_21.ndjson"

    nothing = view(run, "--out", tmp_path)
    half = view(run, "--operator", "UserView", "--itf", "--out", tmp_path)

    assert (nothing.exit_code, half.exit_code) == (2, 2)
    assert "--itf" in nothing.stderr
    assert "go together" in half.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_help_says_where_corpora_are_made() -> None:
    said = " ".join(CliRunner().invoke(main, ["--help"]).stdout.split())
    assert "in processes of this machine or on Spark" in said
