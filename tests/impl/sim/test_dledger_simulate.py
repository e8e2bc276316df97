"""Runs of a DLedger group: reproducible, full of faults, linearizable, and well when these end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TypeAlias

import pytest

from rocketha.formats.dledger_codes import DLedgerRequestCode
from rocketha.histories.linearizability.checker import Linearizable, NotLinearizable
from rocketha.known_bugs import DLEDGER_BUGS
from rocketha.sim.dledger import clients
from rocketha.sim.dledger.cluster import DLedgerCluster, DLedgerStep
from rocketha.sim.dledger.machine import MemberStepped
from rocketha.sim.dledger.plan import (
    DISK_FAULTS,
    MISTAKES,
    NEMESES,
    DLedgerPlan,
    draw_dledger_run,
)
from rocketha.sim.dledger.simulation import SIMULATION
from rocketha.sim.dledger.workload import DLedgerWorkload
from rocketha.sim.engine.faults import DLEDGER_FAULTS, NO_FAULTS, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.engine.simulation import SimulatedRun, simulate

pytestmark = pytest.mark.xdist_group("runs of dledger")

SEEDS = range(32)
"""All faults strike in these."""


class Watching:
    """An observer that keeps all steps, and those of members that stand still."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self.steps: list[MemberStepped] = []
        self.kinds: Counter[str] = Counter()
        self.while_still: list[MemberStepped] = []
        self.cluster: DLedgerCluster | None = None

    def started(self, cluster: DLedgerCluster) -> None:
        self.cluster = cluster

    def stepped(self, cluster: DLedgerCluster, step: DLedgerStep) -> None:
        self.kinds[type(step).__name__] += 1
        if isinstance(step, MemberStepped):
            self.times.append(cluster.now_ms)
            self.steps.append(step)
            if cluster.members[step.member]._still_until_ms > cluster.now_ms:
                self.while_still.append(step)

    @property
    def answered(self) -> tuple[int, int, int]:
        """Return the numbers of writes, reads by the log and reads by the index."""
        assert self.cluster is not None
        clients = self.cluster.clients
        return clients.answered_writes, clients.answered_reads[True], clients.answered_reads[False]


Runs: TypeAlias = list[tuple[SimulatedRun, Watching]]


def run(seed: int, options: SimOptions | None = None) -> tuple[SimulatedRun, Watching]:
    observer = Watching()
    return simulate(SIMULATION, seed, options or SimOptions(), observer), observer


@pytest.fixture(scope="module")
def runs() -> Runs:
    return [run(seed) for seed in SEEDS]


@pytest.mark.parametrize("seed", range(3))
def test_the_same_seed_gives_the_same_run(seed: int, runs: Runs) -> None:
    again, observer = run(seed)

    assert again == runs[seed][0]
    assert observer.times == runs[seed][1].times
    assert observer.steps == runs[seed][1].steps


def test_every_nemesis_and_every_other_fault_strikes_within_these_seeds(runs: Runs) -> None:
    struck: Counter[str] = Counter()
    for group, _ in runs:
        struck.update(group.report.faults)

    assert SIMULATION.faults == (*DLEDGER_FAULTS, *NEMESES, *DISK_FAULTS, *MISTAKES)
    assert set(struck) == {fault.value for fault in SIMULATION.faults}
    assert SIMULATION.bugs == DLEDGER_BUGS


def test_every_run_converges_and_is_linearizable_in_answers_of_all_kinds(runs: Runs) -> None:
    assert [group.report.seed for group, _ in runs if not group.report.converged] == []
    for group, observer in runs:
        verdict = group.check()
        assert isinstance(verdict, Linearizable), group.report.seed
        assert verdict.answers > 0
        assert min(observer.answered) > 0, (group.report.seed, observer.answered)


@pytest.mark.parametrize("brokers", [1, 2, 4, 5])
def test_a_group_may_have_any_size(brokers: int) -> None:
    for seed in range(3):
        group, observer = run(seed, SimOptions(brokers=brokers))

        assert group.report.converged, seed
        assert isinstance(group.check(), Linearizable), seed
        assert min(observer.answered) > 0


def test_without_faults_nothing_strikes() -> None:
    group, observer = run(5, SimOptions(faults=NO_FAULTS))

    assert group.report.converged
    assert group.report.faults == {}
    assert observer.kinds.keys() == {"MemberStepped"}


# ---- a group that a test drives ----


def group_of(
    brokers: int, seed: int = 0
) -> tuple[DLedgerCluster, DLedgerPlan, PerPurposeStreams, Watching]:
    scheduler, counts, observer = Scheduler(), FaultCounts(), Watching()
    streams = PerPurposeStreams(seed, now_ms=lambda: scheduler.now_ms)
    drawn = draw_dledger_run(streams, SimOptions(brokers=brokers, faults=NO_FAULTS))
    configs = [replace(one, enable_snapshot=True, snapshot_threshold=3) for one in drawn.configs]
    plan = replace(drawn, configs=tuple(configs), clients=5, think_ms=40, transfer_ms=None)
    cluster = DLedgerCluster(
        plan=plan,
        scheduler=scheduler,
        network=Network(scheduler, streams, counts=counts, plan=plan.faults),
        random_source=streams,
        counts=counts,
        observer=observer,
    )
    return cluster, plan, streams, observer


