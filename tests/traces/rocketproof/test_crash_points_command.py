"""`rocketproof crash-points`: what it says, how it ends, and that its schedules repeat a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketha.legacy_ha.connections import LegacyCore
from rocketha.runtime.effects import AppendLog, SendPacket
from rocketha.sim.legacy_replication import cluster as legacy
from rocketproof.cli import main
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
