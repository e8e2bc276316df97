"""What a corruption of a trace is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tlatrace.trace import Event

__all__ = ["Kind", "Mutation"]


class Kind(StrEnum):
    """How a trace is corrupted."""

    DROP = "drop"
    """An event is lost."""
    DUPLICATE = "duplicate"
    """An event is logged twice."""
    SWAP = "swap"
    """Two neighbours are logged in the wrong order, each with its state."""
    FIELD = "field"
    """One place in one variable has another value of the same type."""
    PARAMETER = "parameter"
    """One place in a parameter has another value of the same type."""
    ACTION = "action"
    """The event names another action, with parameters that it could have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """The events `first` to `end` - 1 of a trace, and what stands in their place."""

    kind: Kind
    first: int
    end: int
    events: tuple[Event, ...]
    """Their `step` is that of the events they are made of."""
    what: str
    """What was changed, for people."""
    about: str
    """What was changed, without numbers and values: the variable's path, the parameter's number, or
    the other action; "" where the kind and the action say all."""
