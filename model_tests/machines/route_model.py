"""Finite models of Route, compiled: what the machine is driven by."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from tlatrace.oracle import load_model
from tlatrace.testing import Goals, Moves
from tlatrace.tla.config import TlcConfig, read_config
from tlatrace.values import Value, tla_set

__all__ = ["goals", "moves", "route_constants"]

_NAME_SERVER: Final = "n1"
"""The only one, as a projection calls it."""
_SPEC: Final = Path(__file__).parents[2] / "spec" / "route"
_STATES: Final = 15_000
"""The nearest ones: the model has a hundred times as many."""


@cache
def moves(model: str) -> Moves:
    """Compile a model."""
    return Moves(load_model(_SPEC / "MCRoute.tla", _config(model)))


@cache
def goals() -> Goals:
    """Explore what is near of the model in which slaves serve."""
    return Goals(moves("serving"), _STATES)


@cache
def route_constants(model: str) -> dict[str, Value]:
    """Return the constants of a model."""
    return {one.name: one.value for one in _config(model).assignments if one.value is not None}


def _config(model: str) -> TlcConfig:
    """Read a configuration, and call its name server as a projection does."""
    config = read_config(_SPEC / f"MCRoute_{model}.cfg")
    return replace(
        config,
        assignments=tuple(
            replace(one, text=f'{{"{_NAME_SERVER}"}}', value=tla_set([_NAME_SERVER]))
            if one.name == "NameServer"
            else one
            for one in config.assignments
        ),
    )
