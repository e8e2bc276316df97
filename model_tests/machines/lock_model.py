"""Finite models of LockQuorum, compiled: what the machine is driven by."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from rocketproof.protocols.epoch_truncation.values import NONE
from tlatrace.oracle import load_model
from tlatrace.testing import Goals, Moves
from tlatrace.tla.config import TlcConfig, read_config
from tlatrace.values import TlaSet, Value, tla_set

__all__ = ["goals", "lock_constants", "moves"]

_SPEC: Final = Path(__file__).parents[2] / "spec" / "lock_quorum"
_STATES: Final = 30_000
"""More than the small model has: it is explored whole."""

_NAMED: Final[dict[str, Value]] = {
    "Client": tla_set(["c1", "c2"]),
    "Queue": tla_set(["q1"]),
    "None": NONE,
}
"""What all models have, by the names that a projection gives it."""


@cache
def moves(model: str) -> Moves:
    """Compile a model; about two seconds."""
    return Moves(load_model(_SPEC / "MCLockQuorum.tla", _config(model)))


@cache
def goals() -> Goals:
    """Explore the small model."""
    found = Goals(moves("small"), _STATES)
    assert 5_000 < len(found.states) < _STATES, f"{len(found.states)} states are not all"
    return found


@cache
def lock_constants(model: str) -> dict[str, Value]:
    """Return the constants of a model."""
    return {one.name: one.value for one in _config(model).assignments if one.value is not None}


def _config(model: str) -> TlcConfig:
    config = read_config(_SPEC / f"MCLockQuorum_{model}.cfg")
    assignments = []
    for one in config.assignments:
        value = _NAMED.get(one.name)
        if one.name == "Replica":
            brokers = one.text.count(",") + 1
            value = tla_set([f"b{number}" for number in range(1, brokers + 1)])
        assignments.append(one if value is None else replace(one, text=_text(value), value=value))
    return replace(config, assignments=tuple(assignments))


def _text(value: Value) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    assert isinstance(value, TlaSet)
    return "{" + ", ".join(f'"{element}"' for element in value) + "}"
