"""Runs of queue locks: reproducible, full of faults, in order, and well again when these end."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import pytest

from rocketha.histories import Broken
from rocketha.histories.ordered import InTurn
from rocketha.known_bugs import LOCK_BUGS, Bug
from rocketha.locks.consumer import ConsumerActionName
from rocketha.locks.voting import ManagerActionName
from rocketha.sim.engine.faults import LOCK_FAULTS, NO_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.lock_quorum.cluster import BrokerRestarted, LockCluster, LockClusterStep
from rocketha.sim.lock_quorum.simulation import SIMULATION

SEEDS = range(80)


class Lines:
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.lines: list[tuple[object, ...]] = []
        self.actions: Counter[str] = Counter()

    def started(self, cluster: LockCluster) -> None:
        self.lines.append(("started", tuple(cluster.nodes)))

    def stepped(self, cluster: LockCluster, step: LockClusterStep) -> None:
        self.lines.append((cluster.now_ms, repr(step)))
        if isinstance(step, BrokerRestarted):
            self.actions["Restart"] += 1
        elif step.action is not None:
            self.actions[step.action.name] += 1


Runs: TypeAlias = list[tuple[SimulatedRun, Lines]]


@pytest.fixture(scope="module")
def runs() -> Runs:
    return [run(seed) for seed in SEEDS]


def run(seed: int, options: SimOptions | None = None) -> tuple[SimulatedRun, Lines]:
    observer = Lines()
    return simulate(SIMULATION, seed, options or SimOptions(), observer), observer


@pytest.mark.parametrize("seed", range(5))
def test_the_same_seed_gives_the_same_run(seed: int, runs: Runs) -> None:
    again, observer = run(seed)

    assert again == runs[seed][0]
    assert observer.lines == runs[seed][1].lines


def test_every_action_is_taken_and_every_fault_strikes(
    runs: Runs,
) -> None:
    actions: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for locks, observer in runs:
        actions += observer.actions
        faults.update(locks.report.faults)

    assert set(actions) == {"Restart", *ManagerActionName, *ConsumerActionName}
    assert set(faults) == {fault.value for fault in LOCK_FAULTS}


def test_every_run_ends_well_and_keeps_the_order(runs: Runs) -> None:
    assert [locks.report.seed for locks, _ in runs if not locks.report.converged] == []
    assert all(isinstance(locks.clients.check(), InTurn) for locks, _ in runs)


@pytest.mark.parametrize("brokers", [1, 2, 4, 5])
def test_a_group_may_have_any_size(brokers: int) -> None:
    locks, _ = run(3, SimOptions(brokers=brokers))

    assert locks.report.converged


def test_without_faults_nothing_strikes() -> None:
    locks, _ = run(5, SimOptions(faults=NO_FAULTS))

    assert locks.report.converged
    assert locks.report.faults == {}


def test_rocketmqs_defaults_lose_the_order() -> None:
    options = SimOptions(rocketmq_defaults=True)
    verdicts = [run(seed, options)[0].clients.check() for seed in range(10)]

    assert any("without having got" in verdict.in_words() for verdict in verdicts)


@pytest.mark.parametrize("bug", [Bug.B45_LEASE, Bug.B45_QUORUM, Bug.UNLOCK_OWN, Bug.VOTE_ONCE])
def test_bugs_that_consumers_see(bug: Bug) -> None:
    options = SimOptions(bugs=frozenset({bug}))

    verdicts = (run(seed, options)[0].clients.check() for seed in range(80))
    assert any(isinstance(verdict, Broken) for verdict in verdicts)


@pytest.mark.parametrize("bug", [Bug.B46, Bug.B77])
def test_bugs_that_keep_queues_from_everybody(bug: Bug) -> None:
    options = SimOptions(bugs=frozenset({bug}))

    assert not all(run(seed, options)[0].report.converged for seed in range(12))


@pytest.mark.parametrize("bug", sorted(LOCK_BUGS))
def test_every_switch_changes_a_run(bug: Bug, runs: Runs) -> None:
    options = SimOptions(bugs=frozenset({bug}))

    assert any(run(seed, options)[1].lines != runs[seed][1].lines for seed in SEEDS)
