"""Recursive operators as machine code: what they say is what Python says, up to a limit."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import EvaluationError
from tlatrace.oracle import Model, load_model
from tlatrace.oracle.native import NativeModel
from tlatrace.runtime.values import RuntimeValue
from tlatrace.tla.config import parse_config

pytestmark = pytest.mark.java

MODULE: Final = r"""---- MODULE Again ----
EXTENDS Integers, Sequences
VARIABLE x
RECURSIVE Sum(_)
Sum(s) == IF s = <<>> THEN 0 ELSE Head(s) + Sum(Tail(s))
RECURSIVE IsEven(_), IsOdd(_)
IsEven(n) == n = 0 \/ IsOdd(n - 1)
IsOdd(n) == n # 0 /\ IsEven(n - 1)
RECURSIVE Largest(_, _)
Largest(s, most) ==
    IF s = <<>> THEN most ELSE Largest(Tail(s), IF Head(s) > most THEN Head(s) ELSE most)
RECURSIVE Countdown(_)
Countdown(n) == LET rest == Countdown(n - 1) IN IF n = 0 THEN <<>> ELSE Append(rest, n)
RECURSIVE Unread(_, _)
Unread(n, y) == IF n = 0 THEN 7 ELSE IF n > 9 THEN y ELSE Unread(n - 1, y \div 0)
RECURSIVE Twice(_)
Twice(n) == IF n = 0 THEN 1 ELSE Twice(n - 1) + Twice(n - 1)
RECURSIVE Paths(_, _)
Paths(n, m) == n = m \/ \E k \in n + 1..m : Paths(k, m)
RECURSIVE Subsets(_)
Subsets(s) == IF s = <<>> THEN {{}} ELSE LET rest == Subsets(Tail(s))
                                         IN rest \cup {r \cup {Head(s)} : r \in rest}
RECURSIVE Later(_)
Later(n) == IF n = 0 THEN x' ELSE Later(n - 1)
RECURSIVE Endless(_)
Endless(n) == Endless(n) + 1
RECURSIVE Through(_, _)
Through(F(_), n) == IF n = 0 THEN 0 ELSE F(Through(F, n - 1))
RECURSIVE Partly(_), Whole(_)
Partly(n) == IF n > 0 THEN Whole(n - 1) ELSE Through(LAMBDA m : m + 1, n)
Whole(n) == IF n = 7 THEN n + n + n + n ELSE Partly(n) + n - n + n - n
Successor(n) == n + 1
Init == x \in {0}
Summed(n) == Sum(x) = n /\ x' = x
Even == IsEven(x) /\ x' = x
Odd == ~IsEven(x) /\ IsOdd(x) /\ x' = x
Most == x' = Largest(x, 0)
Down == x' = Countdown(x)
Seven == Unread(x, 1) = 7 /\ x' = x
Power(n) == Twice(x) = n /\ x' = x
Reached == Paths(0, x) /\ x' = x
Sets == x' = Subsets(x)
Same == Later(x) = 3 /\ x = 3
Never == Endless(x) = 0 /\ x' = x
Passed == Through(Successor, x) = x /\ x' = x
Parts == Partly(x) = 0 /\ x' = x
Wholes == Whole(x) = 0 /\ x' = x
Local == LET RECURSIVE Add(_)
             Add(n) == IF n = 0 THEN 0 ELSE n + Add(n - 1)
         IN Add(x) = 6 /\ x' = x
Bound == \E y \in {1, 2} : LET RECURSIVE Add(_)
                              Add(n) == IF n = 0 THEN 0 ELSE y + Add(n - 1)
                          IN Add(x) = 6 /\ x' = x
Next == \/ \E n \in Nat : Summed(n) \/ Power(n)
        \/ Even \/ Odd \/ Most \/ Down \/ Seven \/ Reached \/ Sets \/ Same \/ Never
        \/ Passed \/ Parts \/ Wholes \/ Local \/ Bound
