"""What breaks the order of a queue, and what does not."""

from __future__ import annotations

import pytest

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.histories import Broken, Undecided
from rocketha.histories.ordered import InTurn, Processed, check_order

QUEUES = (MessageQueue("t", "g", 0), MessageQueue("t", "g", 1))


def history(*steps: str) -> list[Processed]:
    """Make a history of words such as `a0*`: consumer, message, `*` when it has just got it."""
    return [
        Processed(
            queue=QUEUES["'" in step],
            message=int(step[1]),
            client_id=step[0],
            fresh="*" in step,
            at_ms=at,
        )
        for at, step in enumerate(steps)
    ]


@pytest.mark.parametrize(
    "steps",
    [
        ("a0*", "a1", "a2"),
        ("a0*", "a1", "b2*", "b3", "a4*"),
        ("a0*", "a1", "b1*", "b2"),
        ("a0*", "b0*'", "a1", "b1'"),
        ("a0*", "a1*"),
    ],
)
def test_the_order_is_kept(steps: tuple[str, ...]) -> None:
    assert isinstance(check_order(history(*steps)), InTurn)


def test_turns_are_counted_and_nothing_is_no_evidence() -> None:
    steps = ("a0*", "a1", "b2*", "a0*'", "b3", "a4*")

    assert check_order(history(*steps)) == InTurn(processed=6, turns=2)
    assert isinstance(check_order([]), Undecided)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (("a0*", "b1*", "a2"), "after b, without having got the queue anew"),
        (("a0",), "after nobody"),
        (("a1*",), "message 0 was passed by"),
        (("a0*", "a2"), "message 1 was passed by"),
        (("a0*", "a0"), "after message 0"),
        (("a0*", "a1", "a2", "b1*", "a3"), "without having got"),
        (("a0*", "b0*'", "b1"), "without having got"),
    ],
)
def test_the_order_is_broken(steps: tuple[str, ...], words: str) -> None:
    verdict = check_order(history(*steps))

    assert isinstance(verdict, Broken)
    assert words in verdict.reason
