"""What is promised of what comes due: kept, broken, and not asked."""

from __future__ import annotations

import pytest

from rocketha.histories.escaped import (
    Acknowledged,
    Again,
    Ended,
    EscapedKept,
    EscapeEvent,
    Given,
    MessageRead,
    Outcome,
    Waits,
    check_escaped,
)
from rocketha.histories.verdicts import AnyVerdict, Broken, Promise, Undecided
from rocketha.types import TimestampMs

WELL = Outcome(is_well=True)
DEAD = Outcome(is_well=False)
WAITS = (Waits("d1", TimestampMs(100)), Waits("h1", None))


def read(at_ms: int, key: str) -> MessageRead:
    return MessageRead(TimestampMs(at_ms), "b11", key)


def ended(at_ms: int, key: str = "h1", *, commit: bool = True) -> Ended:
    return Ended(TimestampMs(at_ms), key, commit)


GIVEN = Given(TimestampMs(10), "p", "orders@0@7")
TOLD = Acknowledged(TimestampMs(20), "p")
AGAIN = Again(TimestampMs(30), "b11", "p")
ALL = (*WAITS, read(100, "d1"), ended(5), read(110, "h1"), read(120, "h1"), GIVEN, TOLD)


def check(*events: EscapeEvent, outcome: Outcome = WELL) -> AnyVerdict:
    return check_escaped(events, outcome)


def test_what_is_kept_is_counted() -> None:
    verdict = check(*ALL)

    assert verdict == EscapedKept(read=2, acknowledged=1, again=0, owed=2)
    assert verdict.in_words() == (
        "kept: 2 messages read, 1 pops acknowledged, 0 delivered again, 2 that had to come"
    )
    assert isinstance(verdict, EscapedKept)
    assert verdict.counted == 3


@pytest.mark.parametrize(
    ("events", "promise", "words"),
    [
        ((*WAITS, read(99, "d1")), Promise.IN_TIME, "d1 is read of b11 at 99 ms, and due at 100"),
        ((*WAITS, read(99, "h1")), Promise.COMMITTED, "h1 is read of b11 at 99 ms, and is not"),
        (
            (*WAITS, ended(5, commit=False), read(99, "h1")),
            Promise.COMMITTED,
            "h1 is read of b11 at 99 ms, and is not committed",
        ),
        (
            (GIVEN, AGAIN, Given(TimestampMs(40), "q", "orders@0@7")),
            Promise.ONCE,
            "orders@0@7 is given for q at 40 ms, and was before",
        ),
        ((*ALL, AGAIN), Promise.DONE_WITH, "b11 delivers p again at 30 ms"),
        ((*WAITS, ended(5), read(110, "h1")), Promise.DELIVERED, "d1 was never read"),
        ((*WAITS, ended(5), read(110, "d1")), Promise.DELIVERED, "h1 was never read"),
        (
            (Waits("d1", TimestampMs(1)), read(2, "d1"), GIVEN),
            Promise.DELIVERED,
            "p was not acknowledged, and did not come again",
        ),
    ],
)
def test_what_is_broken_is_said(
    events: tuple[EscapeEvent, ...], promise: Promise, words: str
) -> None:
    verdict = check(*events)

    assert isinstance(verdict, Broken)
    assert verdict.promise == promise
    assert words in verdict.reason


def test_all_promises_are_looked_at_when_one_is_broken() -> None:
    again = Given(TimestampMs(40), "q", "orders@0@7")
    verdict = check(*WAITS, ended(5), GIVEN, TOLD, AGAIN, again)

    assert isinstance(verdict, Broken)
    assert verdict.promise is Promise.DONE_WITH
    assert verdict.also == (Promise.ONCE, Promise.DELIVERED)
    assert verdict.in_words().endswith("; broken, too: once, delivered")
    lost = check(*WAITS, ended(5))
    assert isinstance(lost, Broken)
    assert (lost.reason, lost.also) == ("d1 was never read, nor 1 more", ())


def test_what_the_slave_has_not_passed_need_not_come() -> None:
    kept = Outcome(is_well=True, excused=frozenset({"d1"}))

    assert check(*WAITS, ended(5), read(110, "h1"), outcome=kept) == EscapedKept(1, 0, 0, 1)


def test_what_lies_with_who_is_gone_need_not_come() -> None:
    events = (*WAITS, read(100, "d1"), ended(5), GIVEN)

    assert isinstance(check(*events), Broken)
    outcome = Outcome(is_well=True, excused=frozenset({"h1", "p"}))
    assert check(*events, outcome=outcome) == EscapedKept(1, 0, 0, 1)


def test_of_a_run_that_stays_dead_it_is_not_asked_what_came() -> None:
    assert check(*WAITS, read(100, "d1"), outcome=DEAD) == EscapedKept(1, 0, 0, 0)


def test_what_nobody_has_seen_is_undecided() -> None:
    assert isinstance(check(*WAITS, GIVEN, outcome=DEAD), Undecided)
    assert isinstance(check(), Undecided)


def test_what_was_not_due_is_read_whenever_it_is_there() -> None:
    assert isinstance(check(read(1, "m1"), TOLD), EscapedKept)


def test_what_comes_again_may_be_acknowledged_then() -> None:
    assert check(GIVEN, AGAIN, TOLD) == EscapedKept(0, 1, 1, 0)
