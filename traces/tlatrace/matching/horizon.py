"""Search with a near goal where the far one does not come nearer.

What an event far ahead names is told apart from the first event on, though it may have nothing to
do with the event at which the search is stuck. So the events up to that one are searched by
themselves: more candidates are one then. If they have no explanation, the trace has none; if they
have one, the search goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence

from tlatrace.matching.deadline import Clock
from tlatrace.matching.observation import Observation
from tlatrace.matching.search import Budget, Search
from tlatrace.oracle.cached import CachedOracle
from tlatrace.trace import Silent

__all__ = ["SearchAhead"]


class SearchAhead:
    """A search for an explanation of all events that may be interrupted."""

    def __init__(
        self,
        oracle: CachedOracle,
        events: Sequence[Observation],
        silent: Silent | None,
        budget: Budget,
        clock: Clock,
    ) -> None:
        self._oracle = oracle
        self._silent = silent
        self._budget = budget
        self._clock = clock
        self.answer = self._searching(events)
        """The search that has the answer. Its events are a beginning of those given, and all of
        them if it has reached all."""

    def run(self) -> None:
        """Search to the end.

        Raises:
            TimeIsUpError: there is no time for it.
        """
        far, patience = self.answer, self._budget.patience
        far.from_the_beginning(patience)
        while far.is_stuck and not far.found.over_budget:
            reached = far.found.reached
            near = self._searching(far.events[: reached + 1])
            if not _sees_more(near, far):
                far.go_on(None)
                continue
            near.found.looked_at = far.found.looked_at
            near.from_the_beginning()
            far.found.looked_at = near.found.looked_at
            if near.found.over_budget:
                far.found.over_budget = True
            elif near.found.reached <= reached:
                self.answer = near
            else:
                far.go_on(patience, near.candidates(reached + 1), reached + 1)
                continue
            return

    def _searching(self, events: Sequence[Observation]) -> Search:
        return Search(
            self._oracle, events, silent=self._silent, budget=self._budget, clock=self._clock
        )


def _sees_more(near: Search, far: Search) -> bool:
    """Tell whether a search makes candidates one that another one does not."""
    return any(
        one is not None and (other is None or one.classes != other.classes)
        for one, other in zip(near.futures, far.futures, strict=False)
    )
