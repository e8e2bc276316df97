"""DLedger: the plug."""

from __future__ import annotations

from typing import Final

from rocketha.sim.dledger.simulation import SIMULATION
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.dledger.projection import DLEDGER_SPEC, DLedgerProjection
from rocketproof.protocols.dledger.records import DLedgerRecords
from rocketproof.protocols.dledger.timeline import dledger_changes

__all__ = ["PLUG"]


def _traces(
    projection: DLedgerProjection, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del run, options
    return (ProjectedTrace(constants=projection.constants, events=projection.events),)


PLUG: Final = ProtocolPlug(
    spec=DLEDGER_SPEC,
    simulation=SIMULATION,
    projection=DLedgerProjection,
    traces=_traces,
    changes=dledger_changes,
    records=DLedgerRecords,
    # The files of the store are not among them: every operation of theirs is crashed by itself
    # (tests/impl/dledger/test_store_crash.py).
    cores=("dledger",),
)
