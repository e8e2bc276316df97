"""DLedger: the plug."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rocketha.recording.dledger_members import is_member, said_between
from rocketha.recording.node_log import NodeLog
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


def _own_logs(logs: Sequence[NodeLog]) -> Sequence[NodeLog]:
    """Leave what members wrote, and of that what they said to each other."""
    if all(log.header.protocol == SIMULATION.name for log in logs):
        return logs
    members = [log for log in logs if is_member(log.header)]
    names = [log.header.node for log in members]
    between = said_between(names, [record for log in members for record in log.records])
    return [replace(log, records=tuple(map(between, log.records))) for log in members]


PLUG: Final = ProtocolPlug(
    spec=DLEDGER_SPEC,
    simulation=SIMULATION,
    projection=DLedgerProjection,
    traces=_traces,
    changes=dledger_changes,
    records=_records,
    own_logs=_own_logs,
    cores=("dledger",),
    configurations=(*[SimOptions()] * 6, SimOptions(brokers=5), SimOptions(brokers=1)),
)
