"""Check a model as TLC does: stop at the first violation, and show a shortest way to it.

The search is TLC's with one worker, so the counts of a model that holds are TLC's, and so is the
length of a counterexample. Steps are not kept: a way is found by asking for the successors again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.explore.explorer import PROGRESS_EVERY, Search
from tlatrace.explore.symmetry import Images
from tlatrace.oracle.oracle import StateSpace
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import RuntimeValue
from tlatrace.tools.tlc_output import Outcome

__all__ = ["ActionCount", "CheckedModel", "PathState", "check_model", "path_along"]

_VIOLATED: Final = (Outcome.INVARIANT, Outcome.ACTION_PROPERTY)


@dataclass(frozen=True, slots=True)
class PathState:
    """A state of a counterexample, and the step that led there."""

    action: str | None
    """None for the initial state."""
    params: tuple[RuntimeValue, ...]
    state: ModelState


@dataclass(frozen=True, slots=True)
class ActionCount:
    """What became of the steps of an action.

    TLC's `-coverage` has the same counts, but for a step that its formula allows in several ways:
    TLC counts it as often. Which action found a state first may depend on the order of a set.
    """

    action: str
    generated: int
    """Steps, each choice of parameters by itself."""
    new: int
    """States within the constraints that none had found before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedModel:
    """What a search found before it ended."""

    outcome: Outcome
    """SUCCESS, INVARIANT, ACTION_PROPERTY, DEADLOCK, or EVALUATION_ERROR, which is no verdict;
    TIMEOUT: a limit."""
    violated: str | None
    """The first invariant, or property of steps, that is FALSE."""
    distinct: int
    generated: int
    depth: int
    path: tuple[PathState, ...]
    """The counterexample, or the way to where there is no value."""
    message: str
    """Why there is no value, or which limit ended the search."""
    actions: tuple[ActionCount, ...] = ()
    """Of the actions that Next is split into, and of Init; () where nobody counts."""
    unasked: tuple[str, ...] = ()
    """Properties of the model that the search did not ask."""
    sample: tuple[ModelState, ...] = ()
    """States from all of a search that ended well, where actions were counted and one was never
    taken."""


def check_model(
    space: StateSpace,
    *,
    deadlock: bool = True,
    images: Images | None = None,
    view: Callable[[ModelState], RuntimeValue] | None = None,
    broken: Callable[[ModelState | None, ModelState], tuple[str, ...]] | None = None,
    max_states: int | None = None,
    timeout_s: float | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> CheckedModel:
    """Search all states until an invariant is FALSE, or a state has no successor.

    States that are `images` of each other count once, and so do those with the same `view`, of
    which the one that is met first is explored. `broken` names the properties that a step breaks,
    or, after None, an initial state. `on_progress` gets how many states are found and how many of
    them are expanded. The search ends without a verdict beyond `max_states`, and after `timeout_s`
    seconds of `clock`.
    """
    search = Search(space, images=images, view=view, broken=broken)
    started = clock()

    def ended(
        outcome: Outcome, at: int | None, last: ModelState | None, why: str = ""
    ) -> CheckedModel:
        names = search.violations[0].invariants if outcome in _VIOLATED else ()
        return CheckedModel(
            outcome=outcome,
            violated=names[0] if names else None,
            distinct=len(search.states),
            generated=search.generated,
            depth=max(search.levels, default=0),
            path=_path(space, search, at, last),
            message=why,
        )

    try:
        search.begin()
        at = 0
        while at < len(search.states) and not search.violations:
            if max_states is not None and len(search.states) > max_states:
                reason = f"there are more than {max_states:,} states"
                return ended(Outcome.TIMEOUT, None, None, reason)
            if timeout_s is not None and clock() - started > timeout_s:
                reason = f"it was not done after {timeout_s:g} s"
                return ended(Outcome.TIMEOUT, None, None, reason)
            if search.expand(at) == 0 and deadlock:
                return ended(Outcome.DEADLOCK, at, None)
            at += 1
            if on_progress is not None and at % PROGRESS_EVERY == 0:
                on_progress(len(search.states), at)
    except EvaluationError as error:
        return ended(Outcome.EVALUATION_ERROR, *search.looking_at, str(error))
    if search.violations:
        violation = search.violations[0]
        outcome = Outcome.ACTION_PROPERTY if violation.of_step else Outcome.INVARIANT
        return ended(outcome, violation.source, violation.state)
    if not search.states:
        return ended(
            Outcome.EVALUATION_ERROR, None, None, "there is no initial state within the constraints"
        )
    return ended(Outcome.SUCCESS, None, None)


def path_along(space: StateSpace, states: Sequence[ModelState]) -> tuple[PathState, ...]:
    """Name the steps between states that follow each other, from an initial one."""
    path = [PathState(None, (), state) for state in states[:1]]
    for before, after in pairwise(states):
        step = next(step for step in space.successors(before) if step.post == after)
        path.append(PathState(step.action, step.params, after))
    return tuple(path)


def _path(
    space: StateSpace, search: Search, at: int | None, last: ModelState | None
) -> tuple[PathState, ...]:
    """Go back from a place, and from a state behind it if there is one."""
    places: list[int] = []
    while at is not None:
        places.append(at)
        at = search.parents[at]
    states = [search.states[place] for place in reversed(places)]
    return path_along(space, states if last is None else [*states, last])