====
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, NativeModel]:
    module: Path = tmp_path_factory.mktemp("again") / "Again.tla"
    module.write_text(MODULE, "utf-8")
    config = parse_config("INIT Init NEXT Next", module)
    model = load_model(module, config, native=True, kept=False)
    return model, NativeModel(model.source)


def python(model: Model, action: str, step: tuple[RuntimeValue, RuntimeValue], *n: int) -> str:
    try:
        return str(model.allows(action, n, step[:1], step[1:]))
    except EvaluationError:
        return "no value"


def sets(*items: int) -> frozenset[frozenset[int]]:
    found = {frozenset[int]()}
    for item in items:
        found |= {one | {item} for one in found}
    return frozenset(found)


@pytest.mark.parametrize(
    ("action", "pre", "post", "params", "says"),
    [
        ("Summed", (1, 2, 4), (1, 2, 4), (7,), "True"),
        ("Summed", (1, 2, 4), (1, 2, 4), (6,), "False"),
        ("Summed", (), (), (0,), "True"),
        ("Summed", (1, "a"), (1, "a"), (1,), "no value"),
        ("Even", 8, 8, (), "True"),
        ("Even", 7, 7, (), "False"),
        ("Odd", 7, 7, (), "True"),
        ("Odd", 8, 8, (), "False"),
        ("Most", (3, 9, 4), 9, (), "True"),
        ("Most", (3, 9, 4), 4, (), "False"),
        ("Seven", 0, 0, (), "True"),
        ("Seven", 3, 3, (), "no value"),  # of an argument that nobody reads
        ("Power", 5, 5, (32,), "True"),
        ("Power", 5, 5, (31,), "False"),
        ("Reached", 4, 4, (), "True"),
        ("Reached", -1, -1, (), "False"),
        ("Sets", (1, 2, 3), sets(1, 2, 3), (), "True"),
        ("Sets", (1, 2, 3), sets(1, 2), (), "False"),
        ("Same", 3, 3, (), "True"),
        ("Same", 3, 4, (), "False"),
        ("Local", 3, 3, (), "True"),
        ("Local", 4, 4, (), "False"),
        ("Never", 0, 0, (), "no value"),
    ],
)
def test_machine_code_accepts_what_python_does(
    both: tuple[Model, NativeModel],
    action: str,
    pre: RuntimeValue,
    post: RuntimeValue,
    params: tuple[int, ...],
    says: str,
) -> None:
    model, native = both
    assert python(model, action, (pre, post), *params) == says
    assert f"action {action}" in native.roles
    for _ in range(2):
        assert native.surely(f"action {action}", (pre,), (post,), params) == (says == "True")


@pytest.mark.parametrize(
    ("action", "good", "far"),
    [("Even", 250, 260), ("Down", 60, 200), ("Power", 18, 20), ("Summed", 100, 130)],
)
def test_what_is_beyond_the_limits_is_not_accepted_and_the_next_question_is(
    both: tuple[Model, NativeModel], action: str, good: int, far: int
) -> None:
    _, native = both
    for n, accepted in ((good, True), (far, False), (good, True)):
        step: tuple[RuntimeValue, RuntimeValue] = (n, n)
        params: tuple[int, ...] = ()
        match action:
            case "Down":
                step = n, tuple(range(1, n + 1))
            case "Summed":
                step, params = ((1,) * n, (1,) * n), (n,)
            case "Power":
                params = (2**n,)
            case _:
                pass
        assert native.surely(f"action {action}", step[:1], step[1:], params) == accepted


def test_what_is_not_written_is_named(
    both: tuple[Model, NativeModel],
) -> None:
    _, native = both
    for action, why in (
        ("Passed", "the recursive Through"),
        ("Parts", "the recursive Through"),
        ("Bound", "the recursive Add"),
    ):
        assert why in native.unlowered[f"action {action}"]


def test_what_calls_one_that_is_not_written_is_sure_of_nothing(
    both: tuple[Model, NativeModel],
) -> None:
    model, native = both
    assert python(model, "Wholes", (0, 0)) == "True"
    assert "action Wholes" in native.roles
    assert not native.surely("action Wholes", (0,), (0,))
