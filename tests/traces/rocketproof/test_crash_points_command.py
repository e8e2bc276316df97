"""`rocketproof crash-points`: what it says, how it ends, and that its schedules repeat a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketha.legacy_ha.connections import LegacyCore
from rocketha.runtime.effects import AppendLog, SendPacket
from rocketha.sim.engine.crash_points import ENDS, CrashPoint
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketha.sim.legacy_replication import cluster as legacy
from rocketproof.cli import main
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled, read_scheduled, scheduled_json
from tests.impl.reordered import Reordered, moved_before

LEGACY = ["crash-points", "legacy_replication", "--workers", "1"]
SNAPSHOTS = ["crash-points", "snapshot_loading", "--workers", "1", "--end", "power-cut"]


def test_runs_that_conform_end_with_0() -> None:
    result = CliRunner().invoke(main, [*LEGACY, "--seeds", "1", "--end", "process-crash"])
    assert result.exit_code == 0, result.output
    assert "crash points of 1 seed: a node ended at" in result.output
    assert result.output.rstrip().endswith("0 failing")


def test_every_nth_crash_point_of_a_node_with_snapshots() -> None:
    result = CliRunner().invoke(main, [*SNAPSHOTS, "--seeds", "2..3", "--every", "29"])
    assert result.exit_code == 0, result.output


def test_nothing_that_ended_is_no_success() -> None:
    result = CliRunner().invoke(main, [*LEGACY, "--seeds", "1", "--steps", "0", "--faults", "none"])
    assert result.exit_code == 3, result.output
    assert "0 of 0 crash points" in result.output


def test_a_failing_run_is_shown_and_its_schedule_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = moved_before(SendPacket, AppendLog)
    monkeypatch.setattr(legacy, "LegacyCore", lambda: Reordered(LegacyCore(), order))
    asked = [*LEGACY, "--seeds", "0", "--end", "process-crash", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 1, result.output
    assert "ReceiveTransfer" in result.output
    schedule = tmp_path / "out" / "crash-point.json"
    assert json.loads(schedule.read_text())["crash_point"]["end"] == "process-crash"

    again = ["simulate", "legacy_replication", "--schedule", str(schedule), "--judge"]
    assert CliRunner().invoke(main, again).exit_code == 1
    monkeypatch.undo()
    assert CliRunner().invoke(main, again).exit_code == 0


def test_a_schedule_with_another_end_is_refused(tmp_path: Path) -> None:
    schedule = tmp_path / "schedule.json"
    content = {
        "protocol": "legacy_replication",
        "seed": 0,
        "options": {
            "brokers": 3,
            "bugs": [],
            "elect_unclean": False,
            "faults": [],
            "rocketmq_defaults": False,
            "steps": None,
        },
        "only": None,
        "heal_ms": None,
        "stop_ms": None,
        "redrawn": 0,
        "events": None,
        "crash_point": {"node": "b2", "seam": 1, "end": "delay"},
    }
    schedule.write_text(json.dumps(content))
    result = CliRunner().invoke(
        main, ["simulate", "legacy_replication", "--schedule", str(schedule)]
    )
    assert result.exit_code == 2
    assert "no node ends by delay" in result.output


OPERATIONS = ["crash-points", "dledger", "--at", "operations", "--workers", "1"]


def test_members_end_before_operations_of_their_disks(tmp_path: Path) -> None:
    few = ["--seeds", "1", "--alike", "1", "--every", "9", "--end", "power-cut"]
    result = CliRunner().invoke(main, [*OPERATIONS, *few, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert result.output.rstrip().endswith("0 failing")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["lock_quorum", "--at", "operations", "--seeds", "1"], 3, "0 of 0 crash points"),
        (["dledger", "--alike", "1", "--seeds", "1"], 2, "--alike is for --at operations"),
    ],
)
def test_operations_that_nobody_counts(arguments: list[str], code: int, said: str) -> None:
    result = CliRunner().invoke(main, ["crash-points", *arguments])
    assert result.exit_code == code, result.output
    assert said in result.output


def scheduled(point: CrashPoint) -> Scheduled:
    return Scheduled(
        protocol="dledger",
        seed=3,
        options=SimOptions(),
        schedule=replace(UNRESTRICTED, crash_point=point),
    )


@pytest.mark.parametrize(
    "point",
    [
        CrashPoint(node="b2", seam=17, end=Fault.PROCESS_CRASH),
        CrashPoint(node="b2", effect=31, operation=2, end=Fault.POWER_CUT),
    ],
)
def test_a_schedule_keeps_its_crash_point(tmp_path: Path, point: CrashPoint) -> None:
    path = tmp_path / "schedule.json"
    path.write_bytes(scheduled_json(scheduled(point)))
    bugs = {name: plug.bugs for name, plug in PROTOCOLS.items()}
    assert read_scheduled(path, bugs) == scheduled(point)


@pytest.mark.parametrize(
    "where",
    [{}, {"seam": 1, "effect": 1, "operation": 1}, {"effect": 1}, {"operation": 1}],
)
def test_a_crash_point_is_at_a_seam_or_at_an_operation(
    tmp_path: Path, where: dict[str, int]
) -> None:
    path = tmp_path / "schedule.json"
    content = json.loads(scheduled_json(scheduled(CrashPoint(node="b1", seam=1, end=ENDS[0]))))
    content["crash_point"] = {"node": "b1", "end": "power-cut", **where}
    path.write_text(json.dumps(content))
    result = CliRunner().invoke(main, ["simulate", "dledger", "--schedule", str(path)])
    assert result.exit_code == 2
    assert "a crash point has a seam, or an effect and an operation" in result.output
