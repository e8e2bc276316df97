"""Search for a behaviour that explains events of which the order is not known altogether.

The events of each node stand behind each other; clocks or messages say which of the others an event
follows. A *front* is how many events of each node were explained. From a front and a state the
search goes ahead with any event that follows only explained ones, in the order of the trace first,
and comes back to the others when it is stuck; no front is looked at twice with the same state. So

* a trace conforms if its events have one explanation in one order that the clocks allow;
* it diverges if they have none in any order, with all fronts and states looked at;
* what has no value, silent steps that were cut off, and the budget leave it undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

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
from tlatrace.matching.search import Budget, Gap
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.states import ModelState
from tlatrace.trace import Silent

__all__ = ["Concurrent", "Stuck"]

_Front: TypeAlias = tuple[int, ...]
_Node: TypeAlias = tuple[_Front, ModelState]


@dataclass(slots=True, kw_only=True)
class Stuck:
    """What a search has seen, where it did not explain all events."""

    gap: Gap | None = None
    """The first value that the model does not have, if there was one."""
    cut: bool = False
    """Whether silent steps were left out, because there is a limit on their number."""
    over_budget: bool = False
    looked_at: int = 0
    explained: int = 0
    """Events that were explained at the furthest front."""
    ready: tuple[int, ...] = ()
    """The events that could be next there, none of which was explained."""
    states: list[ModelState] = field(default_factory=list)
    """States at that front."""
    violated: set[str] = field(default_factory=set)
    """Invariants that explanations were given up for."""


class Concurrent:
    """One search."""

    def __init__(
        self,
        oracle: CachedOracle,
        events: Sequence[Observation],
        follows: Sequence[tuple[int, ...]],
        *,
        silent: Silent | None,
        budget: Budget,
        clock: Clock,
    ) -> None:
        """Prepare a search; `follows` says of each event which ones it follows, 0 is initial."""
        self._oracle = oracle
        self._events = events
        self._silent = silent
        self._most = budget.silent if silent is None or silent.most is None else silent.most
        self._budget = budget
        self._clock = clock
        self._chains, self._place = _chains(follows)
        self._needs = [[self._place[one] for one in before if one] for before in follows]
        self._seen: set[_Node] = set()
        self.stuck = Stuck()

    def explains(self) -> bool:
        """Tell whether there is an explanation; if not, `stuck` says what was seen."""
        goal = tuple([len(chain) for chain in self._chains])
        start = tuple([0] * len(goal))
        stack: list[Iterator[_Node]] = [iter([(start, state) for state in self._first_states()])]
        while stack and not self.stuck.over_budget:
            self._clock.check()
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
                continue
            if node in self._seen or not self._is_clean(node):
                continue
            if node[0] == goal:
                return True
            self._seen.add(node)
            self._count(node)
            stack.append(self._next(*node))
        return False

    def _first_states(self) -> list[ModelState]:
        first, model = self._events[0], self._oracle.model
        try:
            if first.whole is not None:
                return [first.whole] if self._oracle.is_initial(first.whole) else []
            return [s for s in model.initial_states() if fits(self._oracle, first, s)]
        except EvaluationError as error:
            self._note(0, error)
            return []

    def _next(self, front: _Front, state: ModelState) -> Iterator[_Node]:
        """List what one more event leads to, the earliest event first."""
        for event in self._ready(front):
            chain, _ = self._place[event]
            if not self._is_earlier(event, state):
                continue
            further = (*front[:chain], front[chain] + 1, *front[chain + 1 :])
            for before in self._with_silent(event, state):
                try:
                    posts = explained(self._oracle, self._events[event], before)
                except EvaluationError as error:
                    self._note(event, error)
                    continue
                for post in posts:
                    yield further, post

    def _is_earlier(self, event: int, state: ModelState) -> bool:
        try:
            return fits_earlier(self._oracle, self._events[event], state)
        except EvaluationError as error:
            self._note(event, error)
            return False

    def _ready(self, front: _Front) -> list[int]:
        heads = [
            chain[done]
            for chain, done in zip(self._chains, front, strict=True)
            if done < len(chain)
        ]
        return sorted(
            [event for event in heads if all(front[chain] > at for chain, at in self._needs[event])]
        )

    def _with_silent(self, event: int, state: ModelState) -> Iterator[ModelState]:
        """Give a state, and those that silent steps before an event lead to, few steps first."""
        yield state
        quiet = quiet_before(self._silent, self._events[event].event.action)
        if not quiet:
            return
        known, edge = {state}, [state]
        for _ in range(self._most):
            new: list[ModelState] = []
            for one in edge:
                for post in self._silently(event, one, quiet):
                    if post not in known:
                        known.add(post)
                        new.append(post)
                        self._spend()
                        yield post
            edge = new
        self.stuck.cut |= bool(edge)

    def _silently(
        self, event: int, state: ModelState, quiet: Sequence[str]
    ) -> Iterator[ModelState]:
        for action in quiet:
            try:
                seen = self._events[event]
                steps = quiet_steps(self._oracle, self._silent, seen, state, action)
            except EvaluationError as error:
                self._note(event, error, f"the silent {action} before it: ")
                continue
            for step in steps:
                if self._holds(event, step.post):
                    yield step.post

    # ---- what was seen --------------------------------------------------------------------

    def _is_clean(self, node: _Node) -> bool:
        front, state = node
        return self._holds(sum(front), state)

    def _holds(self, step: int, state: ModelState) -> bool:
        """Tell whether a state violates no invariant."""
        try:
            violated = self._oracle.violated(state)
        except EvaluationError as error:
            self._note(step, error, "invariants: ")
            return False
        self.stuck.violated.update(violated)
        return not violated

    def _count(self, node: _Node) -> None:
        front, state = node
        done = sum(front)
        found = self.stuck
        if done > found.explained or not found.looked_at:
            found.explained, found.ready, found.states = done, tuple(self._ready(front)), []
        if done == found.explained and tuple(self._ready(front)) == found.ready:
            found.states.append(state)
        self._spend()

    def _spend(self) -> None:
        found = self.stuck
        found.looked_at += 1
        most = self._budget.states + found.explained * max(self._budget.states_per_event, 1)
        found.over_budget = found.looked_at > most

    def _note(self, step: int, error: EvaluationError, what: str = "") -> None:
        if self.stuck.gap is None or step < self.stuck.gap.step:
            self.stuck.gap = Gap(step=step, reason=f"{what}{error}")


def _chains(
    follows: Sequence[tuple[int, ...]],
) -> tuple[list[list[int]], dict[int, tuple[int, int]]]:
    """Take the events apart into chains: (events of each, place of each event in them).

    An event goes behind the first that it follows where that is the last of its chain.
    """
    chains: list[list[int]] = []
    place: dict[int, tuple[int, int]] = {}
    for event, before in enumerate(follows):
        if event == 0:
            continue
        chain = next(
            (place[one][0] for one in before if one and chains[place[one][0]][-1] == one), None
        )
        if chain is None:
            chain = len(chains)
            chains.append([])
        place[event] = chain, len(chains[chain])
        chains[chain].append(event)
    return chains, place
