"""The legacy service as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import LEGACY_BUGS
from rocketha.obligations.legacy_replication import LEGACY_REPLICATION
from rocketha.sim.engine.faults import LEGACY_FAULTS
from rocketha.sim.engine.simulation import Environment, Limits, Simulation
from rocketha.sim.legacy_replication.cluster import (
    LegacyCluster,
    LegacyObserver,
    NullLegacyObserver,
)
from rocketha.sim.legacy_replication.plan import LegacyPlan, draw_legacy_run
from rocketha.sim.legacy_replication.workload import LegacyWorkload

__all__ = ["SIMULATION"]

_LIMITS: Final = Limits(healing_actions=2_000)
"""A slave that is ahead tries again and again, while a producer waits until its time is up."""


def _workload(
    environment: Environment, plan: LegacyPlan, observer: LegacyObserver
) -> LegacyWorkload:
    streams = environment.streams
    cluster = LegacyCluster(
        brokers=environment.options.brokers,
        plan=plan,
        scheduler=environment.scheduler,
        network=environment.network(plan.faults),
        random_source=streams,
        counts=environment.counts,
        observer=observer,
        recording=environment.recording,
        crash_points=environment.crash_points,
    )
    return LegacyWorkload(cluster, plan, streams)


SIMULATION: Final[Simulation[LegacyPlan, LegacyObserver]] = Simulation(
    name="legacy_replication",
    faults=LEGACY_FAULTS,
    bugs=LEGACY_BUGS,
    draw_plan=draw_legacy_run,
    workload=_workload,
    unobserved=NullLegacyObserver,
    clients="messages that were read from replicas, or that producers heard are copied",
    limits=_LIMITS,
    obligations=LEGACY_REPLICATION,
)
