"""Search the state graph of a compiled model, and say how much of it was exercised."""

from __future__ import annotations

from tlatrace.explore.checking import CheckedModel, PathState, check_model
from tlatrace.explore.coverage import ActionCoverage, Coverage, TakenStep, coverage_of
from tlatrace.explore.explorer import Exploration, Transit, Violation, explore
from tlatrace.explore.machine import Machine, ModelState
from tlatrace.explore.symmetry import Images, images_of

__all__ = [
    "ActionCoverage",
    "CheckedModel",
    "Coverage",
    "Exploration",
    "Images",
    "Machine",
    "ModelState",
    "PathState",
    "TakenStep",
    "Transit",
    "Violation",
    "check_model",
    "coverage_of",
    "explore",
    "images_of",
]
