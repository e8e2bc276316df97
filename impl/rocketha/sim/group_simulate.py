"""One simulated run of a broker group with its controller and its clients."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from rocketha.histories.history import History, Promises
from rocketha.sim.faults import Fault, FaultCounts
from rocketha.sim.group_actions import GroupObserver
from rocketha.sim.group_cluster import GroupCluster
from rocketha.sim.group_driver import GroupDriver
from rocketha.sim.group_history import HistoryRecorder
from rocketha.sim.group_options import GroupPlan, draw_group_run
from rocketha.sim.network import Network
from rocketha.sim.options import SimOptions
from rocketha.sim.phases import run_phases
from rocketha.sim.report import SimReport
from rocketha.sim.scheduler import Scheduler

__all__ = ["GroupRun", "simulate_group"]

_FAULTS_END_MS: Final = 15_000
_HEALING_ACTIONS: Final = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRun:
    """What came out of a run."""

    report: SimReport
    history: History


def simulate_group(seed: int, options: SimOptions, observer: GroupObserver) -> GroupRun:
    """Run a group; the same seed and options give the same run, always and everywhere."""
    rng = Random(seed)
    plan = draw_group_run(rng, options)
    scheduler, counts = Scheduler(), FaultCounts()
    if Fault.CLOCK_SKEW in plan.faults:
        counts.add(Fault.CLOCK_SKEW)
    recorder = HistoryRecorder(observer)
    cluster = GroupCluster(
        brokers=options.brokers,
        plan=plan,
        scheduler=scheduler,
        network=Network(scheduler, rng, counts=counts, plan=plan.faults, servers_linger=False),
        rng=rng,
        counts=counts,
        observer=recorder,
    )
    driver = GroupDriver(cluster, plan, rng, recorder.events)
    failure = run_phases(
        scheduler,
        steps=plan.steps,
        begin=driver.begin,
        heal=driver.heal,
        actions=lambda: cluster.actions,
        converged=lambda: driver.converged() or driver.excuse() is not None,
        faults_end_ms=_FAULTS_END_MS,
        healing_actions=_HEALING_ACTIONS,
    )
    converged = failure is None and driver.converged()
    recorder.finish(cluster)
    report = SimReport(
        seed=seed,
        actions=cluster.actions,
        virtual_ms=scheduler.now_ms,
        faults=counts.by_name(),
        converged=converged,
        failure=failure,
        excuse=None if converged or failure is not None else driver.excuse(),
    )
    history = History(seed=seed, promises=_promises(plan), events=tuple(recorder.events))
    return GroupRun(report=report, history=history)


def _promises(plan: GroupPlan) -> Promises:
    return Promises(
        all_ack_in_sync_state_set=plan.broker.all_ack_in_sync_state_set,
        in_sync_replicas=plan.broker.in_sync_replicas,
        min_in_sync_replicas=plan.broker.min_in_sync_replicas,
        sync_flush=plan.broker.sync_flush,
        elect_unclean=plan.controller.elect_unclean,
    )
