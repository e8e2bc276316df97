"""What the explorer asks of a model: the methods of `tlatrace.oracle.Model` that it calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tlatrace.oracle.states import ModelState, Step

__all__ = ["Machine", "ModelState"]


class Machine(Protocol):
    """A compiled model, or a toy with the same methods."""

    def initial_states(self) -> Sequence[ModelState]:
        """Return the initial states."""

    def successors(self, state: ModelState, /) -> Sequence[Step]:
        """Return every step that Next allows from a state."""

    def violated(self, state: ModelState, /) -> tuple[str, ...]:
        """Name the invariants that are FALSE in a state."""

    def within(self, state: ModelState, /) -> bool:
        """Tell whether the configuration's constraints have the state explored."""

    def within_step(self, pre: ModelState, post: ModelState, /) -> bool:
        """Tell whether the configuration's action constraints have the step explored."""
