"""Sequences, and the operators of the module TLC."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from itertools import permutations as all_orders

from tlatrace.errors import EvaluationError
from tlatrace.runtime.lazy import (
    MAX_ELEMENTS,
    LazyFunction,
    LazySet,
    Product,
    finite,
)
from tlatrace.runtime.operators.integers import integers_only
from tlatrace.runtime.values import (
    RuntimeValue,
    eq,
    function,
    kind,
)

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


def sequence(value: RuntimeValue) -> tuple[RuntimeValue, ...]:
    if type(value) is tuple:
        return value
    if isinstance(value, LazyFunction):
        return sequence(value.whole())
    raise EvaluationError(f"{kind(value)} is not a sequence")


def tuples(elements: Iterable[RuntimeValue]) -> Iterable[RuntimeValue]:
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


def length(value: RuntimeValue) -> int:
    if type(value) is tuple or type(value) is str:
        return len(value)
    return len(sequence(value))


def append(value: RuntimeValue, element: RuntimeValue) -> RuntimeValue:
    return (*sequence(value), element)


def concatenate(left: RuntimeValue, right: RuntimeValue) -> RuntimeValue:
    if type(left) is str and type(right) is str:
        return left + right
    first, second = sequence(left), sequence(right)
    if len(first) + len(second) > MAX_ELEMENTS:
        raise EvaluationError(f"a sequence has more than {MAX_ELEMENTS} elements")
    return first + second


def head(value: RuntimeValue) -> RuntimeValue:
    elements = sequence(value)
    if not elements:
        raise EvaluationError("Head of the empty sequence")
    return elements[0]


def tail(value: RuntimeValue) -> RuntimeValue:
    elements = sequence(value)
    if not elements:
        raise EvaluationError("Tail of the empty sequence")
    return elements[1:]


def sub_sequence(value: RuntimeValue, low: int, high: int) -> RuntimeValue:
    elements = sequence(value)
    integers_only(low, high)
    if low > high:
        return ()
    if low < 1 or high > len(elements):
        size = len(elements)
        raise EvaluationError(f"SubSeq from {low} to {high} of a sequence of length {size}")
    return elements[low - 1 : high]


def select_sequence(value: RuntimeValue, keeps: Callable[[RuntimeValue], bool]) -> RuntimeValue:
    return tuple([element for element in sequence(value) if keeps(element)])


def permutations(collection: RuntimeValue) -> frozenset[RuntimeValue]:
    elements = list(finite(collection))
    if len(elements) > 8:
        raise EvaluationError(f"Permutations of {len(elements)} elements are too many")
    return frozenset(
        [function(dict(zip(elements, images, strict=True))) for images in all_orders(elements)]
    )


def sort_sequence(
    value: RuntimeValue, before: Callable[[RuntimeValue, RuntimeValue], bool]
) -> RuntimeValue:
    def compare(left: RuntimeValue, right: RuntimeValue) -> int:
        if eq(left, right):
            return 0
        return -1 if before(left, right) else 1

    return tuple(sorted(sequence(value), key=cmp_to_key(compare)))
