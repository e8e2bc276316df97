"""Operators of sets whose elements can be listed."""

from __future__ import annotations

import z3

from tlatrace.compiler.ir.nodes import Apply, unsupported
from tlatrace.runtime.values import RuntimeValue
from tlatrace.symbolic.values import (
    NO,
    YES,
    Choice,
    Powerset,
    Set,
    Symbolic,
    all_of,
    equal,
    is_yes,
    member,
    negation,
    set_of,
)

__all__ = ["as_set", "constants_of", "of_sets"]


def constants_of(keys: Symbolic, expr: Apply) -> tuple[RuntimeValue, ...]:
    """Return the elements of a set of constants."""
    elements = [
        (is_yes(guard), getattr(element, "value", None))
        for guard, element in as_set(keys, expr).elements
    ]
    if not all(known and key is not None for known, key in elements):
        raise unsupported(expr.place, "functions whose domain is not known")
    return tuple([key for _, key in elements if key is not None])


def of_sets(expr: Apply, values: list[Symbolic]) -> Symbolic:
    """Apply what makes sets of sets, or counts them."""
    if expr.operator == "set":
        return set_of([(YES, value) for value in values])
    sets = [as_set(value, expr) for value in values]
    match expr.operator, sets:
        case "cup", [one, other]:
            return set_of([*one.elements, *other.elements])
        case "cap", [one, other]:
            return set_of([(all_of([g, member(e, other)]), e) for g, e in one.elements])
        case "UNION", [one]:
            return set_of(
                [
                    (all_of([guard, also]), inner)
                    for guard, element in one.elements
                    for also, inner in as_set(element, expr).elements
                ]
            )
        case "SUBSET", [one]:
            return Powerset(one)
        case "Cardinality", [one]:
            return _cardinality(one)
        case _:
            raise unsupported(expr.place, f"{expr.operator} has no symbolic form")


def as_set(value: Symbolic, expr: Apply) -> Set:
    """Return a set, or what may be one of several, as one.

    Raises:
        SubsetError: its elements cannot be listed.
    """
    match value:
        case Set():
            return value
        case Choice():
            return set_of(
                [
                    (all_of([guard, also]), element)
                    for guard, option in value.options
                    for also, element in as_set(option, expr).elements
                ]
            )
        case _:
            raise unsupported(expr.place, f"{expr.operator} of a {type(value).__name__}")


def _cardinality(one: Set) -> z3.ArithRef:
    """Count each element where it stands first."""
    first = [
        all_of([guard, *(negation(all_of([g, equal(e, element)])) for g, e in one.elements[:at])])
        for at, (guard, element) in enumerate(one.elements)
    ]
    return z3.Sum([z3.IntVal(0), *(z3.If(here, 1, 0) for here in first if here is not NO)])
