"""Steps that are listed, and states under permutations of model values."""

from __future__ import annotations

from tlatrace.runtime.words.layout import (
    ATOM,
    BAD,
    DEEP,
    DEEPEST,
    FULL,
    LISTED,
    LISTED_END,
    SET,
    STACK,
    TUP,
    at,
    make,
    make_function,
    make_set,
    mem,
    push,
    size,
)

__all__ = ["list_state", "list_word", "permuted"]


def list_word(word: int) -> int:
    """Put a word at the end of the list."""
    place = mem[LISTED]
    if place >= mem[LISTED_END]:
        mem[FULL] = 1
        return 0
    mem[place] = word
    mem[LISTED] = place + 1
    return 0


def list_state(start: int, count: int) -> int:
    """Put the tuple of so many words at the end of the list."""
    base = mem[STACK]
    index = 0
    while index < count:
        push(mem[start + index])
        index += 1
    return list_word(make(TUP, base))


def permuted(word: int, table: int) -> int:
    """Return a value in which the model value n is the one whose word stands at table + n."""
    tag = word & 7
    if tag == ATOM:
        return mem[table + (word >> 3)]
    if tag < TUP:
        return word
    if mem[DEEP] >= DEEPEST:
        mem[FULL] = 1
        return BAD
    mem[DEEP] = mem[DEEP] + 1
    base = mem[STACK]
    index = 0
    while index < size(word):
        push(permuted(at(word, index), table))
        index += 1
    mem[DEEP] = mem[DEEP] - 1
    if tag == TUP:
        return make(TUP, base)
    if tag == SET:
        return make_set(base)
    return make_function(base)
