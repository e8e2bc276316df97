"""What is played, and what it comes to."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rocketmq_peer import legacy_walk
from rocketmq_peer import play as play_module
from rocketmq_peer import scenario as scenario_module
from rocketmq_peer.configuration import ControllerKind, Promises
from rocketmq_peer.controller_view import ask_leader
from rocketmq_peer.errors import PeerError, ProcessError
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.group_options import Replication
from rocketmq_peer.jars import PeerJars
from rocketmq_peer.legacy_walk import legacy_scenario_of, without_controllers
from rocketmq_peer.play import play
from rocketmq_peer.played_run import Played, PlayedRun
from rocketmq_peer.random_walk import (
    Do,
    Move,
    Walk,
    Who,
    draw,
    under_rocketha,
)
from rocketmq_peer.scenario import LIVE, LIVE_LEGACY, Scenario, Stage, under
from rocketmq_peer.scenarios import SCENARIOS
from rocketproof.protocols import PROTOCOLS
from tests.source_files import ROOT
from tlatrace.tools.manifest import read_manifest

ALL_ACK = GroupOptions(brokers=2, promises=Promises(all_ack_in_sync_state_set=True))


def begins(stage: Stage) -> None:
    assert stage.begin() == "b1"
    assert stage.others("b1") == ("b2",)
    stage.send_all("a", 2)


def scenario(options: GroupOptions = ALL_ACK, *, fails: bool = False) -> Scenario:
    def happens(stage: Stage) -> None:
        begins(stage)
        if fails:
            raise ProcessError("b1 did not do it")

    return Scenario(
        name="toy",
        about="nothing happens",
        protocols=("epoch_truncation",),
        play=happens,
        options=options,
    )


def test_scenarios_are_held_against_what_there_is() -> None:
    assert {*LIVE, *LIVE_LEGACY} <= {one.name for one in read_manifest(ROOT / "spec").mutants}
    for name, one in SCENARIOS.items():
        assert one.name == name
        assert one.about
        assert one.protocols or one.history
        assert all(PROTOCOLS[protocol].records is not None for protocol in one.protocols), name


def test_what_is_acknowledged_and_not_found_is_lost() -> None:
    assert Played(acknowledged=["a", "b"]).lost == ()
    assert Played(acknowledged=["a", "b"], read_back=("b", "c")).lost == ("a",)


def a_run(*, promises_durability: bool = True) -> PlayedRun:
    return PlayedRun(
        scenario="toy",
        version="5.3.3",
        protocols=("epoch_truncation",),
        museum=("B03",),
        promises_durability=promises_durability,
        played=Played(acknowledged=["a"], answers={"a": "SEND_OK"}, read_back=()),
        seconds=1.0,
        trouble=None,
    )


def test_a_loss_breaks_what_was_promised() -> None:
    assert a_run().broken == ("a",)
    assert a_run(promises_durability=False).broken == ()


def test_a_run_is_kept(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match="no run was played here"):
        PlayedRun.read(tmp_path)
    a_run().write(tmp_path)
    assert PlayedRun.read(tmp_path) == a_run()
    (tmp_path / "played.json").write_text('{"scenario": 1}')
    with pytest.raises(PeerError, match="scenario"):
        PlayedRun.read(tmp_path)


@pytest.mark.parametrize(
    ("options", "promises"),
    [
        (ALL_ACK, True),
        (replace(ALL_ACK, elect_unclean=True), False),
        (GroupOptions(brokers=2), False),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_promised_is_said_by_the_configuration(
    options: GroupOptions,
    promises: bool,
    tmp_path: Path,
    toy_jars: PeerJars,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(play_module, "find_jars", lambda _: toy_jars)
    one = replace(scenario(options), play=lambda stage: stage.group.start())
    run = play(one, "5.3.3", tmp_path / "run", lambda _: None)
    assert run.promises_durability == promises
    assert PlayedRun.read(tmp_path / "run") == run


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_scenario_without_a_trace_is_trouble_where_nothing_was_seen(
    tmp_path: Path, toy_jars: PeerJars, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_module, "find_jars", lambda _: toy_jars)
    one = replace(scenario(), protocols=(), history="pops", play=lambda stage: stage.group.start())
    run = play(one, "5.3.3", tmp_path / "run", lambda _: None)
    assert run.trouble == "no other master came while the slave acted"
    assert (run.protocols, run.history) == ((), "pops")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_scenario_is_played_under_rockethas_controller(
    tmp_path: Path, toy_jars: PeerJars, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_module, "find_jars", lambda _: toy_jars)
    leaders: list[str | None] = []

    def happens(stage: Stage) -> None:
        stage.group.start_controller("c1")
        leaders.append(stage.group.leader())

    one = under(replace(scenario(), play=happens), ControllerKind.ROCKETHA)
    run = play(one, "5.3.3", tmp_path / "run", lambda _: None)
    assert leaders == ["c1"]
    assert run.controller == "rocketha"
    assert "rocketha" in (tmp_path / "run" / "nodes" / "c1" / "node.conf").read_text()


def test_a_walk_without_controllers_has_a_master_for_ever() -> None:
    walks = [without_controllers(draw(seed)) for seed in range(40)]
    assert [one.moves for one in walks] == [draw(seed).moves for seed in range(40)]
    assert {one.options.replication for one in walks} == {
        Replication.SYNC_MASTER,
        Replication.ASYNC_MASTER,
    }
    for one in walks:
        assert 2 <= one.options.promises.in_sync_replicas <= one.options.brokers
        made = legacy_scenario_of(one)
        assert made.protocols == ("legacy_replication",)
        assert made.museum == LIVE_LEGACY
        assert not replace(made.options, controllers=3).controller_names


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_walk_without_controllers_is_played(
    tmp_path: Path, toy_jars: PeerJars, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_module, "find_jars", lambda _: toy_jars)
    monkeypatch.setattr(legacy_walk, "_SETTLES_S", 1.0)
    walk = Walk(
        seed=1,
        options=GroupOptions(brokers=2, replication=Replication.SYNC_MASTER),
        moves=(
            Move(Do.SEND, number=2),
            Move(Do.RESTART, Who.SLAVE),
            Move(Do.KILL, Who.MASTER),
            Move(Do.CUT, Who.MASTER),
            Move(Do.START),
        ),
    )
    said: list[str] = []
    run = play(legacy_scenario_of(walk), "5.3.3", tmp_path / "run", said.append)
    assert run.trouble is None
    assert run.played.acknowledged == ["first", "m0", "m1", "last"]
    lines = (tmp_path / "run" / "harness.ndjson").read_text().splitlines()
    done = [f"{one['do']} {one['node']}" for one in map(json.loads, lines) if "node" in one]
    wanted = ("power_cut b2", "start b2", "kill b1", "start b1")
    assert [one for one in done if one in wanted][2:6] == [*wanted]  # both were started before


def test_a_walk_under_rocketha_has_one_controller() -> None:
    walks = [draw(seed) for seed in range(12)]
    assert {walk.options.controllers for walk in walks} == {1, 3}
    led = [under_rocketha(walk) for walk in walks]
    assert {walk.options.controllers for walk in led} == {1}
    assert [walk.moves for walk in led] == [walk.moves for walk in walks]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("fails", [False, True])
def test_a_scenario_is_played_and_recorded(
    fails: bool, tmp_path: Path, toy_jars: PeerJars, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_module, "find_jars", lambda _: toy_jars)
    said: list[str] = []
    run = play(scenario(fails=fails), "5.3.3", tmp_path / "run", said.append)
    assert run.played.acknowledged == ["a0", "a1"]
    assert run.trouble == ("b1 did not do it" if fails else None)
    assert sorted(path.name for path in (tmp_path / "run" / "records").iterdir()) == [
        f"{node}.records.jsonl" for node in ("b1", "b2", "c1")
    ]
    assert any("b1 is master" in line for line in said)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_an_agent_could_not_see_is_trouble(
    tmp_path: Path, toy_jars: PeerJars, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_module, "find_jars", lambda _: toy_jars)

    def happens(stage: Stage) -> None:
        stage.begin()
        with (stage.group.folder / "nodes" / "b1" / "out.txt").open("a") as file:
            file.write("rocketproof agent: not recorded: AutoSwitchHAService.init\n")

    one = replace(scenario(), play=happens)
    run = play(one, "5.3.3", tmp_path / "run", lambda _: None)
    assert run.trouble == "not recorded: AutoSwitchHAService.init"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_broker_hears_nothing_of_controllers_while_their_answers_are_held(
    tmp_path: Path, toy_jars: PeerJars, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_module, "find_jars", lambda _: toy_jars)
    heard: list[bool] = []

    def happens(stage: Stage) -> None:
        stage.begin()
        ports = [stage.group.ports.broker(number).to_controller[1] for number in (1, 2)]
        stage.hold_answers("b1")
        heard.extend(ask_leader([port]) is not None for port in ports)
        stage.ask_election("c1", "b2")
        stage.say_logs("b1", "b2")

    said: list[str] = []
    run = play(replace(scenario(), play=happens), "5.3.3", tmp_path / "run", said.append)
    assert run.trouble is None
    assert heard == [False, True]
    assert any(line.endswith("all have the same") for line in said)
    asked = (tmp_path / "run" / "harness.ndjson").read_text()
    assert '"do": "ask_election", "node": "c1", "master": "b2"' in asked


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_group_without_controllers_is_played(
    tmp_path: Path, toy_jars: PeerJars, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play_module, "find_jars", lambda _: toy_jars)
    monkeypatch.setattr(scenario_module, "_TRIES_S", 0.01)

    def happens(stage: Stage) -> None:
        assert stage.begin_legacy("b3") == "b1"
        assert stage.group.running == ("namesrv", "b1", "b2")
        answered = stage.send_at_once("a", 2, timeout_ms=1000)
        answered()
        stage.send_until_had("b1", 1, timeout_ms=1000)()
        with pytest.raises(ProcessError, match="b1 had not 2 of 26 messages"):
            stage.send_until_had("b1", 2, timeout_ms=1000)
        stage.power_cut("b1")
        with pytest.raises(ProcessError, match="all were cut"):
            stage.nobody_connected(timeout_s=0.1)
        with pytest.raises(ProcessError, match="b3 had reported"):
            stage.reported("b3", timeout_s=0.1)

    options = GroupOptions(brokers=3, replication=Replication.SYNC_MASTER)
    said: list[str] = []
    run = play(
        replace(scenario(), play=happens, options=options), "5.3.3", tmp_path / "run", said.append
    )
    assert run.trouble is None
    assert run.played.acknowledged == ["a0", "a1", "a0"]
    assert any(line.endswith("b1 has lost its power; it keeps nothing") for line in said)
    assert not run.promises_durability
