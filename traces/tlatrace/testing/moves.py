"""The steps that a model allows from a state, each state asked about once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeAlias

from tlatrace.testing.calls import Call, call_of
from tlatrace.testing.oracle import ModelState, Oracle

__all__ = ["LeaveOut", "Moves"]

LeaveOut: TypeAlias = Callable[[Call, Collection[Call]], bool]
"""Tells calls that the model allows, but that the system never makes where it has others: it is
given the call, and all that the model allows in the state."""

_REMEMBERED: Final = 2**17
"""States whose steps are remembered; then all are forgotten, and it begins anew."""


class Moves:
    """The steps of a model, remembered over all runs of a test."""

    def __init__(self, model: Oracle, leave_out: LeaveOut | None = None) -> None:
        """Remember nothing yet."""
        self.model = model
        self._leave_out = leave_out
        self._known: dict[ModelState, Mapping[Call, tuple[ModelState, ...]]] = {}

    def of(self, state: ModelState) -> Mapping[Call, tuple[ModelState, ...]]:
        """Return what can happen in a state, simple calls first, and where each may lead.

        Nothing happens in a state that the constraints of the configuration exclude.

        Raises:
            EvaluationError: the model gives no value.
        """
        found = self._known.get(state)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._ask(state)
            self._known[state] = found
        return found

    def _ask(self, state: ModelState) -> Mapping[Call, tuple[ModelState, ...]]:
        if not self.model.within(state):
            return {}
        moves: dict[Call, dict[ModelState, None]] = {}
        for move in self.model.successors(state):
            params = tuple([self.model.show_value(param) for param in move.params])
            moves.setdefault(call_of(move.action, params), {})[move.post] = None
        calls = sorted(moves, key=lambda call: call.simplicity)
        if self._leave_out is not None:
            calls = [call for call in calls if not self._leave_out(call, moves.keys())]
        return {call: tuple(moves[call]) for call in calls}
