"""A node with registers, a log and snapshots as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import SNAPSHOT_BUGS
from rocketha.obligations.snapshot_loading import SNAPSHOT_LOADING
from rocketha.sim.engine.faults import SNAPSHOT_FAULTS
from rocketha.sim.engine.simulation import Environment, Limits, Simulation
from rocketha.sim.snapshot_loading.cluster import (
    NullSnapshotObserver,
    SnapshotCluster,
    SnapshotObserver,
)
from rocketha.sim.snapshot_loading.plan import SNAPSHOTS, SnapshotPlan, draw_snapshot_run
from rocketha.sim.snapshot_loading.reader import RegisterReader
from rocketha.sim.snapshot_loading.workload import SnapshotWorkload

__all__ = ["SIMULATION"]


def _workload(
    environment: Environment, plan: SnapshotPlan, observer: SnapshotObserver
) -> SnapshotWorkload:
    reader = RegisterReader(observer)
    bugs, scheduler = environment.options.bugs, environment.scheduler
    cluster = SnapshotCluster(
        plan.entries,
        SNAPSHOTS,
        bugs,
        reader,
        scheduler,
        environment.recording,
        environment.crash_points,
        environment.counts,
    )
    return SnapshotWorkload(cluster, plan, environment, reader)


SIMULATION: Final[Simulation[SnapshotPlan, SnapshotObserver]] = Simulation(
    name="snapshot_loading",
    faults=SNAPSHOT_FAULTS,
    bugs=SNAPSHOT_BUGS,
    draw_plan=draw_snapshot_run,
    workload=_workload,
    unobserved=NullSnapshotObserver,
    clients="reads of registers",
    obligations=SNAPSHOT_LOADING,
    limits=Limits(faults_end_ms=6_000, healing_ms=6_000),
)
