"""What the explorer asks of a model: the methods of `tlatrace.model.Model` that it calls."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol, TypeAlias

__all__ = ["Machine", "ModelState", "Move"]

ModelState: TypeAlias = tuple[Hashable, ...]
"""A state of a model: the value of each variable."""


class Move(Protocol):
    """One step that a model allows from a state."""

    @property
    def action(self) -> str:
        """Return the name of the action, as TLC labels the step."""

    @property
    def params(self) -> tuple[Hashable, ...]:
        """Return the model's values of the parameters."""

    @property
    def post(self) -> ModelState:
        """Return the state after the step."""


class Machine(Protocol):
    """A compiled model, or a toy with the same methods."""

    def initial_states(self) -> Sequence[ModelState]:
        """Return the initial states."""

    def successors(self, state: ModelState, /) -> Sequence[Move]:
        """Return every step that Next allows from a state."""

    def violated(self, state: ModelState, /) -> tuple[str, ...]:
        """Name the invariants that are FALSE in a state."""

    def within(self, state: ModelState, /) -> bool:
        """Tell whether the configuration's constraints have the state explored."""
