"""What a model says of states and values, each asked about once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeAlias, TypeVar

from tlatrace.oracle import Step
from tlatrace.oracle.oracle import DrivingModel
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import RuntimeValue
from tlatrace.testing.calls import Call, call_of
from tlatrace.values import Value, canonical

__all__ = ["LeaveOut", "Moves"]

LeaveOut: TypeAlias = Callable[[Call, Collection[Call]], bool]
"""Tells calls that the model allows, but that the system never makes where it has others: it is
given the call, and all that the model allows in the state."""

K = TypeVar("K")
V = TypeVar("V")

_REMEMBERED: Final = 2**17
"""Answers of each kind; then they are forgotten, and it begins anew."""


class Moves:
    """What a model has said, remembered over all runs of a test."""

    def __init__(self, model: DrivingModel, leave_out: LeaveOut | None = None) -> None:
        """Remember nothing yet."""
        self.model = model
        self._leave_out = leave_out
        self._known: dict[ModelState, Mapping[Call, tuple[ModelState, ...]]] = {}
        self._violated: dict[ModelState, tuple[str, ...]] = {}
        self._calls: dict[tuple[str, tuple[RuntimeValue, ...]], Call] = {}
        self._adopted: dict[tuple[str, str], RuntimeValue] = {}

    def of(self, state: ModelState) -> Mapping[Call, tuple[ModelState, ...]]:
        """Return what can happen in a state, simple calls first, and where each may lead.

        Nothing happens in a state that the constraints of the configuration exclude.

        Raises:
            EvaluationError: the model gives no value.
        """
        found = self._known.get(state)
        return found if found is not None else _keep(self._known, state, self._ask(state))

    def violated(self, state: ModelState) -> tuple[str, ...]:
        """Name the invariants that are FALSE in a state.

        Raises: as `of`
        """
        found = self._violated.get(state)
        if found is None:
            found = _keep(self._violated, state, self.model.violated(state))
        return found

    def adopt(self, variable: str, value: Value) -> RuntimeValue:
        """Make the value of a variable the model's."""
        key = variable, canonical(value)
        if key not in self._adopted:
            return _keep(self._adopted, key, self.model.adopt_variable(variable, value))
        return self._adopted[key]

    def _ask(self, state: ModelState) -> Mapping[Call, tuple[ModelState, ...]]:
        if not self.model.within(state):
            return {}
        moves: dict[Call, dict[ModelState, None]] = {}
        for move in self.model.successors(state):
            moves.setdefault(self._call(move), {})[move.post] = None
        calls = sorted(moves, key=lambda call: call.simplicity)
        if self._leave_out is not None:
            calls = [call for call in calls if not self._leave_out(call, moves.keys())]
        return {call: tuple(moves[call]) for call in calls}

    def _call(self, move: Step) -> Call:
        key = (move.action, move.params)
        found = self._calls.get(key)
        if found is None:
            params = tuple([self.model.show_value(param) for param in move.params])
            found = _keep(self._calls, key, call_of(move.action, params))
        return found


def _keep(known: dict[K, V], key: K, value: V) -> V:
    if len(known) >= _REMEMBERED:
        known.clear()
    known[key] = value
    return value
