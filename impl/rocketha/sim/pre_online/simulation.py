"""A master that comes back as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import PRE_ONLINE_BUGS
from rocketha.obligations.pre_online import PRE_ONLINE
from rocketha.sim.engine.faults import PRE_ONLINE_FAULTS
from rocketha.sim.engine.simulation import Environment, Limits, Simulation
from rocketha.sim.pre_online.cluster import (
    NullPreOnlineObserver,
    PreOnlineCluster,
    PreOnlineObserver,
)
from rocketha.sim.pre_online.plan import PreOnlinePlan, draw_pre_online_run
from rocketha.sim.pre_online.workload import PreOnlineWorkload

__all__ = ["SIMULATION"]


def _workload(
    environment: Environment, plan: PreOnlinePlan, observer: PreOnlineObserver
) -> PreOnlineWorkload:
    cluster = PreOnlineCluster(environment, plan, observer)
    return PreOnlineWorkload(cluster, plan, environment.streams)


SIMULATION: Final[Simulation[PreOnlinePlan, PreOnlineObserver]] = Simulation(
    name="pre_online",
    faults=PRE_ONLINE_FAULTS,
    bugs=PRE_ONLINE_BUGS,
    draw_plan=draw_pre_online_run,
    workload=_workload,
    unobserved=NullPreOnlineObserver,
    clients="offsets that consumers were told",
    obligations=PRE_ONLINE,
    limits=Limits(healing_ms=20_000, healing_actions=2_000),
)
