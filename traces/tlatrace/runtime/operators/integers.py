"""Integers: operators of Naturals and Integers."""

from __future__ import annotations

from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.runtime.lazy import (
    MAX_ELEMENTS,
)
from tlatrace.runtime.values import (
    Atom,
    RuntimeValue,
    kind,
)

__all__ = [
    "add",
    "in_interval",
    "integers_only",
    "interval",
    "less",
    "less_equal",
    "multiply",
    "negate",
    "power",
    "quotient",
    "remainder",
    "subtract",
]

_MAX_BITS: Final = 4_000


def integers_only(left: object, right: object) -> None:
    if type(left) is not int or type(right) is not int:
        wrong = right if type(left) is int else left
        raise EvaluationError(f"{kind(wrong)} is not an integer")


def add(left: int, right: int) -> int:
    if type(left) is int and type(right) is int:
        return left + right
    integers_only(left, right)
    return 0


def subtract(left: int, right: int) -> int:
    if type(left) is int and type(right) is int:
        return left - right
    integers_only(left, right)
    return 0


def multiply(left: int, right: int) -> int:
    integers_only(left, right)
    if left.bit_length() + right.bit_length() > _MAX_BITS:
        raise EvaluationError("a product is too large")
    return left * right


def negate(value: int) -> int:
    integers_only(value, value)
    return -value


def power(base: int, exponent: int) -> int:
    integers_only(base, exponent)
    if base == exponent == 0:
        raise EvaluationError("0 ^ 0 has no value")
    if exponent < 0:
        raise EvaluationError(f"{base} ^ {exponent}: the exponent is negative")
    if exponent * max(base.bit_length(), 1) > _MAX_BITS:
        raise EvaluationError(f"{base} ^ {exponent} is too large")
    return int(base**exponent)


def quotient(left: int, right: int) -> int:
    integers_only(left, right)
    if right == 0:
        raise EvaluationError(f"{left} \\div 0")
    return left // right


def remainder(left: int, right: int) -> int:
    integers_only(left, right)
    if right <= 0:
        raise EvaluationError(f"{left} % {right}: the second argument is not positive")
    return left % right


def less(left: int, right: int) -> bool:
    if type(left) is int and type(right) is int:
        return left < right
    integers_only(left, right)
    return False


def less_equal(left: int, right: int) -> bool:
    if type(left) is int and type(right) is int:
        return left <= right
    integers_only(left, right)
    return False


def interval(low: int, high: int) -> range:
    """Return low..high, to be enumerated."""
    integers_only(low, high)
    if high - low >= MAX_ELEMENTS:
        raise EvaluationError(f"{low}..{high} has more than {MAX_ELEMENTS} elements")
    return range(low, high + 1)


def in_interval(value: RuntimeValue, low: int, high: int) -> bool:
    if type(value) is type(low) is type(high) is int:
        return low <= value <= high
    integers_only(low, high)
    if type(value) is Atom:
        return False
    if low > high:
        return False
    raise EvaluationError(f"{kind(value)} cannot be looked for in {low}..{high}")
