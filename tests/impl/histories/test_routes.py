"""What clients were told by name servers, held against elections."""

from __future__ import annotations

import pytest

from rocketha.histories.routes import Election, RouteAnswer, RoutesKept, check_routes
from rocketha.histories.verdicts import Broken, Promise, Undecided
from rocketha.types import BrokerId, TimestampMs

ELECTIONS = [
    Election(TimestampMs(at_ms), address)
    for at_ms, address in ((0, "b1"), (10, "b2"), (20, "b1"), (30, "b3"))
]


def answer(
    at_ms: int, *brokers: tuple[int, str], writable: bool = True, server: str = "n1", start: int = 0
) -> RouteAnswer:
    found = tuple((BrokerId(number), address) for number, address in brokers)
    return RouteAnswer(TimestampMs(at_ms), server, start, found, writable)


def test_masters_that_follow_each_other_and_a_slave_that_acts_are_right() -> None:
    told = [
        answer(1, (0, "b1"), (2, "b2")),
        answer(12, (0, "b2")),
        answer(21, (0, "b1")),
        answer(25, (0, "b2"), writable=False),
        answer(26, writable=False),
    ]

    assert check_routes(ELECTIONS, told, has_acting=True) == RoutesKept(4, 1)


@pytest.mark.parametrize(
    ("told", "promise"),
    [
        ([answer(1, (0, "b1"), (2, "b1"))], Promise.ONCE),
        ([answer(1, (2, "b2"))], Promise.WRITABLE),
        ([answer(9, (0, "b2"))], Promise.NEWEST),
        ([answer(31, (0, "b3")), answer(32, (0, "b1"))], Promise.NEWEST),
        ([answer(12, (0, "b2")), answer(13, (0, "b1"))], Promise.NEWEST),
    ],
)
def test_a_promise_that_is_broken(told: list[RouteAnswer], promise: Promise) -> None:
    verdict = check_routes(ELECTIONS, told, has_acting=True)

    assert isinstance(verdict, Broken)
    assert verdict.promise == promise


def test_another_name_server_and_one_that_has_started_again_may_know_less() -> None:
    told = [
        answer(31, (0, "b3")),
        answer(32, (0, "b1"), server="n2"),
        answer(33, (0, "b1"), start=1),
    ]

    assert check_routes(ELECTIONS, told, has_acting=True) == RoutesKept(3, 0)


def test_where_nobody_acts_topics_stay_as_they_are() -> None:
    told = [answer(1, (2, "b2"))]

    assert check_routes(ELECTIONS, told, has_acting=False) == RoutesKept(1, 0)


def test_without_a_route_nothing_was_put_to_the_test() -> None:
    assert isinstance(
        check_routes(ELECTIONS, [answer(1, writable=False)], has_acting=True), Undecided
    )
