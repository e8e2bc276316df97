"""Search the states of a model breadth-first, as TLC does.

A state that the constraints of the configuration throw away is neither counted nor expanded, and no
step to it is recorded, but its invariants are evaluated; so it is with a step that an action
constraint throws away. That is what TLC does.

Source: tlc2.tool.ModelChecker and tlc2.tool.Worker of TLC 2.15.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tlatrace.explore.symmetry import Images
from tlatrace.oracle.oracle import StateSpace
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import RuntimeValue

__all__ = ["PROGRESS_EVERY", "Exploration", "Search", "Transit", "Violation", "explore"]

PROGRESS_EVERY: Final = 1000
"""Expanded states."""


@dataclass(frozen=True, slots=True)
class Transit:
    """A step between two states, which are given by their places in `Exploration.states`."""

    source: int
    action: str
    params: tuple[RuntimeValue, ...]
    target: int


@dataclass(frozen=True, slots=True)
class Violation:
    """A state in which invariants are FALSE, also beyond the constraints."""

    state: ModelState
    invariants: tuple[str, ...]
    source: int | None
    """The place of the state before it; None for an initial state."""
    of_step: bool = False
    """Whether properties are meant, which the step to it breaks, or it as an initial state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What a search found."""

    states: tuple[ModelState, ...]
    """The distinct states in the order of discovery: no state is nearer than one before it."""
    levels: tuple[int, ...]
    """For each state, the number of states on a shortest way to it; 1 for an initial state."""
    steps: tuple[Transit, ...]
    """Every step between the states, once for each choice of action and parameters."""
    violations: tuple[Violation, ...]
    outside: int
    """Distinct states that the constraints threw away."""
    complete: bool
    """Whether the search ended by itself and not at a limit."""

    @property
    def depth(self) -> int:
        """The number of states on the longest of the shortest ways; 0 without any state."""
        return max(self.levels, default=0)

    @property
    def initial(self) -> tuple[ModelState, ...]:
        """The initial states within the constraints."""
        return tuple([s for s, level in zip(self.states, self.levels, strict=True) if level == 1])

    def deadlocks(self) -> tuple[ModelState, ...]:
        """Return the states from which no step within the constraints leads anywhere."""
        left = {step.source for step in self.steps}
        return tuple([state for at, state in enumerate(self.states) if at not in left])


def explore(
    space: StateSpace,
    *,
    max_states: int | None = None,
    check_invariants: bool = True,
    on_progress: Callable[[int, int], None] | None = None,
) -> Exploration:
    """Search all states of a model, or stop after `max_states` distinct ones.

    `on_progress` is called with how many states are found and how many of them are expanded.

    Raises:
        EvaluationError: Next, a constraint or an invariant has no value in some state.
    """
    search = Search(space, check_invariants=check_invariants)
    steps: list[Transit] = []
    search.begin()
    at = 0
    while at < len(search.states):
        if max_states is not None and len(search.states) > max_states:
            break
        search.expand(at, steps)
        at += 1
        if on_progress is not None and at % PROGRESS_EVERY == 0:
            on_progress(len(search.states), at)
    return Exploration(
        states=tuple(search.states),
        levels=tuple(search.levels),
        steps=tuple(steps),
        violations=tuple(search.violations),
        outside=len(search.outside),
        complete=at == len(search.states),
    )


class Search:
    """The states that were found so far, each with the one that it was first reached from."""

    def __init__(
        self,
        space: StateSpace,
        *,
        check_invariants: bool = True,
        images: Images | None = None,
        view: Callable[[ModelState], RuntimeValue] | None = None,
        broken: Callable[[ModelState | None, ModelState], tuple[str, ...]] | None = None,
        most: int | None = None,
    ) -> None:
        """Find nothing yet, and at most `most` states: those that are nearest.

        States that are `images` of each other count once, and so do those with the same `view`.
        `broken` names the properties that a step breaks, also one that no constraint allows.
        """
        self._space = space
        self._check_invariants = check_invariants
        self._most = sys.maxsize if most is None else most
        self._images = images
        self._view, self._broken = view, broken
        self._places: dict[RuntimeValue, int] = {}
        self._checked: set[ModelState] = set()
        self.states: list[ModelState] = []
        self.levels: list[int] = []
        self.parents: list[int | None] = []
        self.generated = 0
        """Initial states and steps, each choice of action and parameters by itself."""
        self.violations: list[Violation] = []
        self.outside: set[ModelState] = set()
        self.looking_at: tuple[int | None, ModelState | None] = (None, None)
        """The place of the state that is expanded, and the next state that is looked at."""

    def begin(self) -> None:
        """Arrive at the initial states."""
        for state in self._space.initial_states():
            self.generated += 1
            self.looking_at = None, state
            self._arrive(state, 1, None)
            self._check_step(None, state, None)

    def _arrive(self, state: ModelState, level: int, source: int | None) -> int | None:
        """Return the place of a state; None if it is thrown away, or there is no room for it."""
        place = self._place_of(state)
        if place is not None:
            return place
        if state in self.outside or len(self.states) >= self._most:
            return None
        self._check(state, source)
        if not self._space.within(state):
            self.outside.add(state)
            return None
        place = self._places[self._key(state)] = len(self.states)
        self.states.append(state)
        self.levels.append(level)
        self.parents.append(source)
        return place

    def _place_of(self, state: ModelState) -> int | None:
        place = self._places.get(self._key(state))
        if place is not None or self._images is None:
            return place
        for image in self._images(state):
            place = self._places.get(self._key(image))
            if place is not None:
                return place
        return None

    def _key(self, state: ModelState) -> RuntimeValue:
        return state if self._view is None else self._view(state)

    def _check(self, state: ModelState, source: int | None) -> None:
        if not self._check_invariants or state in self._checked:
            return
        self._checked.add(state)
        if names := tuple(self._space.violated(state)):
            self.violations.append(Violation(state, names, source))

    def _check_step(self, pre: ModelState | None, post: ModelState, source: int | None) -> None:
        if self._broken is not None and (names := self._broken(pre, post)):
            self.violations.append(Violation(post, names, source, of_step=True))

    def expand(self, at: int, steps: list[Transit] | None = None) -> int:
        """Follow every step from a state, note those between states; return how many there are."""
        state, level = self.states[at], self.levels[at] + 1
        self.looking_at = at, None
        moves = self._space.successors(state)
        self.generated += len(moves)
        for move in moves:
            self.looking_at = at, move.post
            target = None
            if self._space.within_step(state, move.post):
                target = self._arrive(move.post, level, at)
            else:
                self._check(move.post, at)
            self._check_step(state, move.post, at)
            if target is not None and steps is not None:
                steps.append(Transit(at, move.action, move.params, target))
        return len(moves)
