"""Route: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.route.simulation import SIMULATION
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.route.projection import ROUTE_SPEC, RouteProjection
from rocketproof.protocols.route.records import RouteRecords
from rocketproof.protocols.route.timeline import route_changes

__all__ = ["PLUG"]


def _traces(
    projection: RouteProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del run, options
    return (ProjectedTrace(constants=projection.constants, events=projection.events),)


PLUG: Final = ProtocolPlug(
    spec=ROUTE_SPEC,
    simulation=SIMULATION,
    projection=RouteProjection,
    traces=_traces,
    changes=route_changes,
    records=RouteRecords,
    settings={"rocketmq_defaults": lambda options: options.rocketmq_defaults},
    cores=("nameserver", "acting"),
    configurations=(SimOptions(), SimOptions(rocketmq_defaults=True)),
)
