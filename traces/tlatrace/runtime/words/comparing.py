"""Comparing words: 1, 0, or 2 where TLC, or the compiled Python, may refuse."""

from __future__ import annotations

from tlatrace.runtime.words.layout import (
    ATOM,
    BAD,
    DEEP,
    DEEPEST,
    FCN,
    FEW,
    FULL,
    SET,
    STACK,
    STR,
    TUP,
    apply,
    at,
    mem,
    push,
    push_all,
    set_kind,
    size,
)

__all__ = [
    "all_comparable",
    "eq",
    "eq_functions",
    "eq_records",
    "eq_sets",
    "eq_tuples",
    "found_in",
    "has_only_strings",
    "have_key",
    "member",
    "one_kind",
    "push_parts",
    "subset",
]


def eq(left: int, right: int) -> int:
    """Tell whether two values are equal."""
    if left == right:
        return 1
    tag = left & 7
    other = right & 7
    if tag == BAD or other == BAD:
        return 2
    if tag == ATOM or other == ATOM:
        return 0
    if tag == TUP and other == FCN:
        if size(left) * 2 == size(right):
            return 2
        return 0
    if tag == FCN and other == TUP:
        if size(right) == 0:
            return 0
        return 2
    if tag != other:
        return 2
    if tag < TUP:
        return 0
    if mem[DEEP] >= DEEPEST:
        return 2
    mem[DEEP] = mem[DEEP] + 1
    if tag == TUP:
        answer = eq_tuples(left, right)
    elif tag == SET:
        answer = eq_sets(left, right)
    else:
        answer = eq_functions(left, right)
    mem[DEEP] = mem[DEEP] - 1
    return answer


def eq_tuples(left: int, right: int) -> int:
    """Tell whether two tuples, which are not one, are equal: the first difference says it."""
    count = size(left)
    if count != size(right):
        return 0
    index = 0
    while at(left, index) == at(right, index):
        index += 1
    return eq(at(left, index), at(right, index))


def eq_sets(left: int, right: int) -> int:
    """Tell whether two sets, which are not one, are equal: all elements must be comparable."""
    count = size(left)
    if count != size(right):
        return 0
    kind = set_kind(set_kind(ATOM, left), right)
    if kind == BAD:
        return 2
    if kind < TUP:
        return 0
    base = mem[STACK]
    push_all(left)
    push_all(right)
    alike = all_comparable(base)
    mem[STACK] = base
    if alike:
        return 0
    if count > FEW:
        return 2
    index = 0
    while index < count:
        other = 0
        while other < count:
            if eq(at(left, index), at(right, other)) == 2:
                return 2
            other += 1
        index += 1
    return 0


def all_comparable(base: int) -> int:
    """Tell whether any two values on the stack from `base` on can surely be compared.

    Where all are functions with the same keys, their images at each key are looked at together, and
    so are all elements of sets: each value is looked at once, and not with each other one.
    """
    end = mem[STACK]
    kind = ATOM
    most = 0
    sample = BAD
    index = base
    while index < end:
        word = mem[index]
        tag = word & 7
        if tag != ATOM:
            if kind != ATOM and kind != tag:
                return 0
            kind = tag
            if tag >= TUP and size(word) > most:
                most = size(word)
            sample = word
        index += 1
    if mem[FULL] or mem[DEEP] >= DEEPEST:
        return 0
    if kind < TUP:
        return 1
    mem[DEEP] = mem[DEEP] + 1
    alike = 1
    if kind == SET:
        push_parts(base, end, 0 - 1)
        alike = all_comparable(end)
    place = 0
    while place < most and kind != SET and alike:
        mem[STACK] = end
        if kind == FCN and place & 1 == 0:
            alike = have_key(base, end, place, sample)
        else:
            push_parts(base, end, place)
            alike = all_comparable(end)
        place += 1
    mem[STACK] = end
    mem[DEEP] = mem[DEEP] - 1
    return alike


def push_parts(base: int, end: int, place: int) -> int:
    """Put a part of each value between two places of the stack on it, or all; -1."""
    index = base
    while index < end and mem[FULL] == 0:
        word = mem[index]
        if word & 7 != ATOM:
            if place < 0:
                push_all(word)
            elif place < size(word):
                push(at(word, place))
        index += 1
    return 0


def have_key(base: int, end: int, place: int, sample: int) -> int:
    """Tell whether functions have the same key in a place, and as many of them."""
    index = base
    while index < end:
        word = mem[index]
        if word & 7 != ATOM and (
            size(word) != size(sample) or at(word, place) != at(sample, place)
        ):
            return 0
        index += 1
    return 1


def has_only_strings(function: int) -> int:
    """Tell whether a function that is no tuple is a record."""
    index = 0
    while index < size(function):
        if at(function, index) & 7 != STR:
            return 0
        index += 2
    return 1


def eq_functions(left: int, right: int) -> int:
    """Tell whether two functions, which are not one, are equal; None of them is a tuple."""
    count = size(left)
    same_keys = 1
    if count != size(right):
        same_keys = 0
    index = 0
    while index < count and same_keys == 1:
        if at(left, index) != at(right, index):
            same_keys = 0
        index += 2
    if same_keys == 0:
        return eq_records(left, right)
    index = 1
    while index < count:
        if eq(at(left, index), at(right, index)) == 2:
            return 2
        index += 2
    return 0


def eq_records(left: int, right: int) -> int:
    """Tell whether functions with other keys are equal: of as many, what they share is compared."""
    if not has_only_strings(left) or not has_only_strings(right):
        return 2
    index = 0
    while index < size(left) and size(left) == size(right):
        other = apply(right, at(left, index))
        if other != BAD and eq(at(left, index + 1), other) == 2:
            return 2
        index += 2
    return 0


def found_in(word: int, collection: int) -> int:
    """Tell whether a set has a word, whatever can be compared."""
    low = 0
    high = size(collection)
    while low < high:
        middle = (low + high) >> 1
        if at(collection, middle) < word:
            low = middle + 1
        else:
            high = middle
    return low < size(collection) and at(collection, low) == word


def member(word: int, collection: int) -> int:
    r"""Tell whether `word \in collection`."""
    if word == BAD or collection & 7 != SET:
        return 2
    if found_in(word, collection):
        return 1
    if word & 7 == ATOM:
        return 0
    index = 0
    while index < size(collection):
        if eq(word, at(collection, index)) == 2:
            return 2
        index += 1
    return 0


def one_kind(left: int, right: int) -> int:
    """Tell whether all elements of two sets are of one kind, tuples and other functions apart."""
    kind = ATOM
    index = 0
    count = size(left)
    while index < count + size(right):
        if index < count:
            word = at(left, index)
        else:
            word = at(right, index - count)
        if word & 7 != ATOM:
            if kind != ATOM and kind != word & 7:
                return 0
            kind = word & 7
        index += 1
    return 1


def subset(left: int, right: int) -> int:
    r"""Tell whether `left \subseteq right`."""
    if left & 7 != SET or right & 7 != SET:
        return 2
    index = 0
    while index < size(left):
        if not found_in(at(left, index), right):
            if one_kind(left, right):
                return 0
            return 2
        index += 1
    return 1
