"""`rocketproof shrink`: a bug that is switched on, in a run that can be read and repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import ALL_FAULTS, GROUP_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import InjectionPoint, Schedule
from rocketproof.cli import main
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled, read_scheduled, scheduled_json
from tlatrace.errors import TraceFormatError
from tlatrace.trace.ndjson import read_trace

HAS_BUGS = {name: plug.bugs for name, plug in PROTOCOLS.items()}
TOLD = Scheduled(
    protocol="replica_group",
    seed=5,
    options=SimOptions(
        brokers=2, bugs=frozenset({Bug.B14}), faults=ALL_FAULTS & frozenset(GROUP_FAULTS)
    ),
    schedule=Schedule(
        only=frozenset({InjectionPoint("put", "p1", 3), InjectionPoint("reset", "", 1)}),
        heal_ms=7,
        stop_ms=900,
        redrawn=2,
    ),
    events=4,
)


def call(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shrunk")


@pytest.fixture(scope="module")
def printed(folder: Path) -> str:
    seed = ("--seed", 42, "--bug", "B14", "--runs", 60)
    result = call("shrink", "replica_group", *seed, "--out", folder)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.java
@pytest.mark.xdist_group("shrink")
def test_a_bug_is_shown_in_a_few_steps(printed: str) -> None:
    lines = printed.splitlines()
    assert lines[0].startswith("seed 42: rejected (Acknowledge): step ")
    before, after = (int(number) for number in lines[2].split()[-2:])
    assert before > 40
    assert after <= 15
    before, after = (int(number) for number in lines[3].split()[-2:])
    assert before > 40
    assert after <= 8
    assert "producer" in printed
    assert "is no Acknowledge of the specification\nwritten to " in printed


@pytest.mark.java
@pytest.mark.xdist_group("shrink")
def test_what_is_written_repeats_the_run_and_still_fails(printed: str, folder: Path) -> None:
    assert f"--schedule {folder / 'schedule.json'}" in printed
    again = folder / "again.ndjson"
    told = ("--schedule", folder / "schedule.json", "--out", again)
    assert call("simulate", "replica_group", *told).exit_code == 0
    assert again.read_bytes() == (folder / "shrunk.ndjson").read_bytes()

    last = len(read_trace(again).events) - 1
    result = call("validate", again, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["traces"][0]["step"] == last


@pytest.mark.java
@pytest.mark.xdist_group("shrink")
def test_a_run_that_does_not_fail_cannot_be_shrunk() -> None:
    result = call("shrink", "replica_group", "--seed", 3, "--faults", "none", "--steps", 20)
    assert result.exit_code == 3
    assert "there is nothing to shrink" in result.output


@pytest.mark.parametrize(
    "args",
    [
        ("shrink", "raft", "--seed", 1),
        ("shrink", "replica_group", "--seed", 1, "--bug", "B23"),
        ("simulate", "replica_group"),
        ("simulate", "replica_group", "--seed", 1, "--schedule", __file__),
        ("simulate", "replica_group", "--brokers", 2, "--schedule", __file__),
        ("simulate", "epoch_truncation", "--schedule", __file__),
        ("simulate", "replica_group", "--schedule", __file__),
    ],
)
def test_what_cannot_be_asked_is_an_error(args: tuple[object, ...]) -> None:
    assert call(*args).exit_code == 2


def test_a_schedule_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_bytes(scheduled_json(TOLD))
    assert read_scheduled(path, HAS_BUGS) == TOLD
    assert scheduled_json(read_scheduled(path, HAS_BUGS)) == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("protocol", "epoch_truncation"),
        ("seed", -1),
        ("seed", "5"),
        ("stop_ms", -1),
        ("redrawn", None),
        ("events", 0),
        ("only", {"put": [1]}),
        ("only", {"put": {"p1": ["1"]}}),
        ("more", 1),
        ("options", {}),
        ("brokers", 0),
        ("brokers", 99),
        ("steps", -1),
        ("bugs", ["B23"]),
        ("bugs", ["none"]),
        ("faults", ["rain"]),
    ],
)
def test_a_schedule_that_says_what_cannot_be_is_refused(
    name: str, value: object, tmp_path: Path
) -> None:
    content = json.loads(scheduled_json(TOLD))
    (content["options"] if name in content["options"] else content)[name] = value
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(content))
    with pytest.raises(TraceFormatError, match="is no schedule"):
        read_scheduled(path, HAS_BUGS)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"seed": \xff}', b"[" * 100_000])
def test_a_file_that_is_no_schedule_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_bytes(data)
    with pytest.raises(TraceFormatError):
        read_scheduled(path, HAS_BUGS)
    with pytest.raises(TraceFormatError):
        read_scheduled(tmp_path / "no such file", HAS_BUGS)
