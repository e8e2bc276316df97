"""Queue locks as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import LOCK_BUGS
from rocketha.obligations.lock_quorum import LOCK_QUORUM
from rocketha.sim.engine.faults import LOCK_FAULTS
from rocketha.sim.engine.simulation import Environment, Limits, Simulation
from rocketha.sim.lock_quorum.cluster import LockCluster, LockObserver, NullLockObserver
from rocketha.sim.lock_quorum.plan import LockPlan, draw_lock_run
from rocketha.sim.lock_quorum.workload import LockWorkload

__all__ = ["SIMULATION"]


def _workload(environment: Environment, plan: LockPlan, observer: LockObserver) -> LockWorkload:
    streams = environment.streams
    cluster = LockCluster(
        plan=plan,
        scheduler=environment.scheduler,
        network=environment.network(plan.faults),
        random_source=streams,
        counts=environment.counts,
        observer=observer,
        recording=environment.recording,
        crash_points=environment.crash_points,
    )
    return LockWorkload(cluster, plan, streams)


SIMULATION: Final[Simulation[LockPlan, LockObserver]] = Simulation(
    name="lock_quorum",
    faults=LOCK_FAULTS,
    bugs=LOCK_BUGS,
    draw_plan=draw_lock_run,
    workload=_workload,
    unobserved=NullLockObserver,
    clients="messages that consumers have processed in order",
    obligations=LOCK_QUORUM,
    limits=Limits(healing_actions=500),
)
