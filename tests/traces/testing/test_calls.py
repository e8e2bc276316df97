"""Calls: what an adapter is given, and when two are the same."""

from __future__ import annotations

from tlatrace.testing.calls import call_of, plain
from tlatrace.values import ModelValue, fcn, record, tla_set


def test_model_values_are_strings_for_an_adapter() -> None:
    b1, b2 = ModelValue("b1"), ModelValue("b2")

    assert call_of("Crash", (b1, 2)).params == ("b1", 2)
    assert plain(tla_set([b1, (b2,)])) == tla_set(["b1", ("b2",)])
    assert plain(fcn([(b1, True)])) == record({"b1": True})


def test_calls_are_the_same_if_they_are_in_the_specification() -> None:
    assert call_of("Set", (1,)) == call_of("Set", (1,))
    assert call_of("Set", (1,)) != call_of("Set", (True,))
    assert call_of("Set", (1,)) != call_of("Get", (1,))
    assert repr(call_of("Set", ("a", 1))) == 'Set("a", 1)'


def test_small_parameters_come_before_large_ones() -> None:
    calls = [call_of("Set", (number,)) for number in (10, 9, 2)]

    assert [call.params for call in sorted(calls, key=lambda call: call.simplicity)] == [
        (2,),
        (9,),
        (10,),
    ]
