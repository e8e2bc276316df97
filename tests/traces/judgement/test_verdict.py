"""Verdicts: a pass needs evidence, and bad news is never hidden."""

from __future__ import annotations

import pytest

from tlatrace.judgement.verdict import (
    Conforms,
    Diverges,
    Undecided,
    Verdict,
    combine,
    exit_code,
    kind,
)

PASS = Conforms(3)
FAIL = Diverges(4, "Append", "end = 2", "end = 3")
LATER_FAIL = Diverges(1, None, "x = 0", "x = 1")
UNKNOWN = Undecided("TLC timed out")


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([PASS], PASS),
        ([PASS, Conforms(2)], Conforms(5)),
        ([PASS, UNKNOWN], UNKNOWN),
        ([UNKNOWN, PASS, Undecided("empty")], Undecided("TLC timed out (and 1 more)")),
        ([PASS, FAIL], FAIL),
        ([UNKNOWN, FAIL, LATER_FAIL], FAIL),
        ([], Undecided("nothing was examined")),
    ],
)
def test_the_worst_verdict_wins(parts: list[Verdict], whole: Verdict) -> None:
    assert whole == combine(parts)


def test_conforms_without_events_cannot_be_said() -> None:
    with pytest.raises(AssertionError):
        Conforms(0)


@pytest.mark.parametrize(
    ("verdict", "name", "code"),
    [(PASS, "conforms", 0), (FAIL, "diverges", 1), (UNKNOWN, "undecided", 3)],
)
def test_names_and_exit_codes(verdict: Verdict, name: str, code: int) -> None:
    assert name == kind(verdict)
    assert code == exit_code(verdict)
