"""Search for a behaviour of the specification that explains a trace which shows only parts of it.

A *candidate* for the events up to k is a state after event k on some behaviour that fits them all:
each event is one step with its action and arguments, as far as they are logged, to a state that
shows what the event shows; before it there may be silent steps. The search asks for one candidate
for the last event, so it goes ahead with the first that it finds, takes as few silent steps as
will do, and comes back to the others when it is stuck. No candidate is looked at twice for the same
event, so giving up has looked at all of them.

What the answers rest on:

* A trace conforms if there is one explanation, each step of which the model evaluated to TRUE, with
  no violated invariant in any of its states, silent ones included. What else was not looked at, or
  has no value, does not matter.
* It diverges if no candidate for the events before has an explanation of the next one. That needs
  all candidates: a value that is missing, a limit on the silent steps that the trace does not state
  itself, or the budget, make it undecided.
* Invariants belong to explanations, not to states that might have been: they diverge at the first
  event that no explanation reaches without a violation, if some explanation reaches it with one. An
  invariant that fails on some explanations, but not on all, is no divergence. If each explanation
  violates another invariant, that is one, for then no explanation satisfies all of them.

Where candidates for an event become many, those are one that differ by a permutation of values
which neither the specification nor the events to come tell apart, see `symmetry`.

The cost of an event is that of its candidates: what is remembered of the model's answers is
bounded, and nothing is asked about the events before.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.matching.deadline import Clock
from tlatrace.matching.observation import (
    Observation,
    explained,
    fits,
    fits_earlier,
    quiet_before,
    quiet_steps,
)
from tlatrace.matching.symmetry import Symmetry, futures
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.states import ModelState
from tlatrace.trace import Silent

__all__ = ["DEFAULT_BUDGET", "Budget", "Found", "Gap", "Search", "ViolatingCandidate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How far a search goes."""

    states: int = 20_000
    """Candidates that are looked at..."""
    states_per_event: int = 100
    """...and so many more for each event that was reached."""
    silent: int = 6
    """Silent steps before an event where the trace does not say how many there are at most."""
    seconds: float | None = None
    """Time for one trace."""
    crowded: int | None = 32
    """Candidates for an event from which on those that differ by symmetry are one; None: never."""
    patience: int | None = 500
    """Candidates without one for a later event, until the events up to that one are searched by
    themselves; None: they never are."""


