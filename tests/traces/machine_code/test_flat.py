"""Flat Python: what is none is refused, and machine code computes what Python does."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tlatrace.machine_code.assembly import assembly_of
from tlatrace.machine_code.flat import FlatError, parse
from tlatrace.machine_code.machine import Machine, object_of
from tlatrace.runtime.words import columns

TEXT: Final = '''
"""What Python needs besides, such as this text and annotations, is passed over."""
from __future__ import annotations

LIMIT: int = 7
LEAST = -9


def all_operators(left: int, right: int) -> int:
    """Use each operator."""
    total = left + right * 3 - (left & right) ^ (left | 5)
    total += left // (right * right + 1) + left % (right * right + 1)
    total -= -left // 3 - right % -5
    return total + (left << 2) + (right >> 1)


def compared(left: int, right: int) -> int:
    if left < right and not (left == LEAST or right == LIMIT):
        return 1
    elif left <= right:
        return 2
    elif left > right or left >= 0:
        found = (left != right) + (left > 0 and right > 0)
    else:
        found = LEAST
    return found


def looped(left: int, right: int) -> int:
    at = 0
    while at < 50:
        at += 1
        if at == left & 31:
            continue
        if at * right > 100:
            break
        mem[at] = mem[at - 1] + at
        inner = 0
        while inner < 3:
            inner += 1
            if inner == 2:
                break
            mem[at] = mem[at] + compared(inner, right)
    return mem[at - 1] + helped(left)


def helped(left: int) -> int:
    if left > 0:
        pass
    looks(left)
    left = left + 1
    return left


def looks(left: int) -> int:
    mem[60] = left
    return 0


def read(left: int, right: int) -> int:
    order = compare_text(left & 7, right & 7, 3)
    return order * 1000 + text[left & 7] - text[right & 7]


def hashed(left: int, right: int) -> int:
    return hash_text(left & 15, right & 15)
'''
NAMES: Final = ("all_operators", "compared", "looped", "read", "hashed")
WORDS: Final = 64
LETTERS: Final = b"abcabd\x80\xff\x00abca\x80 and some more letters"
_KEPT: Final = ctypes.create_string_buffer(LETTERS)
ADDRESS: Final = ctypes.addressof(_KEPT)
_SMALL: Final = st.integers(-(2**20), 2**20)


@pytest.fixture(scope="module", autouse=True)
def _text() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "text", LETTERS)
        yield


@pytest.fixture(scope="module")
def machine() -> Machine:
    return Machine(object_of(assembly_of(parse(TEXT), NAMES)), WORDS)


def by_python(name: str, *words: int) -> tuple[int, list[int]]:
    space: dict[str, Any] = {"mem": [0] * WORDS, "text": LETTERS}
    space |= {"compare_text": compare_text, "hash_text": columns.hash_text}
    exec(TEXT, space)
    return int(space[name](*words)), space["mem"]


def compare_text(left: int, right: int, count: int) -> int:
    one, other = LETTERS[left : left + count], LETTERS[right : right + count]
    return (one > other) - (one < other)


@given(st.sampled_from(NAMES), _SMALL, _SMALL)
def test_machine_code_computes_what_python_does(
    machine: Machine, name: str, left: int, right: int
) -> None:
    for at in range(WORDS):
        machine.memory[at] = 0
    machine.text = ADDRESS
    answer, memory = by_python(name, left, right)
    assert machine.function(name, 2)(left, right) == answer
    assert list(machine.memory) == memory


@pytest.mark.parametrize(
    "body",
    [
        "return other(word)",
        "return compare_text(word, word)",
        "return hash_text(word)",
        "text[0] = word",
        "return texts[word]",
        "return f(word, 1)",
        "return f(word=1)",
        "return word.size",
        "return word / 2",
        "return word ** 2",
        "return ~word",
        "return 'a'",
        "return True",
        "return 1.5",
        "return 9223372036854775808",
        "return other",
        "return 1 < word < 3",
        "return word in mem",
        "return [word]",
        "return other[word]",
        "return",
        "text[word] = 1",
        "word, other = 1, 2",
        "mem[word] += 1",
        "for other in mem: pass",
        "try:\n        pass\n    finally:\n        pass",
        "while word: pass\n    else: pass",
        "import os",
        "assert word",
        "def inner(): pass",
        "return 1 if word else 2",
        "return (other := word)",
    ],
)
def test_what_is_not_flat_is_refused(body: str) -> None:
    with pytest.raises(FlatError):
        parse(f"def f(word):\n    {body}\n")


def test_a_function_is_defined_once() -> None:
    with pytest.raises(FlatError, match="f is defined twice"):
        parse("def f(word):\n    return word\n", "def f(word):\n    return 1\n")


def test_a_constant_is_one_number() -> None:
    parse("A: Final = 1\n", "A: Final = 1\n\n\ndef f(word):\n    return A\n")
    with pytest.raises(FlatError, match="A is 1, and 2"):
        parse("A: Final = 1\n", "A: Final = 2\n")


def test_a_text_that_llvm_refuses_is_an_error() -> None:
    with pytest.raises(RuntimeError):
        object_of("define i64 @f() { ret i32 0 }")


def test_a_function_that_the_object_has_not_is_an_error(machine: Machine) -> None:
    with pytest.raises(LookupError, match="helped"):
        machine.function("helped", 1)
