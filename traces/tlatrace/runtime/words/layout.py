"""Values as words, in flat Python: what native models compute with.

A word is a value, or `BAD` where there is none, or none that is surely the right one. Its three low
bits say what it is, the others which:

| tag    | the rest                                                          |
|--------|-------------------------------------------------------------------|
| INT    | the number, nearer to 0 than `LARGEST`                            |
| BOOL   | 0 or 1                                                            |
| STR    | where its node is: how many bytes it has, then seven in each word |
| ATOM   | the number of a model value                                       |
| TUP    | where its node is: a head, then the elements                      |
| SET    | the same, elements in the order of their words, each once         |
| FCN    | the same, key and image by turns, in the order of the keys        |

A head is the number of words after it and the tag; the word before it is for `contents`. Equal
nodes are one node (`make` looks for it, and compares): so equal values are equal words. A function
over 1..n is a tuple, as everywhere.

Questions answer 1, 0, or 2 where TLC, or the compiled Python, may refuse. Whatever is refused there
must be refused here, and more may be: who asks then asks Python.

A node of tag FACT is no value: it says that something was found TRUE of its words.

`mem` holds, from the start, what the first constants name; then the table of nodes, a stack on
which the parts of a value wait, and the nodes themselves. What does not fit sets mem[FULL]: from
then on no answer counts.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ATOM",
    "ATOMS",
    "BAD",
    "BEFORE",
    "BOOL",
    "CALLS",
    "CLASHING",
    "CURSOR",
    "DEEP",
    "DEEPEST",
    "END",
    "FACT",
    "FCN",
    "FEW",
    "FULL",
    "HALF",
    "HASH",
    "HASH_BITS",
    "INT",
    "LARGEST",
    "LISTED",
    "LISTED_END",
    "MANY",
    "MASK",
    "MOST_CALLS",
    "MOST_NESTED",
    "MOST_NODES",
    "NAMES",
    "NESTED",
    "NO",
    "NODES",
    "PACKED",
    "SET",
    "STACK",
    "STACK_END",
    "STR",
    "TABLE",
    "TEXT_END",
    "TOP",
    "TUP",
    "YES",
    "apply",
    "at",
    "joined",
    "kind_of",
    "known",
    "make",
    "make_function",
    "make_interval",
    "make_set",
    "mem",
    "place_of",
    "push",
    "push_all",
    "set_kind",
    "size",
    "sort",
]

mem: list[int] = []
"""The array, where this runs as Python."""

TOP: Final = 0
END: Final = 1
STACK: Final = 2
STACK_END: Final = 3
TABLE: Final = 4
MASK: Final = 5
NODES: Final = 6
MOST_NODES: Final = 7
FULL: Final = 8
LISTED: Final = 9
LISTED_END: Final = 10
DEEP: Final = 11
CURSOR: Final = 12
TEXT_END: Final = 13
NAMES: Final = 14
BEFORE: Final = 15
ATOMS: Final = 16
CLASHING: Final = 17
NESTED: Final = 18
"""How many calls of recursive operators are within each other now."""
CALLS: Final = 19
"""How many there were within the outermost one."""

INT: Final = 0
BOOL: Final = 1
STR: Final = 2
ATOM: Final = 3
TUP: Final = 4
SET: Final = 5
FCN: Final = 6
BAD: Final = 7
FACT: Final = 7

NO: Final = 1
YES: Final = 9
"""FALSE and TRUE as words."""

LARGEST: Final = 288230376151711744
"""2 ** 58: two words of numbers can be added, and numbers of half its bits multiplied."""
HALF: Final = 536870912
MANY: Final = 65536
"""More elements than that are left to Python."""
DEEPEST: Final = 1000
"""What is nested deeper is left to Python, whose stack has a limit that it notices."""
MOST_NESTED: Final = 128
"""Deeper recursion is left to Python: a call may need some kilobytes of the stack."""
MOST_CALLS: Final = 1048576
"""More of it, too: nobody could end it."""
FEW: Final = 16
"""Sets of so many elements are compared element by element."""

PACKED: Final = 7
"""Bytes of a string in a word."""

HASH: Final = 8790513249371567
HASH_BITS: Final = 4611686018427387903


def push(word: int) -> int:
    """Put a word on the stack."""
    at = mem[STACK]
    if at >= mem[STACK_END]:
        mem[FULL] = 1
        return 0
    mem[at] = word
    mem[STACK] = at + 1
    return 0


def size(word: int) -> int:
    """Return how many words a node has."""
    return mem[word >> 3] >> 3


def at(word: int, index: int) -> int:
    """Return a word of a node, from 0."""
    return mem[(word >> 3) + 1 + index]


def place_of(head: int, base: int) -> int:
    """Return where the table has the node of the words on the stack, or a place for it."""
    count = head >> 3
    mixed = head
    index = 0
    while index < count:
        mixed = ((mixed ^ (mem[base + index] & HASH_BITS)) * HASH) & HASH_BITS
        mixed = mixed ^ (mixed >> 29)
        index += 1
    slot = mixed & mem[MASK]
    while mem[mem[TABLE] + slot] != 0:
        node = mem[mem[TABLE] + slot]
        if mem[node] == head:
            index = 0
            while index < count and mem[node + 1 + index] == mem[base + index]:
                index += 1
            if index == count:
                break
        slot = (slot + 1) & mem[MASK]
    return mem[TABLE] + slot


def make(tag: int, base: int) -> int:
    """Return the node of what stands on the stack from `base` on, which is taken away."""
    count = mem[STACK] - base
    mem[STACK] = base
    node = mem[TOP] + 1
    if mem[FULL] or node + count + 1 > mem[END] or mem[NODES] >= mem[MOST_NODES]:
        mem[FULL] = 1
        return BAD
    head = count << 3 | tag
    slot = place_of(head, base)
    if mem[slot] != 0:
        return mem[slot] << 3 | tag
    mem[slot] = node
    mem[NODES] = mem[NODES] + 1
    mem[node - 1] = 0
    mem[node] = head
    index = 0
    while index < count:
        mem[node + 1 + index] = mem[base + index]
        index += 1
    mem[TOP] = node + count + 1
    return node << 3 | tag


def known(base: int) -> int:
    """Tell whether what stands on the stack from `base` on, which is taken away, is a FACT."""
    count = mem[STACK] - base
    mem[STACK] = base
    if mem[FULL]:
        return 0
    return mem[place_of(count << 3 | FACT, base)] != 0


def sort(base: int, end: int, step: int) -> int:
    """Sort the stack between two places by the first of every `step` words."""
    count = (end - base) // step
    gap = 1
    while gap * 3 + 1 < count:
        gap = gap * 3 + 1
    while gap > 0:
        index = gap
        while index < count:
            first = mem[base + index * step]
            second = mem[base + index * step + step - 1]
            hole = index
            while hole >= gap and mem[base + (hole - gap) * step] > first:
                mem[base + hole * step] = mem[base + (hole - gap) * step]
                mem[base + hole * step + step - 1] = mem[base + (hole - gap) * step + step - 1]
                hole -= gap
            mem[base + hole * step] = first
            mem[base + hole * step + step - 1] = second
            index += 1
        gap = gap // 3
    return 0


def kind_of(word: int) -> int:
    """Return a tag that is the same for all functions."""
    tag = word & 7
    if tag == FCN:
        return TUP
    return tag


def joined(kind: int, word: int) -> int:
    """Return the kind of a set that has one more element: ATOM if any, BAD if there are two."""
    own = kind_of(word)
    if own == ATOM:
        return kind
    if kind == ATOM:
        return own
    if kind == own:
        return own
    return BAD


def set_kind(kind: int, word: int) -> int:
    """Return the kind of the elements of a set, joined to one that is known."""
    index = 0
    count = size(word)
    while index < count and kind != BAD:
        kind = joined(kind, at(word, index))
        index += 1
    return kind


def make_set(base: int) -> int:
    """Return the set of what stands on the stack from `base` on; TLC compares its elements."""
    end = mem[STACK]
    if mem[FULL] or end - base > MANY:
        mem[STACK] = base
        return BAD
    sort(base, end, 1)
    kind = ATOM
    kept = base
    index = base
    while index < end:
        word = mem[index]
        if kept == base or mem[kept - 1] != word:
            kind = joined(kind, word)
            mem[kept] = word
            kept += 1
        index += 1
    mem[STACK] = kept
    if kind == BAD:
        mem[STACK] = base
        return BAD
    return make(SET, base)


def make_function(base: int) -> int:
    """Return the function of the keys and images on the stack from `base` on; no key twice."""
    end = mem[STACK]
    if mem[FULL] or end - base > MANY:
        mem[STACK] = base
        return BAD
    sort(base, end, 2)
    count = (end - base) // 2
    is_sequence = 1
    index = 0
    while index < count:
        key = mem[base + 2 * index]
        if index > 0 and mem[base + 2 * index - 2] == key:
            mem[STACK] = base
            return BAD
        if key != (index + 1) << 3:
            is_sequence = 0
        index += 1
    if is_sequence == 0:
        return make(FCN, base)
    index = 0
    while index < count:
        mem[base + index] = mem[base + 2 * index + 1]
        index += 1
    mem[STACK] = base + count
    return make(TUP, base)


def make_interval(low: int, high: int) -> int:
    """Return low..high as a set."""
    if low & 7 != INT or high & 7 != INT or high - low > MANY << 3:
        return BAD
    base = mem[STACK]
    while low <= high:
        push(low)
        low += 8
    return make(SET, base)


def push_all(collection: int) -> int:
    """Put the words of a node on the stack."""
    index = 0
    while index < size(collection):
        push(at(collection, index))
        index += 1
    return 0


def apply(function: int, argument: int) -> int:
    if function & 7 == TUP:
        if argument & 7 != INT or argument < 8 or argument >> 3 > size(function):
            return BAD
        return at(function, (argument >> 3) - 1)
    if function & 7 != FCN:
        return BAD
    low = 0
    high = size(function) >> 1
    while low < high:
        middle = (low + high) >> 1
        if at(function, 2 * middle) < argument:
            low = middle + 1
        else:
            high = middle
    if 2 * low < size(function) and at(function, 2 * low) == argument:
        return at(function, 2 * low + 1)
    return BAD
