"""What generated functions unpack of the state."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tlatrace.compiler.emit_python import writer
from tlatrace.compiler.emit_python.writer import Function, Writer

UNPACKED: Final = vars(writer)["_UNPACKED"].pattern
BODY: Final = ["return s1 + t2 * t2, 's3 is \"s1\"', s1_4, n.s5, s6"]


def _written(lines: list[str], *, unprimed: set[int], primed: set[int], width: int = 0) -> str:
    module = Writer(width)
    function = Function(unprimed=unprimed, primed=primed, lines=[(1, line) for line in lines])
    with module.begin(function):
        pass
    module.finish("def f(s, t):", function)
    return module.text()


def test_what_is_read_once_needs_no_name_and_what_is_read_twice_gets_one() -> None:
    text = _written(BODY, unprimed={1, 3}, primed={2})

    assert text == (
        "def f(s, t):\n    s3 = s[3]\n    t2 = t[2]\n"
        "    return s[1] + t2 * t2, 's3 is \"s1\"', s1_4, n.s5, s6\n"
    )


def test_a_state_most_of_which_is_read_is_unpacked_at_once() -> None:
    text = _written(["return s0 + s2 + t1 * t1"], unprimed={0, 2}, primed={1}, width=3)

    assert text == (
        "def f(s, t):\n    s0, _, s2 = s\n    t1 = t[1]\n    return s0 + s2 + t1 * t1\n"
    )


def test_the_body_is_looked_through_as_often_for_many_variables_as_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    compiled = re.compile

    class Counting:
        """A pattern that notes what it is asked."""

        def __init__(self, pattern: str) -> None:
            self._pattern = compiled(pattern)

        def __getattr__(self, name: str) -> object:
            looked.append(name)
            return getattr(self._pattern, name)

    monkeypatch.setattr(re, "compile", Counting)
    monkeypatch.setattr(writer, "_UNPACKED", Counting(UNPACKED), raising=False)

    text = _written(["s0 + s0"] * 50, unprimed=set(range(50)), primed=set())

    assert text.count(" = s[") == 50
    assert 0 < len(looked) <= 2
