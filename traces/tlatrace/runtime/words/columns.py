"""Words of states whose variables stand in columns: each of their texts is read once.

A column has the different texts of a variable in some rows, and a row the numbers of its own.
"""

from __future__ import annotations

from typing import Final

from tlatrace.runtime.words.layout import (
    BAD,
    CLASHING,
    CURSOR,
    STACK,
    TEXT_END,
    TUP,
    make,
    mem,
    push,
)
from tlatrace.runtime.words.texts import KNOWN, read_variable

__all__ = ["ENTRY", "UNREAD", "read_columns", "read_entry"]

ENTRY: Final = 3
"""Words for each text of a column: where it begins and ends, and its value."""
UNREAD: Final = 15
"""Stands for the value of a text that has not been read; no value has this word."""


def read_entry(place: int, entry: int) -> int:
    """Read a text that is a value of a variable, and nothing more."""
    mem[CLASHING] = mem[place + 6]
    mem[CURSOR] = mem[entry]
    mem[TEXT_END] = mem[entry + 1]
    word = read_variable(place)
    if mem[CURSOR] != mem[entry + 1]:
        return BAD
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
