"""LockQuorum: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.lock_quorum.simulation import SIMULATION
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.lock_quorum.projection import LOCK_SPEC, LockProjection
from rocketproof.protocols.lock_quorum.records import LockRecords
from rocketproof.protocols.lock_quorum.timeline import lock_changes

__all__ = ["PLUG"]


def _traces(
    projection: LockProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del run, options
    return (ProjectedTrace(constants=projection.constants, events=projection.events),)


PLUG: Final = ProtocolPlug(
    spec=LOCK_SPEC,
    simulation=SIMULATION,
    projection=LockProjection,
    traces=_traces,
    changes=lock_changes,
    records=LockRecords,
    settings={"rocketmq_defaults": lambda options: options.rocketmq_defaults},
    cores=("locks",),
)
