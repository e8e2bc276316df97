"""Groups whose slaves act for their masters: the plug. It has no specification, and no traces."""

from __future__ import annotations

from typing import Final

from rocketha.sim.acting_master.cluster import NullActingMasterObserver
from rocketha.sim.acting_master.simulation import SIMULATION
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun
from rocketproof.plug import ProtocolPlug
from rocketproof.projected_trace import ProjectedTrace
from tlatrace.values import State

__all__ = ["PLUG"]


def _no_traces(
    observer: NullActingMasterObserver, run: SimulatedRun, options: SimOptions
) -> tuple[ProjectedTrace, ...]:
    del observer, run, options
    return ()


def _no_changes(before: State, after: State) -> str:
    raise AssertionError(f"there is no trace with these states: {before}, {after}")


PLUG: Final = ProtocolPlug(
    spec="",
    simulation=SIMULATION,
    projection=NullActingMasterObserver,
    traces=_no_traces,
    changes=_no_changes,
    cores=("acting_master",),
    held_by=("route", "pre_online", "escape"),
)
