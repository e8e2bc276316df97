"""Escape: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.escape.simulation import SIMULATION
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.escape.projection import ESCAPE_SPEC, EscapeProjection
from rocketproof.protocols.escape.records import EscapeRecords
from rocketproof.protocols.escape.timeline import escape_changes

__all__ = ["PLUG"]


def _traces(
    projection: EscapeProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del run, options
    return projection.traces


PLUG: Final = ProtocolPlug(
    spec=ESCAPE_SPEC,
    simulation=SIMULATION,
    projection=EscapeProjection,
    traces=_traces,
    changes=escape_changes,
    records=EscapeRecords,
    settings={"rocketmq_defaults": lambda options: options.rocketmq_defaults},
    kept_without_promises=("TypeOK", "ActingNoWrite", "HalfUnseen"),
    traces_are="kinds of what is due",
    cores=("escape",),
    configurations=(SimOptions(), SimOptions(), SimOptions(rocketmq_defaults=True)),
)
