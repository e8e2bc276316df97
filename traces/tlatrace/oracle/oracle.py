"""What a specification is asked, whoever answers: a compiled model, or a toy of a test.

Who searches asks less than who drives a system, and both less than who judges traces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tlatrace.oracle.states import ModelState, Step
from tlatrace.readings import Reading
from tlatrace.runtime.values import RuntimeValue
from tlatrace.values import State, Value

__all__ = ["DrivingModel", "Oracle", "StateSpace"]


class StateSpace(Protocol):
    """States and the steps between them: what a search asks."""

    def initial_states(self) -> Sequence[ModelState]:
        """List the initial states."""

    def successors(self, state: ModelState, /) -> Sequence[Step]:
        """List every step that Next allows from a state."""

    def violated(self, state: ModelState, /) -> tuple[str, ...]:
        """Name the invariants that are FALSE in a state."""

    def within(self, state: ModelState, /) -> bool:
        """Tell whether the configuration's constraints have the state explored."""

    def within_step(self, pre: ModelState, post: ModelState, /) -> bool:
        """Tell whether the configuration's action constraints have the step explored."""


class DrivingModel(StateSpace, Protocol):
    """A state space whose steps have names, and whose values are read: what drives a system."""

    @property
    def module(self) -> str:
        """The name of the TLA+ module."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, sorted."""

    @property
    def actions(self) -> Mapping[str, int]:
        """Each operator that a trace may name, with its number of parameters."""

    def show(self, state: ModelState) -> State:
        """Turn a state of the model back."""

    @property
    def reading(self) -> Reading:
        """How values of traces are read."""

    def adopt_variable(self, name: str, value: Value, /) -> RuntimeValue:
        """Turn the value of a variable in a trace into the model's."""

    def show_value(self, value: RuntimeValue) -> Value:
        """Turn a value of the model back."""

    def calls(self, action: str) -> bool:
        """Tell whether Next calls an action by name, so that its steps can be told from others."""


class Oracle(DrivingModel, Protocol):
    """A compiled specification, or a toy with the same methods; `EvaluationError` where it has no
    value.
    """

    @property
    def invariants(self) -> tuple[str, ...]:
        """The invariants that `violated` evaluates."""

    @property
    def box(self) -> str:
        """What stays as it is in a step of [Next]_v that is none of Next.

        "whole": all variables; "part": what the specification says; "": there are no such steps.
        """

    def adopt(self, state: State) -> ModelState:
        """Turn a whole state into the model's."""

    def adopt_value(self, value: Value) -> RuntimeValue:
        """Turn one value that is read into the model's."""

    def is_initial(self, state: ModelState) -> bool:
        """Tell whether a state is an initial one."""

    def allows(
        self,
        action: str | None,
        params: tuple[RuntimeValue, ...],
        pre: ModelState,
        post: ModelState,
    ) -> bool:
        """Tell whether a step is one of an action; None: of Next."""

    def action_successors(self, state: ModelState, action: str) -> Sequence[Step]:
        """List those that are an action, wherever Next calls it."""

    def bound_successors(
        self, state: ModelState, action: str, params: tuple[RuntimeValue, ...]
    ) -> Sequence[Step]:
        """List those that are an action with these arguments."""

    def holder(self) -> Callable[[ModelState], bool]:
        """Return what tells of one state after another whether all invariants are TRUE."""

    def evaluate(self, name: str, state: ModelState | None = None) -> RuntimeValue:
        """Evaluate an expression that the model was loaded with."""

    def part(self, value: RuntimeValue, at: Sequence[RuntimeValue]) -> RuntimeValue | None:
        """Apply a value to arguments one by one; None where one is outside of its domain."""

    def interchangeable(self) -> Sequence[tuple[RuntimeValue, ...]]:
        """List classes of values of which any two may be swapped everywhere."""
