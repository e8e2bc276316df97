"""Register: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.register.simulation import MEMBERS, SIMULATION
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.register.projection import REGISTER_SPEC, RegisterProjection
from rocketproof.protocols.register.timeline import register_changes

__all__ = ["PLUG"]


def _traces(
    projection: RegisterProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del run, options
    return (ProjectedTrace(constants=projection.constants, events=projection.events),)


PLUG: Final = ProtocolPlug(
    spec=REGISTER_SPEC,
    simulation=SIMULATION,
    projection=RegisterProjection,
    traces=_traces,
    changes=register_changes,
    cores=("dledger.node", "dledger.reads", "dledger.register"),
    brokers=MEMBERS,
    configurations=(SimOptions(brokers=MEMBERS),),
)
