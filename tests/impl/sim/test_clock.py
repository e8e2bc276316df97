"""A clock that is wrong is wrong in a way that timers can reckon with."""

from __future__ import annotations

import pytest

from rocketha.sim.engine.clock import TRUE_TIME, Clock


def test_true_time_is_true() -> None:
    assert TRUE_TIME.shows(17) == 17
    assert TRUE_TIME.when(17) == 17


@pytest.mark.parametrize("rate", [700, 999, 1_000, 1_001, 1_400])
@pytest.mark.parametrize("offset", [0, 5, 90_000])
def test_a_timer_is_due_when_the_clock_first_shows_its_time(rate: int, offset: int) -> None:
    clock = Clock(offset_ms=offset, rate_permille=rate)
    for shown in range(offset + 1, offset + 400, 7):
        due = clock.when(shown)
        assert clock.shows(due) >= shown
        assert clock.shows(due - 1) < shown


def test_a_time_of_the_past_is_due_at_once() -> None:
    assert Clock(offset_ms=100).when(40) == 0
