"""Sequences, and the operators of the module TLC."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from itertools import permutations as all_orders

from tlatrace.errors import EvaluationError
from tlatrace.model.domain import (
    D,
    eq,
    function,
    kind,
)
from tlatrace.model.lazy import (
    MAX_ELEMENTS,
    LazyFunction,
    LazySet,
    Product,
    finite,
)
from tlatrace.model.operators.integers import integers_only

__all__ = [
    "append",
    "concatenate",
    "head",
    "length",
    "permutations",
    "select_sequence",
    "sequence",
    "sort_sequence",
    "sub_sequence",
    "tail",
    "tuples",
]


def sequence(value: D) -> tuple[D, ...]:
    if type(value) is tuple:
        return value
    if isinstance(value, LazyFunction):
        return sequence(value.whole())
    raise EvaluationError(f"{kind(value)} is not a sequence")


def tuples(elements: Iterable[D]) -> Iterable[D]:
    r"""Return what a pattern such as `<<x, y>>` takes apart, if it can: tuples only.

    Python would take a set of two elements, a string of two characters and a record apart, too.
    """
    if isinstance(elements, Product):
        return elements
    listed = list(elements) if isinstance(elements, LazySet) else elements
    if set(map(type, listed)) - {tuple}:
        other = min([kind(value) for value in listed if type(value) is not tuple])
        raise EvaluationError(f"{other} is not a tuple, which a pattern asks for")
    return listed


def length(value: D) -> int:
    if type(value) is tuple or type(value) is str:
        return len(value)
    return len(sequence(value))


def append(value: D, element: D) -> D:
    return (*sequence(value), element)


def concatenate(left: D, right: D) -> D:
    if type(left) is str and type(right) is str:
        return left + right
    first, second = sequence(left), sequence(right)
    if len(first) + len(second) > MAX_ELEMENTS:
        raise EvaluationError(f"a sequence has more than {MAX_ELEMENTS} elements")
    return first + second


def head(value: D) -> D:
    elements = sequence(value)
    if not elements:
        raise EvaluationError("Head of the empty sequence")
    return elements[0]


def tail(value: D) -> D:
    elements = sequence(value)
    if not elements:
        raise EvaluationError("Tail of the empty sequence")
    return elements[1:]


def sub_sequence(value: D, low: int, high: int) -> D:
    elements = sequence(value)
    integers_only(low, high)
    if low > high:
        return ()
    if low < 1 or high > len(elements):
        size = len(elements)
        raise EvaluationError(f"SubSeq from {low} to {high} of a sequence of length {size}")
    return elements[low - 1 : high]


def select_sequence(value: D, keeps: Callable[[D], bool]) -> D:
    return tuple([element for element in sequence(value) if keeps(element)])


def permutations(collection: D) -> frozenset[D]:
    elements = list(finite(collection))
    if len(elements) > 8:
        raise EvaluationError(f"Permutations of {len(elements)} elements are too many")
    return frozenset(
        [function(dict(zip(elements, images, strict=True))) for images in all_orders(elements)]
    )


def sort_sequence(value: D, before: Callable[[D, D], bool]) -> D:
    def compare(left: D, right: D) -> int:
        if eq(left, right):
            return 0
        return -1 if before(left, right) else 1

    return tuple(sorted(sequence(value), key=cmp_to_key(compare)))
