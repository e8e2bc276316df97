"""Numbers that say what a value is: the same in each process, whatever its words are there.

Different values have different ones but for a chance of about 2^-62. So nothing is judged by them:
steps are counted by them, and drawn at random. A node keeps its own in the word before it.
"""

from __future__ import annotations

from tlatrace.runtime.words.layout import (
    ATOM,
    ATOMS,
    FCN,
    HASH,
    HASH_BITS,
    SET,
    STR,
    at,
    mem,
    size,
)

__all__ = ["content", "content_of_node", "mixed"]


def mixed(number: int, other: int) -> int:
    """Return a number that both of them make, in this order."""
    whole = (((number * 31) & HASH_BITS) ^ other ^ (other >> 31)) & HASH_BITS
    whole = (whole * HASH) & HASH_BITS
    whole = whole ^ (whole >> 29)
    whole = (whole * HASH) & HASH_BITS
    return whole ^ (whole >> 32)


def content(word: int) -> int:
    """Return the number of a value."""
    tag = word & 7
    if tag == ATOM:
        return mem[mem[ATOMS] + (word >> 3)]
    if tag < STR:
        return mixed(tag, word & HASH_BITS)
    place = (word >> 3) - 1
    found = mem[place]
    if found == 0:
        found = content_of_node(word) | 1
        mem[place] = found
    return found


def content_of_node(word: int) -> int:
    """Return the number of a value with parts; those of sets and functions are in any order."""
    tag = word & 7
    count = size(word)
    total = mixed(tag, count)
    index = 0
    while index < count:
        part = at(word, index)
        if tag == STR:
            total = mixed(total, part)
        elif tag == SET:
            total = (total + mixed(tag, content(part))) & HASH_BITS
        elif tag == FCN:
            index += 1
            total = (total + mixed(content(part), content(at(word, index)))) & HASH_BITS
        else:
            total = mixed(total, content(part))
        index += 1
    return total
