"""Say why nothing explains an event of a partial trace: what the nearest explanation lacks.

From the states that explain the events before, the event's action is either possible, and then its
nearest result differs from what the event shows; or it is not, and then its first false conjunct
says why, in the state and with the arguments that come furthest. A conjunct such as x' = e is only
false if the event shows x: else x' is what the conjunct wants.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tlatrace.errors import EvaluationError, ModelGapError
from tlatrace.judgement.difference import Change, difference
from tlatrace.judgement.verdict import Diverges
from tlatrace.matching.deadline import Clock, TimeIsUpError, time_limit
from tlatrace.matching.false_conjuncts import ForbiddenAction, forbidden_action
from tlatrace.matching.horizon import SearchAhead
from tlatrace.matching.observation import (
    Observation,
    changes_before,
    changes_from,
    claimed_steps,
    observe,
    params_fit,
)
from tlatrace.matching.search import DEFAULT_BUDGET, Budget
from tlatrace.oracle import FalseConjunct, Model
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.lazy import elements_of
from tlatrace.runtime.values import RuntimeValue
from tlatrace.tlc.explain import Candidate
from tlatrace.trace import Trace

__all__ = ["Nearest", "nearest_explanation"]

_STATES: Final = 64
_STATES_OF_OTHERS: Final = 8
_CHOICES: Final = 500
_SECONDS: Final = 20.0


@dataclass(slots=True, kw_only=True)
class Nearest:
    """What is known of an event that nothing explains."""

    conjuncts: list[ForbiddenAction] = field(default_factory=list)
    """What is false in the event's own action first, then in the others."""
    candidates: list[Candidate] = field(default_factory=list)
    """The nearest result of each action that is possible, the event's own first."""
    enabled: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


def nearest_explanation(
    model: Model,
    trace: Trace,
    verdict: Diverges,
    folders: Sequence[Path],
    budget: Budget = DEFAULT_BUDGET,
) -> Nearest:
    """Search again for what explains the events before a divergence, and look at the event there.

    The model must have been loaded with `conjuncts`; `folders` hold the `.tla` files.
    """
    found = Nearest()
    oracle, header = CachedOracle(model), trace.header
    expressions = () if header is None else header.expressions
    seen = [observe(model, event, expressions) for event in trace.events[: verdict.step + 1]]
    silent = None if header is None else header.silent
    if not verdict.step or any(one.event.clues.follows is not None for one in seen):
        return found
    clock = Clock(budget.seconds)
    ahead = SearchAhead(oracle, seen, silent, budget, clock)
    with suppress(TimeIsUpError), time_limit(clock):
        ahead.run()
    states = ahead.answer.candidates(verdict.step)
    look = _Look(oracle, model, seen[-1], folders, found)
    try:
        with time_limit(Clock(_SECONDS)):
            look.at_own_action(states[:_STATES])
            look.at_others(states[:_STATES_OF_OTHERS])
    except TimeIsUpError:
        found.notes.append("there was no time to look at all actions")
    return found


