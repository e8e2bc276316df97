"""Members of a set that a text treats alike, and texts that do not."""

from __future__ import annotations

import pytest

from tests.traces.symbolic.test_induction_of_toy import PERSONS, toy
from tlatrace.compiler.ir.nodes import Apply, Definition, Expr, Literal, Local, Quantified
from tlatrace.errors import SubsetError
from tlatrace.runtime.values import TRUE, RuntimeValue, function, model_value
from tlatrace.symbolic.symmetry import check_symmetric, patterns
from tlatrace.symbolic.values import Constant

A, B, C = (model_value(name) for name in "abc")


def test_of_members_that_are_alike_one_is_the_first_and_another_one_the_next() -> None:
    assert list(patterns(5, 1)) == [(0,)]
    assert list(patterns(5, 2)) == [(0, 0), (0, 1)]
    assert list(patterns(5, 3)) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2)]
    assert list(patterns(2, 3)) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]
    assert list(patterns(0, 0)) == [()]


def defined(body: Expr) -> Definition:
    return Definition("Formula", "Formula", ("x",), frozenset(), body)


def text_with(value: RuntimeValue) -> Definition:
    body: Expr = Apply("=", (Local("x"), Literal(value)))
    return defined(body)


@pytest.mark.parametrize(
    "value", [5, "a string", C, frozenset({A, B}), (frozenset({A, B}), 1), function({"all": 3})]
)
def test_a_text_that_has_all_members_or_none_treats_them_alike(value: RuntimeValue) -> None:
    check_symmetric(frozenset({A, B}), [text_with(value)], "Module")


@pytest.mark.parametrize(
    "value", [A, frozenset({A}), (A, B), function({A: 1, B: 2}), frozenset({frozenset({B})})]
)
def test_a_text_that_has_one_of_them_may_not(value: RuntimeValue) -> None:
    with pytest.raises(SubsetError, match="apart"):
        check_symmetric(frozenset({A, B}), [text_with(value)], "Module")


def test_nor_may_one_that_chooses() -> None:
    among = Literal(frozenset({A, B}))
    body: Expr = Quantified("choose", ((("y",), False, among),), Literal(TRUE))
    with pytest.raises(SubsetError, match="CHOOSE"):
        check_symmetric(frozenset({A, B}), [defined(body)], "Module")


@pytest.mark.java
def test_names_of_next_are_chosen_from_members_that_are_alike() -> None:
    toy().check_symmetric(PERSONS, ["HeldOld"])
    take, call, *_ = toy().actions

    (chosen,) = toy().chosen(take, PERSONS)
    (one,) = chosen.values()
    assert isinstance(one, Constant)
    assert one.value == PERSONS[0]
    assert list(toy().chosen(call, PERSONS)) == [{}]
    assert list(toy().chosen(take, ())) == [{}]
