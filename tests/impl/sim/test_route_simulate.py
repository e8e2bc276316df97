"""Runs of brokers and name servers: reproducible, full of faults, and well again when these end."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import pytest

from rocketha.acting.core import ActingActionName
from rocketha.histories import Broken
from rocketha.histories.routes import RoutesKept
from rocketha.known_bugs import Bug
from rocketha.nameserver.core import NameServerActionName
from rocketha.sim.engine.faults import NO_FAULTS, ROUTE_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.route.cluster import RouteCluster
from rocketha.sim.route.simulation import SIMULATION
from rocketha.sim.route.steps import BrokerStepped, NameServerStepped, RouteStep

SEEDS = range(40)
OTHERS = {"Elected", "BrokerStopped", "BrokerStarted", "NameServerStopped"}


class Lines:
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []
        self.actions: Counter[str] = Counter()

    def started(self, cluster: RouteCluster) -> None:
        self.lines.append((0, repr(tuple(cluster.nodes))))

    def stepped(self, cluster: RouteCluster, step: RouteStep) -> None:
        self.lines.append((cluster.scheduler.now_ms, repr(step)))
        if not isinstance(step, BrokerStepped | NameServerStepped):
            self.actions[type(step).__name__] += 1
        elif step.action is not None:
            self.actions[step.action.name] += 1


Runs: TypeAlias = list[tuple[SimulatedRun, Lines]]


@pytest.fixture(scope="module")
def runs() -> Runs:
    return [run(seed) for seed in SEEDS]


def run(seed: int, options: SimOptions | None = None) -> tuple[SimulatedRun, Lines]:
    observer = Lines()
    return simulate(SIMULATION, seed, options or SimOptions(), observer), observer


@pytest.mark.parametrize("seed", range(3))
def test_the_same_seed_gives_the_same_run(seed: int, runs: Runs) -> None:
    again, observer = run(seed)

    assert again == runs[seed][0]
    assert observer.lines == runs[seed][1].lines


def test_every_action_is_taken_and_every_fault_strikes(runs: Runs) -> None:
    actions: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for route, observer in runs:
        actions += observer.actions
        faults.update(route.report.faults)

    assert set(actions) == {*OTHERS, *ActingActionName, *NameServerActionName}
    assert set(faults) == {fault.value for fault in ROUTE_FAULTS}


def test_every_run_ends_well_and_nobody_is_sent_to_a_wrong_broker(runs: Runs) -> None:
    verdicts = [route.clients.check() for route, _ in runs]

    assert [route.report.seed for route, _ in runs if not route.report.converged] == []
    kept = [verdict for verdict in verdicts if isinstance(verdict, RoutesKept)]
    assert len(kept) == len(runs)
    assert sum(verdict.acting for verdict in kept) > 0


@pytest.mark.parametrize("brokers", [1, 2, 5])
def test_a_group_may_have_any_size(brokers: int) -> None:
    assert run(3, SimOptions(brokers=brokers))[0].report.converged


def test_without_faults_nothing_strikes() -> None:
    route, _ = run(5, SimOptions(faults=NO_FAULTS))

    assert (route.report.converged, route.report.faults) == (True, {})


def test_by_rocketmqs_defaults_nobody_acts() -> None:
    kept = [run(seed, SimOptions(rocketmq_defaults=True))[0].clients.check() for seed in range(4)]

    assert all(isinstance(verdict, RoutesKept) and not verdict.acting for verdict in kept)


@pytest.mark.parametrize(("bug", "seed"), [(Bug.B40, 66), (Bug.B40_FORGOTTEN, 66), (Bug.B44, 2)])
def test_bugs_that_clients_see(bug: Bug, seed: int) -> None:
    options = SimOptions(bugs=frozenset({bug}))

    assert isinstance(run(seed, options)[0].clients.check(), Broken)
    assert not isinstance(run(seed)[0].clients.check(), Broken)
