"""What a node with registers must not show, lose or refuse."""

from __future__ import annotations

import pytest

from rocketha.histories import Broken, Undecided
from rocketha.histories.registers import (
    Damaged,
    Faithful,
    Given,
    Healed,
    Installed,
    Keeping,
    ReadVerdict,
    Refused,
    RegisterEvent,
    Shown,
    Started,
    check_reads,
)
from rocketha.histories.verdicts import Promise

MADE: tuple[dict[str, int], ...] = ({}, {"a": 1}, {"a": 1, "b": 2}, {"b": 2}, {"b": 4}, {"a": 1})
"""Registers after each of five entries; the last one makes what the first one made."""
HALF = {"a": 1, "b": 4}


def event(word: str, at_ms: int) -> RegisterEvent:
    """Make an event of a word: `3/4` is a read of 3 entries when 4 are agreed on, `x` of none."""
    match word[0]:
        case "s":
            return Started(at_ms=at_ms)
        case "g":
            return Given(index=int(word[1:]), at_ms=at_ms)
        case "i":
            return Installed(agreed=int(word[1:]), at_ms=at_ms)
        case "d":
            return Damaged(at_ms=at_ms)
        case "r":
            return Refused(at_ms=at_ms)
        case "h":
            return Healed(agreed=int(word[1:]), at_ms=at_ms)
        case _:
            shown, _, agreed = word.partition("/")
            registers = HALF if shown == "x" else MADE[int(shown)]
            return Shown(registers=registers, agreed=int(agreed or 5), at_ms=at_ms)


def checked(words: str) -> ReadVerdict:
    history = [event(word, at) for at, word in enumerate(words.split())]
    return check_reads(MADE, history, Keeping(files=2, every=2))


@pytest.mark.parametrize(
    "words",
    [
        "s 0 g1 1 g2 2",
        "s 0 g1 1/1 s 0 1 g2 2/2 h2",
        "s 0 g1 1 g2 2 g3 3 s 2 3 g4 4",  # a snapshot, and then the rest
        "s 0 g1 1 g2 g3 s 0 1 2 3 g4 4",  # what it had and did not show is still there
        "s 0 i3 3 g4 4",
        "s 0 g1 1 3 4 5 h5",  # the registers of entry 1 are those of entry 5, too
        "s 0 g1 1 g2 2 d d s r",
        "s 0 i3 3 d s r",
        "s 0 i1 1 2 3 d s r",
        "s 0 g1 1 d s 1",
    ],
)
def test_promises_are_kept(words: str) -> None:
    assert isinstance(checked(words), Faithful)


@pytest.mark.parametrize(
    ("words", "promise", "reason"),
    [
        ("s 0 g1 1 x", Promise.EXACT, "a=1, b=4 at 4 ms, which no number of the 5 agreed"),
        ("s 0 g1 1/1 2/1", Promise.EXACT, "no number of the 1 agreed entries"),
        ("s 0 g1 1 s 0 s x", Promise.EXACT, "no number of the 5"),
        ("s 0 g1 1 g2 2 g3 3 2", Promise.FORWARD, "which 2 entries make, after what 3 had"),
        ("s 0 3 0", Promise.FORWARD, "no registers at 3 ms, which 0 entries make"),
        ("s 0 3 4 3", Promise.FORWARD, "after what 4 had"),
        ("s 0 g1 1 g2 s 0 1 g2", Promise.STAYS, "entry 2 is given at 8 ms to a node that"),
        ("s 0 i3 3 s 0 g2", Promise.STAYS, "that has had 3"),
        ("s 0 g1 1 s r", Promise.REFUSAL, "at 5 ms; damaged files: 0, enough would be 2"),
        ("s 0 g1 1 d s r", Promise.REFUSAL, "damaged files: 1, enough would be 2"),
        ("s 0 i3 3 s r", Promise.REFUSAL, "damaged files: 0, enough would be 1"),
        ("s 0 i1 1 2 3 4 d s r", Promise.REFUSAL, "damaged files: 1, enough would be 2"),
        ("s 0 g1 1 h2", Promise.COMPLETE, "2 entries are said to be there at 4 ms"),
        ("s 0 g1 1 s h1", Promise.COMPLETE, "a reader gets no registers"),
    ],
)
def test_each_promise_can_be_broken(words: str, promise: Promise, reason: str) -> None:
    verdict = checked(words)

    assert isinstance(verdict, Broken)
    assert verdict.promise is promise
    assert reason in verdict.reason


def test_the_first_break_counts() -> None:
    verdict = checked("s 0 g1 1 s r x")

    assert isinstance(verdict, Broken)
    assert verdict.promise is Promise.REFUSAL


def test_reads_and_starts_are_counted_and_nothing_is_no_evidence() -> None:
    assert checked("s 0 g1 1 s 0 1 g2 2") == Faithful(reads=5, entries=2, starts=2)
    assert isinstance(checked("s 0"), Undecided)
    assert isinstance(checked(""), Undecided)
