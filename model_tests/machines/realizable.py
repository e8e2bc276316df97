"""A model without some steps that no core takes: what a machine is to reach leads past them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from tlatrace.oracle import Model, ModelState, Step
from tlatrace.readings import Reading
from tlatrace.runtime.values import RuntimeValue
from tlatrace.testing.calls import plain
from tlatrace.values import Fcn, State, Value

__all__ = ["Realizable"]


class Realizable(ABC):
    """A model of which a subclass says which steps are real."""

    def __init__(self, model: Model) -> None:
        """Take a whole model."""
        self._model = model
        self._at = {name: at for at, name in enumerate(model.variables)}
        self._shown: dict[RuntimeValue, Value] = {}

    @property
    def module(self) -> str:
        """Return the name of the TLA+ module."""
        return self._model.module

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the variables, sorted."""
        return self._model.variables

    @property
    def actions(self) -> Mapping[str, int]:
        """Return what is of action level, and how many parameters each has."""
        return self._model.actions

    def calls(self, action: str) -> bool:
        """Tell whether Next calls an action by name."""
        return self._model.calls(action)

    @property
    def reading(self) -> Reading:
        """Return how values of traces are read."""
        return self._model.reading

    def adopt_variable(self, name: str, value: Value) -> RuntimeValue:
        """Make the value of a variable the model's."""
        return self._model.adopt_variable(name, value)

    def show_value(self, datum: RuntimeValue) -> Value:
        """Return a value of the model's as everybody knows it."""
        return self._model.show_value(datum)

    def show(self, state: ModelState) -> State:
        """Return a state of the model's as everybody knows it."""
        return self._model.show(state)

    def initial_states(self) -> Sequence[ModelState]:
        """Return the initial states."""
        return self._model.initial_states()

    def violated(self, state: ModelState) -> tuple[str, ...]:
        """Name the invariants that are FALSE in a state."""
        return self._model.violated(state)

    def within_step(self, pre: ModelState, post: ModelState) -> bool:
        """Tell whether the configuration's action constraints have the step explored."""
        return self._model.within_step(pre, post)

    def within(self, state: ModelState) -> bool:
        """Tell whether the configuration's constraints have the state explored."""
        return self._model.within(state)

    def successors(self, state: ModelState) -> Sequence[Step]:
        """Return the steps from a state that a core may take."""
        return [step for step in self._model.successors(state) if self.is_real(state, step)]

    @abstractmethod
    def is_real(self, state: ModelState, step: Step) -> bool:
        """Tell whether a core may take a step."""

    def shown(self, datum: RuntimeValue) -> Value:
        """Return a value of the model's, with strings for its model values."""
        if datum not in self._shown:
            self._shown[datum] = plain(self._model.show_value(datum))
        return self._shown[datum]

    def part(self, state: ModelState, variable: str, *keys: Value) -> Value:
        """Return a variable, or what it is for some keys, one in the other."""
        value = self.shown(state[self._at[variable]])
        for key in keys:
            if isinstance(value, tuple):
                assert isinstance(key, int)
                value = value[key - 1]
            else:
                assert isinstance(value, Fcn)
                value = value[key]
        return value
