"""A broker group with its controller and its clients as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import GROUP_BUGS
from rocketha.obligations.replica_group import REPLICA_GROUP
from rocketha.sim.engine.clock import TRUE_TIME
from rocketha.sim.engine.faults import GROUP_FAULTS, Fault
from rocketha.sim.engine.simulation import Environment, Limits, Simulation
from rocketha.sim.replica_group.cluster import GroupCluster, GroupObserver
from rocketha.sim.replica_group.history import HistoryRecorder
from rocketha.sim.replica_group.null_observer import NullGroupObserver
from rocketha.sim.replica_group.plan import GroupPlan, draw_group_run
from rocketha.sim.replica_group.workload import GroupWorkload

__all__ = ["SIMULATION"]


def _workload(environment: Environment, plan: GroupPlan, observer: GroupObserver) -> GroupWorkload:
    streams, scheduler, counts = environment.streams, environment.scheduler, environment.counts
    if any(clock != TRUE_TIME for clock in (*plan.clocks, plan.controller_clock)):
        counts.add(Fault.CLOCK_SKEW)
    recorder = HistoryRecorder(observer)
    cluster = GroupCluster(
        brokers=environment.options.brokers,
        plan=plan,
        scheduler=scheduler,
        network=environment.network(plan.faults, servers_linger=False),
        random_source=streams,
        counts=counts,
        observer=recorder,
        recording=environment.recording,
        crash_points=environment.crash_points,
        controller_network=environment.network(plan.faults) if plan.members else None,
    )
    return GroupWorkload(cluster, plan, streams, recorder)


SIMULATION: Final[Simulation[GroupPlan, GroupObserver]] = Simulation(
    name="replica_group",
    faults=GROUP_FAULTS,
    bugs=GROUP_BUGS,
    draw_plan=draw_group_run,
    workload=_workload,
    unobserved=NullGroupObserver,
    clients="messages that producers were told are safe",
    limits=Limits(faults_end_ms=15_000, healing_ms=15_000, healing_actions=1_500),
    obligations=REPLICA_GROUP,
    has_controllers=True,
)
