"""Measure an oracle: corrupt accepted traces, and see what a specification still accepts."""

from __future__ import annotations

from tlatrace.strength.kinds import Corruption, Kind
from tlatrace.strength.measure import Finding, Outcome, Strength, measure
from tlatrace.strength.report import strength_json, strength_text

__all__ = [
    "Corruption",
    "Finding",
    "Kind",
    "Outcome",
    "Strength",
    "measure",
    "strength_json",
    "strength_text",
]
