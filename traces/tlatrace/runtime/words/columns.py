"""Words of states whose variables stand in columns: each of their texts is read once.

A column has the different texts of a variable in some rows, and a row the numbers of its own. Texts
that have been read are remembered where they stand, by their bytes, as long as their host keeps
them in memory.
"""

from __future__ import annotations

from typing import Final

from tlatrace.runtime.words.layout import (
    BAD,
    CLASHING,
    CURSOR,
    FULL,
    STACK,
    TEXT_END,
    TUP,
    make,
    mem,
    push,
)
from tlatrace.runtime.words.texts import KNOWN, compare_text, read_variable, text

__all__ = [
    "ENTRY",
    "MOST_TEXTS",
    "TEXT",
    "TEXTS",
    "UNREAD",
    "hash_text",
    "place_of_text",
    "read_columns",
    "read_entry",
]

ENTRY: Final = 3
"""Words for each text of a column: where it begins and ends, and its value."""
UNREAD: Final = 15
"""Stands for the value of a text that has not been read; no value has this word."""

TEXTS: Final = 262144
"""Places for texts that have been read, behind a word that counts them."""
TEXT: Final = 5
"""Words for each: where it begins, its bytes, their number, the variable, the value."""
MOST_TEXTS: Final = 131072

HASH_FACTOR: Final = 7046029254386353131


def hash_text(at: int, count: int) -> int:
    """Return a number for so many bytes, eight at a time; machine code computes the same."""
    whole = count & -8
    found = count
    for index in (*range(0, whole, 8), *range(whole, count)):
        part = text[at + index : at + index + (8 if index < whole else 1)]
        found = (found ^ int.from_bytes(part, "little")) * HASH_FACTOR & 0xFFFFFFFFFFFFFFFF
        found = found ^ (found >> 32)
    return found - (found >> 63 << 64)


def place_of_text(place: int, start: int, count: int) -> int:
    """Return where a text of a variable is remembered; a place that is free if it is not."""
    number = hash_text(start, count) ^ place
    index = number & (TEXTS - 1)
    at = mem[place + 8] + 1 + TEXT * index
    while mem[at]:
        if (
            mem[at + 2] == number
            and mem[at + 1] == count
            and mem[at + 3] == place
            and compare_text(mem[at], start, count) == 0
        ):
            return at
        index = (index + 1) & (TEXTS - 1)
        at = mem[place + 8] + 1 + TEXT * index
    mem[at + 2] = number
    return at


def read_entry(place: int, entry: int) -> int:
    """Read a text that is a value of a variable, and nothing more."""
    start = mem[entry]
    count = mem[entry + 1] - start
    at = place_of_text(place, start, count)
    if mem[at]:
        return mem[at + 4]
    mem[CLASHING] = mem[place + 6]
    mem[CURSOR] = start
    mem[TEXT_END] = mem[entry + 1]
    word = read_variable(place)
    if mem[CURSOR] != mem[entry + 1]:
        return BAD
    counted = mem[place + 8]
    if word != BAD and mem[FULL] == 0 and mem[counted] < MOST_TEXTS:
        mem[at] = start
        mem[at + 1] = count
        mem[at + 3] = place
        mem[at + 4] = word
        mem[counted] = mem[counted] + 1
    return word


def read_columns(row: int, known: int, width: int) -> int:
    """Return the state of a row: `row` is where the numbers of its texts stand.

    `known`: where `KNOWN` words for each variable stand.
    """
    base = mem[STACK]
    index = 0
    while index < width:
        place = known + KNOWN * index
        number = mem[row + index]
        if number < 0:
            return BAD
        entry = mem[place + 7] + ENTRY * number
        word = mem[entry + 2]
        if word == UNREAD:
            word = read_entry(place, entry)
            mem[entry + 2] = word
        if word == BAD:
            return BAD
        push(word)
        index += 1
    return make(TUP, base)
