"""A slave that acts, and masters of other groups, as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import ESCAPE_BUGS
from rocketha.obligations.escape import ESCAPE
from rocketha.sim.engine.faults import ESCAPE_FAULTS
from rocketha.sim.engine.simulation import Environment, Limits, Simulation
from rocketha.sim.escape.cluster import EscapeCluster, EscapeObserver, NullEscapeObserver
from rocketha.sim.escape.plan import EscapePlan, draw_escape_run
from rocketha.sim.escape.workload import EscapeWorkload

__all__ = ["SIMULATION"]


def _workload(
    environment: Environment, plan: EscapePlan, observer: EscapeObserver
) -> EscapeWorkload:
    cluster = EscapeCluster(environment, plan, observer)
    return EscapeWorkload(cluster, plan, environment.streams)


SIMULATION: Final[Simulation[EscapePlan, EscapeObserver]] = Simulation(
    name="escape",
    faults=ESCAPE_FAULTS,
    bugs=ESCAPE_BUGS,
    draw_plan=draw_escape_run,
    workload=_workload,
    unobserved=NullEscapeObserver,
    obligations=ESCAPE,
    clients="messages read, acknowledged, or delivered again",
    limits=Limits(faults_end_ms=8_000, healing_ms=20_000, healing_actions=1_500),
)
