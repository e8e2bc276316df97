"""The values of compiled models: exact, and refused where TLC refuses."""

from __future__ import annotations

import pickle
from itertools import permutations

import pytest

from tlatrace.errors import EvaluationError
from tlatrace.runtime import operators
from tlatrace.runtime.lazy import NAT, Functions, Records, Sequences, Subsets, member
from tlatrace.runtime.values import (
    FALSE,
    TRUE,
    Fcn,
    RuntimeValue,
    eq,
    from_runtime,
    function,
    model_value,
    to_runtime,
)
from tlatrace.values import ModelValue, fcn, record, tla_set

A, B = model_value("a"), model_value("b")
RECORD = Fcn({"f": 1, "g": TRUE})


@pytest.mark.parametrize(
    "value",
    [
        True,
        0,
        -7,
        "text",
        ModelValue("a"),
        (1, "x"),
        (),
        tla_set([1, 2]),
        tla_set([]),
        record({"f": 1, "g": True}),
        fcn([(0, 1), (5, 2)]),
        fcn([("x", tla_set([(1,)]))]),
    ],
    ids=str,
)
def test_values_come_back_as_they_were(value: object) -> None:
    assert from_runtime(to_runtime(value)) == value  # type: ignore[arg-type]
    assert type(from_runtime(to_runtime(value))) is type(value)  # type: ignore[arg-type]


def test_true_is_not_1_in_sets_functions_and_tuples() -> None:
    assert len(frozenset([TRUE, 1, FALSE, 0])) == 4
    assert len({(TRUE,), (1,)}) == 2
    assert Fcn({1: 0}) != Fcn({TRUE: 0})


@pytest.mark.parametrize("value", [TRUE, A, RECORD, frozenset([A]), (1, RECORD)], ids=str)
def test_values_survive_pickling_as_themselves(value: RuntimeValue) -> None:
    again = pickle.loads(pickle.dumps(value))
    assert again == value
    assert hash(again) == hash(value)