class _Look:
    """Looks at one event from the states before it."""

    def __init__(
        self,
        oracle: CachedOracle,
        model: Model,
        seen: Observation,
        folders: Sequence[Path],
        found: Nearest,
    ) -> None:
        self._oracle = oracle
        self._model = model
        self._seen = seen
        self._folders = folders
        self._found = found

    def at_own_action(self, states: Sequence[ModelState]) -> None:
        """Say how its nearest result differs; or, if it has none, what forbids it."""
        action, best = self._seen.event.action, None
        early: list[tuple[Change, ...]] = []
        for state in states:
            with suppress(EvaluationError):
                early.append(changes_before(self._oracle, self._seen, state))
                for step in claimed_steps(self._oracle, self._seen, state):
                    if action is not None and params_fit(self._seen, step):
                        changes = changes_from(self._oracle, self._seen, step.post, state)
                        if best is None or len(changes) < len(best.differences):
                            best = Candidate(action=action, claimed=True, differences=changes)
        if early and all(early):
            texts = [change.text("before this step, but the trace has") for change in early[0]]
            self._found.notes += texts
        if best is not None:
            self._found.candidates.append(best)
            self._found.enabled.add(best.action)
        elif action is not None:
            self._ask(action, states, claimed=True)

    def at_others(self, states: Sequence[ModelState]) -> None:
        """Do the same for all other actions."""
        nearest: dict[str, Candidate] = {}
        for state in states:
            with suppress(EvaluationError):
                for step in self._oracle.successors(state):
                    self._found.enabled.add(step.action)
                    changes = changes_from(self._oracle, self._seen, step.post, state)
                    known = nearest.get(step.action)
                    if known is None or len(changes) < len(known.differences):
                        nearest[step.action] = Candidate(
                            action=step.action, claimed=False, differences=changes
                        )
        nearest.pop(self._seen.event.action or "", None)
        ordered = sorted(nearest.values(), key=lambda one: (len(one.differences), one.action))
        self._found.candidates += ordered
        for action in sorted(self._model.actions):
            done = {self._seen.event.action, *self._found.enabled}
            if action not in done and self._model.calls(action):
                self._ask(action, states[:1], claimed=False)

    def _ask(self, action: str, states: Sequence[ModelState], *, claimed: bool) -> None:
        best: tuple[FalseConjunct, tuple[RuntimeValue, ...]] | None = None
        nearest = (0, 0)
        for state in states:
            try:
                choices = self._choices(action, state, claimed=claimed)
            except (EvaluationError, ModelGapError) as error:
                self._found.notes.append(f"{action}: {error}")
                break
            for params in choices[:_CHOICES]:
                with suppress(EvaluationError, ModelGapError):
                    false = self._first_false(action, params, state)
                    if false is None:
                        continue
                    near = false.number, -self._differences(false)
                    if best is None or near > nearest:
                        best, nearest = (false, params), near
        if best is not None:
            shown = tuple([self._model.show_value(param) for param in best[1]])
            conjunct = forbidden_action(self._model, self._folders, action, shown, claimed, best[0])
            self._found.conjuncts.append(conjunct)

    def _differences(self, false: FalseConjunct) -> int:
        """Count where the sides of an equation differ."""
        if len(false.sides) != 2 or false.conjunct.relation != "=":
            return 0
        left, right = [self._oracle.shown(side) for side in false.sides]
        return len(difference({"": left}, {"": right}))

    def _choices(
        self, action: str, state: ModelState, *, claimed: bool
    ) -> Sequence[tuple[RuntimeValue, ...]]:
        """List the arguments that may have been those of the event."""
        if claimed and self._seen.all_params is not None:
            return [self._seen.all_params]
        choices = self._model.choices(action, state)
        logged = self._seen.params if claimed else None
        if logged is None:
            return choices
        pairs = [zip(logged, one, strict=True) for one in choices]
        fitting = [all(want in (None, got) for want, got in pair) for pair in pairs]
        return [one for one, fits in zip(choices, fitting, strict=True) if fits]

    def _first_false(
        self, action: str, params: tuple[RuntimeValue, ...], before: ModelState
    ) -> FalseConjunct | None:
        """Find the first conjunct that is false whatever becomes of what nothing shows."""
        after = list(before)
        shown = dict(enumerate(self._seen.whole) if self._seen.whole else self._seen.known)
        for at, value in shown.items():
            after[at] = value
        waiting = [at for at in range(len(after)) if at not in shown]
        false = self._model.failing_conjunct(action, params, before, tuple(after))
        while false is not None:
            wanted = list(_wanted(false))
            for at in waiting:
                for old, new in wanted:
                    if after[at] != old:
                        continue
                    changed = [*after[:at], new, *after[at + 1 :]]
                    later = self._model.failing_conjunct(action, params, before, tuple(changed))
                    if later is None or later.number > false.number:
                        break
                else:
                    continue
                after, false = changed, later
                waiting.remove(at)
                break
            else:
                return false
        return None


def _wanted(false: FalseConjunct) -> Sequence[tuple[RuntimeValue, RuntimeValue]]:
    """List (value of a side, what would make the conjunct true in its place)."""
    if len(false.sides) != 2:
        return ()
    left, right = false.sides
    match false.conjunct.relation:
        case "=" | "unchanged":
            return ((left, right), (right, left))
        case "in":
            with suppress(EvaluationError):
                for element in elements_of(right):
                    return ((left, element),)
        case _:
            pass
    return ()
