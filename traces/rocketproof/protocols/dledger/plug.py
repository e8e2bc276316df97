"""DLedger: the plug."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rocketha.recording.record import NodeHeader
from rocketha.sim.dledger.simulation import SIMULATION
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.dledger.part_records import PartRecords
from rocketproof.protocols.dledger.projection import DLEDGER_SPEC, DLedgerProjection
from rocketproof.protocols.dledger.records import DLedgerRecords
from rocketproof.protocols.dledger.timeline import dledger_changes
from rocketproof.record_projection import RecordProjection

__all__ = ["PLUG"]


def _traces(
    projection: DLedgerProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del run, options
    return (ProjectedTrace(constants=projection.constants, events=projection.events),)


def _records(headers: Sequence[NodeHeader]) -> RecordProjection:
    """Choose by what members say: some keep no records, or all do. Raises: RecordError"""
    in_part = any("recorded_peers" in header.settings for header in headers)
    return PartRecords(headers) if in_part else DLedgerRecords(headers)


PLUG: Final = ProtocolPlug(
    spec=DLEDGER_SPEC,
    simulation=SIMULATION,
    projection=DLedgerProjection,
    traces=_traces,
    changes=dledger_changes,
    records=_records,
    cores=("dledger",),
    configurations=(*[SimOptions()] * 6, SimOptions(brokers=5), SimOptions(brokers=1)),
)
