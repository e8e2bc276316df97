"""Search the state graph of a compiled model, and say how much of it was exercised."""

from __future__ import annotations

from tlatrace.explore.coverage import ActionCoverage, Coverage, TakenStep, coverage_of
from tlatrace.explore.explorer import Exploration, Transit, Violation, explore
from tlatrace.explore.machine import Machine, ModelState

__all__ = [
    "ActionCoverage",
    "Coverage",
    "Exploration",
    "Machine",
    "ModelState",
    "TakenStep",
    "Transit",
    "Violation",
    "coverage_of",
    "explore",
]
