"""Runs of a master that comes back: reproducible, full of faults, and well again when these end."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import pytest

from rocketha.histories import Broken
from rocketha.histories.offsets import OffsetsKept
from rocketha.known_bugs import PRE_ONLINE_BUGS, Bug
from rocketha.pre_online.events import PreOnlineActionName
from rocketha.sim.engine.faults import NO_FAULTS, PRE_ONLINE_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.pre_online.cluster import PreOnlineCluster
from rocketha.sim.pre_online.simulation import SIMULATION
from rocketha.sim.pre_online.steps import BrokerStepped, PreOnlineStep
from rocketha.sim.route.steps import NameServerStepped

SEEDS = range(20)
OTHERS = {"BrokerStopped", "BrokerStarted", "NameServerStopped"}


class Lines:
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []
        self.actions: Counter[str] = Counter()

    def started(self, cluster: PreOnlineCluster) -> None:
        self.lines.append((0, repr(tuple(cluster.nodes))))

    def stepped(self, cluster: PreOnlineCluster, step: PreOnlineStep) -> None:
        self.lines.append((cluster.scheduler.now_ms, repr(step)))
        if not isinstance(step, BrokerStepped | NameServerStepped):
            self.actions[type(step).__name__] += 1
        elif isinstance(step, BrokerStepped) and step.action is not None:
            self.actions[step.action.name] += 1


Runs: TypeAlias = list[tuple[SimulatedRun, Lines]]


@pytest.fixture(scope="module")
def runs() -> Runs:
    return [run(seed) for seed in SEEDS]


def run(seed: int, options: SimOptions | None = None) -> tuple[SimulatedRun, Lines]:
    observer = Lines()
    return simulate(SIMULATION, seed, options or SimOptions(), observer), observer


def test_the_same_seed_gives_the_same_run(runs: Runs) -> None:
    again, observer = run(1)

    assert again == runs[1][0]
    assert observer.lines == runs[1][1].lines


def test_every_action_is_taken_and_every_fault_strikes(runs: Runs) -> None:
    actions: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for simulated, observer in runs:
        actions += observer.actions
        faults.update(simulated.report.faults)

    assert set(actions) == {*OTHERS, *PreOnlineActionName}
    assert set(faults) == {fault.value for fault in PRE_ONLINE_FAULTS}


def test_every_master_is_online_in_the_end_and_nothing_goes_back(runs: Runs) -> None:
    verdicts = [simulated.clients.check() for simulated, _ in runs]

    assert [one.report.seed for one, _ in runs if not one.report.converged] == []
    kept = [verdict for verdict in verdicts if isinstance(verdict, OffsetsKept)]
    assert len(kept) == len(runs)
    assert sum(verdict.carried for verdict in kept) > 0


@pytest.mark.parametrize("brokers", [1, 2])
def test_a_group_has_a_slave_at_least(brokers: int) -> None:
    simulated, observer = run(3, SimOptions(brokers=brokers))

    assert simulated.report.converged
    assert observer.lines[0][1] == "(0, 1, 201)"


def test_without_faults_nothing_strikes() -> None:
    simulated, _ = run(5, SimOptions(faults=NO_FAULTS))

    assert (simulated.report.converged, simulated.report.faults) == (True, {})


def test_consumers_see_that_a_master_waits_for_nobody() -> None:
    bug = SimOptions(bugs=frozenset({Bug.B76}))
    broken = [seed for seed in SEEDS if isinstance(run(seed, bug)[0].clients.check(), Broken)]

    assert broken != []
    assert Bug.B76 in PRE_ONLINE_BUGS
