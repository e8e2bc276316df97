"""Toy: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.toy.simulation import SIMULATION
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.toy.projection import ToyProjection
from rocketproof.protocols.toy.timeline import toy_changes

__all__ = ["PLUG"]


def _traces(
    projection: ToyProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del run, options
    return (ProjectedTrace(constants=projection.constants, events=projection.events),)


PLUG: Final = ProtocolPlug(
    spec="Toy",
    simulation=SIMULATION,
    projection=ToyProjection,
    traces=_traces,
    changes=toy_changes,
)
