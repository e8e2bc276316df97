"""Simulated runs: every fault strikes, every run ends well, and a seed is a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from rocketha.ha.effects import SpecAction
from rocketha.ha.events import Event
from rocketha.runtime.events import HostEvent
from rocketha.sim.engine.faults import EPOCH_FAULTS, NO_FAULTS, Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.report import SimReport
from rocketha.sim.engine.simulation import simulate
from rocketha.sim.epoch_truncation.actions import ClusterAction, Elected
from rocketha.sim.epoch_truncation.cluster import Cluster, NullObserver
from rocketha.sim.epoch_truncation.simulation import SIMULATION
from rocketha.types import BrokerId, ConnectionId


@dataclass
class Diary:
    """An observer that writes down everything."""

    lines: list[tuple[object, ...]] = field(default_factory=list)

    def started(self, cluster: Cluster) -> None:
        self.lines.append(("started", tuple(cluster.nodes)))

    def sent(self, cluster: Cluster, broker: BrokerId, conn: ConnectionId, data: bytes) -> None:
        self.lines.append((cluster.now_ms, broker, conn, data))

    def took(
        self,
        cluster: Cluster,
        broker: BrokerId,
        event: Event | HostEvent,
        action: SpecAction | None,
    ) -> None:
        self.lines.append((cluster.now_ms, broker, repr(event), action))

    def acted(self, cluster: Cluster, broker: BrokerId | None, action: ClusterAction) -> None:
        ends = [node.log.max_phy_offset for node in cluster.nodes.values()]
        self.lines.append((cluster.now_ms, broker, action, *ends))


def run(seed: int, options: SimOptions | None = None) -> tuple[SimReport, list[tuple[object, ...]]]:
    diary = Diary()
    return simulate(SIMULATION, seed, options or SimOptions(), diary).report, diary.lines


@pytest.fixture(scope="module")
def reports() -> list[SimReport]:
    return [simulate(SIMULATION, seed, SimOptions(), NullObserver()).report for seed in range(200)]


@pytest.mark.parametrize("fault", EPOCH_FAULTS)
def test_every_fault_strikes_in_some_of_200_seeds(fault: Fault, reports: list[SimReport]) -> None:
    runs = sum(fault.value in report.faults for report in reports)

    assert runs >= 20


def test_every_healed_cluster_converges(reports: list[SimReport]) -> None:
    assert [report.seed for report in reports if not report.converged] == []
    assert all(report.failure is None for report in reports)


def test_faults_come_in_different_mixes(reports: list[SimReport]) -> None:
    mixes = Counter(frozenset(report.faults) for report in reports)

    assert len(mixes) > 100
    assert all(len(mix) < len(EPOCH_FAULTS) for mix in mixes)


def test_runs_are_long_enough_and_short_enough(reports: list[SimReport]) -> None:
    actions = sorted(report.actions for report in reports)

    assert actions[0] >= 60
    assert 80 <= actions[len(actions) // 2] <= 150
    assert actions[-1] <= 300


@pytest.mark.parametrize("seed", range(10))
def test_the_same_seed_gives_the_same_run(seed: int) -> None:
    assert run(seed) == run(seed)


def test_another_seed_gives_another_run() -> None:
    assert run(1)[1] != run(2)[1]


@pytest.mark.parametrize("seed", range(5))
def test_without_faults_nothing_strikes(seed: int) -> None:
    report, _ = run(seed, SimOptions(faults=NO_FAULTS))

    assert report.faults == {}
    assert report.converged


@pytest.mark.parametrize("fault", EPOCH_FAULTS)
def test_only_the_faults_that_are_allowed_strike(fault: Fault) -> None:
    struck: set[str] = set()
    for seed in range(12):
        report, _ = run(seed, SimOptions(faults=frozenset({fault})))
        struck |= report.faults.keys()
        assert report.converged

    assert struck <= {fault.value}


@pytest.mark.parametrize("brokers", [1, 2, 5])
def test_a_cluster_may_have_another_size(brokers: int) -> None:
    report, lines = run(3, SimOptions(brokers=brokers))

    assert lines[0] == ("started", tuple(range(1, brokers + 1)))
    assert report.converged


def test_the_length_of_the_fault_phase_may_be_chosen() -> None:
    short, _ = run(3, SimOptions(steps=5))
    long, _ = run(3, SimOptions(steps=400))

    assert short.actions < 100 < 400 <= long.actions


def test_the_first_thing_that_happens_is_an_election() -> None:
    _, lines = run(0)

    assert isinstance(lines[1][2], Elected)
