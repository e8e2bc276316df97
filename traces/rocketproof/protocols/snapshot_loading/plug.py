"""SnapshotLoading: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.snapshot_loading.simulation import SIMULATION
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.snapshot_loading.projection import SNAPSHOT_SPEC, SnapshotProjection
from rocketproof.protocols.snapshot_loading.records import SnapshotRecords
from rocketproof.protocols.snapshot_loading.timeline import snapshot_changes

__all__ = ["PLUG"]


def _traces(
    projection: SnapshotProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del run, options
    return (ProjectedTrace(constants=projection.constants, events=projection.events),)


PLUG: Final = ProtocolPlug(
    spec=SNAPSHOT_SPEC,
    simulation=SIMULATION,
    projection=SnapshotProjection,
    traces=_traces,
    changes=snapshot_changes,
    records=SnapshotRecords,
    cores=(
        "replicated_log.log",
        "replicated_log.register",
        "replicated_log.rules",
        "replicated_log.snapshot_core",
        "replicated_log.snapshot_files",
        "replicated_log.snapshot_manager",
        "replicated_log.snapshot_performer",
        "replicated_log.state_machine_caller",
    ),
)
