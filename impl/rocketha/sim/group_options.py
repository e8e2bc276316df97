"""What a run of a broker group is made of: the caller's choices, and what the seed draws."""

from __future__ import annotations

from dataclasses import dataclass

from rocketha.broker.options import GroupOptions
from rocketha.controller.dispatch import ControllerOptions
from rocketha.sim.faults import FaultPlan

__all__ = ["GroupPlan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    broker: GroupOptions
    controller: ControllerOptions
