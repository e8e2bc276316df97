"""Make a failing run small: leave out whatever it fails without.

This knows nothing of a run but its schedule; how it fails is asked of a judge. A smaller run counts
only if it fails in the same way, and is no larger: its size is the number of its points and of
its steps until the failure.

Leaving out alone does not make all runs short: what a run does late depends on all that it did
before. So runs of other draws of the seed, with the kinds of faults that were left, count as
smaller ones too, if that is allowed.

Source: Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002 (ddmin)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias

from rocketha.sim.engine.random_source import InjectedEvent, InjectionPoint, Schedule
from rocketproof.schedule import Scheduled

__all__ = [
    "DEFAULT_RUNS",
    "Attempt",
    "Failure",
    "How",
    "Outcome",
    "Shrinking",
    "Shrunk",
]

DEFAULT_RUNS: Final = 600

_REDRAWN: Final = 150
"""So many other runs of a seed are tried at a time."""

_READABLE: Final = 20
"""A run with more steps is worth all the runs that may be tried."""


class How(StrEnum):
    """How a run fails; the value is what a report calls it."""

    REJECTED = "rejected"
    """The specification does not allow one of its steps."""
    BROKEN = "broken"
    """A promise to a client is broken."""
    ENDED = "ended"
    """A core asked the impossible of its log."""
    DEAD = "dead"
    """It does not come back to life when the faults end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is wrong with a run, and where."""

    how: How
    what: str
    """The action of the step, the promise; "" if there is none."""
    words: str
    """What happened, a clause."""
    trace: int = 0
    """Of a run with several traces: which, from 0."""
    step: int
    """The step that is wrong, or the last one; 0 is the initial state.
    Of a run that stays dead the last one before its faults end."""
    at_ms: int
    may_end_earlier: bool = False
    """The run may fail, too, if it ends before that."""

    @property
    def kind(self) -> tuple[How, str]:
        """Return what has to stay the same."""
        return self.how, self.what


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a run."""

    failure: Failure | None
    injected: tuple[InjectedEvent, ...]
    healed_ms: int | None


