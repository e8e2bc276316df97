"""Breadth-first search in flat Python: a level after the other, without Python between the states.

A state is the word of its tuple; `q` is where the search has its own words, which the first
constants name. Of states that are images of each other the first one counts: the least image, by
the words of its parts, stands for all of them. A state is looked at once, so the table says of each
what became of it: its number from 1, or `OUTSIDE`, or `CHECKED`.

What a model answers is written beside this by the compiler: the functions of `asked`.
"""

from __future__ import annotations

from typing import Final

from tlatrace.runtime.words.asked import (
    asked_arity,
    asked_constraints,
    asked_initial_properties,
    asked_initials,
    asked_invariants,
    asked_properties,
    asked_step,
    asked_steps,
    asked_view,
)
from tlatrace.runtime.words.layout import (
    ATOM,
    BAD,
    DEEP,
    DEEPEST,
    FULL,
    HASH,
    HASH_BITS,
    LISTED,
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

__all__ = [
    "ACTIONS",
    "AFTER",
    "ALL_SEEN",
    "ARGUMENTS",
    "BOTTOM",
    "BROKEN",
    "CHECKED",
    "DEADLOCK",
    "DEADLOCKED",
    "EXPANDED",
    "FOUND",
    "FOUND_MOST",
    "GENERATED",
    "IMAGES",
    "IMAGES_MASK",
    "LEVEL",
    "LEVEL_END",
    "LIST",
    "MORE_TO_DO",
    "NOT_SURE",
    "OUTSIDE",
    "PERMUTATIONS",
    "PERMUTATIONS_END",
    "PERMUTATION_SIZE",
    "SEARCH_WORDS",
    "SEEN",
    "SEEN_COUNT",
    "SEEN_END",
    "SEEN_MASK",
    "STATES",
    "TAKEN",
    "TAKEN_MASK",
    "TAKEN_STAMP",
    "TOO_MANY",
    "VIEWED",
    "VIOLATED",
    "VIOLATING",
    "VIOLATING_SOURCE",
    "arrive",
    "arrive_all",
    "begin",
    "expand",
    "grow",
    "holds",
    "image_of",
    "is_new",
    "keeps",
    "key_of",
    "leave",
    "mark",
    "representative",
    "search",
    "slot_of",
]

FOUND: Final = 0
FOUND_MOST: Final = 1
EXPANDED: Final = 2
LEVEL: Final = 3
LEVEL_END: Final = 4
GENERATED: Final = 5
VIOLATING: Final = 6
VIOLATING_SOURCE: Final = 7
STATES: Final = 8
"""Where the states are, each with the number, from 0, of the one before it; -1: there is none."""
SEEN: Final = 9
"""Where pairs of a word and what became of it are."""
SEEN_MASK: Final = 10
SEEN_COUNT: Final = 11
SEEN_END: Final = 12
TAKEN: Final = 13
"""Where pairs of a stamp and the place of a listed step are."""
TAKEN_MASK: Final = 14
TAKEN_STAMP: Final = 15
PERMUTATIONS: Final = 16
PERMUTATIONS_END: Final = 17
PERMUTATION_SIZE: Final = 18
IMAGES: Final = 19
"""Where images are remembered: a word, a permutation, the image."""
IMAGES_MASK: Final = 20
LIST: Final = 21
BOTTOM: Final = 22
AFTER: Final = 23
ARGUMENTS: Final = 24
DEADLOCK: Final = 25
VIEWED: Final = 26
"""Whether states with the same value of the VIEW count once."""
BROKEN: Final = 27
"""Whether it is a property that the step to the violating state breaks."""
ACTIONS: Final = 28
"""Where pairs of counts are, one for each label: its steps, and the states that they found."""
SEARCH_WORDS: Final = 32

OUTSIDE: Final = -1
CHECKED: Final = -2
"""Its invariants were asked, but no step that leads to it is explored."""

ALL_SEEN: Final = 0
MORE_TO_DO: Final = 1
NOT_SURE: Final = 2
VIOLATED: Final = 3
DEADLOCKED: Final = 4
TOO_MANY: Final = 5


def slot_of(word: int, q: int) -> int:
    """Return where a word stands among those that were seen, or would stand."""
    mask = mem[q + SEEN_MASK]
    mixed = (word * HASH) & HASH_BITS
    slot = (mixed ^ (mixed >> 29)) & mask
    place = mem[q + SEEN] + 2 * slot
    while mem[place] != 0 and mem[place] != word:
        slot = (slot + 1) & mask
        place = mem[q + SEEN] + 2 * slot
    return place


def grow(q: int) -> int:
    """Move the table of what was seen behind itself, where it has twice the room."""
    old = mem[q + SEEN]
    room = 2 * (mem[q + SEEN_MASK] + 1)
    if old + 3 * room > mem[q + SEEN_END]:
        mem[FULL] = 1
        return 0
    mem[q + SEEN] = old + room
    mem[q + SEEN_MASK] = room - 1
    index = 0
    while index < room:
        if mem[old + index] != 0:
            place = slot_of(mem[old + index], q)
            mem[place] = mem[old + index]
            mem[place + 1] = mem[old + index + 1]
        index += 2
    return 0


def mark(word: int, became: int, q: int) -> int:
    """Note what became of a word."""
    place = slot_of(word, q)
    mem[place + 1] = became
    if mem[place] != 0:
        return 0
    mem[place] = word
    mem[q + SEEN_COUNT] = mem[q + SEEN_COUNT] + 1
    if 2 * mem[q + SEEN_COUNT] > mem[q + SEEN_MASK]:
        grow(q)
    return 0


def image_of(word: int, table: int, q: int) -> int:
    """Return `permuted` of a word, remembered; where it is not sure, there is no room."""
    tag = word & 7
    if tag == ATOM:
        return mem[table + (word >> 3)]
    if tag < TUP:
        return word
    mixed = ((word ^ table) * HASH) & HASH_BITS
    known = mem[q + IMAGES] + 3 * ((mixed ^ (mixed >> 29)) & mem[q + IMAGES_MASK])
    if mem[known] == word and mem[known + 1] == table:
        return mem[known + 2]
    if mem[DEEP] >= DEEPEST:
        mem[FULL] = 1
        return BAD
    mem[DEEP] = mem[DEEP] + 1
    base = mem[STACK]
    index = 0
    while index < size(word):
        push(image_of(at(word, index), table, q))
        index += 1
    mem[DEEP] = mem[DEEP] - 1
    if tag == TUP:
        image = make(TUP, base)
    elif tag == SET:
        image = make_set(base)
    else:
        image = make_function(base)
    if image == BAD:
        mem[FULL] = 1
        return BAD
    mem[known] = word
    mem[known + 1] = table
    mem[known + 2] = image
    return image


def representative(state: int, q: int) -> int:
    """Return the least image of a state: its parts are compared one after the other."""
    best = mem[STACK]
    width = size(state)
    index = 0
    while index < width:
        push(at(state, index))
        index += 1
    other = mem[STACK]
    is_same = 1
    table = mem[q + PERMUTATIONS]
    while table < mem[q + PERMUTATIONS_END]:
        is_less = 0
        index = 0
        while index < width and mem[FULL] == 0:
            word = image_of(at(state, index), table, q)
            if is_less == 0:
                if word > mem[best + index]:
                    break
                is_less = word < mem[best + index]
            push(word)
            index += 1
        if mem[FULL]:
            return BAD
        if is_less and index == width:
            is_same = 0
            index = 0
            while index < width:
                mem[best + index] = mem[other + index]
                index += 1
        mem[STACK] = other
        table += mem[q + PERMUTATION_SIZE]
    if is_same:
        mem[STACK] = best
        return state
    return make(TUP, best)


def key_of(state: int, q: int) -> int:
    """Return the word that says which states count once: the least image, or a set of its VIEW."""
    mem[STACK] = mem[q + BOTTOM]
    key = state
    if mem[q + PERMUTATIONS] < mem[q + PERMUTATIONS_END]:
        key = representative(state, q)
    if mem[q + VIEWED] and mem[FULL] == 0:
        mem[STACK] = mem[q + BOTTOM]
        word = asked_view((key >> 3) + 1, mem[q + ARGUMENTS])
        if word == BAD:
            return BAD
        mem[STACK] = mem[q + BOTTOM]
        push(word)
        key = make(SET, mem[q + BOTTOM])
    if mem[FULL]:
        return BAD
    return key


def holds(state: int, source: int, q: int) -> int:
    """Ask a state's invariants: 1, or 2 where one is not sure; the first that is FALSE is kept."""
    mem[STACK] = mem[q + BOTTOM]
    answer = asked_invariants((state >> 3) + 1, mem[q + ARGUMENTS])
    if answer == 2 or mem[FULL]:
        return 2
    if answer == 0 and mem[q + VIOLATING] == 0:
        mem[q + VIOLATING] = state
        mem[q + VIOLATING_SOURCE] = source
    return 1


def keeps(before: int, state: int, source: int, q: int) -> int:
    """Ask what properties say of a step, or, after 0, of an initial state: as `holds`."""
    mem[STACK] = mem[q + BOTTOM]
    if before == 0:
        answer = asked_initial_properties((state >> 3) + 1, mem[q + ARGUMENTS])
    else:
        answer = asked_properties((before >> 3) + 1, (state >> 3) + 1, mem[q + ARGUMENTS])
    if answer == 2 or mem[FULL]:
        return 2
    if answer == 0 and mem[q + VIOLATING] == 0:
        mem[q + VIOLATING] = state
        mem[q + VIOLATING_SOURCE] = source
        mem[q + BROKEN] = 1
    return 1


def arrive(state: int, source: int, q: int) -> int:
    """Look at a state that a step leads to, if nobody did: 1, or 2 where an answer is not sure."""
    known = mem[slot_of(state, q) + 1]
    if known > 0 or known == OUTSIDE:
        return 1
    key = key_of(state, q)
    if key == BAD:
        return 2
    became = mem[slot_of(key, q) + 1]
    if became > 0:
        mark(state, became, q)
        return 1
    if known != CHECKED and holds(state, source, q) == 2:
        return 2
    mem[STACK] = mem[q + BOTTOM]
    inside = asked_constraints((state >> 3) + 1, mem[q + ARGUMENTS])
    if inside == 2 or mem[FULL]:
        return 2
    if inside == 0:
        mark(state, OUTSIDE, q)
        return 1
    count = mem[q + FOUND]
    if count >= mem[q + FOUND_MOST]:
        mem[FULL] = 1
        return 2
    mem[mem[q + STATES] + 2 * count] = state
    mem[mem[q + STATES] + 2 * count + 1] = source
    mem[q + FOUND] = count + 1
    mark(state, count + 1, q)
    if key != state:
        mark(key, count + 1, q)
    return 1


def leave(state: int, source: int, q: int) -> int:
    """Look at a state to which no explored step leads: only its invariants are asked."""
    known = mem[slot_of(state, q) + 1]
    if known < 0:
        return 1
    if known > 0 and mem[mem[q + STATES] + 2 * (known - 1)] == state:
        return 1
    if holds(state, source, q) == 2:
        return 2
    if known == 0:
        mark(state, CHECKED, q)
    return 1


def is_new(place: int, end: int, q: int) -> int:
    """Tell whether a step was not listed before in this list: its label, arguments and state."""
    mixed = 0
    index = place
    while index < end:
        mixed = ((mixed ^ (mem[index] & HASH_BITS)) * HASH) & HASH_BITS
        mixed = mixed ^ (mixed >> 29)
        index += 1
    slot = mixed & mem[q + TAKEN_MASK]
    taken = mem[q + TAKEN] + 2 * slot
    while mem[taken] == mem[q + TAKEN_STAMP]:
        other = mem[taken + 1]
        index = place
        while index < end and mem[index] == mem[other + index - place]:
            index += 1
        if index == end:
            return 0
        slot = (slot + 1) & mem[q + TAKEN_MASK]
        taken = mem[q + TAKEN] + 2 * slot
    mem[taken] = mem[q + TAKEN_STAMP]
    mem[taken + 1] = place
    return 1


def arrive_all(before: int, source: int, q: int) -> int:
    """Look at all states that are listed; return how many steps there are, -1: not sure."""
    end = mem[LISTED]
    mem[q + TAKEN_STAMP] = mem[q + TAKEN_STAMP] + 1
    while mem[q + TAKEN_MASK] < end - mem[q + LIST]:
        mem[q + TAKEN_MASK] = 2 * mem[q + TAKEN_MASK] + 1
    moves = 0
    place = mem[q + LIST]
    while place < end:
        last = place + 1 + asked_arity(mem[place])
        if is_new(place, last + 1, q):
            moves += 1
            mem[q + GENERATED] = mem[q + GENERATED] + 1
            counts = mem[q + ACTIONS] + 2 * mem[place]
            mem[counts] = mem[counts] + 1
            state = mem[last]
            found = mem[q + FOUND]
            explored = 1
            if before != 0:
                mem[STACK] = mem[q + BOTTOM]
                explored = asked_step((before >> 3) + 1, (state >> 3) + 1, mem[q + ARGUMENTS])
            if explored == 2 or mem[FULL]:
                return -1
            if explored:
                answer = arrive(state, source, q)
            else:
                answer = leave(state, source, q)
            if answer == 2 or keeps(before, state, source, q) == 2:
                return -1
            mem[counts + 1] = mem[counts + 1] + mem[q + FOUND] - found
        place = last + 1
    return moves


def begin(q: int) -> int:
    """Look at the initial states: 1, or `NOT_SURE`."""
    mem[LISTED] = mem[q + LIST]
    mem[STACK] = mem[q + BOTTOM]
    if asked_initials(mem[q + AFTER], mem[q + AFTER], mem[q + ARGUMENTS]) != 1 or mem[FULL]:
        return NOT_SURE
    if arrive_all(0, -1, q) < 0:
        return NOT_SURE
    return 1


def expand(q: int) -> int:
    """Follow every step from the next state; return how many there are, -1: not sure."""
    number = mem[q + EXPANDED]
    state = mem[mem[q + STATES] + 2 * number]
    mem[LISTED] = mem[q + LIST]
    mem[STACK] = mem[q + BOTTOM]
    if asked_steps((state >> 3) + 1, mem[q + AFTER], mem[q + ARGUMENTS]) != 1 or mem[FULL]:
        return -1
    return arrive_all(state, number, q)


def search(budget: int, most: int, q: int) -> int:
    """Expand so many states, unless the search ends; with more than `most` states it does."""
    while mem[q + EXPANDED] < mem[q + FOUND] and mem[q + VIOLATING] == 0:
        if mem[q + FOUND] > most:
            return TOO_MANY
        if budget == 0:
            return MORE_TO_DO
        budget -= 1
        if mem[q + EXPANDED] == mem[q + LEVEL_END]:
            mem[q + LEVEL] = mem[q + LEVEL] + 1
            mem[q + LEVEL_END] = mem[q + FOUND]
        moves = expand(q)
        if moves < 0:
            return NOT_SURE
        if moves == 0 and mem[q + DEADLOCK]:
            return DEADLOCKED
        mem[q + EXPANDED] = mem[q + EXPANDED] + 1
    if mem[q + VIOLATING] != 0:
        return VIOLATED
    return ALL_SEEN
