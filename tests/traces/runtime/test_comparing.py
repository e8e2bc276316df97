"""Whether TLC can compare values is told by their forms, and that says what the values say."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tlatrace.errors import EvaluationError
from tlatrace.runtime.lazy import member
from tlatrace.runtime.operators.functions import function_over
from tlatrace.runtime.values import (
    FALSE,
    TRUE,
    RuntimeValue,
    all_comparable,
    comparable,
    function,
    model_value,
)

_PLAIN = st.sampled_from([0, 1, 2, "a", "b", TRUE, FALSE, model_value("m"), model_value("n")])


def _larger(parts: st.SearchStrategy[RuntimeValue]) -> st.SearchStrategy[RuntimeValue]:
    few = st.lists(parts, max_size=3)
    keys = st.one_of(st.sampled_from(["a", "b", "c"]), st.integers(0, 2), parts)
    return st.one_of(
        few.map(tuple), few.map(frozenset), st.dictionaries(keys, parts, max_size=3).map(function)
    )


_VALUES = st.recursive(_PLAIN, _larger, max_leaves=8)
_PARTS: list[RuntimeValue] = [0, "a", TRUE]
_ALIKE = st.sampled_from(_PARTS).flatmap(
    lambda part: st.recursive(
        st.sampled_from([part, 1, model_value("m")]),
        lambda parts: parts.map(lambda inner: function({"x": inner, "y": part})),
        max_leaves=4,
    )
)
_SETS = st.frozensets(st.one_of(_VALUES, _ALIKE), max_size=4)


@given(_SETS, _SETS)
def test_values_that_forms_tell_comparable_are(
    some: frozenset[RuntimeValue], others: frozenset[RuntimeValue]
) -> None:
    assert _raises(lambda: all_comparable(some, others)) == _raises(
        lambda: comparable([(one, other) for one in some for other in others])
    )


def test_messages_of_one_shape_are_comparable_and_one_with_another_field_type_is_not() -> None:
    sent = [function({"type": "ack", "at": at}) for at in range(3)]
    seen = [function({"type": "ack", "at": at}) for at in range(3, 6)]
    odd = function({"type": "ack", "at": "three"})
    assert not _raises(lambda: all_comparable(sent, seen))
    assert _raises(lambda: all_comparable(sent, [*seen, odd]))


def test_values_of_one_form_differ_in_what_they_can_be_compared_with() -> None:
    """TLC compares tuples up to the first difference, so 1 meets "a" in one pair only."""
    some: list[RuntimeValue] = [(1, 1), (2, 1)]
    assert not _raises(lambda: all_comparable(some, [(3, "a"), (4, "a")]))
    assert _raises(lambda: all_comparable(some, [(2, "a"), (4, "a")]))


def test_what_cannot_be_compared_with_a_set_is_refused_every_time() -> None:
    """What is remembered of a value and a set is that they can be compared."""
    sent = frozenset([function({"at": 1}), function({"at": 2})])
    odd = function({"at": "one"})
    assert [_raises(lambda: member(odd, sent)) for _ in range(3)] == [True] * 3
    assert [member(function({"at": 3}), sent) for _ in range(3)] == [False] * 3


def test_a_function_over_the_first_numbers_is_a_sequence_in_whatever_order_they_come() -> None:
    assert function_over((2, 1), ["b", "a"]) == ("a", "b")
    assert function_over((), []) == ()
    assert function_over((2, 3), ["b", "c"]) == function({2: "b", 3: "c"})


def _raises(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except EvaluationError:
        return True
    return False
