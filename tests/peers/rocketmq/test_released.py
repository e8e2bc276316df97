"""A real group of released RocketMQ: needs a JDK, Maven, and for the first time the network.

Not for every push: `pytest -m slow tests/peers`. Without the programs the test is skipped.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from rocketha.recording.node_log import read_logs
from rocketmq_peer.configuration import ControllerKind, Promises
from rocketmq_peer.errors import ToolMissingError
from rocketmq_peer.frame_rewriting import address
from rocketmq_peer.group import Group, GroupOptions
from rocketmq_peer.group_options import Replication
from rocketmq_peer.jars import PeerJars, fetch
from rocketmq_peer.mixed_walk import draw_mixed, play_mixed
from rocketmq_peer.name_server_client import Route, ask_route
from rocketmq_peer.play import play
from rocketmq_peer.random_walk import Do, Move
from rocketmq_peer.scenarios import SCENARIOS
from rocketmq_peer.toolchain import find_jdk, find_maven
from rocketmq_peer.versions import PINNED
from tests.impl.process.member_records import actions_that_conform

_REGISTERS_AGAIN_S: Final = 10.0


def fetched(version: str) -> PeerJars:
    try:
        find_maven(find_jdk())
    except ToolMissingError as error:
        pytest.skip(str(error))
    return fetch(version, say=print)


@pytest.mark.slow
@pytest.mark.parametrize("version", PINNED)
def test_what_was_acknowledged_survives_the_master(version: str, tmp_path: Path) -> None:
    promises = Promises(all_ack_in_sync_state_set=True)
    options = GroupOptions(brokers=2, promises=promises)
    with Group(tmp_path / "run", fetched(version), options) as group:
        group.start()
        assert group.wait_for_master() == "b1"
        group.wait_for_sync_state_set("b1", "b2")
        client = group.client()
        sent = [client.send("orders", f"a{number}") for number in range(3)]
        assert [answer.status for answer in sent] == ["SEND_OK"] * 3
        group.kill("b1")
        assert group.wait_for_master() == "b2"
        group.wait_for(lambda: client.send("orders", "b0").is_ok or None, "b0 is taken")
        group.start_broker("b1")
        group.wait_for_sync_state_set("b1", "b2")
        assert client.read("orders").ids[:3] == ("a0", "a1", "a2")
    logs = {log.header.node: log for log in read_logs(group.folder / "records")}
    events = Counter(record.event for log in logs.values() for record in log.records)
    assert events["NodeStarted"] == events["NodeStopped"] == 4
    left = [log.records[-1].state["log"]["added"] for name, log in logs.items() if name != "c1"]
    assert [item["id"] for item in left[0]][:3] == ["a0", "a1", "a2"]
    assert left[0] == left[1]


@pytest.mark.slow
def test_a_broker_of_rocketha_is_master_and_slave_among_released_ones(tmp_path: Path) -> None:
    walk = draw_mixed(3)  # rocketha's is master first
    run = play_mixed(walk, fetched("5.3.3"), tmp_path / "run", print)
    assert run.is_decided, run.line()
    assert not run.is_broken, run.line()
    assert run.elected


@pytest.mark.slow
@pytest.mark.parametrize("version", PINNED)
def test_rockethas_controller_leads_brokers_and_answers_mqadmin(
    version: str, tmp_path: Path
) -> None:
    options = GroupOptions(brokers=2, controller_kind=ControllerKind.ROCKETHA)
    with Group(tmp_path / "run", fetched(version), options) as group:
        group.start()
        assert group.wait_for_master() == "b1"
        group.wait_for_sync_state_set("b1", "b2")
        controller = address(group.ports.controller(1).remoting)
        asked = ("-a", controller)
        named = (*asked, "-bn", "g", "-c", "rocketproof")
        assert f"#ControllerLeaderAddress\t{controller}" in group.admin(
            "getControllerMetaData", *asked
        )
        assert "#SyncStateSetNums\t2" in group.admin("getSyncStateSet", *asked, "-b", "g")
        assert "#Epoch: EpochEntry{epoch=1" in group.admin("getBrokerEpoch", "-b", "g")
        assert "controllerType" in group.admin("getControllerConfig", *asked)
        update = ("updateControllerConfig", *asked, "-k", "enableElectUncleanMaster", "-v", "true")
        assert "CODE: 16" in group.admin(*update)
        assert "#MasterEpoch\t2" in group.admin("electMaster", *named, "-b", 2)
        assert group.wait_for_master() == "b2"
        group.wait_for_sync_state_set("b1", "b2")
        assert "CODE: 2009" in group.admin("cleanBrokerMetadata", *named)
        group.kill("c1")
        group.start_controller("c1")
        view = group.wait_for_sync_state_set("b1", "b2")
        assert (view.master, view.master_epoch) == (2, 2)
        group.kill("b2")
        assert group.wait_for_master() == "b1"
    (log,) = [one for one in read_logs(group.folder / "records") if one.header.node == "c1"]
    elected = [one.params["master"] for one in log.records if one.action == "ElectMaster"]
    assert elected == ["b1", "b2", "b1"]


@pytest.mark.slow
@pytest.mark.parametrize("version", PINNED)
def test_a_group_of_rockethas_controllers_leads_released_brokers(
    version: str, tmp_path: Path
) -> None:
    promises = Promises(all_ack_in_sync_state_set=True)
    options = GroupOptions(
        brokers=2,
        controllers=3,
        controller_kind=ControllerKind.ROCKETHA,
        promises=promises,
    )
    with Group(tmp_path / "run", fetched(version), options) as group:
        group.start()
        assert group.wait_for_master() == "b1"
        group.wait_for_sync_state_set("b1", "b2")
        client = group.client()
        assert client.send("orders", "a0").is_ok
        leader = group.leader()
        assert leader is not None
        group.kill(leader)
        group.kill("b1")
        assert group.wait_for_master() == "b2"
        group.wait_for(lambda: client.send("orders", "b0").is_ok or None, "b0 is taken")
        assert group.leader() != leader
        group.start_controller(leader)
        group.start_broker("b1")
        group.wait_for_sync_state_set("b1", "b2")
        assert client.read("orders").ids[:1] == ("a0",)
        controller = address(group.ports.controller(1).remoting)
        assert "#ControllerLeaderAddress" in group.admin("getControllerMetaData", "-a", controller)
    controllers = [one for one in read_logs(group.folder / "records") if one.header.node[0] == "c"]
    elected = {
        (str(record.params["master"]), record.state["epoch"])
        for log in controllers
        for record in log.records
        if record.action == "ElectMaster"
    }
    assert len(controllers) == 3
    assert {("b1", 1), ("b2", 2)} <= elected
    members = group.folder / "members"
    assert {"AppendAsLeader", "Crash"} <= actions_that_conform(members, tuple(read_logs(members)))


@pytest.mark.slow
@pytest.mark.parametrize("ours", [True, False], ids=["rocketha", "RocketMQ"])
@pytest.mark.parametrize("version", PINNED)
def test_a_released_slave_acts_for_its_master_by_either_name_server(
    version: str, ours: bool, tmp_path: Path
) -> None:
    options = GroupOptions(
        brokers=2,
        replication=Replication.SYNC_MASTER,
        promises=Promises(in_sync_replicas=2),
        rocketha_name_server=ours,
        more_of_brokers={
            "enableSlaveActingMaster": True,
            "brokerHeartbeatInterval": 500,
            "brokerNotActiveTimeoutMillis": 3000,
        },
        more_of_name_server={
            "supportActingMaster": True,
            "notifyMinBrokerIdChanged": True,
            "scanNotActiveBrokerInterval": 500,
        },
        agent=False,
    )
    with Group(tmp_path / "run", fetched(version), options) as group:
        group.start()
        client = group.client()
        group.wait_for(lambda: client.send("orders", "a0").is_ok or None, "a0 is taken")
        first, second = (address(group.ports.broker(number).remoting) for number in (1, 2))
        both = Route(brokers={0: first, 1: second}, may_write=True)
        acts = Route(brokers={0: second}, may_write=False)

        def shows(route: Route) -> bool | None:
            return ask_route(group.ports.name_server, "orders") == route or None

        group.wait_for(lambda: shows(both), "both are there")
        group.kill("b1")
        group.wait_for(lambda: shows(acts), "the slave acts")
        time.sleep(_REGISTERS_AGAIN_S)
        assert shows(acts), "it has registered new topics of its own since"
        group.start_broker("b1")
        group.wait_for(lambda: shows(both), "the master is back")


@pytest.mark.slow
@pytest.mark.parametrize("version", PINNED)
def test_half_messages_are_lost_that_a_slave_which_acts_could_not_put(
    version: str, tmp_path: Path
) -> None:
    fetched(version)
    run = play(SCENARIOS["passed_halves"], version, tmp_path / "run", print)
    assert run.trouble is None
    assert run.broken == ("h0", "h1")


@pytest.mark.slow
def test_brokers_of_both_kinds_survive_each_other_under_rockethas_controller(
    tmp_path: Path,
) -> None:
    options = GroupOptions(
        brokers=2,
        rocketha_brokers=frozenset({1}),
        controller_kind=ControllerKind.ROCKETHA,
        promises=Promises(all_ack_in_sync_state_set=True),
        agent=False,
    )
    with Group(tmp_path / "run", fetched("5.5.0"), options) as group:
        group.start()
        group.wait_for_sync_state_set("b1", "b2")
        client = group.client()

        def store(name: str) -> None:
            group.wait_for(lambda: client.send("orders", name).is_ok or None, f"{name} was stored")

        for name in ("a0", "a1", "a2"):
            store(name)
        for old, new, name in (("b1", "b2", "b0"), ("b2", "b1", "c0")):
            assert group.wait_for_master() == old
            group.kill(old)
            assert group.wait_for_master() == new
            store(name)
            group.start_broker(old)
            group.wait_for_sync_state_set("b1", "b2")
            group.kill("c1")
            group.start_controller("c1")
        view = group.wait_for_sync_state_set("b1", "b2")
        assert (view.master, view.master_epoch) == (1, 3)
        found = client.read("orders").ids  # an answer that came late has its message sent again
        assert tuple(dict.fromkeys(found)) == ("a0", "a1", "a2", "b0", "c0")


@pytest.mark.slow
def test_a_mixed_group_loses_what_it_does_not_promise_to_keep(tmp_path: Path) -> None:
    """RocketMQ's default answers before a slave has a message: the loss must be seen."""
    drawn = draw_mixed(3)
    moves = (
        Move(Do.ISOLATE),
        Move(Do.SEND, number=3),
        Move(Do.WAIT, number=12_000),
        Move(Do.REJOIN),
    )
    walk = replace(drawn, options=replace(drawn.options, promises=Promises()), moves=moves)
    run = play_mixed(walk, fetched("5.3.3"), tmp_path / "run", print)
    assert run.played.lost == ("m0", "m1", "m2"), run.line()
    assert run.differences == ()
