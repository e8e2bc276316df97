"""Values with unknown parts: what can be said of them is said, and nothing else."""

from __future__ import annotations

import pytest
import z3

from tlatrace.runtime.values import FALSE, TRUE, Fcn, RuntimeValue, model_value
from tlatrace.symbolic.elements import domain_of, length_of, part_of
from tlatrace.symbolic.functions import applied, updated
from tlatrace.symbolic.shapes import (
    INTEGER,
    AtMost,
    Enumeration,
    PartialMap,
    SequenceAtMost,
    SequenceOf,
    TupleOf,
    constant_of,
    record,
)
from tlatrace.symbolic.values import (
    NO,
    YES,
    Choice,
    Constant,
    Function,
    Nothing,
    Numbers,
    Sequence,
    Set,
    Symbolic,
    Tuple,
    all_of,
    any_of,
    equal,
    literal,
    member,
    merge,
    set_of,
    subset,
)

A, B = model_value("a"), model_value("b")
P, Q = z3.Bools("p q")
X, Y = z3.Ints("x y")


def valid(formula: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.add(z3.Not(formula))
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize(
    "value",
    [3, "text", A, (1, 2), frozenset([1, 2]), Fcn({"f": 1}), Fcn({A: (1,), B: ()}), frozenset()],
    ids=str,
)
def test_a_known_value_equals_itself_and_no_other(value: object) -> None:
    same = literal(value)  # type: ignore[arg-type]  # a list of values of the domain

    assert valid(equal(same, literal(value)))  # type: ignore[arg-type]  # as above
    assert valid(z3.Not(equal(same, literal((7, 7, 7)))))


def test_what_is_known_is_left_out_of_formulas() -> None:
    assert all_of([YES, P]) is P
    assert all_of([P, NO]) is NO
    assert any_of([P, YES]) is YES
    assert any_of([NO, P]) is P


def test_a_choice_is_what_its_conditions_say() -> None:
    chosen = merge(P, Constant("yes"), Constant("no"))

    assert isinstance(chosen, Choice)
    assert valid(equal(chosen, Constant("yes")) == P)
    assert valid(equal(chosen, Constant("no")) == z3.Not(P))


def test_what_has_no_value_is_never_chosen() -> None:
    assert merge(P, Nothing(), X) is X
    record = merge(P, literal(Fcn({"f": 1, "g": 2})), literal(Fcn({"g": 3})))
    assert valid(equal(applied(record, Constant("g")), z3.If(P, z3.IntVal(2), z3.IntVal(3))))
    assert valid(equal(applied(record, Constant("f")), z3.IntVal(1)))
    assert isinstance(applied(record, Constant("h")), Nothing)


def test_sets_are_compared_by_their_elements() -> None:
    one, other = set_of([(P, X), (YES, Y)]), set_of([(YES, Y)])

    assert valid(subset(other, one))
    assert valid(equal(one, other) == z3.Or(z3.Not(P), X == Y))
    assert valid(member(X, one) == z3.Or(P, X == Y))


def test_a_chosen_set_has_the_elements_of_the_one_that_was_chosen() -> None:
    one, other = set_of([(YES, Tuple((Constant(A), X)))]), set_of([(Q, Tuple((Constant(A), Y)))])
    chosen = merge(P, one, other)
    pair = Tuple((Constant(A), X))

    assert isinstance(chosen, Set)
    assert len(chosen.elements) == 1, "elements that look alike are paired"
    assert valid(member(pair, chosen) == z3.Or(P, z3.And(Q, X == Y)))


def test_except_at_an_unknown_place_changes_that_place_only() -> None:
    function = literal(Fcn({A: 1, B: 2}))
    place = merge(P, Constant(A), Constant(B))
    new = updated(function, [place], lambda _: X)

    assert valid(equal(applied(new, Constant(A)), z3.If(P, X, z3.IntVal(1))))
    assert valid(equal(applied(new, Constant(B)), z3.If(P, z3.IntVal(2), X)))


@pytest.mark.parametrize("keys", [(0, 2), (TRUE, FALSE), ("a", "b"), (A, B)], ids=str)
def test_except_finds_keys_of_every_kind(keys: tuple[RuntimeValue, RuntimeValue]) -> None:
    function = literal(Fcn({keys[0]: 1, keys[1]: 2}))

    new = updated(function, [literal(keys[1])], lambda _: z3.IntVal(7))

    assert valid(equal(applied(new, literal(keys[0])), z3.IntVal(1)))
    assert valid(equal(applied(new, literal(keys[1])), z3.IntVal(7)))


# ---- Shapes ----


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ([], True),
        ([(A, 1), (B, 1)], True),
        ([(A, 1), (A, 1)], True),
        ([(A, 1), (A, 2)], False),
    ],
    ids=str,
)
def test_a_key_has_one_number(value: list[tuple[object, int]], fits: bool) -> None:
    pairs: list[tuple[z3.BoolRef, Symbolic]] = [
        (z3.Bool(f"has {i}"), Tuple((literal(key), z3.IntVal(number))))  # type: ignore[arg-type]  # a model value
        for i, (key, number) in enumerate(value)
    ]
    says = PartialMap((A, B)).fits(set_of(pairs))

    assert valid(says) == fits
    assert valid(z3.Implies(z3.And([guard for guard, _ in pairs]), says)) == fits


