"""EpochTruncation: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketha.sim.epoch_truncation.simulation import SIMULATION
from rocketproof.broker_timeline import broker_changes
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.epoch_truncation.projection import SPEC, EpochProjection
from rocketproof.protocols.epoch_truncation.records import EpochRecords
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name
from tlatrace.values import State, tla_set

__all__ = ["PLUG"]


def _traces(
    projection: EpochProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del options
    if run.healed_ms is not None and run.report.failure is run.report.unavailable_because is None:
        projection.healed()
    constants: State = {
        "Broker": tla_set(broker_name(broker) for broker in projection.brokers),
        "None": NONE,
    }
    return (ProjectedTrace(constants=constants, events=projection.events),)


PLUG: Final = ProtocolPlug(
    spec=SPEC,
    simulation=SIMULATION,
    projection=EpochProjection,
    traces=_traces,
    changes=broker_changes,
    records=EpochRecords,
    cores=("ha", "epoch"),
)
