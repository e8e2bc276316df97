"""One simulated run of a broker group with its controller and its clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.histories.history import History, Promises
from rocketha.sim.engine.clock import TRUE_TIME
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.phases import run_phases
from rocketha.sim.engine.random_source import (
    UNRESTRICTED,
    InjectedEvent,
    PerPurposeStreams,
    Schedule,
)
from rocketha.sim.engine.report import SimReport
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.replica_group.cluster import GroupCluster, GroupObserver
from rocketha.sim.replica_group.history import HistoryRecorder
from rocketha.sim.replica_group.plan import GroupPlan, draw_group_run
from rocketha.sim.replica_group.workload import GroupWorkload

__all__ = ["GroupRun", "simulate_group"]

_FAULTS_END_MS: Final = 15_000
_HEALING_ACTIONS: Final = 1_500
_STOPPED: Final = "its schedule stopped it"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRun:
    """What came out of a run."""

    report: SimReport
    history: History
    injected: tuple[InjectedEvent, ...]
    """What came to pass and could have been left out, in its order."""
    healed_ms: int | None
    """When the faults ended; None: they had not when the run was stopped."""


def simulate_group(
    seed: int, options: SimOptions, observer: GroupObserver, schedule: Schedule = UNRESTRICTED
) -> GroupRun:
    """Run a group; the same arguments give the same run, always and everywhere."""
    scheduler, counts = Scheduler(), FaultCounts()
    streams = PerPurposeStreams(seed, schedule, lambda: scheduler.now_ms)
    plan = draw_group_run(streams, options)
    if any(clock != TRUE_TIME for clock in (*plan.clocks, plan.controller_clock)):
        counts.add(Fault.CLOCK_SKEW)
    recorder = HistoryRecorder(observer)
    cluster = GroupCluster(
        brokers=options.brokers,
        plan=plan,
        scheduler=scheduler,
        network=Network(scheduler, streams, counts=counts, plan=plan.faults, servers_linger=False),
        random_source=streams,
        counts=counts,
        observer=recorder,
    )
    driver = GroupWorkload(cluster, plan, streams, recorder.events)
    failure = run_phases(
        scheduler,
        steps=plan.steps,
        begin=driver.begin,
        heal=driver.heal,
        actions=lambda: cluster.actions,
        converged=lambda: driver.converged() or driver.excuse() is not None,
        faults_end_ms=_FAULTS_END_MS,
        healing_actions=_HEALING_ACTIONS,
        schedule=schedule,
    )
    converged = failure is None and driver.converged()
    recorder.finish(cluster)
    excuse = driver.excuse() if schedule.stop_ms is None else _STOPPED
    report = SimReport(
        seed=seed,
        actions=cluster.actions,
        virtual_ms=scheduler.now_ms,
        faults=counts.by_name(),
        converged=converged,
        failure=failure,
        excuse=None if converged or failure is not None else excuse,
    )
    history = History(seed=seed, promises=_promises(plan), events=tuple(recorder.events))
    return GroupRun(
        report=report,
        history=history,
        injected=tuple(streams.injected),
        healed_ms=streams.healed_ms,
    )


def _promises(plan: GroupPlan) -> Promises:
    return Promises(
        all_ack_in_sync_state_set=plan.broker.all_ack_in_sync_state_set,
        in_sync_replicas=plan.broker.in_sync_replicas,
        min_in_sync_replicas=plan.broker.min_in_sync_replicas,
        sync_flush=plan.broker.sync_flush,
        elect_unclean=plan.controller.elect_unclean,
    )