Judge: TypeAlias = Callable[[Scheduled], Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A failing run."""

    run: Scheduled
    failure: Failure
    injected: tuple[InjectedEvent, ...]
    """What came to pass before it failed."""

    @property
    def size(self) -> int:
        """Return how much there is to read."""
        return len(self.injected) + self.failure.step


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A failing run, and what is left of it."""

    before: Attempt
    after: Attempt
    runs: int
    """So many were tried."""


class Shrinking:
    """One search for a smaller run."""

    def __init__(
        self,
        judge: Judge,
        *,
        runs: int = DEFAULT_RUNS,
        redraws: bool = True,
        on_progress: Callable[[int, Attempt], None] = lambda *_: None,
    ) -> None:
        """Prepare it; `on_progress` hears the number of runs so far and the best one.

        Without `redraws` only the seed's own run is made smaller.
        """
        assert runs >= 1, runs
        self._judge = judge
        self._limit = runs
        self._redraws = redraws
        self._on_progress = on_progress
        self._runs = 0
        self._drawn = 0
        self._tried: set[Scheduled] = set()

    def shrink(self, run: Scheduled) -> Shrunk | None:
        """Return the smallest run that was found; None if this one does not fail."""
        self._runs = 1
        outcome = self._judge(run)
        if outcome.failure is None:
            return None
        before = _attempt(run, outcome, outcome.failure)
        best = self._without_groups(self._cut(before, outcome), lambda one: one.kind)
        while self._runs < self._limit:
            other = self._redrawn(best) if self._redraws else None
            if other is not None:
                best = min(best, self._reduced(other), key=lambda attempt: attempt.size)
                continue
            smaller = self._reduced(best)
            is_readable = best.failure.step <= _READABLE or not self._redraws
            if smaller.size == best.size and is_readable:
                break
            best = smaller
        return Shrunk(before=before, after=best, runs=self._runs)

    # ---- the parts of a search ----

    def _cut(self, whole: Attempt, outcome: Outcome) -> Attempt:
        """Leave out what comes after the failure, and the end of faults where it can be spared."""
        failure, run = whole.failure, whole.run
        if failure.how is How.DEAD:
            told = replace(
                run, schedule=replace(run.schedule, only=_all(whole), heal_ms=outcome.healed_ms)
            )
            return self._try(whole, told) or whole
        stopped = replace(run.schedule, only=_all(whole), stop_ms=failure.at_ms)
        for schedule in (replace(stopped, heal_ms=failure.at_ms), stopped):
            cut = self._try(whole, replace(run, schedule=schedule))
            if cut is not None:
                return cut
        return whole

    def _reduced(self, best: Attempt) -> Attempt:
        """Leave out what can be left out, the large parts first, until nothing can."""
        size = best.size + 1
        while best.size < size:
            size = best.size
            best = self._fewer_brokers(best)
            best = self._without_groups(best, lambda one: one.kind)
            best = self._without_groups(best, lambda one: f"{one.kind} {one.whose}")
            best = self._fewer_brokers(best)
            best = self._earlier_end(best)
            best = self._without_chunks(best)
        return best

    def _redrawn(self, best: Attempt) -> Attempt | None:
        """Look for another run of the seed that fails in the same way after fewer steps.

        It has the kinds of faults that are left, and mostly fewer brokers. The first one that is
        shorter by a third is taken, else the shortest.
        """
        options, found = best.run.options, best
        if best.failure.how is How.DEAD:
            return None
        kinds = {injected.point.kind for injected in best.injected}
        faults = frozenset(fault for fault in options.faults if fault.value in kinds)
        for _ in range(_REDRAWN):
            self._drawn += 1
            brokers = 2 + self._drawn % max(1, options.brokers - 1)
            stop_ms = found.failure.at_ms
            told = Schedule(stop_ms=stop_ms, heal_ms=stop_ms, redrawn=self._drawn)
            fewer = replace(options, brokers=min(brokers, options.brokers), faults=faults)
            run = replace(best.run, options=fewer, schedule=told)
            other = self._fails(best, run)
            if other is not None and other.failure.step < found.failure.step:
                found = other
                if 3 * found.failure.step <= 2 * best.failure.step:
                    break
        return None if found is best else found

    def _fewer_brokers(self, best: Attempt) -> Attempt:
        for brokers in range(2, best.run.options.brokers):
            options = replace(best.run.options, brokers=brokers)
            smaller = self._try(best, replace(best.run, options=options))
            if smaller is not None:
                return smaller
        return best

    def _without_groups(self, best: Attempt, name: Callable[[InjectionPoint], str]) -> Attempt:
        """Leave out all points of a name, the most frequent ones first."""
        names = Counter(name(injected.point) for injected in best.injected)
        for one, _ in names.most_common():
            rest = [h.point for h in best.injected if name(h.point) != one]
            best = self._try_only(best, rest) or best
        return best

    def _earlier_end(self, best: Attempt) -> Attempt:
        """Let a run that must heal do so right after the last fault; stop others where it shows.

        A step that is rejected is mostly the last one anyhow; a promise may be broken earlier.
        """
        if best.failure.how is How.DEAD and best.injected:
            healed_ms = best.run.schedule.heal_ms
            struck = [h.at_ms for h in best.injected if healed_ms is None or h.at_ms <= healed_ms]
            schedule = replace(best.run.schedule, heal_ms=max(struck, default=0) + 1)
            return self._try(best, replace(best.run, schedule=schedule)) or best
        if best.failure.may_end_earlier and best.run.schedule.stop_ms is not None:
            return self._stopped_earlier(best, best.run.schedule.stop_ms)
        return best

    def _stopped_earlier(self, best: Attempt, fails_ms: int) -> Attempt:
        holds_ms = max((injected.at_ms for injected in best.injected), default=0)
        while fails_ms - holds_ms > 1:
            middle_ms = (fails_ms + holds_ms) // 2
            schedule = replace(best.run.schedule, stop_ms=middle_ms, heal_ms=None)
            smaller = self._try(best, replace(best.run, schedule=schedule))
            if smaller is None:
                holds_ms = middle_ms
            else:
                best, fails_ms = smaller, min(middle_ms, smaller.failure.at_ms)
        return best

    def _without_chunks(self, best: Attempt) -> Attempt:
        """Leave out halves, quarters, ... and at last single points."""
        size = max(1, len(best.injected) // 2)
        while best.injected and self._runs < self._limit:
            at, found = 0, False
            while at < len(best.injected):
                points = [injected.point for injected in best.injected]
                smaller = self._try_only(best, points[:at] + points[at + size :])
                if smaller is None:
                    at += size
                else:
                    best, found = smaller, True
            if size == 1 and not found:
                break
            size = max(1, size if found and size == 1 else size // 2)
        return best

    # ---- one run ----

    def _try_only(self, best: Attempt, points: Sequence[InjectionPoint]) -> Attempt | None:
        if len(points) >= len(best.injected):
            return None
        schedule = replace(best.run.schedule, only=frozenset(points))
        return self._try(best, replace(best.run, schedule=schedule))

    def _try(self, best: Attempt, run: Scheduled) -> Attempt | None:
        """Run it; return it if it fails as the best one does, and is no larger."""
        found = self._fails(best, run)
        if found is None or found.size > best.size:
            return None
        self._on_progress(self._runs, found)
        return found

    def _fails(self, best: Attempt, run: Scheduled) -> Attempt | None:
        """Run it; return it if it fails as the best one does, and say what happened in it."""
        if self._runs >= self._limit or run in self._tried:
            return None
        self._tried.add(run)
        self._runs += 1
        outcome = self._judge(run)
        failure = outcome.failure
        if failure is None or failure.kind != best.failure.kind:
            return None
        return _told(_attempt(run, outcome, failure))


def _attempt(run: Scheduled, outcome: Outcome, failure: Failure) -> Attempt:
    before = tuple(h for h in outcome.injected if h.at_ms <= failure.at_ms)
    return Attempt(run=run, failure=failure, injected=before)


def _told(found: Attempt) -> Attempt:
    """Tell a run exactly what happened in it; it is the same run."""
    schedule = replace(found.run.schedule, only=_all(found))
    if schedule.stop_ms is not None:
        stop_ms = found.failure.at_ms
        heal_ms = schedule.heal_ms
        if heal_ms is not None:
            heal_ms = min(heal_ms, stop_ms)
        schedule = replace(schedule, stop_ms=stop_ms, heal_ms=heal_ms)
    return replace(found, run=replace(found.run, schedule=schedule))


def _all(attempt: Attempt) -> frozenset[InjectionPoint]:
    return frozenset(injected.point for injected in attempt.injected)
