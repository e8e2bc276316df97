"""A simulated group: one seed one run, all faults, clients are told the truth, life after."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache

import pytest

from rocketha.broker.effects import GroupAction, GroupActionName
from rocketha.broker.state import Registration
from rocketha.controller.applied import (
    BrokerEvicted,
    BrokerRegistered,
    DataCleaned,
    MasterElected,
    SetAltered,
    SetKept,
)
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.histories import Broken, History, Kept
from rocketha.histories.clients import GroupClients
from rocketha.histories.jsonl import load_history
from rocketha.histories.verdicts import Promise
from rocketha.known_bugs import Bug
from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.sim.engine.faults import GROUP_FAULTS, NO_FAULTS, Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.replica_group import plan
from rocketha.sim.replica_group.actions import ControllerActed, Exchanged, GroupClusterAction
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.controller import ControllerMachine
from rocketha.sim.replica_group.null_observer import NullGroupObserver
from rocketha.sim.replica_group.simulation import SIMULATION
from rocketha.types import BrokerId, ConnectionId

SEEDS = range(16)


@dataclass
class Watcher:
    """Notes everything as text, and what it saw at the beginning."""

    lines: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    beginnings: int = 0

    def started(self, cluster: GroupCluster) -> None:
        self.beginnings += 1
        group = cluster.group
        assert not self.kinds, "frames of registrations come before, and nothing else"
        assert group is not None
        assert group.master is None
        assert (group.master_epoch, group.sync_state_set.epoch) == (0, 0)
        assert group.replicas.keys() == cluster.nodes.keys()
        assert cluster.starting == frozenset()
        for node in cluster.up():
            assert node.running().registration is Registration.REGISTERED
            assert node.running().broker_id == node.id
            assert node.incarnation == node.running().incarnation == 0

    def sent(
        self, cluster: GroupCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        self.lines.append(f"{cluster.now_ms} {broker} {conn} {data.hex()}")

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        self.lines.append(f"{cluster.now_ms} {broker} {action}")
        match action:
            case ControllerActed(events=events):
                self.kinds.update(type(event).__name__ for event in events)
            case SpecAction(name=name) | GroupAction(name=name):
                self.kinds[name] += 1
            case Crashed():
                self.kinds["Crash"] += 1

    def exchanged(self, cluster: GroupCluster, what: Exchanged) -> None:
        self.lines.append(f"{cluster.now_ms} {what}")

    def stepped(self, cluster: GroupCluster, broker: BrokerId) -> None:
        assert cluster.nodes[broker].state is not None


def history_of(run: SimulatedRun) -> History:
    assert isinstance(run.clients, GroupClients)
    return run.clients.history


@cache
def watched(seed: int) -> tuple[SimulatedRun, Watcher]:
    watcher = Watcher()
    return simulate(SIMULATION, seed, SimOptions(), watcher), watcher


@pytest.mark.parametrize("seed", SEEDS)
def test_clients_are_told_the_truth_and_the_group_comes_back_to_life(seed: int) -> None:
    run, watcher = watched(seed)
    assert not isinstance(run.clients.check(), Broken)
    assert run.report.lives
    assert run.report.failure is None
    assert watcher.beginnings == 1
    assert load_history(run.clients.content(), "run") == history_of(run)


def test_most_runs_show_something() -> None:
    verdicts = [watched(seed)[0].clients.check() for seed in SEEDS]
    assert sum(isinstance(verdict, Kept) for verdict in verdicts) > 0.75 * len(SEEDS)
    converged = [watched(seed)[0].report.converged for seed in SEEDS]
    assert sum(converged) > 0.75 * len(SEEDS)


def test_runs_have_everything_that_a_group_does() -> None:
    kinds: Counter[str] = sum((watched(seed)[1].kinds for seed in SEEDS), Counter())
    expected = {
        *(kind.__name__ for kind in (MasterElected, SetAltered, SetKept, BrokerEvicted)),
        BrokerRegistered.__name__,
        DataCleaned.__name__,
        *(name for name in GroupActionName if name is not GroupActionName.BECOME_SLAVE),
        ActionName.BECOME_MASTER,
        ActionName.BECOME_SLAVE,
        ActionName.PUT_MESSAGE,
        ActionName.RECEIVE_HANDSHAKE,
        ActionName.RECEIVE_TRANSFER,
        ActionName.RECEIVE_ACK,
        ActionName.DISCONNECT,
        "Crash",
    }
    assert expected - kinds.keys() == set()
    assert kinds[MasterElected.__name__] > 3 * len(SEEDS), "failovers"


def test_every_kind_of_fault_strikes() -> None:
    struck = {name for seed in SEEDS for name in watched(seed)[0].report.faults}
    assert struck == {fault.value for fault in GROUP_FAULTS}


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_is_the_same_run(seed: int) -> None:
    run, watcher = watched(seed)
    again = Watcher()
    assert simulate(SIMULATION, seed, SimOptions(), again) == run
    assert again.lines == watcher.lines
    assert simulate(SIMULATION, seed, SimOptions(), NullGroupObserver()) == run


def test_without_faults_nothing_goes_wrong() -> None:
    run = simulate(SIMULATION, 3, SimOptions(faults=NO_FAULTS), NullGroupObserver())
    assert run.report.faults == {}
    assert run.report.converged
    assert isinstance(run.clients.check(), Kept)


@pytest.mark.parametrize("brokers", [1, 2, 5])
def test_groups_have_other_sizes(brokers: int) -> None:
    run = simulate(SIMULATION, 5, SimOptions(brokers=brokers), NullGroupObserver())
    assert run.report.lives
    assert not isinstance(run.clients.check(), Broken)


def test_a_group_that_an_operator_has_removed_comes_to_life_again() -> None:
    only = SimOptions(faults=frozenset({Fault.CLEAN_DATA}))
    cleaned = 0
    for seed in range(8):
        watcher = Watcher()
        run = simulate(SIMULATION, seed, only, watcher)
        cleaned += watcher.kinds[DataCleaned.__name__]
        assert run.report.converged
        assert isinstance(run.clients.check(), Kept)
    assert cleaned > 2


def test_a_single_kind_of_fault_can_be_asked_for() -> None:
    only = frozenset({Fault.CONTROLLER_DUPLICATE})
    runs = [simulate(SIMULATION, s, SimOptions(faults=only), NullGroupObserver()) for s in range(6)]
    assert {name for run in runs for name in run.report.faults} == {"controller-duplicate"}


def test_with_the_defaults_of_rocketmq_a_message_that_is_safe_is_lost() -> None:
    options = SimOptions(rocketmq_defaults=True)
    verdict = simulate(SIMULATION, 5, options, NullGroupObserver()).clients.check()
    assert isinstance(verdict, Broken)
    assert verdict.promise is Promise.DURABLE


@pytest.mark.parametrize("seed", range(4))
def test_an_unclean_election_gives_up_promises_but_no_others_are_broken(seed: int) -> None:
    run = simulate(SIMULATION, seed, SimOptions(elect_unclean=True), NullGroupObserver())
    assert not isinstance(run.clients.check(), Broken)
    assert run.report.converged, "there is always somebody to elect"


@pytest.mark.parametrize(("bug", "seed"), [(Bug.B35, 16), (Bug.B36, 0), (Bug.B82, 20)])
def test_clients_are_let_down_by_a_bug(bug: Bug, seed: int) -> None:
    with_bug = SimOptions(bugs=frozenset({bug}))
    verdict = simulate(SIMULATION, seed, with_bug, NullGroupObserver()).clients.check()
    assert isinstance(verdict, Broken)
    without = simulate(SIMULATION, seed, SimOptions(), NullGroupObserver())
    assert not isinstance(without.clients.check(), Broken)


@pytest.mark.parametrize(("seed", "restarts"), [(0, 2), (5, 7), (8, 3), (19, 5)])
def test_a_controller_goes_on_from_a_snapshot_as_from_its_whole_log(
    monkeypatch: pytest.MonkeyPatch, seed: int, restarts: int
) -> None:
    loaded: list[int] = []
    restart = ControllerMachine.restart_stopped

    def noted(machine: ControllerMachine) -> None:
        restart(machine)
        loaded.append(machine.host.node.loaded.index)

    monkeypatch.setattr(ControllerMachine, "restart_stopped", noted)
    runs = []
    for snapshots in (plan.SNAPSHOTS, SnapshotOptions()):
        monkeypatch.setattr(plan, "SNAPSHOTS", snapshots)
        watcher = Watcher()
        run = simulate(SIMULATION, seed, SimOptions(), watcher)
        runs.append((watcher.lines, run.clients.content(), run.report))
    assert runs[0] == runs[1]
    assert [index > 0 for index in loaded] == [True] * restarts + [False] * restarts
