"""Operators on sets, as words."""

from __future__ import annotations

from tlatrace.runtime.words.comparing import found_in, one_kind
from tlatrace.runtime.words.layout import (
    BAD,
    MANY,
    SET,
    STACK,
    TUP,
    at,
    make,
    make_function,
    make_set,
    mem,
    push,
    push_all,
    size,
)

__all__ = [
    "big_union",
    "cardinality",
    "chosen",
    "count_of_functions",
    "difference",
    "function_of",
    "intersection",
    "product_of",
    "subset_of",
    "union",
]


def union(left: int, right: int) -> int:
    if left & 7 != SET or right & 7 != SET:
        return BAD
    base = mem[STACK]
    push_all(left)
    push_all(right)
    return make_set(base)


def chosen(left: int, right: int, wanted: int) -> int:
    """Return the elements of a set that another one has, or has not."""
    if left & 7 != SET or right & 7 != SET or not one_kind(left, right):
        return BAD
    base = mem[STACK]
    index = 0
    while index < size(left):
        if found_in(at(left, index), right) == wanted:
            push(at(left, index))
        index += 1
    return make(SET, base)


def intersection(left: int, right: int) -> int:
    return chosen(left, right, 1)


def difference(left: int, right: int) -> int:
    return chosen(left, right, 0)


def subset_of(collection: int, chosen_bits: int) -> int:
    """Return the subset of the elements whose bits are set."""
    base = mem[STACK]
    index = 0
    while index < size(collection):
        if chosen_bits >> index & 1 == 1:
            push(at(collection, index))
        index += 1
    return make(SET, base)


def count_of_functions(domain: int, images: int) -> int:
    """Return how many functions there are from one set to another."""
    count = 1
    index = 0
    while index < size(domain):
        count = count * size(images)
        if count > MANY:
            return BAD
        index += 1
    return count << 3


def function_of(domain: int, images: int, number: int) -> int:
    """Return one of the functions from one set to another, by a number."""
    base = mem[STACK]
    index = 0
    while index < size(domain):
        push(at(domain, index))
        push(at(images, number % size(images)))
        number = number // size(images)
        index += 1
    return make_function(base)


def big_union(sets: int) -> int:
    if sets & 7 != SET:
        return BAD
    base = mem[STACK]
    index = 0
    while index < size(sets):
        if at(sets, index) & 7 != SET:
            mem[STACK] = base
            return BAD
        push_all(at(sets, index))
        index += 1
    return make_set(base)


def cardinality(collection: int) -> int:
    if collection & 7 != SET:
        return BAD
    return size(collection) << 3


def product_of(left: int, right: int) -> int:
    """Return the pairs of elements of two sets."""
    if left & 7 != SET or right & 7 != SET or size(left) * size(right) > MANY:
        return BAD
    base = mem[STACK]
    index = 0
    while index < size(left):
        other = 0
        while other < size(right):
            inner = mem[STACK]
            push(at(left, index))
            push(at(right, other))
            push(make(TUP, inner))
            other += 1
        index += 1
    return make_set(base)
