"""`rocketproof validate --mutate`: what a specification does not notice, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from rocketproof.cli import main
from tests.source_files import ROOT

SAMPLES: Final = ROOT / "traces" / "samples" / "epoch_truncation"

LOOSE: Final = """---- MODULE Loose ----
EXTENDS Naturals
VARIABLES n, seen
Init == n = 0 /\\ seen = 0
Add(k) == n' = n + k /\\ UNCHANGED seen
Look == seen' \\in 0..n /\\ UNCHANGED n
Next == (\\E k \\in 1..2 : Add(k)) \\/ Look
====
"""
HEADER: Final = '{"format":"rocketproof-trace","version":1,"spec":"Loose"}'


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["validate", *[str(one) for one in arguments]])


def loose(folder: Path, *events: tuple[str, int, int]) -> list[object]:
    (folder / "Loose.tla").write_text(LOOSE)
    lines = [HEADER]
    for step, (call, n, seen) in enumerate([("Init", 0, 0), *events]):
        action, _, param = call.partition(" ")
        event = {
            "step": step,
            "action": action,
            "params": [int(param)] if param else [],
            "state": {"n": n, "seen": seen},
        }
        lines.append(json.dumps(event))
    (folder / "run.ndjson").write_text("\n".join(lines) + "\n")
    return [folder / "run.ndjson", "--spec", folder / "Loose.tla"]


@pytest.mark.java
def test_the_epoch_specification_notices_what_is_changed() -> None:
    result = run(SAMPLES / "seed_6.ndjson", "--mutate", 300, "--json")

    answer = json.loads(result.stdout)
    assert answer["traces"] == 1
    assert sum(kind["made"] for kind in answer["kinds"].values()) == 300
    for kind in answer["kinds"].values():
        assert kind["made"] >= 30
        assert kind["refused"] >= 0.7 * kind["made"]
    assert {hole["kind"] for hole in answer["holes"]} <= {"drop"}
    assert result.exit_code == (1 if answer["holes"] else 0)


@pytest.mark.java
def test_a_hole_is_shown_with_step_and_change(tmp_path: Path) -> None:
    result = run(*loose(tmp_path, ("Add 2", 2, 0), ("Look", 2, 1)), "--mutate", 200)

    assert result.exit_code == 1
    assert "run.ndjson, step 2: field: seen: 1 -> 0 after Look" in result.stdout


@pytest.mark.java
def test_a_trace_without_holes_exits_with_zero(tmp_path: Path) -> None:
    """The step after `Look` shows what was seen, so nothing else is accepted."""
    events = [("Add 2", 2, 0), ("Look", 2, 1), ("Add 1", 3, 1)]

    result = run(*loose(tmp_path, *events), "--mutate", 200)

    assert result.exit_code == 0
    assert "corruptions of 1 accepted trace, seed 0" in result.stdout


@pytest.mark.java
def test_traces_that_are_not_accepted_leave_nothing_to_examine(tmp_path: Path) -> None:
    result = run(*loose(tmp_path, ("Add 2", 7, 0)), "--mutate", 100)

    assert result.exit_code == 3
    assert "not corrupted, it diverges at step 1" in result.stdout


def test_an_empty_file_leaves_nothing_to_examine(tmp_path: Path) -> None:
    empty = tmp_path / "empty.ndjson"
    empty.write_text("")

    result = run(empty, "--mutate", 10)

    assert result.exit_code == 3
    assert "the file is empty" in result.stdout


def test_a_file_that_is_no_trace_is_an_error(tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.ndjson"
    garbage.write_text("garbage\n")

    result = run(garbage, "--mutate", 10)

    assert result.exit_code == 2
    assert "garbage.ndjson:1" in result.stderr


@pytest.mark.parametrize("option", [("--engine", "tlc"), ("--github",), ("--junit", "j.xml")])
def test_what_corruptions_have_no_answer_for_is_a_usage_error(
    option: tuple[str, ...], tmp_path: Path
) -> None:
    empty = tmp_path / "empty.ndjson"
    empty.write_text("")

    assert run(empty, "--mutate", 10, *option).exit_code == 2


@pytest.mark.java
def test_a_baseline_lets_known_holes_pass(tmp_path: Path) -> None:
    trace = loose(tmp_path, ("Add 2", 2, 0), ("Look", 2, 1))
    known = tmp_path / "holes.json"

    first = run(*trace, "--mutate", 200, "--write-baseline", known)
    second = run(*trace, "--mutate", 200, "--seed", 1, "--baseline", known)
    few = run(*trace, "--mutate", 200, "--max-holes", 50)

    assert (first.exit_code, second.exit_code, few.exit_code) == (1, 0, 0), second.stdout
    assert "holes that the baseline knows" in second.stdout


def test_options_of_corruptions_need_corruptions(tmp_path: Path) -> None:
    empty = tmp_path / "empty.ndjson"
    empty.write_text("")

    assert run(empty, "--baseline", tmp_path / "holes.json").exit_code == 2
    assert run(empty, "--max-holes", 3).exit_code == 2
