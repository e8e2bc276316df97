"""Differences between states, as paths."""

from __future__ import annotations

import pytest

from tlatrace.judgement.difference import brief, call_text, difference
from tlatrace.values import ModelValue, State, Value, fcn, record, tla_set

B2 = ModelValue("b2")


def link(epoch: int) -> Value:
    return fcn([(ModelValue("b1"), 0), (B2, record({"cur": record({"e": epoch})}))])


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({"x": 1}, {"x": 1}, []),
        ({"x": 1}, {"x": True}, ["x: 1 -> TRUE"]),
        ({"link": link(1)}, {"link": link(2)}, ["link.b2.cur.e: 1 -> 2"]),
        ({"q": (1, 2)}, {"q": (1, 3)}, ["q[2]: 2 -> 3"]),
        ({"q": (1,)}, {"q": (1, 3)}, ["q[2]: nothing -> 3"]),
        ({"q": ()}, {"q": (1,)}, ["q: <<>> -> <<1>>"]),
        (
            {"s": tla_set([1, 2])},
            {"s": tla_set([2, 3])},
            ["s{}: 1 -> nothing", "s{}: nothing -> 3"],
        ),
        ({"r": record({"a": 1})}, {"r": record({"b": 1})}, ["r: [a |-> 1] -> [b |-> 1]"]),
        ({"x": 1}, {"y": 1}, ["x: 1 -> nothing", "y: nothing -> 1"]),
        ({"x": (1,)}, {"x": record({"a": 1})}, ["x: <<1>> -> [a |-> 1]"]),
        ({"f": fcn([(0, 1)])}, {"f": fcn([(0, 2)])}, ["f[0]: 1 -> 2"]),
    ],
)
def test_a_difference_is_told_at_its_deepest_place(
    left: State, right: State, expected: list[str]
) -> None:
    assert [change.text() for change in difference(left, right)] == expected


def test_a_long_value_is_cut_off() -> None:
    assert len(brief(tuple(range(1000)))) == 120


def test_a_value_that_tla_cannot_write_is_shown_all_the_same() -> None:
    assert brief("ü") == '"ü"'


def test_a_call_is_written_as_in_the_specification() -> None:
    assert call_text("Crash", (B2, 3)) == "Crash(b2, 3)"
    assert call_text("Receive", ()) == "Receive"
    assert call_text(None, ()) == "an unnamed step"
