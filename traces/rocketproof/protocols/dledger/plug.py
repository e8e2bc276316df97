"""DLedger: the plug."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import msgspec

from rocketha.recording.dledger_parts import MEMBER
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import RESPONSE, NodeHeader, NodeRecord
from rocketha.sim.dledger.member import StoodStill
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

_STOOD_STILL: Final = StoodStill.__name__
"""What a member hears that nobody says."""


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
    members = [log for log in logs if log.header.settings.get("kind") == MEMBER]
    names = {log.header.node for log in members}
    asked = {
        message.id
        for log in members
        for record in log.records
        for message in record.sent
        if message.to in names
    }

    def is_said(message: str) -> bool:
        return message.removesuffix(RESPONSE) in asked

    def of_member(record: NodeRecord) -> NodeRecord:
        return msgspec.structs.replace(
            record,
            sent=tuple([one for one in record.sent if is_said(one.id)]),
            received=tuple([one for one in record.received if is_said(one)]),
            heard=tuple([one for one in record.heard if one["is"] == _STOOD_STILL]),
            answered=(),
        )

    return [replace(log, records=tuple(map(of_member, log.records))) for log in members]


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
