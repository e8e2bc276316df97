"""Brokers and name servers as a simulation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.known_bugs import ROUTE_BUGS
from rocketha.obligations.route import ROUTE
from rocketha.sim.engine.faults import ROUTE_FAULTS
from rocketha.sim.engine.simulation import Environment, Limits, Simulation
from rocketha.sim.route.cluster import NullRouteObserver, RouteCluster, RouteObserver
from rocketha.sim.route.plan import RoutePlan, draw_route_run
from rocketha.sim.route.workload import RouteWorkload

__all__ = ["SIMULATION"]


def _workload(environment: Environment, plan: RoutePlan, observer: RouteObserver) -> RouteWorkload:
    cluster = RouteCluster(environment, plan, observer)
    return RouteWorkload(cluster, plan, environment.streams)


SIMULATION: Final[Simulation[RoutePlan, RouteObserver]] = Simulation(
    name="route",
    faults=ROUTE_FAULTS,
    bugs=ROUTE_BUGS,
    draw_plan=draw_route_run,
    workload=_workload,
    unobserved=NullRouteObserver,
    clients="routes that clients have found",
    obligations=ROUTE,
    limits=Limits(healing_ms=20_000, healing_actions=2_000),
)
