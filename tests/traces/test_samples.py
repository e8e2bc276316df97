"""Every sample gets the verdict that samples.toml says."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.cli import main

SAMPLES: Final = Path(__file__).parents[2] / "traces" / "samples"
EXPECTED: Final = tomllib.loads((SAMPLES / "samples.toml").read_text("utf-8"))["sample"]


def test_every_sample_has_an_expected_verdict_and_the_other_way_round() -> None:
    files = sorted(path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*.ndjson"))

    assert sorted(sample["file"] for sample in EXPECTED) == files


@pytest.mark.java
def test_every_sample_gets_its_verdict() -> None:
    paths = [str(SAMPLES / sample["file"]) for sample in EXPECTED]

    result = CliRunner().invoke(main, ["validate", "--json", *paths])

    found = json.loads(result.stdout)["traces"]
    compared = ("verdict", "events", "step", "line")
    expected = [{key: sample.get(key) for key in compared} for sample in EXPECTED]
    assert [{key: answer.get(key) for key in compared} for answer in found] == expected
    assert result.exit_code == 2  # one file at least is no trace


@pytest.mark.java
def test_the_recorded_bug_is_explained_by_the_epoch_of_its_batch() -> None:
    path = SAMPLES / "epoch_truncation" / "bug_B05_seed_21.ndjson"

    result = CliRunner().invoke(main, ["explain", "--json", str(path)])

    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert answer["step"] == 16
    nearest = answer["candidates"][0]
    assert nearest["claimed"]
    assert "link.b3.down[1].epoch" in [change["path"] for change in nearest["differences"]]
    assert "Transfer" in answer["enabled"]
