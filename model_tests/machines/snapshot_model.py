"""Finite models of SnapshotLoading, compiled: what the machine is driven by."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from tlatrace.oracle import load_model
from tlatrace.testing import Goals, Moves
from tlatrace.tla.config import read_config

__all__ = ["TERMS", "goals", "moves"]

_SPEC: Final = Path(__file__).parents[2] / "spec" / "snapshot_loading"
_STATES: Final = 30_000
"""More than the small model has: it is explored whole."""

TERMS: Final = {"small": (1, 3, 3), "full": (1, 1, 3, 3)}
"""The terms of the history of each model."""


@cache
def moves(model: str) -> Moves:
    """Compile a model; about two seconds."""
    config = read_config(_SPEC / f"MCSnapshotLoading_{model}.cfg")
    return Moves(load_model(_SPEC / "MCSnapshotLoading.tla", config))


@cache
def goals() -> Goals:
    """Explore the small model."""
    found = Goals(moves("small"), _STATES)
    assert 5_000 < len(found.states) < _STATES, f"{len(found.states)} states are not all"
    return found
