"""Runs of a group are runs of what a user is promised, and a run that loses a message is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketha.sim.engine.options import SimOptions
from rocketproof.cli import main
from rocketproof.protocols import PROTOCOLS
from tlatrace.trace.ndjson import read_trace, write_trace

pytestmark = pytest.mark.java

PROTOCOL = "replica_group"
LOSES = 5
"""A seed that loses an acknowledged message in RocketMQ's default configuration."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, seed, defaults in (("safe", 1, False), ("loses", LOSES, True)):
        options = SimOptions(rocketmq_defaults=defaults)
        write_trace(folder / f"{name}.ndjson", PROTOCOLS[PROTOCOL].run(seed, options).trace)
    return folder


def view(*args: object, operator: str = "UserView", higher: str = "AckedLog") -> Result:
    words = ["view", *map(str, args), "--operator", operator, "--as", higher]
    return CliRunner().invoke(main, words)


def test_a_safe_run_implements_the_log_of_a_user_and_a_lossy_one_does_not(
    runs: Path, tmp_path: Path
) -> None:
    made = view(runs, "--out", tmp_path)
    judged = CliRunner().invoke(main, ["validate", str(tmp_path), "--json"])

    assert made.exit_code == 0, made.output
    assert judged.exit_code == 1, judged.output
    lossy, safe = json.loads(judged.stdout)["traces"]
    assert (safe["verdict"], lossy["verdict"]) == ("conforms", "diverges")


def test_the_steps_are_those_that_change_what_a_user_sees(runs: Path, tmp_path: Path) -> None:
    view(runs / "safe.ndjson", "--out", tmp_path)
    run, seen = read_trace(runs / "safe.ndjson"), read_trace(tmp_path / "safe.ndjson")

    assert seen.header is not None
    assert seen.header.spec == "AckedLog"
    shown = seen.header.meta["view"]
    assert isinstance(shown, dict)
    steps = shown["steps"]
    assert isinstance(steps, list)
    assert 10 < len(steps) == len(seen.events) < len(run.events)
    for step, event in zip(steps, seen.events, strict=True):
        assert isinstance(step, int)
        state = run.events[step].state
        assert state is not None
        assert event.state is not None
        assert (event.state["acked"], event.state["seen"]) == (state["acked"], state["seen"])
    states = [event.state for event in seen.events]
    assert all(one != other for one, other in pairwise(states))


@pytest.mark.parametrize(
    ("operator", "higher", "error"),
    [
        ("Serving", "AckedLog", "Serving is no state of AckedLog, a record with acked, seen"),
        ("Nothing", "AckedLog", "Nothing"),
        ("UserView", "EpochTruncationer", "there is no such module"),
    ],
)
def test_what_does_not_fit_is_said(
    runs: Path, tmp_path: Path, operator: str, higher: str, error: str
) -> None:
    result = view(runs / "safe.ndjson", "--out", tmp_path, operator=operator, higher=higher)

    assert result.exit_code == 2
    assert error in result.stderr


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda _text: "", "has no events"),
        (lambda text: text.splitlines()[0] + "\n", "has no events"),
        (lambda text: text.replace('"state"', '"observed"'), "does not show the whole state"),
        (lambda _text: "{", "not JSON"),
    ],
)
def test_a_file_that_has_no_whole_states_is_refused(
    runs: Path, tmp_path: Path, spoil: Callable[[str], str], error: str
) -> None:
    file = tmp_path / "bad.ndjson"
    file.write_text(spoil((runs / "safe.ndjson").read_text("utf-8")), "utf-8")

    result = view(file, "--out", tmp_path / "out")

    assert result.exit_code == 2
    assert error in result.stderr
    assert not (tmp_path / "out").exists()


def test_two_traces_of_one_name_are_refused(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "safe.ndjson").write_text((runs / "safe.ndjson").read_text("utf-8"), "utf-8")

    result = view(runs / "safe.ndjson", tmp_path / "safe.ndjson", "--out", tmp_path / "out")

    assert result.exit_code == 2
    assert "the same name" in result.stderr
