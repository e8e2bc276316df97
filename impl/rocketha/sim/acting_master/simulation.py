"""Groups whose slaves act for their masters as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import ESCAPE_BUGS, PRE_ONLINE_BUGS, ROUTE_BUGS, Bug, Bugs
from rocketha.sim.acting_master.cluster import (
    ActingMasterCluster,
    ActingMasterObserver,
    NullActingMasterObserver,
)
from rocketha.sim.acting_master.plan import ActingMasterPlan, draw_acting_master_run
from rocketha.sim.acting_master.workload import ActingMasterWorkload
from rocketha.sim.engine.faults import ACTING_MASTER_FAULTS
from rocketha.sim.engine.simulation import Environment, Limits, Simulation

__all__ = ["SIMULATION"]


_MEANS_NOTHING: Final[Bugs] = frozenset(
    {Bug.B40, Bug.B40_FORGOTTEN, Bug.B43, Bug.B51, Bug.LOCAL_FIRST, Bug.NAMES}
)
"""What nothing here can show: nobody is elected, all groups have acting slaves, no node ends
between two writes, no two brokers are in one process, and no two pops of one moment have one name
but for their brokers."""


def _workload(
    environment: Environment, plan: ActingMasterPlan, observer: ActingMasterObserver
) -> ActingMasterWorkload:
    cluster = ActingMasterCluster(environment, plan, observer)
    return ActingMasterWorkload(cluster, plan, environment.streams)


SIMULATION: Final[Simulation[ActingMasterPlan, ActingMasterObserver]] = Simulation(
    name="acting_master",
    faults=ACTING_MASTER_FAULTS,
    bugs=(ESCAPE_BUGS | PRE_ONLINE_BUGS | ROUTE_BUGS) - _MEANS_NOTHING,
    draw_plan=draw_acting_master_run,
    workload=_workload,
    unobserved=NullActingMasterObserver,
    clients="messages read, pops acknowledged or delivered again, and offsets told",
    limits=Limits(faults_end_ms=8_000, healing_ms=30_000, healing_actions=6_000),
)
