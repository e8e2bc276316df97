"""What generated functions unpack of the state."""

from __future__ import annotations

from tlatrace.compiler.emit_python.writer import Function, Writer


def _written(lines: list[str], *, unprimed: set[int], primed: set[int], width: int = 0) -> str:
    module = Writer(width)
    function = Function(unprimed=unprimed, primed=primed, lines=[(1, line) for line in lines])
    with module.begin(function):
        pass
    module.finish("def f(s, t):", function)
    return module.text()


def test_what_is_read_gets_a_name() -> None:
    text = _written(["return s1 + t2"], unprimed={1, 3}, primed={2})

    assert text == (
        "def f(s, t):\n    s1 = s[1]\n    s3 = s[3]\n    t2 = t[2]\n    return s1 + t2\n"
    )


def test_a_state_most_of_which_is_read_is_unpacked_at_once() -> None:
    text = _written(["return s0 + s2 + t1 * t1"], unprimed={0, 2}, primed={1}, width=3)

    assert text == (
        "def f(s, t):\n    s0, _, s2 = s\n    t1 = t[1]\n    return s0 + s2 + t1 * t1\n"
    )


def test_a_function_of_nothing_has_a_body() -> None:
    assert _written([], unprimed=set(), primed=set()) == "def f(s, t):\n    pass\n"
