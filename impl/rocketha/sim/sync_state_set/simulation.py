"""The SyncStateSet as a simulation: the runs are those of a whole group."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rocketha.sim.replica_group.simulation import SIMULATION as GROUP

__all__ = ["SIMULATION"]

SIMULATION: Final = replace(GROUP, name="sync_state_set")
