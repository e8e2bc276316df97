"""All states of a model that fit the events of a trace so far, event by event.

Where an event shows the whole state there is one at most, and the model is asked a yes-or-no
question; else all steps are listed, and silent ones between. States that violate an invariant do
not fit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tlatrace.errors import EvaluationError
from tlatrace.matching.observation import (
    Observation,
    explained,
    fits,
    fits_earlier,
    observe,
    quiet_before,
    quiet_steps,
)
from tlatrace.matching.search import DEFAULT_BUDGET
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.oracle import Oracle
from tlatrace.oracle.states import ModelState
from tlatrace.trace import Event, Trace

__all__ = ["Fit", "Fitting"]

_STATES: Final = 2_000
"""More states than these are not kept: then the answer is that nobody knows."""
_TOO_MANY: Final = f"more than {_STATES} states fit the events so far"


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is no answer: the model gives no value, or too many states fit."""

    reason: str


Fit: TypeAlias = frozenset[ModelState] | Unknown
"""The states that fit the events so far; none if the specification does not allow them."""


class Fitting:
    """One trace, and which states fit each beginning of it."""

    def __init__(self, model: Oracle, trace: Trace) -> None:
        """Look at the trace as it is.

        Raises:
            ModelGapError: an action, a variable or a number of arguments that the module does not
                have.
        """
        self._oracle = CachedOracle(model)
        self._silent = trace.header.silent if trace.header is not None else None
        self._expressions = () if trace.header is None else tuple(trace.header.expressions)
        self._seen: dict[int, Observation] = {}
        self._kept: list[Event] = []
        self.events = trace.events
        self.fits: list[Fit] = []
        """For each event: what fits up to it."""
        for at in range(len(self.events)):
            before = self.fits[at - 1] if at else None
            self.fits.append(self.after(before, self.events[at]))

    def after(self, before: Fit | None, event: Event) -> Fit:
        """Return which states fit after one more event; `before` is None for the first one.

        Raises: as the constructor
        """
        if isinstance(before, Unknown):
            return before
        try:
            return self._after(before, self._observed(event))
        except EvaluationError as error:
            return Unknown(str(error))

    def may_be_silent(self, at: int, before: Fit) -> bool:
        """Tell whether a behaviour that explains the trace does so without an event, too.

        Then a silent step before the next event is the event's step; `before` fits the events
        before it.
        """
        after = self.fits[at]
        if at + 1 == len(self.events):
            return False
        if isinstance(before, Unknown) or isinstance(after, Unknown):
            return False
        following = self._observed(self.events[at + 1])
        if not quiet_before(self._silent, following.event.action):
            return False
        both = after.intersection(self._with_silent(before, following)[0])
        without: Fit = before
        for later in range(at + 1, len(self.events)):
            if not both or both == self.fits[later - 1]:
                break
            without = self.after(without, self.events[later])
            next_ = self.after(both, self.events[later])
            if isinstance(without, Unknown) or isinstance(next_, Unknown):
                return False
            both = next_ & without
        return bool(both)

    def _after(self, before: frozenset[ModelState] | None, seen: Observation) -> Fit:
        cut = False
        if before is None:
            found = dict.fromkeys(self._first(seen))
        else:
            found = {}
            start = [state for state in before if fits_earlier(self._oracle, seen, state)]
            states, cut = self._with_silent(frozenset(start), seen)
            if len(states) > _STATES:
                return Unknown(_TOO_MANY)
            for state in states:
                found.update(dict.fromkeys(explained(self._oracle, seen, state)))
                if len(found) > _STATES:
                    return Unknown(_TOO_MANY)
        if not found and cut:
            return Unknown("more silent steps would be needed than are tried")
        return frozenset([state for state in found if not self._oracle.violated(state)])

    def _first(self, seen: Observation) -> Sequence[ModelState]:
        if seen.whole is not None:
            return [seen.whole] if self._oracle.is_initial(seen.whole) else []
        states = self._oracle.model.initial_states()
        return [state for state in states if fits(self._oracle, seen, state)]

    def _with_silent(
        self, states: frozenset[ModelState], seen: Observation
    ) -> tuple[Collection[ModelState], bool]:
        """Add what silent steps lead to, and tell whether there would be more than is known."""
        found, edge = dict.fromkeys(states), list(states)
        quiet = quiet_before(self._silent, seen.event.action)
        if self._silent is None or not quiet:
            return found, False
        steps = DEFAULT_BUDGET.silent if self._silent.most is None else self._silent.most
        for _ in range(steps):
            if len(found) > _STATES:
                return found, True
            new: dict[ModelState, None] = {}
            for state in edge:
                new.update(dict.fromkeys(self._silently(state, seen, quiet)))
            edge = [state for state in new if state not in found]
            found.update(dict.fromkeys(edge))
        return found, bool(edge) and self._silent.most is None

    def _silently(
        self, state: ModelState, seen: Observation, quiet: Sequence[str]
    ) -> list[ModelState]:
        return [
            step.post
            for action in quiet
            for step in quiet_steps(self._oracle, self._silent, seen, state, action)
            if not self._oracle.violated(step.post)
        ]

    def _observed(self, event: Event) -> Observation:
        seen = self._seen.get(id(event))
        if seen is None:
            seen = observe(self._oracle.model, event, self._expressions)
            self._seen[id(event)] = seen
            self._kept.append(event)  # an id belongs to one object as long as that is alive
        return seen
