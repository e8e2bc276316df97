"""What a projection makes: a trace without its header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tlatrace.trace import Event, Silent
from tlatrace.values import Json, State

__all__ = ["ProjectedTrace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedTrace:
    """A trace without its header."""

    constants: State
    events: Sequence[Event]
    meta: Mapping[str, Json] = field(default_factory=dict)
    """What is said of it beside what is said of its run."""
    silent: Silent | None = None
    """The steps that it does not show."""
    spec: str | None = None
    """The module that it is held against; None: that of the protocol."""
