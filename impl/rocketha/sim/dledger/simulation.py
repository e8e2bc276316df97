"""A DLedger group as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import DLEDGER_BUGS
from rocketha.obligations.dledger import DLEDGER
from rocketha.sim.dledger.cluster import DLedgerCluster, DLedgerObserver, NullDLedgerObserver
from rocketha.sim.dledger.plan import (
    DISK_FAULTS,
    MISTAKES,
    NEMESES,
    DLedgerPlan,
    draw_dledger_run,
)
from rocketha.sim.dledger.workload import DLedgerWorkload
from rocketha.sim.engine.faults import DLEDGER_FAULTS
from rocketha.sim.engine.simulation import Environment, Limits, Simulation

__all__ = ["SIMULATION"]


def _workload(
    environment: Environment, plan: DLedgerPlan, observer: DLedgerObserver
) -> DLedgerWorkload:
    streams = environment.streams
    cluster = DLedgerCluster(
        plan=plan,
        scheduler=environment.scheduler,
        network=environment.network(plan.faults),
        random_source=streams,
        counts=environment.counts,
        observer=observer,
        recording=environment.recording,
        crash_points=environment.crash_points,
    )
    return DLedgerWorkload(cluster, plan, streams)


SIMULATION: Final[Simulation[DLedgerPlan, DLedgerObserver]] = Simulation(
    name="dledger",
    faults=(*DLEDGER_FAULTS, *NEMESES, *DISK_FAULTS, *MISTAKES),
    bugs=DLEDGER_BUGS,
    draw_plan=draw_dledger_run,
    workload=_workload,
    unobserved=NullDLedgerObserver,
    clients="answers of registers that are linearizable",
    obligations=DLEDGER,
    limits=Limits(faults_end_ms=30_000, healing_ms=30_000, healing_actions=3_000),
)
"""What runs of DLedger are."""
