"""The small model of LockQuorum, compiled: what the machine is driven by."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from rocketproof.projection.epoch_values import NONE
from tlatrace.model import load_model
from tlatrace.testing import Goals, Moves
from tlatrace.validate.config import TlcConfig, read_config
from tlatrace.values import TlaSet, Value, tla_set

__all__ = ["goals", "lock_constants", "moves"]

_SPEC: Final = Path(__file__).parents[2] / "spec" / "lock_quorum"
_STATES: Final = 30_000
"""More than the small model has: it is explored whole."""

_NAMED: Final[dict[str, Value]] = {
    "Replica": tla_set(["b1", "b2"]),
    "Client": tla_set(["c1", "c2"]),
    "Queue": tla_set(["q1"]),
    "None": NONE,
}
"""What the model has, by the names that a projection gives it."""


@cache
def moves() -> Moves:
    """Compile the model; about two seconds."""
    return Moves(load_model(_SPEC / "MCLockQuorum.tla", _small_config()))


@cache
def goals() -> Goals:
    """Explore the model."""
    found = Goals(moves(), _STATES)
    assert 5_000 < len(found.states) < _STATES, f"{len(found.states)} states are not all"
    return found


@cache
def lock_constants() -> dict[str, Value]:
    """Return the constants of the model."""
    return {one.name: one.value for one in _small_config().assignments if one.value is not None}


def _small_config() -> TlcConfig:
    config = read_config(_SPEC / "MCLockQuorum_small.cfg")
    assignments = []
    for one in config.assignments:
        value = _NAMED.get(one.name)
        assignments.append(one if value is None else replace(one, text=_text(value), value=value))
    return replace(config, assignments=tuple(assignments))


def _text(value: Value) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    assert isinstance(value, TlaSet)
    return "{" + ", ".join(f'"{element}"' for element in value) + "}"
