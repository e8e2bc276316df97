"""What model-based tests ask of a model: the methods of `tlatrace.oracle.Model` that they call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tlatrace.oracle import ModelState, Step
from tlatrace.readings import Reading
from tlatrace.runtime.values import RuntimeValue
from tlatrace.values import State, Value

__all__ = ["ModelState", "Oracle"]


class Oracle(Protocol):
    """A compiled model, or a toy with the same methods."""

    @property
    def module(self) -> str:
        """Return the name of the TLA+ module."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the variables, sorted."""

    @property
    def actions(self) -> Mapping[str, int]:
        """Return what is of action level, and how many parameters each has."""

    def calls(self, action: str, /) -> bool:
        """Tell whether Next calls an action by name."""

    @property
    def reading(self) -> Reading:
        """Return how values of traces are read."""

    def adopt_variable(self, name: str, value: Value, /) -> RuntimeValue:
        """Make the value of a variable the model's."""

    def show_value(self, datum: RuntimeValue, /) -> Value:
        """Return a value of the model's as everybody knows it."""

    def show(self, state: ModelState, /) -> State:
        """Return a state of the model's as everybody knows it."""

    def initial_states(self) -> Sequence[ModelState]:
        """Return the initial states."""

    def successors(self, state: ModelState, /) -> Sequence[Step]:
        """Return every step that the model allows from a state."""

    def violated(self, state: ModelState, /) -> tuple[str, ...]:
        """Name the invariants that are FALSE in a state."""

    def within(self, state: ModelState, /) -> bool:
        """Tell whether the configuration's constraints have the state explored."""
