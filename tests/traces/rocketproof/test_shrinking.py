"""The search for a smaller run: what it leaves out, and what it holds fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED, InjectedEvent, InjectionPoint
from rocketproof.schedule import Scheduled
from rocketproof.shrinking import Failure, How, Outcome, Shrinking

RUN = Scheduled(protocol="replica_group", seed=1, options=SimOptions(), schedule=UNRESTRICTED)
ALL = tuple(
    InjectionPoint(kind, whose, number)
    for number in range(1, 9)
    for kind, whose in (("put", "p1"), ("put", "p2"), ("delay", "b1>b2"), ("reset", ""))
)
NEEDED = (InjectionPoint("put", "p2", 3), InjectionPoint("reset", "", 5))


@dataclass
class World:
    """A toy: point n of all happens at n milliseconds, and is a step."""

    fails: Callable[[set[InjectionPoint], Scheduled], tuple[How, str] | None]
    runs: list[Scheduled] = field(default_factory=list)

    def __call__(self, run: Scheduled) -> Outcome:
        self.runs.append(run)
        stop_ms = run.schedule.stop_ms
        injected: list[InjectedEvent] = []
        for at_ms, point in enumerate(ALL):
            if stop_ms is not None and at_ms > stop_ms:
                break
            if run.schedule.only is None or point in run.schedule.only:
                injected.append(InjectedEvent(at_ms=at_ms, point=point, words="it happens"))
            kind = self.fails({one.point for one in injected}, run)
            if kind is not None:
                failure = Failure(
                    how=kind[0], what=kind[1], words="", step=len(injected), at_ms=at_ms
                )
                return Outcome(failure=failure, injected=tuple(injected), healed_ms=None)
        return Outcome(failure=None, injected=tuple(injected), healed_ms=20)


def rejects(injected: set[InjectionPoint], _: Scheduled) -> tuple[How, str] | None:
    return (How.REJECTED, "A") if injected.issuperset(NEEDED) else None


def test_only_what_the_failure_needs_is_left() -> None:
    world = World(rejects)
    shrunk = Shrinking(world, redraws=False).shrink(RUN)
    assert shrunk is not None
    assert [injected.point for injected in shrunk.after.injected] == list(NEEDED)
    assert shrunk.after.run.schedule.only == frozenset(NEEDED)
    assert (shrunk.before.failure.step, shrunk.after.failure.step) == (20, 2)
    assert shrunk.runs == len(world.runs) < 60
    assert len(set(world.runs)) == len(world.runs), "nothing is tried twice"
    assert world(shrunk.after.run).failure == shrunk.after.failure


def test_a_run_that_does_not_fail_cannot_be_shrunk() -> None:
    assert Shrinking(World(lambda *_: None)).shrink(RUN) is None


def test_what_fails_in_another_way_does_not_count() -> None:
    def fails(injected: set[InjectionPoint], run: Scheduled) -> tuple[How, str] | None:
        found = rejects(injected, run)
        return found if found is None or len(injected) > 10 else (How.REJECTED, "B")

    shrunk = Shrinking(World(fails), redraws=False).shrink(RUN)
    assert shrunk is not None
    assert shrunk.after.failure.kind == (How.REJECTED, "A")
    assert len(shrunk.after.injected) == 11


def test_brokers_that_are_not_needed_go() -> None:
    world = World(rejects)
    shrunk = Shrinking(world, redraws=False).shrink(RUN)
    assert shrunk is not None
    assert shrunk.after.run.options.brokers == 2


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_no_more_runs_are_tried_than_allowed(limit: int) -> None:
    world = World(rejects)
    shrunk = Shrinking(world, runs=limit).shrink(RUN)
    assert shrunk is not None
    assert shrunk.runs == len(world.runs) == limit
    assert shrunk.after.size <= shrunk.before.size


def test_another_draw_of_the_seed_counts_if_it_fails_sooner() -> None:
    def fails(injected: set[InjectionPoint], run: Scheduled) -> tuple[How, str] | None:
        if run.schedule.redrawn == 30 and ALL[0] in injected:
            return How.REJECTED, "A"
        return None if run.schedule.redrawn else rejects(injected, run)

    shrunk = Shrinking(World(fails)).shrink(RUN)
    assert shrunk is not None
    assert shrunk.after.run.schedule.redrawn == 30
    assert [injected.point for injected in shrunk.after.injected] == [ALL[0]]
    own = Shrinking(World(fails), redraws=False).shrink(RUN)
    assert own is not None
    assert own.after.run.schedule.redrawn == 0


def test_a_run_that_stays_dead_is_not_stopped_but_healed_earlier() -> None:
    def fails(injected: set[InjectionPoint], run: Scheduled) -> tuple[How, str] | None:
        return (How.DEAD, "") if rejects(injected, run) and len(injected) > 1 else None

    shrunk = Shrinking(World(fails)).shrink(RUN)
    assert shrunk is not None
    schedule = shrunk.after.run.schedule
    assert schedule.stop_ms is None
    assert schedule.only == frozenset(NEEDED)
    assert schedule.heal_ms == ALL.index(NEEDED[1]) + 1


def test_progress_is_told_with_each_smaller_run() -> None:
    told: list[tuple[int, int]] = []
    shrunk = Shrinking(
        World(rejects), on_progress=lambda runs, best: told.append((runs, best.size))
    ).shrink(RUN)
    assert shrunk is not None
    assert [runs for runs, _ in told] == sorted(runs for runs, _ in told)
    assert told[-1][1] == shrunk.after.size
