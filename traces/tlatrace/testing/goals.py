"""Ways to steps that random steps hardly ever come to.

The model is explored breadth-first, up to a number of states. Two steps do the same if they are of
one action and change the same variables: so a truncation that cuts something is as likely to be a
goal as one that has nothing to cut. A call with several outcomes is a goal of each kind.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

from tlatrace.explore.explorer import Search
from tlatrace.oracle.states import ModelState, Step
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
        self._moves = moves
        self._search = search = Search(_Reachable(moves), check_invariants=False, most=states)
        search.begin()
        groups: dict[tuple[str, str], list[Goal]] = {}
        for at, state in enumerate(search.states):  # it grows meanwhile
            search.expand(at)
            for call, posts in moves.of(state).items():
                changes = {_changed(moves.model.variables, state, post): None for post in posts}
                for changed in changes:
                    groups.setdefault((call.action, changed), []).append((state, call))
        self._places = {state: at for at, state in enumerate(search.states)}
        self.groups = groups
        """(action, variables that it changes) -> goals, the nearest ones first."""

    @property
    def states(self) -> Collection[ModelState]:
        """Return the states that were explored."""
        return self._places.keys()

    def nearest(self, each: int, action: str | None = None) -> list[Goal]:
        """Return the nearest goals of each kind, the nearest of all first; None: of all actions."""
        kinds = [group for kind, group in self.groups.items() if action in (None, kind[0])]
        found = [goal for group in kinds for goal in group[:each]]
        return sorted(found, key=lambda goal: self._search.levels[self._places[goal[0]]])

    def way_to(self, goal: Goal) -> list[Call]:
        """Return the calls of a shortest way to a step, the step itself being the last one."""
        state, last = goal
        calls = [last]
        parent = self._search.parents[self._places[state]]
        while parent is not None:
            before = self._search.states[parent]
            possible = self._moves.of(before).items()
            calls.append(next(call for call, posts in possible if state in posts))
            state, parent = before, self._search.parents[parent]
        return calls[::-1]


class _Reachable:
    """What calls lead to, as a search takes it: each step is named after its call.

    Nothing can be called beyond the constraints, so no state needs to be thrown away.
    """

    def __init__(self, moves: Moves) -> None:
        self._moves = moves

    def initial_states(self) -> Sequence[ModelState]:
        return self._moves.model.initial_states()

    def successors(self, state: ModelState) -> Sequence[Step]:
        found = self._moves.of(state).items()
        return [Step(call.action, (), post) for call, posts in found for post in posts]

    def violated(self, state: ModelState) -> tuple[str, ...]:
        return self._moves.violated(state)

    def within(self, _state: ModelState) -> bool:
        return True

    def within_step(self, _pre: ModelState, _post: ModelState) -> bool:
        return True


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
