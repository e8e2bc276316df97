"""Measure an oracle: corrupt accepted traces, and see what a specification still accepts."""

from __future__ import annotations

from tlatrace.strength.baseline import Verdict, judge_strength, read_holes, write_holes
from tlatrace.strength.kinds import Corruption, Kind
from tlatrace.strength.measure import Finding, Hole, Outcome, Strength, measure
from tlatrace.strength.report import strength_json, strength_text

__all__ = [
    "Corruption",
    "Finding",
    "Hole",
    "Kind",
    "Outcome",
    "Strength",
    "Verdict",
    "judge_strength",
    "measure",
    "read_holes",
    "strength_json",
    "strength_text",
    "write_holes",
]
