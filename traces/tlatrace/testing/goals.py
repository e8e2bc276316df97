"""Ways to steps that random steps hardly ever come to.

The model is explored breadth-first, up to a number of states. Two steps do the same if they are of
one action and change the same variables: so a truncation that cuts something is as likely to be a
goal as one that has nothing to cut. A call with several outcomes is a goal of each kind.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

from tlatrace.oracle.states import ModelState
from tlatrace.testing.calls import Call
from tlatrace.testing.lockstep import Lockstep
from tlatrace.testing.moves import Moves

__all__ = ["Goal", "Goals", "walk"]

Goal: TypeAlias = tuple[ModelState, Call]
"""A step: the state before it, and the call."""

_DETOUR: Final = 4
"""Most calls that are made because they must come before one that is wanted."""


class Goals:
    """Steps of a model, in groups of those that do the same."""

    def __init__(self, moves: Moves, states: int) -> None:
        """Explore at most so many states.

        Raises:
            EvaluationError: the model gives no value.
        """
        self._came_by: dict[ModelState, tuple[ModelState, Call] | None] = {}
        groups: dict[tuple[str, str], list[Goal]] = {}
        self._distance: dict[ModelState, int] = {}
        for state in moves.model.initial_states():
            self._came_by.setdefault(state, None)
            self._distance[state] = 0
        waiting = list(self._came_by)
        for state in waiting:  # it grows meanwhile
            for call, posts in moves.of(state).items():
                changes = {_changed(moves.model.variables, state, post): None for post in posts}
                for changed in changes:
                    groups.setdefault((call.action, changed), []).append((state, call))
                for post in posts:
                    if post not in self._came_by and len(waiting) < states:
                        self._came_by[post] = state, call
                        self._distance[post] = self._distance[state] + 1
                        waiting.append(post)
        self.groups = groups
        """(action, variables that it changes) -> goals, the nearest ones first."""

    @property
    def states(self) -> Collection[ModelState]:
        """Return the states that were explored."""
        return self._came_by.keys()

    def nearest(self, each: int, action: str | None = None) -> list[Goal]:
        """Return the nearest goals of each kind, the nearest of all first; None: of all actions."""
        kinds = [group for kind, group in self.groups.items() if action in (None, kind[0])]
        found = [goal for group in kinds for goal in group[:each]]
        return sorted(found, key=lambda goal: self._distance[goal[0]])

    def way_to(self, goal: Goal) -> list[Call]:
        """Return the calls of a shortest way to a step, the step itself being the last one."""
        state, last = goal
        calls = [last]
        before = self._came_by[state]
        while before is not None:
            calls.append(before[1])
            before = self._came_by[before[0]]
        return calls[::-1]


def _changed(variables: tuple[str, ...], before: ModelState, after: ModelState) -> str:
    names = zip(variables, before, after, strict=True)
    return " ".join([name for name, old, new in names if old != new])


def walk(run: Lockstep, calls: Sequence[Call]) -> None:
    """Take the calls of a way, those of them that can be taken.

    What a model allows at once may need others of its action before it in the system, which
    acknowledges every number on the way to the one that is wanted: those are taken, too.

    Raises: Mismatch
    """
    for wanted in calls:
        for _ in range(_DETOUR):
            offers = run.offers()
            if wanted in offers:
                run.take(wanted)
                break
            similar = [call for call in offers if call.action == wanted.action]
            if not similar or wanted not in run.allowed():
                break
            run.take(similar[0])
