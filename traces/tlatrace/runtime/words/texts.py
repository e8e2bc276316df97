"""Words from canonical JSON texts, and from no other texts.

`text` holds them; mem[CURSOR] is where reading has come to, mem[TEXT_END] where it ends. A text
that is not surely canonical, or has escapes, letters beyond ASCII or large numbers in it, is BAD:
then the plain reading of `tlatrace.trace.canonical_text` is asked, whose rules these are.
"""

from __future__ import annotations

from typing import Final

from tlatrace.runtime.words.layout import (
    ATOM,
    BAD,
    CLASHING,
    CURSOR,
    FULL,
    INT,
    NAMES,
    NO,
    PACKED,
    STACK,
    STR,
    TEXT_END,
    TUP,
    YES,
    apply,
    make,
    make_function,
    make_set,
    mem,
    push,
)

__all__ = [
    "CHILD",
    "CHILDREN",
    "KNOWN",
    "before",
    "byte_at",
    "compare_text",
    "found_again",
    "is_special",
    "named",
    "read_digits",
    "read_elements",
    "read_key",
    "read_known_set",
    "read_number",
    "read_object",
    "read_pairs",
    "read_record",
    "read_state",
    "read_string",
    "read_text",
    "read_value",
    "read_variable",
    "step_over",
    "text",
]

text: bytearray = bytearray()
"""The text, where this runs as Python."""

QUOTE: Final = 34
SHARP: Final = 35
COMMA: Final = 44
MINUS: Final = 45
ZERO: Final = 48
NINE: Final = 57
COLON: Final = 58
OPENING: Final = 91
BACKSLASH: Final = 92
CLOSING: Final = 93
LEFT_BRACE: Final = 123
RIGHT_BRACE: Final = 125
DELETE: Final = 127

DIGITS: Final = 16
PLAIN: Final = 9007199254740992
"""2 ** 53: from here on a number is written as an object."""
TEXT_DEPTH: Final = 40
"""What is nested deeper is left to Python."""

KNOWN: Final = 9
"""Words for each variable: its name, and of its text in the last state the place, the bytes, the
value; where the elements of its last set stand, and where those of the next one are to; whether
names of model values are CLASHING with strings in it; where the texts of its column stand, and
where the texts of all columns that have been read (see `columns`)."""
CHILDREN: Final = 256
"""Elements of a set that are known by their texts: how many, then place, bytes, value of each."""
CHILD: Final = 3


def compare_text(left: int, right: int, count: int) -> int:
    """Compare so many bytes at two places: -1, 0 or 1; machine code has its own."""
    one = text[left : left + count]
    other = text[right : right + count]
    return (one > other) - (one < other)


def before(left: int, left_count: int, right: int, right_count: int) -> int:
    """Tell whether a text stands before another one in order."""
    if left_count < right_count:
        order = compare_text(left, right, left_count)
        return order <= 0
    return compare_text(left, right, right_count) < 0


def byte_at(at: int) -> int:
    """Return a byte; 0, which no text has, behind the end."""
    if at < mem[TEXT_END]:
        return text[at]
    return 0


def step_over(byte: int) -> int:
    """Go on if this byte is next; tell whether it is."""
    at = mem[CURSOR]
    if byte_at(at) != byte:
        return 0
    mem[CURSOR] = at + 1
    return 1


def read_string() -> int:
    """Read a string: its bytes are counted, then packed."""
    if not step_over(QUOTE):
        return BAD
    start = mem[CURSOR]
    at = start
    base = mem[STACK]
    push(0)
    word = 0
    shift = 0
    byte = byte_at(at)
    while byte != QUOTE:
        if byte < 32 or byte == BACKSLASH or byte >= DELETE:
            return BAD
        word = word | byte << shift
        shift += 8
        if shift == 8 * PACKED:
            push(word)
            word = 0
            shift = 0
        at += 1
        byte = byte_at(at)
    if shift > 0:
        push(word)
    if mem[FULL]:
        return BAD
    mem[base] = at - start
    mem[CURSOR] = at + 1
    return make(STR, base)


def named(string: int) -> int:
    """Return the model value that a string stands for, or the string.

    Where mem[CLASHING] is set, a string with the name of a model value may be one, or none.
    """
    name = apply(mem[NAMES], string)
    if name == BAD:
        return string
    if mem[CLASHING]:
        return BAD
    return name


def read_number() -> int:
    negative = step_over(MINUS)
    start = mem[CURSOR]
    number = read_digits()
    count = mem[CURSOR] - start
    if count == 0 or count > DIGITS or number >= PLAIN:
        return BAD
    if byte_at(start) == ZERO and (count > 1 or negative):
        return BAD
    if negative:
        number = 0 - number
    return number << 3