def go_on(cluster: DLedgerCluster, wait_ms: int) -> None:
    until_ms = cluster.now_ms + wait_ms
    while cluster.scheduler.run_next(until_ms):
        pass


def test_a_follower_that_was_away_longer_than_the_log_reaches_back_gets_a_snapshot() -> None:
    cluster, plan, streams, observer = group_of(3)
    DLedgerWorkload(cluster, plan, streams).begin()
    go_on(cluster, 2_000)
    leader = cluster.leader()
    assert leader is not None
    away = next(one for one in cluster.members.values() if one is not leader)
    cluster.crash(away.machine)
    end = away.files().store.end_index
    go_on(cluster, 5_000)
    assert cluster.leader() is leader
    assert leader.files().store.before_begin_index > end, "the log still has what is missing"
    asked = len(observer.steps)

    cluster.restart(away.machine)
    until_ms = cluster.now_ms + 5_000
    while cluster.scheduler.run_next(until_ms):
        if away.state.pusher.applied_index == leader.state.pusher.applied_index > end:
            break

    sent = {
        frame.id
        for step in observer.steps[asked:]
        for frame in step.sent
        if (frame.code, frame.to) == (DLedgerRequestCode.INSTALL_SNAPSHOT, away.config.self_id)
    }
    assert sent
    answered = {frame.id for step in observer.steps[asked:] for frame in step.sent}
    assert {f"{one}:response" for one in sent} & answered
    assert away.files().snapshot_index > end
    assert away.files().store.before_begin_index > end
    assert away.state.pusher.applied_index == leader.state.pusher.applied_index
    assert away.registers.values == leader.registers.values != {}


# ---- a process that stands still ----


def test_a_member_that_stands_still_takes_no_event_and_all_of_them_afterwards() -> None:
    cluster, plan, streams, observer = group_of(3)
    DLedgerWorkload(cluster, plan, streams).begin()
    go_on(cluster, 2_000)
    leader = cluster.leader()
    assert leader is not None
    taken = Counter(step.member for step in observer.steps)
    assert min(taken.values()) > 10

    term, taken_before = leader.state.elector.member.curr_term, len(observer.steps)
    leader.stand_still(1_500)
    go_on(cluster, 1_499)
    since = {step.member for step in observer.steps[taken_before:]}
    assert since == set(cluster.members) - {leader.id}
    elected = cluster.leader()
    assert elected is not None
    assert elected is not leader
    assert elected.state.elector.member.curr_term > term

    taken_before = len(observer.steps)
    go_on(cluster, 1_000)
    assert leader.id in {step.member for step in observer.steps[taken_before:]}
    assert not leader.state.elector.member.is_leader


def test_nobody_wakes_a_process_that_stands_still_but_a_new_one_runs() -> None:
    cluster, _, _, observer = group_of(1)
    cluster.begin()
    go_on(cluster, 500)
    (member,) = cluster.members.values()
    member.stand_still(60_000)
    taken = len(observer.steps)
    go_on(cluster, 2_000)
    assert len(observer.steps) == taken

    cluster.crash(member.machine)
    cluster.restart(member.machine)
    go_on(cluster, 1_000)
    assert len(observer.steps) > taken
    assert cluster.leader() is member


def test_under_the_hammer_no_member_takes_a_step_while_it_stands_still(runs: Runs) -> None:
    struck = {seed: runs[seed][0].report.faults for seed in SEEDS}
    hammered = [
        seed for seed, of in struck.items() if "hammer-time" in of and "slow-disk" not in of
    ]

    assert len(hammered) > 3
    assert [seed for seed in hammered if runs[seed][1].while_still] == []


def test_who_goes_on_hears_at_once_what_came_meanwhile() -> None:
    """Seed 3138: a timer of a leader that went on when faults ended came a second later."""
    run = simulate(SIMULATION, 3138, SimOptions(), SIMULATION.unobserved())

    assert run.report.converged
    assert run.obligations.missed == ()


def test_clients_that_take_what_may_still_happen_for_refused_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In run 3 an entry is agreed on whose client was told that it may be."""
    as_it_is = simulate(SIMULATION, 3, SimOptions(), Watching()).clients.check()
    monkeypatch.setattr(clients, "_MAY_HAPPEN", ())
    changed = simulate(SIMULATION, 3, SimOptions(), Watching()).clients.check()

    assert isinstance(as_it_is, Linearizable)
    assert isinstance(changed, NotLinearizable)
