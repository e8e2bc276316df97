"""What `compiler.passes.membership` asks of a word instead of building a set: 1, 0, or 2."""

from __future__ import annotations

from tlatrace.runtime.words.comparing import eq, has_only_strings, member
from tlatrace.runtime.words.functions import domain
from tlatrace.runtime.words.layout import (
    ATOM,
    BAD,
    BOOL,
    FCN,
    FULL,
    INT,
    SET,
    STACK,
    STR,
    TUP,
    apply,
    mem,
    size,
)

__all__ = [
    "has_domain",
    "has_fields",
    "has_length",
    "has_tag",
    "in_domain",
    "in_interval",
    "is_int",
    "is_nat",
    "is_sequence",
    "is_string",
    "shares_fields",
    "truth",
]


def truth(word: int) -> int:
    """Return what a boolean says."""
    if word & 7 != BOOL:
        return 2
    return word >> 3


def in_interval(word: int, low: int, high: int) -> int:
    if low & 7 != INT or high & 7 != INT:
        return 2
    if word & 7 == INT:
        return low <= word and word <= high
    if word & 7 == ATOM or low > high:
        return 0
    return 2


def has_tag(word: int, tag: int) -> int:
    """Tell whether a value is of a kind; a model value is of no other one."""
    if word & 7 == tag:
        return 1
    if word & 7 == ATOM:
        return 0
    return 2


def is_nat(word: int) -> int:
    if word & 7 == INT:
        return word >= 0
    return has_tag(word, INT)


def is_int(word: int) -> int:
    return has_tag(word, INT)


def is_string(word: int) -> int:
    return has_tag(word, STR)


def is_sequence(word: int) -> int:
    return has_tag(word, TUP)


def has_domain(word: int, wanted: int) -> int:
    if word & 7 == ATOM:
        return 0
    if wanted & 7 != SET:
        return 2
    return eq(domain(word), wanted)


def has_length(word: int, count: int) -> int:
    if count & 7 != INT:
        return 2
    if word & 7 == TUP:
        return size(word) == count >> 3
    if word & 7 == FCN and not has_only_strings(word):
        return 0
    return has_tag(word, TUP)


def in_domain(word: int, function: int) -> int:
    if function & 7 == TUP:
        return in_interval(word, 8, size(function) << 3)
    return member(word, domain(function))


def has_fields(word: int, base: int) -> int:
    """Tell whether a record has the fields that stand on the stack, and no others."""
    count = mem[STACK] - base
    mem[STACK] = base
    if mem[FULL]:
        return 2
    if word & 7 == FCN:
        if size(word) == 2 * count:
            index = 0
            while index < count and apply(word, mem[base + index]) != BAD:
                index += 1
            if index == count:
                return 1
        if has_only_strings(word):
            return 0
        return 2
    if word & 7 == ATOM or (word & 7 == TUP and size(word) == 0):
        return 0
    return 2


def shares_fields(word: int, base: int) -> int:
    """Tell whether a record has as many fields as stand on the stack, and some of them."""
    count = mem[STACK] - base
    mem[STACK] = base
    if mem[FULL]:
        return 2
    if word & 7 != FCN or size(word) != 2 * count:
        return 0
    index = 0
    while index < count:
        if apply(word, mem[base + index]) != BAD:
            return 1
        index += 1
    return 0
