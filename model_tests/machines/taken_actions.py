"""What simulated nodes take with one action of a model, as a projection of their run says it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tlatrace.testing.calls import Call, call_of
from tlatrace.trace import Event
from tlatrace.values import State, Value

__all__ = ["TakenActions"]


class TakenActions(ABC):
    """An adapter of nodes that may take several actions at once (`tlatrace.testing.Following`)."""

    def __init__(self) -> None:
        """Begin before the first action."""
        self._behind: list[Call] = []
        """Actions that were taken with the last one, which the model takes after it."""

    @abstractmethod
    def _events(self) -> list[Event]:
        """Return the events of the trace so far."""

    def _since(self, before: int) -> list[Call]:
        """Return which actions were taken behind so many events."""
        return [call_of(one.action or "nothing", one.params) for one in self._events()[before:]]

    def _took(self, call: Call, taken: list[Call]) -> None:
        """Take note of what was taken: the action that was asked for, and others behind it."""
        assert taken[:1] == [call], f"the nodes took {taken}"
        self._behind = taken[1:]

    def follow(self) -> tuple[str, tuple[Value, ...]] | None:
        """Return what they took behind the last action."""
        if not self._behind:
            return None
        call = self._behind.pop(0)
        return call.action, call.params

    def observe(self) -> State:
        """Return the state of the nodes after the last action."""
        events = self._events()
        state = events[len(events) - 1 - len(self._behind)].state
        assert state is not None
        return state
