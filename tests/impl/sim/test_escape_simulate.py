"""Runs of a slave that acts: reproducible, full of faults, and all is delivered when these end."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import pytest

from rocketha.escape.events import EscapeActionName
from rocketha.histories import Broken
from rocketha.histories.escaped import EscapedKept
from rocketha.histories.verdicts import Promise
from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import ESCAPE_FAULTS, NO_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.escape.cluster import EscapeCluster
from rocketha.sim.escape.plan import group_of
from rocketha.sim.escape.simulation import SIMULATION
from rocketha.sim.escape.steps import EscapeStep, MasterStepped, ProducerStepped, SlaveStepped
from rocketha.types import MASTER

SEEDS = range(20)
OTHERS = {"SlaveStopped", "SlaveStarted", "MasterStopped", "MasterStarted"}
NEVER = {EscapeActionName.PUT_HERE}


class Lines:
    """An observer that writes everything down."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []
        self.actions: Counter[str] = Counter()
        self.cluster: EscapeCluster | None = None

    def started(self, cluster: EscapeCluster) -> None:
        self.cluster = cluster
        self.lines.append((0, repr(tuple(cluster.nodes))))

    def stepped(self, cluster: EscapeCluster, step: EscapeStep) -> None:
        self.lines.append((cluster.scheduler.now_ms, repr(step)))
        if not isinstance(step, SlaveStepped | MasterStepped | ProducerStepped):
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

    assert set(actions) == {*OTHERS, *EscapeActionName} - NEVER
    assert set(faults) == {fault.value for fault in ESCAPE_FAULTS}


def test_all_is_delivered_in_the_end_and_nothing_too_early(runs: Runs) -> None:
    verdicts = [simulated.clients.check() for simulated, _ in runs]

    assert [one.report.seed for one, _ in runs if not one.report.converged] == []
    kept = [verdict for verdict in verdicts if isinstance(verdict, EscapedKept)]
    assert len(kept) == len(runs)
    assert all(verdict.owed > 0 for verdict in kept)
    assert sum(verdict.acknowledged for verdict in kept) > len(kept)
    assert sum(verdict.again for verdict in kept) > len(kept)


def test_a_master_in_the_slaves_process_stops_with_it(runs: Runs) -> None:
    clusters = [observer.cluster for _, observer in runs if observer.cluster is not None]
    local = [cluster for cluster in clusters if cluster.local]
    assert 0 < len(local) < len(clusters)

    cluster = local[0]
    (number,) = cluster.local
    assert cluster.masters[number].state is not None
    cluster.crash(cluster.slave)
    assert cluster.masters[number].state is None
    cluster.restart(cluster.slave)
    assert cluster.masters[number].state is not None
    assert cluster.plan.slave.local <= cluster.slave.running().known


def test_a_master_may_stay_away(runs: Runs) -> None:
    clusters = [observer.cluster for _, observer in runs if observer.cluster is not None]
    gone = [(one, one.plan.gone) for one in clusters]

    assert None in {number for _, number in gone}
    away = [one.masters[number].state for one, number in gone if number is not None]
    assert away
    assert set(away) == {None}
    assert all(one.slave.state is not None for one in clusters)


def test_slaves_of_other_groups_are_there_when_their_master_is_not(runs: Runs) -> None:
    """One that acts is shown as master, one that never does is not; nothing is put to either."""
    clusters = [observer.cluster for _, observer in runs if observer.cluster is not None]
    shown: set[tuple[bool, bool, bool]] = set()
    for cluster in clusters:
        if cluster.plan.gone is None:
            continue
        group = group_of(cluster.plan.gone)
        for slave in cluster.plan.other_slaves.values():
            if slave.broker_name == group and MASTER not in cluster.registered(group):
                assert cluster.registered(group) == {slave.own_id}
                table = cluster.name_server.running().groups[group]
                shown.add((slave.acting, table.acting, table.masked))
                assert group not in cluster.slave.running().known

    assert shown == {(False, False, False), (True, True, True)}


def test_without_faults_nothing_strikes() -> None:
    simulated, _ = run(5, SimOptions(faults=NO_FAULTS))

    assert (simulated.report.converged, simulated.report.faults) == (True, {})


RELEASED = {Promise.DELIVERED: 0, Promise.DONE_WITH: 4, Promise.ONCE: 1}
"""The first seed at which a promise is broken by RocketMQ's defaults, and no other before it."""


@pytest.mark.parametrize("promise", RELEASED)
def test_by_rocketmqs_defaults_messages_are_lost_and_come_again(promise: Promise) -> None:
    seed = RELEASED[promise]
    simulated, observer = run(seed, SimOptions(rocketmq_defaults=True))
    verdict = simulated.clients.check()

    assert isinstance(verdict, Broken)
    assert verdict.promise is promise
    assert simulated.report.converged
    assert isinstance(run(seed)[0].clients.check(), EscapedKept), "as it is configured here"
    assert observer.cluster is not None
    assert not observer.cluster.plan.slave.enable_remote_escape


def test_by_rocketmqs_defaults_two_masters_may_be_in_the_slaves_process() -> None:
    some = [run(seed, SimOptions(rocketmq_defaults=True))[1].cluster for seed in range(6)]

    assert {len(cluster.local) for cluster in some if cluster is not None} == {0, 2}


SEEN_BY_CLIENTS = {
    Bug.B48: 8,
    Bug.MEETS: 5,
    Bug.SKIPS: 2,
    Bug.STAYS_HALF: 0,
    Bug.TOLD: 2,
    Bug.UNASKED: 0,
}
"""The first seed at which a promise is broken."""


@pytest.mark.parametrize("bug", SEEN_BY_CLIENTS)
def test_clients_see_a_bug(bug: Bug) -> None:
    simulated, _ = run(SEEN_BY_CLIENTS[bug], SimOptions(bugs=frozenset({bug})))

    assert isinstance(simulated.clients.check(), Broken)


STAYS_DEAD = {Bug.B47: 0, Bug.NAMES: 2}
"""The first seed at which something is never delivered."""


@pytest.mark.parametrize("bug", STAYS_DEAD)
def test_a_run_does_not_come_to_its_end(bug: Bug) -> None:
    simulated, _ = run(STAYS_DEAD[bug], SimOptions(bugs=frozenset({bug})))

    assert not simulated.report.converged
