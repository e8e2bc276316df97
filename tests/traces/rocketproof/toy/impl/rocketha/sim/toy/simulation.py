"""A log that is copied as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.simulation import Environment, Limits, Simulation
from rocketha.sim.toy.cluster import NullToyObserver, ToyCluster, ToyObserver
from rocketha.sim.toy.plan import TOY_BUGS, TOY_FAULTS, ToyPlan, draw_toy_run
from rocketha.sim.toy.workload import ToyWorkload

__all__ = ["SIMULATION"]


def _workload(environment: Environment, plan: ToyPlan, observer: ToyObserver) -> ToyWorkload:
    return ToyWorkload(ToyCluster(environment, plan, observer))


SIMULATION: Final[Simulation[ToyPlan, ToyObserver]] = Simulation(
    name="toy",
    faults=TOY_FAULTS,
    bugs=TOY_BUGS,
    draw_plan=draw_toy_run,
    workload=_workload,
    unobserved=NullToyObserver,
    clients="messages that were read in order",
    limits=Limits(faults_end_ms=5_000, healing_ms=5_000),
)
