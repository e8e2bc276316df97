"""LegacyReplication: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.records import RECORDS_PER_SEGMENT
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.legacy_replication.cluster import MASTER
from rocketha.sim.legacy_replication.plan import MOST_NEEDED
from rocketha.sim.legacy_replication.simulation import SIMULATION
from rocketproof.broker_timeline import broker_changes
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.epoch_truncation.values import broker_name
from rocketproof.protocols.legacy_replication.projection import LEGACY_SPEC, LegacyProjection
from rocketproof.protocols.legacy_replication.records import LegacyRecords
from tlatrace.values import State, tla_set

__all__ = ["PLUG"]


def _traces(
    projection: LegacyProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del options
    if run.healed_ms is not None and run.report.failure is run.report.unavailable_because is None:
        projection.healed()
    constants: State = {
        "Master": broker_name(MASTER),
        "Slave": tla_set(broker_name(slave) for slave in projection.slaves),
        "Needs": tla_set(range(min(MOST_NEEDED, len(projection.slaves)) + 1)),
        "FileRecords": RECORDS_PER_SEGMENT,
    }
    return (ProjectedTrace(constants=constants, events=projection.events),)


PLUG: Final = ProtocolPlug(
    spec=LEGACY_SPEC,
    simulation=SIMULATION,
    projection=LegacyProjection,
    traces=_traces,
    changes=broker_changes,
    records=LegacyRecords,
    cores=("legacy_ha",),
)
