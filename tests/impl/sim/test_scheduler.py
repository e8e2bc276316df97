"""Virtual time passes in order, and only through what was asked for."""

from __future__ import annotations

from rocketha.sim.engine.scheduler import Scheduler


def test_callbacks_run_by_time_and_then_by_the_order_of_their_calls() -> None:
    scheduler = Scheduler()
    ran: list[tuple[str, int]] = []
    for name, delay_ms in (("late", 20), ("first", 5), ("second", 5), ("now", 0)):
        scheduler.after(delay_ms, lambda name=name: ran.append((name, scheduler.now_ms)))  # type: ignore[misc]  # mypy cannot infer a lambda with a default

    while scheduler.run_next(until_ms=100):
        pass

    assert ran == [("now", 0), ("first", 5), ("second", 5), ("late", 20)]


def test_nothing_runs_that_is_due_later() -> None:
    scheduler = Scheduler()
    scheduler.after(10, lambda: None)

    assert not scheduler.run_next(until_ms=9)
    assert scheduler.now_ms == 0
    assert scheduler.run_next(until_ms=10)
    assert not scheduler.run_next(until_ms=10)


def test_a_callback_may_ask_for_more() -> None:
    scheduler = Scheduler()
    times: list[int] = []

    def again() -> None:
        times.append(scheduler.now_ms)
        scheduler.after(7, again)

    scheduler.after(7, again)
    while scheduler.run_next(until_ms=30):
        pass

    assert times == [7, 14, 21, 28]
