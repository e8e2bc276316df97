"""Search the state graph of a compiled model, and say how much of it was exercised."""

from __future__ import annotations

from tlatrace.explore.checking import ActionCount, CheckedModel, PathState, check_model
from tlatrace.explore.coverage import ActionCoverage, Coverage, TakenStep, coverage_of
from tlatrace.explore.explorer import Exploration, Transit, Violation, explore
from tlatrace.explore.symmetry import Images, images_of
from tlatrace.oracle.oracle import StateSpace
from tlatrace.oracle.states import ModelState

__all__ = [
    "ActionCount",
    "ActionCoverage",
    "CheckedModel",
    "Coverage",
    "Exploration",
    "Images",
    "ModelState",
    "PathState",
    "StateSpace",
    "TakenStep",
    "Transit",
    "Violation",
    "check_model",
    "coverage_of",
    "explore",
    "images_of",
]
