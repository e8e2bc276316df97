"""Replication by epochs as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import EPOCH_BUGS
from rocketha.obligations.epoch_truncation import EPOCH_TRUNCATION
from rocketha.sim.engine.faults import EPOCH_FAULTS
from rocketha.sim.engine.simulation import Environment, Simulation
from rocketha.sim.epoch_truncation.cluster import Cluster, NullObserver, Observer
from rocketha.sim.epoch_truncation.plan import RunPlan, draw_run
from rocketha.sim.epoch_truncation.workload import EpochWorkload

__all__ = ["SIMULATION"]


def _workload(environment: Environment, plan: RunPlan, observer: Observer) -> EpochWorkload:
    streams = environment.streams
    cluster = Cluster(
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
    return EpochWorkload(cluster, plan, streams)


SIMULATION: Final[Simulation[RunPlan, Observer]] = Simulation(
    name="epoch_truncation",
    faults=EPOCH_FAULTS,
    bugs=EPOCH_BUGS,
    draw_plan=draw_run,
    workload=_workload,
    unobserved=NullObserver,
    clients="messages that were read from replicas",
    obligations=EPOCH_TRUNCATION,
)
