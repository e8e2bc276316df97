"""Invariants that are asked by instances say what they say when they are asked as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from tlatrace.errors import EvaluationError
from tlatrace.oracle import Model, load_model
from tlatrace.oracle.checker import Checker
from tlatrace.oracle.invariant_cache import InvariantCache, InvariantInstance
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import Fcn, RuntimeValue
from tlatrace.tla.config import parse_config

MODULE = r"""---- MODULE Watched ----
EXTENDS Integers, Sequences
CONSTANT Node
VARIABLES f, g, n
Init == f = [x \in Node |-> 0] /\ g = <<1, 2, 3>> /\ n = 0
Next == n' = n + 1 /\ UNCHANGED <<f, g>>

Each == \A x \in Node : f[x] <= 3
Pairs == \A x, y \in Node : x # y => f[x] + f[y] <= 5
Busy == {x \in Node : f[x] > 0 /\ g[1] < 9}
ByIndex(z) == f[z] \in DOMAIN g => g[f[z]] # n
Alive == \A x, y \in Busy : x = y => ByIndex(x)
Two == \A x \in Node, i \in 1..3 : LET v == f[x] IN v < 3 \/ g[i] >= v
Nested == \A x \in Node : \E i \in DOMAIN g : g[i] = f[x] \/ n < 3 \/ f[x] = 0
RECURSIVE Sum(_)
Sum(q) == IF q = <<>> THEN 0 ELSE Head(q) + Sum(Tail(q))
Sums == \A x \in Node : Sum(g) + f[x] < 17
Both == /\ n < 4
        /\ \A x \in Node : g[n + 1] # 8 \/ f[x] = 1
Every(P(_)) == \A x \in Node : P(x)
High == Every(LAMBDA x : f[x] < 3 \/ n > 0)
Shared == \A x \in Node : LET y == x IN f[y] = f[x]
Literally == \A i \in {1, 2} : g[i] < 7 \/ f["a"] = n
====
"""
INVARIANTS = (
    "Each",
    "Pairs",
    "Alive",
    "Two",
    "Nested",
    "Sums",
    "Both",
    "High",
    "Shared",
    "Literally",
)
STEPS = 6_000


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    module = tmp_path_factory.mktemp("watched") / "Watched.tla"
    module.write_text(MODULE)
    text = 'INIT Init\nNEXT Next\nCONSTANT Node = {"a", "b", "c"}\nINVARIANTS ' + " ".join(
        INVARIANTS
    )
    return load_model(module, parse_config(text, module))


def changed(draw: Random, state: ModelState) -> ModelState:
    """Change a state a little: one value, now and then a domain or a type."""
    f, g, n = state
    if not isinstance(f, Fcn) or not isinstance(g, tuple):
        return (Fcn({"a": 0, "b": 0, "c": 0}), (1, 2, 3), 0)
    match draw.randrange(40):
        case 0:
            return (Fcn({key: f[key] for key in list(f)[1:]}), g, n)
        case 1:
            return (Fcn({**f, "d": 1}), g, n)
        case 2:
            return (Fcn({**f, "b": "text"}), g, n)
        case 3:
            return ((0, 1, 2), g, n)
        case 4:
            return (f, (*g, draw.randrange(9)), n)
        case 5:
            return (f, Fcn({"a": 1}), n)
        case at if at < 20:
            return (Fcn({**f, draw.choice("abc"): draw.choice((0, 0, 1, 2, 3, 4))}), g, n)
        case at if at < 28:
            index = draw.randrange(len(g)) if g else 0
            return (f, (*g[:index], draw.randrange(8), *g[index + 1 :]), n)
        case _:
            return (f, g, draw.choice((0, 0, 1, 2, 3, 4)))


def as_a_whole(model: Model, state: ModelState) -> tuple[tuple[str, ...], bool]:
    """Return the violated invariants, up to one that has no value, and whether there is one."""
    violated: list[str] = []
    for name in model.invariants:
        try:
            if not model.predicate(f"invariant {name}")(state, None):
                violated.append(name)
        except Exception:
            return tuple(violated), True
    return tuple(violated), False


@pytest.mark.java
def test_parts_and_whole_invariants_say_the_same(model: Model) -> None:
    draw, checker, seen = Random(1), Checker(model), Counter[str]()
    good: ModelState = (Fcn({"a": 0, "b": 0, "c": 0}), (1, 2, 3), 0)
    state = good
    for _ in range(STEPS):
        violated, reason = checker.invariants(state)
        assert (violated, reason is not None) == as_a_whole(model, state), state
        kind = "failed" if reason is not None else "violated" if violated else "clean"
        seen.update([kind, *violated])
        if kind == "clean":
            good = state
        state = changed(draw, good if kind != "clean" and draw.randrange(3) else state)
    assert min(seen["clean"], seen["violated"], seen["failed"]) > 300, seen
    assert set(INVARIANTS) - set(seen) == {"Shared"}, "each but a tautology was violated"


@pytest.mark.java
def test_an_instance_reads_no_more_than_it_names(model: Model) -> None:
    reads = {
        (part.role, part.arguments): part.reads
        for part in model.source.instances
        if part.role.endswith(("Each", "Pairs", "Alive", "Sums"))
    }
    assert reads["instances 0 of Each", ('"b"',)] == ((0, '"b"'),)
    assert reads["instances 0 of Pairs", ('"a"', '"c"')] == ((0, '"a"'), (0, '"c"'))
    of_alive = reads["instances 0 of Alive", ('"a"', '"a"')]
    assert (0, None) not in of_alive
    assert (1, None) in of_alive
    assert reads["instances 0 of Sums", ('"a"',)] == ((0, '"a"'), (1, None))


def counted(asked: list[object]) -> Callable[..., bool]:
    def holds(state: ModelState, _: None, arguments: tuple[RuntimeValue, ...]) -> bool:
        asked.append(arguments)
        value = state[0]
        assert isinstance(value, Fcn)
        found = value[arguments[0]]
        if found == "no value":
            raise EvaluationError("no value")
        return found != "bad"

    return holds


def test_only_what_reads_a_change_is_asked_and_once_for_equal_values() -> None:
    asked: list[object] = []
    holds = counted(asked)
    cache = InvariantCache(
        [InvariantInstance(holds, (name,), ((0, name),)) for name in ("a", "b")], 2
    )
    one, two, three = ("one",), ("two",), ("three",)
    first: ModelState = (Fcn({"a": one, "b": two}), 0)

    assert cache.hold(first)
    assert asked == [("a",), ("b",)]
    assert cache.hold((Fcn({"a": one, "b": three}), 0))
    assert asked[2:] == [("b",)]
    assert cache.hold((Fcn({"a": one, "b": two}), 1))
    assert asked[3:] == [], "both values are known"


@pytest.mark.parametrize("image", ["bad", "no value"])
def test_after_a_state_that_is_not_clean_all_is_looked_at_again(image: str) -> None:
    asked: list[object] = []
    cache = InvariantCache(
        [InvariantInstance(counted(asked), (name,), ((0, name),)) for name in ("a", "b")], 1
    )

    assert cache.hold((Fcn({"a": "fine", "b": "fine"}),))
    assert not cache.hold((Fcn({"a": "fine", "b": image}),))
    assert not cache.hold((Fcn({"a": "fine", "b": image}),))
    assert not cache.hold((Fcn({"a": image, "b": image}),))
    assert cache.hold((Fcn({"a": "fine", "b": "fine"}),))
