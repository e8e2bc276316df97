"""What a run of a real system comes to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from rocketha.known_bugs import Bug, Bugs
from rocketha.recording.node_log import RecordFiles
from rocketmq_peer.acting_history import Seen
from rocketmq_peer.played_run import Played, PlayedRun
from rocketmq_peer.scenarios import SCENARIOS
from rocketproof.cli import main
from rocketproof.peer_runs import JudgedRun, judge_run
from tests.traces.rocketproof.recorded_runs import SUBJECTS, recorded
from tlatrace.judgement.verdict import kind

PROTOCOL = "epoch_truncation"


def played(folder: Path, seed: int, bugs: Bugs = frozenset()) -> PlayedRun:
    """Return a run whose records are those of a simulation."""
    with RecordFiles(folder / "records") as files:
        for log in recorded(PROTOCOL, seed, bugs).logs:
            files.write(log.header)
            for record in log.records:
                files.write(record)
    return PlayedRun(
        scenario="truncation",
        version="5.3.3",
        protocols=(PROTOCOL,),
        museum=("B03", "B10"),
        promises_durability=False,
        played=Played(acknowledged=["a"], answers={"a": "SEND_OK"}, read_back=("a",)),
        seconds=2.0,
        trouble=None,
    )


RETURNS = [
    Seen(at_ms=at_ms, what=what, node=node)
    for at_ms, what, node in ((1, "killed", "b1"), (2, "acts", "b2"), (3, "pulled", "b2"))
]
UP = Seen(at_ms=4, what="up", node="b1")


@pytest.mark.parametrize(
    ("more", "verdict", "line"),
    [
        ((UP, Seen(at_ms=2004, what="back", node="b1")), "conforms", "back 2 s after its start"),
        ((UP, Seen(at_ms=2004, what="waited", node="b1")), "diverges", "not back 2 s after its"),
        ((), "undecided", "the master was not started again after a pull from its slave"),
    ],
)
def test_what_clients_saw_is_judged_where_there_is_no_trace(
    more: tuple[Seen, ...], verdict: str, line: str, tmp_path: Path
) -> None:
    run = PlayedRun(
        scenario="kept_out",
        version="5.5.0",
        protocols=(),
        museum=(),
        promises_durability=False,
        played=Played(seen=[*RETURNS, *more]),
        history="returns",
        seconds=2.0,
        trouble=None,
    )
    judged = judge_run(run, tmp_path, museum=())
    assert kind(judged.verdict) == verdict
    assert line in judged.lines()[0]
    assert judged.to_json()["broken"] == (["b1"] if verdict == "diverges" else [])
    troubled = replace(judged, run=msgspec.structs.replace(run, trouble="b1 did not start"))
    assert kind(troubled.verdict) == ("diverges" if verdict == "diverges" else "undecided")


@pytest.mark.java
def test_a_run_conforms_unless_something_is_wrong(tmp_path: Path) -> None:
    run = played(tmp_path, 1)
    judged = judge_run(run, tmp_path, museum=())
    assert kind(judged.verdict) == "conforms"
    assert judged.lines()[-1].startswith("truncation: conforms (RocketMQ 5.3.3, 2 s")
    late = replace(judged, run=msgspec.structs.replace(run, trouble="b1 did not start"))
    assert kind(late.verdict) == "undecided"
    assert "trouble: b1 did not start" in late.lines()
    lossy = msgspec.structs.replace(run, played=Played(acknowledged=["a"], read_back=()))
    assert kind(replace(judged, run=lossy).verdict) == "conforms"
    assert "lost, which nobody promised: a" in replace(judged, run=lossy).lines()
    promised = msgspec.structs.replace(lossy, promises_durability=True)
    assert kind(replace(judged, run=promised).verdict) == "diverges"
    assert "LOST, although promised: a" in replace(judged, run=promised).lines()


@pytest.mark.java
def test_a_divergence_is_explained(tmp_path: Path) -> None:
    seed = SUBJECTS[PROTOCOL].seed_of_bug[Bug.B03]
    run = played(tmp_path, seed, frozenset({Bug.B03}))
    judged = judge_run(run, tmp_path, museum=run.museum)
    assert kind(judged.verdict) == "diverges"
    assert judged.traces[0].explained_by == ("B03",)
    assert "epoch_truncation: conforms with B03" in judged.lines()
    said = judged.to_json()
    assert json.loads(json.dumps(said)) == said
    assert said["verdict"] == "diverges"


@pytest.mark.java
def test_a_run_is_judged_again_where_it_lies(tmp_path: Path) -> None:
    run = played(tmp_path, 1)
    nowhere = CliRunner().invoke(main, ["peer", "rocketmq", "judge", str(tmp_path)])
    assert nowhere.exit_code == 2
    assert "no run was played here" in nowhere.output
    run.write(tmp_path)
    result = CliRunner().invoke(main, ["peer", "rocketmq", "judge", str(tmp_path), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["verdict"] == "conforms"


def test_a_scenario_that_nobody_knows_is_refused() -> None:
    result = CliRunner().invoke(main, ["peer", "rocketmq", "run", "what"])
    assert result.exit_code == 2
    assert "truncation" in result.output


def test_a_release_that_is_not_fetched_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCKETPROOF_PEERS", str(tmp_path))
    result = CliRunner().invoke(
        main, ["peer", "rocketmq", "run", "truncation", "--out", str(tmp_path / "run")]
    )
    assert result.exit_code == 2
    assert "fetch --version 5.5.0" in result.output


def test_who_led_the_brokers_is_said(tmp_path: Path) -> None:
    run = msgspec.structs.replace(played(tmp_path, 1), controller="rocketha")
    judged = JudgedRun(run=run, folder=tmp_path, traces=())
    assert f"5.3.3, controller rocketha, 2 s, {tmp_path}" in judged.lines()[-1]
    assert judged.to_json()["controller"] == "rocketha"


def test_scenarios_are_listed() -> None:
    result = CliRunner().invoke(main, ["peer", "rocketmq", "scenarios"], terminal_width=200)
    assert result.exit_code == 0
    assert all(name in result.output for name in SCENARIOS)
