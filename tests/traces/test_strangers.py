"""Mappings for published trace sets are well formed, and small logs in their forms are judged."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from tlatrace.matching import read_mapping

STRANGERS: Final = Path(__file__).parents[2] / "traces" / "samples" / "strangers"
EXPECTED: Final = tomllib.loads((STRANGERS.parent / "samples.toml").read_text("utf-8"))["log"]
MAPPINGS: Final = sorted(STRANGERS.rglob("*.toml"))
SMALL: Final = frozenset(["terms.toml", "starts.toml"])
"""Mappings for logs of our own, shorter than those of the set."""


@pytest.mark.parametrize("path", MAPPINGS, ids=[path.name for path in MAPPINGS])
def test_every_mapping_is_well_formed_and_its_length_is_told(path: Path) -> None:
    mapping = read_mapping(path)

    name = path.relative_to(STRANGERS).as_posix()
    lines = len(path.read_text("utf-8").splitlines())
    told = f"[{name}]({name}) | {lines} |"
    assert mapping.params
    assert told in (STRANGERS / "README.md").read_text("utf-8") or path.name in SMALL


def test_every_log_has_an_expected_verdict() -> None:
    logs = {path.relative_to(STRANGERS).as_posix() for path in STRANGERS.rglob("*.jsonl")}
    runs = {path.parent.relative_to(STRANGERS).as_posix() for path in STRANGERS.rglob("*.log")}

    assert {one["path"] for one in EXPECTED} == logs | runs


@pytest.mark.java
@pytest.mark.parametrize("log", EXPECTED, ids=[one["path"] for one in EXPECTED])
def test_a_small_log_in_the_form_of_a_set_gets_its_verdict(log: dict[str, str]) -> None:
    folder = STRANGERS / Path(log["path"]).parent
    spec = folder / f"{log['spec']}.tla"

    result = CliRunner().invoke(
        main,
        [
            *("validate", "--json", "--map", str(folder / log["map"])),
            *("--spec", str(spec), "--config", str(spec.with_suffix(".cfg"))),
            str(STRANGERS / log["path"]),
        ],
    )

    (answer,) = json.loads(result.stdout)["traces"]
    compared = ("verdict", "events", "step", "line", "skipped")
    assert {key: answer.get(key) for key in compared} == {key: log.get(key) for key in compared}
