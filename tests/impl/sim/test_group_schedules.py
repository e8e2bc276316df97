"""Schedules of a group that come seldom: each comes in these seeds, and the group lives."""

from __future__ import annotations

from rocketha.broker.effects import GroupAction, GroupActionName
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.replica_group.actions import GroupClusterAction
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.null_observer import NullGroupObserver
from rocketha.sim.replica_group.simulation import SIMULATION
from rocketha.types import BrokerId


class Masters(NullGroupObserver):
    """Counts elections, and masters that become master once more."""

    def __init__(self) -> None:
        self.elections = 0
        self.again = 0
        self._masters: set[BrokerId] = set()

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        del cluster
        match action:
            case SpecAction(name=ActionName.BECOME_MASTER) if broker is not None:
                self.elections += 1
                self.again += broker in self._masters
                self._masters.add(broker)
            case (
                SpecAction(name=ActionName.BECOME_SLAVE)
                | GroupAction(name=GroupActionName.BECOME_SLAVE)
            ) if broker is not None:
                self._masters.discard(broker)
            case Crashed(broker=stopped):
                self._masters.discard(stopped)
            case _:
                pass


def run_of(seed: int, *, elect_unclean: bool = False) -> tuple[SimulatedRun, Masters]:
    masters = Masters()
    return simulate(SIMULATION, seed, SimOptions(elect_unclean=elect_unclean), masters), masters


def notes(run: SimulatedRun) -> str:
    return " ".join(str(event) for event in run.injected)


def test_a_group_fails_over_while_one_of_its_brokers_is_away_for_the_whole_run() -> None:
    runs = [run_of(seed) for seed in (5, 77, 88)]
    assert all("is away until the faults end" in notes(run) for run, _ in runs)
    assert all(run.report.lives for run, _ in runs)
    assert sum(masters.elections for _, masters in runs) > 2 * len(runs)
    assert all(run.obligations.missed == () for run, _ in runs)


def test_a_controllers_clock_is_behind_its_log() -> None:
    runs = [run_of(seed)[0] for seed in range(16)]
    behind = [run for run in runs if "ms behind then" in notes(run)]
    assert behind
    assert all(run.report.lives and run.obligations.missed == () for run in behind)


def test_a_master_is_elected_once_more_while_it_is_one() -> None:
    runs = [run_of(seed, elect_unclean=True) for seed in range(12)]
    assert any("wants the old master again" in notes(run) for run, _ in runs)
    assert sum(masters.again for _, masters in runs) > 0
