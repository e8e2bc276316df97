"""PreOnline: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.pre_online.simulation import SIMULATION
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.pre_online.projection import PRE_ONLINE_SPEC, PreOnlineProjection
from rocketproof.protocols.pre_online.records import PreOnlineRecords
from rocketproof.protocols.pre_online.timeline import pre_online_changes

__all__ = ["PLUG"]


def _traces(
    projection: PreOnlineProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del run, options
    return projection.traces


PLUG: Final = ProtocolPlug(
    spec=PRE_ONLINE_SPEC,
    simulation=SIMULATION,
    projection=PreOnlineProjection,
    traces=_traces,
    changes=pre_online_changes,
    records=PreOnlineRecords,
    traces_are="tables",
    shown_later=True,
    cores=("pre_online",),
)