DEFAULT_BUDGET: Final = Budget()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Something at a step that the model has no value for."""

    step: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolatingCandidate:
    """A candidate for the events before `next_step` that was reached through a violation."""

    next_step: int
    state: ModelState
    depth: int
    """Silent steps since the last event."""
    violated: tuple[str, ...]


@dataclass(slots=True)
class _Place:
    """The candidates for the events before one event."""

    depth_of: dict[ModelState, int] = field(default_factory=dict)
    """Key of a candidate -> the silent steps that it took since the last event, at least."""
    state_of: dict[ModelState, ModelState] | None = None
    """Key -> the candidate; None: it is its own key."""
    to_match: deque[ModelState] = field(default_factory=deque)
    """Those of which the event was not tried yet."""
    to_go_on: list[deque[ModelState]] = field(default_factory=list)
    """By silent steps: those of which further silent steps were not tried yet."""
    too_early: dict[ModelState, None] = field(default_factory=dict)
    """States after the last event that are not what the next one shows before silent steps."""
    is_crowded: bool = False
    """Whether `symmetry` was looked for."""
    symmetry: Symmetry | None = None
    """Tells which candidates are one; None: a candidate is its own key."""

    def key(self, state: ModelState) -> ModelState:
        """Return what candidates that are one have in common."""
        return state if self.symmetry is None else self.symmetry.key(state)

    def use(self, symmetry: Symmetry | None) -> None:
        """Make those candidates one that a symmetry makes one; any of them stays."""
        self.is_crowded = True
        if symmetry is None:
            return
        self.symmetry = symmetry
        self.state_of = {}
        waiting = set(self.to_match)
        depths, self.depth_of = self.depth_of, {}
        self.to_match.clear()
        for state in sorted(depths, key=waiting.__contains__):  # those that were matched first
            key = symmetry.key(state)
            if key not in self.depth_of:
                self.state_of[key] = state
                if state in waiting:
                    self.to_match.append(state)
            self.depth_of[key] = min(depths[state], self.depth_of.get(key, depths[state]))
        for depth, queue in enumerate(self.to_go_on):
            one_of = {symmetry.key(state): state for state in reversed(queue)}
            kept = [state for key, state in one_of.items() if self.depth_of[key] == depth]
            self.to_go_on[depth] = deque(reversed(kept))


@dataclass(slots=True, kw_only=True)
class Found:
    """What a search has seen."""

    reached: int
    """Events that have candidates: the event of this number has none, if the search is over."""
    gap: Gap | None = None
    """The first value that the model does not have, if there was one."""
    cut: bool = False
    """Whether silent steps were left out, because there is a limit on their number."""
    looked_at: int = 0
    over_budget: bool = False
    violating: dict[tuple[int, ModelState], ViolatingCandidate] = field(default_factory=dict)
    """By `ViolatingCandidate.next_step` and the key of the state."""


class Search:
    """One search; the candidates stay for whoever wants to say why it failed."""

    def __init__(
        self,
        oracle: CachedOracle,
        events: Sequence[Observation],
        *,
        silent: Silent | None,
        budget: Budget = DEFAULT_BUDGET,
        check_invariants: bool = True,
        apart_from: Search | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Prepare a search; candidates that `apart_from` has seen are left out."""
        self._oracle = oracle
        self.events = events
        self._clock = clock if clock is not None and clock.seconds is not None else None
        self._futures: list[Symmetry | None] | None = None
        self._patience: int | None = None
        self._looked_at_last = 0
        self._silent = silent
        self._most = budget.silent if silent is None or silent.most is None else silent.most
        self._free = budget.states
        self._per_event = max(budget.states_per_event, 1)
        self._has_earlier = any(event.earlier for event in events)
        self._crowd = sys.maxsize if budget.crowded is None else budget.crowded
        self._check = check_invariants and bool(oracle.model.invariants)
        self._apart_from = apart_from
        self._places: list[_Place] = []
        self.found = Found(reached=0)

    def candidates(self, next_step: int) -> list[ModelState]:
        """List the candidates for the events before `next_step`, few silent steps first."""
        if not 0 < next_step <= len(self._places):
            return []
        place = self._places[next_step - 1]
        keys = sorted(place.depth_of, key=lambda key: place.depth_of[key])
        states = keys if place.state_of is None else [place.state_of[key] for key in keys]
        return states or [*place.too_early]

    def sizes(self) -> list[int]:
        """Count the candidates for the first event, for the first two, and so on."""
        return [len(place.depth_of) for place in self._places]

    @property
    def futures(self) -> list[Symmetry | None]:
        """What is symmetric for the candidates for so many events."""
        if self._futures is None:
            self._futures = futures(self._oracle.model, self.events)
        return self._futures

    @property
    def is_stuck(self) -> bool:
        """Whether too many candidates were looked at without one for a later event."""
        tried = self.found.looked_at - self._looked_at_last
        return self._patience is not None and tried > self._patience

    # ---- running --------------------------------------------------------------------------

    def from_the_beginning(self, patience: int | None = None) -> Found:
        """Search for candidates for all events, from the initial states."""
        self._patience = patience
        try:
            for state in self._first_states():
                self._add(1, state, 0, at_step=0)
        except EvaluationError as error:
            self._note(0, error)
        self._run(len(self.events))
        return self.found

    def go_on(
        self, patience: int | None, states: Sequence[ModelState] = (), next_step: int = 0
    ) -> None:
        """Go on with a search that was stuck, perhaps with candidates that another one found."""
        self._patience = patience
        for state in states:
            self._add(next_step, state, 0, at_step=next_step - 1)
        self._run(len(self.events))

    def from_violating(self, violating: Sequence[ViolatingCandidate], goal: int) -> Found:
        """Search for candidates for the first `goal` events, from those that others left."""
        for one in violating:
            self._add(one.next_step, one.state, one.depth, at_step=one.next_step)
        self._run(goal)
        return self.found

    def _run(self, goal: int) -> None:
        at = self.found.reached
        while at > 0 and self.found.reached < goal and not self.found.over_budget:
            if self._patience is not None and self.is_stuck:
                return
            if self._clock is not None:
                self._clock.check()
            place = self._places[at - 1]
            if place.to_match:
                state = place.to_match.popleft()
                for post in self._explained(self.events[at], state):
                    self._add(at + 1, post, 0, at_step=at)
                at = min(at + 1, len(self._places))
            elif (waiting := _fewest(place.to_go_on)) is not None:
                self._go_on(at, *waiting)
            else:
                at -= 1

    def _go_on(self, at: int, state: ModelState, depth: int) -> None:
        """Take the silent steps of a candidate, unless it was found with fewer meanwhile."""
        seen, place = self.events[at], self._places[at - 1]
        quiet = quiet_before(self._silent, seen.event.action)
        if not quiet or place.depth_of[place.key(state)] != depth:
            return
        if depth >= self._most:
            self.found.cut = True
            return
        for action in quiet:
            try:
                steps = quiet_steps(self._oracle, self._silent, seen, state, action)
            except EvaluationError as error:
                self._note(at, error, f"the silent {action} before it: ")
                continue
            for step in steps:
                self._add(at, step.post, depth + 1, at_step=at)

    def _add(self, next_step: int, state: ModelState, depth: int, *, at_step: int) -> None:
        """Take up a candidate, or put it aside if it violates an invariant."""
        while len(self._places) < next_step:
            self._places.append(_Place())
        place = self._places[next_step - 1]
        if self._has_earlier and depth == 0 and not self._fits_earlier(next_step, state):
            place.too_early[state] = None
            self._reach(next_step)
            return
        if len(place.depth_of) >= self._crowd and not place.is_crowded:
            place.use(self.futures[next_step])
        key = state if place.symmetry is None else place.symmetry.key(state)
        before = place.depth_of.get(key)
        if before is not None and before <= depth:
            return
        if before is None:
            if self._apart_from is not None and self._apart_from.has(next_step, state, depth):
                return
            if not self._is_clean(next_step, state, depth, at_step):
                return
            self._count(next_step)
            place.to_match.append(state)
            if place.state_of is not None:
                place.state_of[key] = state
        place.depth_of[key] = depth
        while len(place.to_go_on) <= depth:
            place.to_go_on.append(deque())
        place.to_go_on[depth].append(state)
        self._reach(next_step)

    def _reach(self, next_step: int) -> None:
        if next_step > self.found.reached:
            self.found.reached = next_step
            self._looked_at_last = self.found.looked_at

    def _fits_earlier(self, next_step: int, state: ModelState) -> bool:
        if next_step >= len(self.events) or not self.events[next_step].earlier:
            return True
        try:
            return fits_earlier(self._oracle, self.events[next_step], state)
        except EvaluationError as error:
            self._note(next_step, error)
            return False

    def _count(self, next_step: int) -> None:
        """Count a candidate; one for the events that were reached first is free."""
        found = self.found
        reached = found.reached if found.reached > next_step else next_step
        found.looked_at += 1
        found.over_budget = found.looked_at > self._free + reached * self._per_event

    def has(self, next_step: int, state: ModelState, depth: int) -> bool:
        """Tell whether a state was looked at with no more silent steps than `depth`."""
        if next_step > len(self._places):
            return False
        place = self._places[next_step - 1]
        return place.depth_of.get(place.key(state), depth + 1) <= depth

    def _is_clean(self, next_step: int, state: ModelState, depth: int, at_step: int) -> bool:
        if not self._check:
            return True
        try:
            violated = self._oracle.violated(state)
        except EvaluationError as error:
            self._note(at_step, error, "invariants: ")
            return False
        if not violated:
            return True
        key = self._places[next_step - 1].key(state)
        known = self.found.violating.get((next_step, key))
        if known is None:
            self._count(next_step)
        if known is None or depth < known.depth:
            self.found.violating[next_step, key] = ViolatingCandidate(
                next_step=next_step,
                state=state,
                depth=depth,
                violated=violated,
            )
        return False

    def _note(self, step: int, error: EvaluationError, what: str = "") -> None:
        if self.found.gap is None or step < self.found.gap.step:
            self.found.gap = Gap(step=step, reason=f"{what}{error}")

    # ---- what explains an event -----------------------------------------------------------

    def _first_states(self) -> Iterator[ModelState]:
        model, first = self._oracle.model, self.events[0]
        if first.whole is not None:
            if self._oracle.is_initial(first.whole):
                yield first.whole
            return
        for state in model.initial_states():
            if fits(self._oracle, first, state):
                yield state

    def _explained(self, seen: Observation, state: ModelState) -> list[ModelState]:
        """List the states that an event may lead to; empty where the model has no value."""
        try:
            found = explained(self._oracle, seen, state)
            if seen.event.action is None:  # what is not logged has mostly not changed
                found.sort(key=lambda post: _changes(state, post))
            return found
        except EvaluationError as error:
            self._note(seen.event.step, error)
            return []


def _changes(before: ModelState, after: ModelState) -> int:
    pairs = zip(before, after, strict=True)
    return sum([old is not new and old != new for old, new in pairs])


def _fewest(queues: list[deque[ModelState]]) -> tuple[ModelState, int] | None:
    for depth, queue in enumerate(queues):
        if queue:
            return queue.popleft(), depth
    return None