def read_digits() -> int:
    """Read digits up to one too many."""
    at = mem[CURSOR]
    end = at + DIGITS + 1
    number = 0
    byte = byte_at(at)
    while byte >= ZERO and byte <= NINE and at < end:
        number = number * 10 + byte - ZERO
        at += 1
        byte = byte_at(at)
    mem[CURSOR] = at
    return number


def read_value(depth: int) -> int:
    """Read a value; what it leaves on the stack where there is none is no longer needed."""
    byte = byte_at(mem[CURSOR])
    if depth > TEXT_DEPTH:
        return BAD
    if byte == QUOTE:
        return named(read_string())
    if byte == LEFT_BRACE:
        return read_object(depth + 1)
    if byte == OPENING:
        base = mem[STACK]
        mem[CURSOR] = mem[CURSOR] + 1
        if not read_elements(depth + 1, 0):
            return BAD
        return make(TUP, base)
    if byte == 116:
        if step_over(116) and step_over(114) and step_over(117) and step_over(101):
            return YES
        return BAD
    if byte == 102:
        if (
            step_over(102)
            and step_over(97)
            and step_over(108)
            and step_over(115)
            and step_over(101)
        ):
            return NO
        return BAD
    return read_number()


def read_elements(depth: int, in_order: int) -> int:
    """Read values up to the bracket; those of a set are in order. Tell whether it is reached."""
    last = 0
    last_count = 0 - 1
    if step_over(CLOSING):
        return 1
    while mem[FULL] == 0:
        start = mem[CURSOR]
        word = read_value(depth)
        if word == BAD:
            return 0
        count = mem[CURSOR] - start
        if in_order:
            if last_count >= 0 and not before(last, last_count, start, count):
                return 0
            last = start
            last_count = count
        push(word)
        if step_over(CLOSING):
            return 1
        if not step_over(COMMA):
            return 0
    return 0


def is_special(first: int, second: int, third: int) -> int:
    """Tell whether an object begins with "#" and three letters; then go to its elements."""
    at = mem[CURSOR] + 3
    if byte_at(at) != first or byte_at(at + 1) != second or byte_at(at + 2) != third:
        return 0
    if byte_at(at + 3) != QUOTE or byte_at(at + 4) != COLON or byte_at(at + 5) != OPENING:
        return 0
    mem[CURSOR] = at + 6
    return 1


def read_object(depth: int) -> int:
    base = mem[STACK]
    at = mem[CURSOR]
    if byte_at(at + 1) != QUOTE or byte_at(at + 2) != SHARP:
        return read_record(depth)
    if is_special(115, 101, 116):
        if read_elements(depth, 1) and step_over(RIGHT_BRACE):
            return make_set(base)
        return BAD
    if is_special(109, 97, 112) and read_pairs(depth) and step_over(RIGHT_BRACE):
        return make_function(base)
    return BAD


def read_key() -> int:
    """Read the name of a field; "#" begins no name."""
    if byte_at(mem[CURSOR] + 1) == SHARP:
        return BAD
    return read_string()


def read_record(depth: int) -> int:
    """Read an object: its names are strings, or all of them are those of model values."""
    base = mem[STACK]
    atoms = 0
    count = 0
    last = 0
    last_count = 0
    mem[CURSOR] = mem[CURSOR] + 1
    while mem[FULL] == 0:
        start = mem[CURSOR] + 1
        key = read_key()
        length = mem[CURSOR] - 1 - start
        if key == BAD or not step_over(COLON):
            return BAD
        if count > 0 and not before(last, last_count, start, length):
            return BAD
        last = start
        last_count = length
        name = named(key)
        if name == BAD:
            return BAD
        atoms += name != key
        push(name)
        image = read_value(depth)
        if image == BAD:
            return BAD
        push(image)
        count += 1
        if step_over(RIGHT_BRACE):
            if atoms != 0 and atoms != count:
                return BAD
            return make_function(base)
        if not step_over(COMMA):
            return BAD
    return BAD


