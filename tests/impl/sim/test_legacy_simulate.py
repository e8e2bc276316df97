"""Runs of the legacy service: reproducible, full of faults, and well again when these end."""

from __future__ import annotations

from collections import Counter

import pytest

from rocketha.legacy_ha.effects import AnswerPut, LegacyAction, LegacyActionName
from rocketha.legacy_ha.events import LegacyEvent
from rocketha.runtime.events import HostEvent
from rocketha.sim.engine.faults import LEGACY_FAULTS, NO_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.report import SimReport
from rocketha.sim.engine.simulation import simulate
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.legacy_replication.cluster import LegacyCluster
from rocketha.sim.legacy_replication.simulation import SIMULATION
from rocketha.types import BrokerId, ConnectionId

SEEDS = range(60)


class Lines:
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.lines: list[tuple[object, ...]] = []
        self.actions: Counter[str] = Counter()

    def started(self, cluster: LegacyCluster) -> None:
        self.lines.append(("started", tuple(cluster.nodes)))

    def sent(
        self, cluster: LegacyCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        self.lines.append((cluster.now_ms, broker, conn, data))

    def forged(self, cluster: LegacyCluster, conn: ConnectionId) -> None:
        self.lines.append((cluster.now_ms, conn))

    def answered(self, cluster: LegacyCluster, answer: AnswerPut) -> None:
        self.lines.append((cluster.now_ms, answer))

    def took(
        self,
        cluster: LegacyCluster,
        broker: BrokerId,
        event: LegacyEvent | HostEvent,
        action: LegacyAction | None,
    ) -> None:
        self.lines.append((cluster.now_ms, broker, repr(event), action))
        if action is not None:
            self.actions[action.name] += 1

    def acted(self, cluster: LegacyCluster, broker: BrokerId, action: Crashed) -> None:
        self.lines.append((cluster.now_ms, broker, action))
        self.actions["Crash"] += 1


@pytest.fixture(scope="module")
def runs() -> list[tuple[SimReport, Lines]]:
    return [run(seed) for seed in SEEDS]


def run(seed: int, options: SimOptions | None = None) -> tuple[SimReport, Lines]:
    observer = Lines()
    report = simulate(SIMULATION, seed, options or SimOptions(), observer).report
    return report, observer


@pytest.mark.parametrize("seed", range(5))
def test_the_same_seed_gives_the_same_run(seed: int, runs: list[tuple[SimReport, Lines]]) -> None:
    report, observer = run(seed)

    assert report == runs[seed][0]
    assert observer.lines == runs[seed][1].lines


def test_every_action_is_taken_and_every_fault_strikes(
    runs: list[tuple[SimReport, Lines]],
) -> None:
    actions: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for report, observer in runs:
        actions += observer.actions
        faults.update(report.faults)

    assert set(actions) == {"Crash", *LegacyActionName}
    assert set(faults) == {fault.value for fault in LEGACY_FAULTS}


def test_every_run_ends_well(runs: list[tuple[SimReport, Lines]]) -> None:
    assert [report.seed for report, _ in runs if not report.converged] == []


@pytest.mark.parametrize("brokers", [1, 2, 5])
def test_a_group_may_have_any_size(brokers: int) -> None:
    report, _ = run(3, SimOptions(brokers=brokers))

    assert report.converged


def test_without_faults_nothing_is_lost() -> None:
    report, observer = run(1, SimOptions(faults=NO_FAULTS))

    assert report.faults == {}
    assert report.converged
    assert observer.actions["Crash"] == 0