def test_a_value_that_fits_is_what_its_leaves_say() -> None:
    shape = PartialMap((A, B))
    value = constant_of(shape, "v")

    assert valid(equal(value, shape.build(shape.leaves(value))))


def test_a_set_has_at_most_so_many_different_elements() -> None:
    two = Set(((P, X), (Q, Y)))

    assert valid(AtMost(1, INTEGER).fits(two) == z3.Not(z3.And(P, Q, X != Y)))
    assert valid(AtMost(2, INTEGER).fits(two))
    assert valid(AtMost(1, INTEGER, sampled=True).fits(two))


def test_an_enumeration_has_no_other_values() -> None:
    shape = Enumeration(("one", "two"))

    assert valid(shape.fits(constant_of(shape, "v")))
    assert valid(shape.fits(merge(P, Constant("one"), Constant("three"))) == P)


def test_sequences_are_compared_with_known_ones() -> None:
    unknown = constant_of(SequenceOf(INTEGER), "log")
    known = equal(unknown, literal((4, 5)))
    first = equal(applied(unknown, X), z3.IntVal(4)) == (X == 1)

    assert valid(z3.Implies(z3.And(known, X >= 1, X <= 2), first))
    assert not valid(z3.Implies(known, first))


def test_the_order_of_the_keys_says_nothing() -> None:
    there, back = Function(("a", "b"), (X, Y)), Function(("b", "a"), (Y, X))

    assert valid(equal(there, back))
    assert valid(equal(merge(P, there, back), there))


# ---- Sequences of at most so many entries ----

FEW = SequenceAtMost(2, record({"n": INTEGER}))


def entry(n: z3.ArithRef | int) -> Function:
    return Function(("n",), (n if isinstance(n, z3.ArithRef) else z3.IntVal(n),))


def test_a_short_sequence_has_its_length_its_places_and_its_entries() -> None:
    value = constant_of(FEW, "v")
    two = equal(value, Tuple((entry(X), entry(Y))))

    assert valid(z3.Implies(two, length_of(value) == 2))
    assert valid(z3.Implies(two, equal(applied(value, z3.IntVal(1)), entry(X))))
    assert valid(z3.Implies(z3.And(two, X == 2), equal(applied(value, X), entry(Y))))
    assert valid(z3.Implies(two, member(X, domain_of(value)) == z3.And(X >= 1, X <= 2)))
    assert valid(z3.And(length_of(value) >= 0, length_of(value) <= 2))


def test_what_fits_a_short_sequence_is_what_its_leaves_say() -> None:
    value = constant_of(FEW, "v")
    three = Tuple((entry(1), entry(2), entry(3)))

    assert valid(equal(value, FEW.build(FEW.leaves(value))))
    assert valid(equal(Tuple((entry(X),)), FEW.build(FEW.leaves(Tuple((entry(X),))))))
    assert valid(FEW.fits(value))
    assert valid(FEW.fits(merge(P, three, Tuple((entry(X),)))) == z3.Not(P))


# ---- Parts of sequences, and sets of numbers ----


def test_a_part_of_a_sequence_has_its_places() -> None:
    log = constant_of(SequenceOf(INTEGER), "log")
    assert isinstance(log, Sequence)
    part = part_of(log, z3.IntVal(2), log.length)

    assert valid(z3.Implies(log.length >= 1, length_of(part) == log.length - 1))
    assert valid(equal(applied(part, X), applied(log, X + 1)))
    assert valid(length_of(part_of(log, z3.IntVal(3), z3.IntVal(1))) == 0)
    assert valid(equal(applied(part_of(log, z3.IntVal(1), Y), X), applied(log, X)))


def test_a_set_of_numbers_has_what_its_array_says() -> None:
    numbers = Numbers(z3.Array("has", z3.IntSort(), z3.BoolSort()))
    known = equal(numbers, literal(frozenset([1, 4])))

    assert valid(z3.Implies(known, member(X, numbers) == z3.Or(X == 1, X == 4)))
    assert valid(z3.Implies(subset(numbers, set_of([(P, X)])), z3.Implies(member(Y, numbers), P)))
    assert not valid(known)


def test_a_tuple_has_its_shape_or_not() -> None:
    shape = TupleOf((INTEGER, Enumeration(("one", "two"))))
    value = constant_of(shape, "v")

    assert valid(shape.fits(value))
    assert valid(equal(value, shape.build(shape.leaves(value))))
    assert not valid(shape.fits(Tuple((X,))))