def read_pairs(depth: int) -> int:
    """Read [key, image] pairs of a function that is neither a record nor a tuple."""
    base = mem[STACK]
    strings = 0
    last = 0
    last_count = 0 - 1
    done = 0
    while not done:
        if mem[FULL] or not step_over(OPENING):
            return 0
        start = mem[CURSOR]
        key = read_value(depth)
        count = mem[CURSOR] - start
        if key == BAD or not step_over(COMMA):
            return 0
        if last_count >= 0 and not before(last, last_count, start, count):
            return 0
        last = start
        last_count = count
        if key & 7 == STR or key & 7 == ATOM:
            strings += 1
        push(key)
        image = read_value(depth)
        if image == BAD or not step_over(CLOSING):
            return 0
        push(image)
        done = step_over(CLOSING)
        if not done and not step_over(COMMA):
            return 0
    pairs = (mem[STACK] - base) // 2
    if strings == pairs or mem[FULL]:
        return 0
    index = 0
    while index < pairs:
        key = mem[base + 2 * index]
        if key & 7 != INT or key < 8 or key >> 3 > pairs:
            return 1
        index += 1
    return 0


def read_text(start: int, end: int, clashing: int) -> int:
    """Read a text that is one value."""
    mem[CLASHING] = clashing
    mem[TEXT_END] = end
    mem[CURSOR] = start
    word = read_value(0)
    if mem[CURSOR] != end:
        return BAD
    return word


def found_again(elements: int, index: int) -> int:
    """Return which of the next elements of the last set stands here, as a whole; else -1."""
    at = mem[CURSOR]
    last = index + 2
    while index < mem[elements] and index <= last:
        child = elements + 1 + CHILD * index
        count = mem[child + 1]
        follows = byte_at(at + count)
        ends = follows == COMMA or follows == CLOSING  # flat Python has no tuples
        if ends and compare_text(mem[child], at, count) == 0:
            return index
        index += 1
    return 0 - 1


def read_known_set(old: int, new: int) -> int:
    """Read the elements of a set, most of which were in the last one, up to the end of it."""
    base = mem[STACK]
    index = 0
    count = 0
    last = 0
    last_count = 0
    follows = 0
    done = step_over(CLOSING)
    while not done:
        start = mem[CURSOR]
        found = found_again(old, index)
        if found < 0:
            word = read_value(1)
            follows = 0
        else:
            mem[CURSOR] = start + mem[old + 1 + CHILD * found + 1]
            word = mem[old + 1 + CHILD * found + 2]
            follows = follows and found == index
            index = found + 1
        length = mem[CURSOR] - start
        if word == BAD or mem[FULL]:
            return BAD
        if count > 0 and not follows and not before(last, last_count, start, length):
            return BAD
        follows = found >= 0
        last = start
        last_count = length
        if count < CHILDREN:
            child = new + 1 + CHILD * count
            mem[child] = start
            mem[child + 1] = length
            mem[child + 2] = word
            count += 1
            mem[new] = count
        push(word)
        done = step_over(CLOSING)
        if not done and not step_over(COMMA):
            return BAD
    if not step_over(RIGHT_BRACE):
        return BAD
    return make_set(base)


def read_variable(place: int) -> int:
    """Read the value of a variable."""
    at = mem[CURSOR]
    if byte_at(at) != LEFT_BRACE or byte_at(at + 1) != QUOTE or byte_at(at + 2) != SHARP:
        return read_value(0)
    if not is_special(115, 101, 116):
        return read_value(0)
    old = mem[place + 4]
    new = mem[place + 5]
    mem[new] = 0
    mem[place + 4] = new
    mem[place + 5] = old
    return read_known_set(old, new)


def read_state(start: int, end: int, known: int, width: int) -> int:
    """Read the object of all variables as a tuple; most have the text that they had last.

    `known`: where `KNOWN` words for each variable stand. A text that stands there again, and ends,
    is known without being read.
    """
    mem[TEXT_END] = end
    base = mem[STACK]
    at = start
    index = 0
    while index < width:
        place = known + KNOWN * index
        count = mem[place + 2]
        follows = byte_at(at + count)
        if (
            count == 0
            or (follows != COMMA and follows != RIGHT_BRACE)
            or compare_text(mem[place + 1], at, count) != 0
        ):
            mem[CURSOR] = at
            if index == 0:
                begins = step_over(LEFT_BRACE)
            else:
                begins = step_over(COMMA)
            if not begins or read_string() != mem[place] or not step_over(COLON):
                return BAD
            mem[CLASHING] = mem[place + 6]
            word = read_variable(place)
            if word == BAD:
                return BAD
            count = mem[CURSOR] - at
            mem[place + 2] = count
            mem[place + 3] = word
        mem[place + 1] = at
        push(mem[place + 3])
        at += count
        index += 1
    if at != end - 1 or byte_at(at) != RIGHT_BRACE:
        return BAD
    return make(TUP, base)
