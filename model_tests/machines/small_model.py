"""The small model of EpochTruncation, compiled: what the machine is driven by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from rocketproof.protocols.epoch_truncation.values import NONE
from tlatrace.oracle import load_model
from tlatrace.testing import Call, Goals, Moves
from tlatrace.testing.calls import call_of
from tlatrace.tla.config import TlcConfig, read_config

__all__ = ["SPEC", "goals", "loss_moves", "moves", "small_config"]

_STATES: Final = 40_000
"""More than the small model has: it is explored whole."""

SPEC: Final = Path(__file__).parents[2] / "spec" / "epoch_truncation"


@cache
def moves() -> Moves:
    """Compile the model; about two seconds."""
    model = load_model(SPEC / "MCEpochTruncation.tla", small_config())
    return Moves(model, is_idle_heartbeat)


@cache
def loss_moves() -> Moves:
    """Compile the model in which brokers lose flushed records; too large to be explored."""
    model = load_model(SPEC / "MCEpochTruncation.tla", _config("loss"))
    return Moves(model, is_idle_heartbeat)


@cache
def goals() -> Goals:
    """Explore the model; about five seconds."""
    found = Goals(moves(), _STATES)
    assert 10_000 < len(found.states) < _STATES, f"{len(found.states)} states are not all"
    return found


def is_idle_heartbeat(call: Call, allowed: Collection[Call]) -> bool:
    """Tell batches without a record, and heartbeats of a master that has records to send.

    They are allowed, but no core sends any: the messages of tests are sent as a whole.
    """
    if call.action == "Transfer":
        return call.params[2] == 0
    return call.action == "Heartbeat" and call_of("Transfer", (*call.params[:2], 1)) in allowed


def small_config() -> TlcConfig:
    """Read the configuration, and spell "no broker" as the projection does."""
    return _config("small")


def _config(name: str) -> TlcConfig:
    config = read_config(SPEC / f"MCEpochTruncation_{name}.cfg")
    assignments = [
        replace(one, text=f'None = "{NONE}"', value=NONE) if one.name == "None" else one
        for one in config.assignments
    ]
    return replace(config, assignments=tuple(assignments))
