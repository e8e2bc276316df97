"""Functions, records and sequences, as words."""

from __future__ import annotations

from tlatrace.runtime.words.layout import (
    BAD,
    FCN,
    FULL,
    INT,
    MANY,
    SET,
    STACK,
    TUP,
    apply,
    at,
    make,
    make_function,
    make_interval,
    mem,
    push,
    push_all,
    size,
)

__all__ = [
    "append",
    "apply_sequence",
    "concat",
    "count_of_pairs",
    "domain",
    "head",
    "image_at",
    "key_at",
    "key_kind",
    "length",
    "override",
    "push_pairs",
    "put",
    "single",
    "sub_sequence",
    "tail",
]


def put(function: int, argument: int, image: int) -> int:
    """Return [f EXCEPT ![x] = y]."""
    base = mem[STACK]
    index = 0
    if function & 7 == TUP:
        if argument & 7 != INT:
            return BAD
        if argument < 8 or argument >> 3 > size(function):
            return function
        push_all(function)
        if mem[FULL] == 0:
            mem[base + (argument >> 3) - 1] = image
        return make(TUP, base)
    if function & 7 != FCN:
        return BAD
    place = 0 - 1
    alike = 1
    while index < size(function):
        if at(function, index) == argument:
            place = index + 1
        if at(function, index) & 7 != argument & 7:
            alike = 0
        index += 2
    if place < 0:
        if alike and argument & 7 < TUP:
            return function
        return BAD
    push_all(function)
    if mem[FULL] == 0:
        mem[base + place] = image
    return make(FCN, base)


def domain(function: int) -> int:
    base = mem[STACK]
    if function & 7 == TUP:
        return make_interval(8, size(function) << 3)
    if function & 7 != FCN:
        return BAD
    index = 0
    while index < size(function):
        push(at(function, index))
        index += 2
    return make(SET, base)


def single(key: int, image: int) -> int:
    base = mem[STACK]
    push(key)
    push(image)
    return make_function(base)


def key_kind(function: int) -> int:
    """Return the tag of all keys; BAD where there are two, or those that have parts."""
    if function & 7 == TUP:
        return INT
    if function & 7 != FCN:
        return BAD
    kind = at(function, 0) & 7
    index = 0
    while index < size(function):
        if at(function, index) & 7 != kind or kind >= TUP:
            return BAD
        index += 2
    return kind


def override(left: int, right: int) -> int:
    """Return left @@ right."""
    kind = key_kind(left)
    if kind == BAD or key_kind(right) == BAD:
        return BAD
    if kind != key_kind(right) and size(left) != 0 and size(right) != 0:
        return BAD
    base = mem[STACK]
    push_pairs(left)
    index = 0
    while index < count_of_pairs(right):
        key = key_at(right, index)
        if apply(left, key) == BAD:
            push(key)
            push(apply(right, key))
        index += 1
    return make_function(base)


def count_of_pairs(function: int) -> int:
    if function & 7 == TUP:
        return size(function)
    return size(function) >> 1


def key_at(function: int, index: int) -> int:
    """Return a key of a function, from 0."""
    if function & 7 == TUP:
        return (index + 1) << 3
    return at(function, 2 * index)


def image_at(function: int, index: int) -> int:
    """Return the image of a key, from 0."""
    if function & 7 == TUP:
        return at(function, index)
    return at(function, 2 * index + 1)


def push_pairs(function: int) -> int:
    index = 0
    while index < count_of_pairs(function):
        push(key_at(function, index))
        push(image_at(function, index))
        index += 1
    return 0


def length(sequence: int) -> int:
    if sequence & 7 != TUP:
        return BAD
    return size(sequence) << 3


def append(sequence: int, element: int) -> int:
    if sequence & 7 != TUP:
        return BAD
    base = mem[STACK]
    push_all(sequence)
    push(element)
    return make(TUP, base)


def concat(left: int, right: int) -> int:
    if left & 7 != TUP or right & 7 != TUP or size(left) + size(right) > MANY:
        return BAD
    base = mem[STACK]
    push_all(left)
    push_all(right)
    return make(TUP, base)


def head(sequence: int) -> int:
    return apply_sequence(sequence, 8)


def apply_sequence(sequence: int, index: int) -> int:
    if sequence & 7 != TUP:
        return BAD
    return apply(sequence, index)


def tail(sequence: int) -> int:
    if sequence & 7 != TUP or size(sequence) == 0:
        return BAD
    return sub_sequence(sequence, 16, size(sequence) << 3)


def sub_sequence(sequence: int, low: int, high: int) -> int:
    if sequence & 7 != TUP or low & 7 != INT or high & 7 != INT:
        return BAD
    base = mem[STACK]
    if low <= high and (low < 8 or high >> 3 > size(sequence)):
        return BAD
    while low <= high:
        push(at(sequence, (low >> 3) - 1))
        low += 8
    return make(TUP, base)
