"""Numbers, as words: those nearer to 0 than `LARGEST`."""

from __future__ import annotations

from tlatrace.runtime.words.layout import BAD, HALF, INT, LARGEST

__all__ = [
    "add",
    "less",
    "less_equal",
    "multiply",
    "negate",
    "number",
    "quotient",
    "remainder",
    "subtract",
]


def number(value: int) -> int:
    """Return the word of a number."""
    if value >= LARGEST or value <= 0 - LARGEST:
        return BAD
    return value << 3


def add(left: int, right: int) -> int:
    if left & 7 != INT or right & 7 != INT:
        return BAD
    return number((left >> 3) + (right >> 3))


def subtract(left: int, right: int) -> int:
    if left & 7 != INT or right & 7 != INT:
        return BAD
    return number((left >> 3) - (right >> 3))


def negate(value: int) -> int:
    return subtract(0, value)


def multiply(left: int, right: int) -> int:
    if left & 7 != INT or right & 7 != INT:
        return BAD
    one = left >> 3
    other = right >> 3
    if one >= HALF or other >= HALF or one <= 0 - HALF or other <= 0 - HALF:
        return BAD
    return number(one * other)


def quotient(left: int, right: int) -> int:
    if left & 7 != INT or right & 7 != INT or right == 0:
        return BAD
    return number((left >> 3) // (right >> 3))


def remainder(left: int, right: int) -> int:
    if left & 7 != INT or right & 7 != INT or right <= 0:
        return BAD
    return number((left >> 3) % (right >> 3))


def less(left: int, right: int) -> int:
    if left & 7 != INT or right & 7 != INT:
        return 2
    return left < right


def less_equal(left: int, right: int) -> int:
    if left & 7 != INT or right & 7 != INT:
        return 2
    return left <= right