def test_a_function_over_1_to_n_is_a_tuple() -> None:
    assert function({2: "b", 1: "a"}) == ("a", "b")
    assert function({}) == ()
    assert function({2: "b", 3: "c"}) == Fcn({2: "b", 3: "c"})


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, 1), ("a", "a"), (A, A), ((1, 2), (1, 2)), (RECORD, Fcn({"g": TRUE, "f": 1}))],
)
def test_equal_values_are_equal(left: RuntimeValue, right: RuntimeValue) -> None:
    assert eq(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 2),
        (A, B),
        (A, 1),
        ((1,), (1, 2)),
        ((1, 2), (1, 3)),
        ((), (1,)),
        (frozenset([1]), frozenset([1, 2])),
        (RECORD, Fcn({"f": 1})),
        ((1,), RECORD),
        ((1, 2), Fcn({A: 1})),
    ],
)
def test_unequal_values_of_one_kind_are_unequal(left: RuntimeValue, right: RuntimeValue) -> None:
    assert not eq(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, "a"),
        (TRUE, 1),
        ("a", TRUE),
        ((1,), frozenset([1])),
        (1, ()),
        ((1, "a"), (1, 2)),
        (frozenset([1]), frozenset(["a"])),
        (Fcn({"f": 1}), Fcn({"f": "a"})),
        ((1, 2), Fcn({A: 1, B: 2})),
        (Fcn({A: 1, B: 2}), (1, 2)),
    ],
)
def test_what_tlc_cannot_compare_is_an_error(left: RuntimeValue, right: RuntimeValue) -> None:
    with pytest.raises(EvaluationError, match="cannot be compared"):
        eq(left, right)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        pytest.param(lambda: operators.apply((5, 6), 0), "domain", id="no last element at 0"),
        pytest.param(lambda: operators.apply((5, 6), 3), "domain", id="beyond the end"),
        pytest.param(lambda: operators.apply(RECORD, "h"), "domain", id="no such field"),
        pytest.param(lambda: operators.apply(7, 1), "applied", id="no function"),
        pytest.param(lambda: operators.head(()), "empty", id="head"),
        pytest.param(lambda: operators.tail(()), "empty", id="tail"),
        pytest.param(lambda: operators.sub_sequence((1, 2), 2, 3), "SubSeq", id="subseq"),
        pytest.param(lambda: operators.add("a", "b"), "integer", id="strings"),  # type: ignore[arg-type]
        pytest.param(lambda: operators.less("a", "b"), "integer", id="order"),  # type: ignore[arg-type]
        pytest.param(lambda: operators.multiply(2, "a"), "integer", id="times"),  # type: ignore[arg-type]
        pytest.param(lambda: operators.quotient(1, 0), "div 0", id="div"),
        pytest.param(lambda: operators.remainder(1, 0), "positive", id="mod"),
        pytest.param(lambda: operators.power(2, -1), "negative", id="power"),
        pytest.param(lambda: operators.power(10, 10**9), "large", id="huge power"),
        pytest.param(lambda: operators.choose([], "x"), "no element", id="choose none"),
        pytest.param(lambda: operators.choose([1, 2], "x"), "2 elements", id="choose two"),
        pytest.param(lambda: operators.make_set([1, "a"]), "a set holds", id="mixed set"),
        pytest.param(lambda: operators.truth(1), "boolean", id="truth of 1"),
        pytest.param(lambda: operators.interval(1, 10**9), "more than", id="huge range"),
        pytest.param(lambda: member(1, 2), "not a set", id="element of 2"),
        pytest.param(lambda: member("a", NAT), "looked for", id="text in Nat"),
        pytest.param(lambda: iter(NAT), "enumerated", id="all of Nat"),
        pytest.param(lambda: Subsets(frozenset(range(40))).whole(), "more than", id="SUBSET"),
        pytest.param(
            lambda: Functions(frozenset(range(30)), frozenset([1, 2])).whole(), "more than", id="->"
        ),
    ],
)
def test_no_operator_guesses(call: object, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        call()  # type: ignore[operator]


def test_python_is_not_asked_for_an_index_below_1() -> None:
    assert operators.apply((5, 6), 1) == 5
    assert operators.put((5, 6), 0, 9) == (5, 6)
    assert operators.put((5, 6), 2, 9) == (5, 9)
    assert operators.put(RECORD, "h", 9) is RECORD


def test_division_rounds_down_as_in_tla() -> None:
    assert operators.quotient(-7, 2) == -4
    assert operators.remainder(-7, 2) == 1


def test_infinite_sets_answer_without_being_enumerated() -> None:
    assert (1, 2) in Sequences(NAT)
    assert (1, -2) not in Sequences(NAT)
    assert A not in Sequences(NAT)
    assert RECORD in Records({"f": NAT, "g": operators.BOOLEAN})
    assert Fcn({"f": 1}) not in Records({"f": NAT, "g": operators.BOOLEAN})
    assert frozenset([1]) in Subsets(NAT)
    assert (3, 4) in Functions(frozenset([1, 2]), NAT)
    assert (3, 4, 5) not in Functions(frozenset([1, 2]), NAT)


def test_lazy_sets_are_the_sets_that_they_stand_for() -> None:
    assert Subsets(frozenset([1])) == frozenset([frozenset(), frozenset([1])])
    assert hash(Subsets(frozenset([1]))) == hash(frozenset([frozenset(), frozenset([1])]))
    assert eq(Functions(frozenset([1]), frozenset(["x"])), frozenset([("x",)]))


def test_how_a_function_was_made_does_not_decide_whether_it_is_compared() -> None:
    def answer(left: tuple[RuntimeValue, ...], right: tuple[RuntimeValue, ...]) -> str:
        try:
            return str(eq(Fcn(dict.fromkeys(right, 2)), Fcn(dict.fromkeys(left, 1))))
        except EvaluationError as error:
            return error.reason

    one: tuple[RuntimeValue, ...] = ((), frozenset(), "n1")
    other: tuple[RuntimeValue, ...] = ("m", "n1")

    answers = {answer(left, right) for left in permutations(one) for right in permutations(other)}
    assert len(answers) == 1, answers
