"""When a broker has an occasion for a step: at the border of each time, and with none set up."""

from __future__ import annotations

import pytest

from rocketproof.occasions import Occasions, Waits

WAITS = Waits(heartbeat_ms=10, housekeeping_ms=30, reconnect_ms=20, slave_timeout_ms=100)


def test_a_heartbeat_is_due_a_time_after_the_last_word() -> None:
    occasions = Occasions(WAITS)
    occasions.opened(1, 5)
    occasions.said(1, 7)

    assert not occasions.may_speak(1, 16)
    assert occasions.may_speak(1, 17)


def test_a_peer_is_silent_a_time_after_it_was_heard() -> None:
    occasions = Occasions(WAITS)
    occasions.opened(1, 5)
    occasions.heard(1, 7)
    occasions.said(1, 36)

    assert not occasions.is_silent(1, 36)
    assert occasions.is_silent(1, 37)


def test_a_slave_connects_at_once_only_the_first_time_of_its_life() -> None:
    occasions = Occasions(WAITS)
    assert occasions.may_connect(0)
    occasions.left(7)

    assert [occasions.may_connect(at_ms) for at_ms in (26, 27)] == [False, True]
    occasions.clear()
    assert occasions.may_connect(8)


def test_a_producer_is_given_up_when_its_time_is_over() -> None:
    occasions = Occasions(WAITS)
    occasions.asked(3, 7)

    assert [occasions.may_give_up(3, at_ms) for at_ms in (106, 107)] == [False, True]


@pytest.mark.parametrize("conn", [1, 9])
def test_what_was_never_opened_has_no_occasion_until_times_are_not_said(conn: int) -> None:
    occasions = Occasions(WAITS)
    occasions.opened(1, 0)

    assert not occasions.may_speak(conn, 5)
    assert Occasions(Waits()).may_speak(conn, 5)
