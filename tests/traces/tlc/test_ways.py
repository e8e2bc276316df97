"""An action with arguments is what Next calls, wherever Next calls it: both engines, by a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import EvaluationError
from tlatrace.judgement.specification import load_spec
from tlatrace.judgement.transition import Transition
from tlatrace.oracle import Model, load_model
from tlatrace.tla.config import read_config
from tlatrace.tlc.judge import judge

SPECS: Final = Path(__file__).with_name("specs")
MODULE: Final = SPECS / "Ways.tla"

pytestmark = pytest.mark.java

_Rule = Callable[[int, int, int], bool]
"""(x, p, q) -> whether Next calls the action with p and q there; q is 0 where there is none."""

RULES: Final[dict[str, tuple[int, int, _Rule]]] = {
    "Two": (1, 2, lambda _x, p, q: (p, q) in ((0, 1), (1, 2), (2, 1))),
    "Guarded": (2, 2, lambda _x, p, q: (p, q) in ((1, 2), (2, 1))),
    "Below": (3, 1, lambda _x, p, _q: p in (1, 2)),
    "Pattern": (4, 2, lambda _x, p, q: (p, q) in ((1, 2), (2, 3))),
    "Twice": (5, 2, lambda _x, p, q: p == q and p in (1, 2, 3)),
    "Nothing": (6, 1, lambda _x, _p, _q: False),
    "InLet": (7, 1, lambda _x, p, _q: p in (2, 4)),
    "InIf": (8, 1, lambda x, p, _q: p == (1 if x < 3 else 2)),
    "InCase": (9, 1, lambda x, p, _q: p == {0: 1, 1: 2}.get(x, 3)),
    "Behind": (10, 1, lambda x, p, _q: p in (1, 2, 3) and x + p != 2),
    "Passed": (11, 1, lambda _x, p, _q: p in (2, 3)),
    "Implied": (12, 1, lambda x, p, _q: x == 0 and p == 1),
    "Each": (13, 1, lambda _x, p, _q: p == 1),
    "ByOperator": (14, 1, lambda _x, p, _q: p in (1, 3)),
    "Whole": (17, 1, lambda _x, p, _q: p in (1, 2)),
    "Part": (17, 1, lambda _x, p, _q: p in (1, 2)),
    "Again": (17, 1, lambda _x, p, _q: p in (1, 2)),
    "Never": (19, 1, lambda _x, _p, _q: False),
}


def claims() -> Iterator[tuple[Transition, bool]]:
    """Yield claims, and whether Next allows them."""
    for name, (number, arity, rule) in RULES.items():
        for x in (0, 1, 2, 3):
            for p in range(-1, 5):
                for q in range(-1, 5) if arity == 2 else (0,):
                    step = step_of(name, number, (p, q)[:arity], x, x + p + 10 * q)
                    yield step, rule(x, p, q)
    for x in (0, 1):
        yield step_of("Plain", 15, (), x, x + 500), x == 0


def step_of(name: str, number: int, params: tuple[int, ...], x: int, after: int) -> Transition:
    return Transition({"x": x, "by": 0}, name, params, {"x": after, "by": number})


@cache
def model() -> Model:
    return load_model(MODULE, SPECS / "Ways.cfg")


def answer(step: Transition) -> str:
    assert step.pre is not None
    try:
        params = tuple([model().adopt_value(value) for value in step.params])
        pre, post = model().adopt(step.pre), model().adopt(step.post)
        return "Allowed" if model().allows(step.action, params, pre, post) else "Refused"
    except EvaluationError:
        return "Failed"


def shown(step: Transition) -> tuple[object, ...]:
    return step.action, step.params, step.pre


def test_the_compiled_model_takes_the_arguments_that_next_calls_an_action_with() -> None:
    wrong = [
        shown(step)
        for step, allowed in claims()
        if answer(step) != ("Allowed" if allowed else "Refused")
    ]

    assert wrong == []


def test_tlc_takes_the_arguments_that_next_calls_an_action_with() -> None:
    spec = load_spec(MODULE, config=read_config(SPECS / "Ways.cfg"))
    steps = list(claims())
    judged = judge(spec, [step for step, _ in steps])

    wrong = [
        (shown(step), one.step)
        for (step, allowed), one in zip(steps, judged, strict=True)
        if type(one.step).__name__ != ("Allowed" if allowed else "Refused")
    ]
    assert wrong == []


def test_where_next_does_not_say_whose_a_step_is_it_is_undecided() -> None:
    spec = load_spec(MODULE, config=read_config(SPECS / "Ways.cfg"))
    asked = step_of("Asked", 18, (1,), 0, 1)
    wrong = step_of("Asked", 18, (1,), 0, 2)
    deep = [step_of("Deep", 20, (p,), 0, p) for p in (0, 1, 2, 3)]

    judged = judge(spec, [asked, wrong, *deep])

    assert [type(one.step).__name__ for one in judged] == [
        "Failed",
        "Refused",
        *["Refused", "Allowed", "Allowed", "Refused"],  # TLC goes down a recursive operator
    ]
    assert [answer(step) for step in (asked, wrong)] == ["Failed", "Refused"]
    assert [answer(step) for step in deep] == ["Refused", "Failed", "Failed", "Refused"]


def test_the_steps_of_an_action_are_found_wherever_next_calls_it() -> None:
    start = model().adopt({"x": 0, "by": 0})

    for name, (_, arity, rule) in RULES.items():
        if not model().calls(name):
            assert name in ("Passed", "ByOperator", "Never", "Again"), "a part of other actions"
            continue
        found = sorted({step.params for step in model().action_successors(start, name)})
        pairs = [(p, q) for p in range(-1, 5) for q in (range(-1, 5) if arity == 2 else (0,))]
        assert found == [pair[:arity] for pair in pairs if rule(0, *pair)], name


def test_a_step_without_a_value_is_outside_of_its_bounds_in_both_engines() -> None:
    module = SPECS / "Shelf.tla"
    shelf = load_model(module)
    steps = [Transition({"x": 0}, "TakeOdd", (i,), {"x": 6}) for i in (0, 1, 2, 9)]

    judged = judge(load_spec(module), steps)

    pre, post = shelf.adopt({"x": 0}), shelf.adopt({"x": 6})
    assert [type(one.step).__name__ for one in judged] == ["Refused"] * 4
    assert not any(shelf.allows("TakeOdd", (i,), pre, post) for i in (0, 1, 2, 9))


def test_names_that_are_local_to_a_module_do_not_stop_tlc() -> None:
    spec = load_spec(SPECS / "Hidden.tla")
    steps = [
        Transition({"x": pre}, "A", (at,), {"x": (*pre, at)})
        for pre, at in [((), 1), ((), 2), ((7,), 1), ((7,), 2)]
    ]

    judged = judge(spec, steps)

    wanted = ["Allowed", "Refused", "Allowed", "Refused"]
    assert [type(one.step).__name__ for one in judged] == wanted


def test_actions_of_an_instanced_module_are_found_by_their_names_here() -> None:
    """TLC does not find those that only the other module's Next calls, and says so."""
    uses, whole = SPECS / "Uses.tla", SPECS / "Whole.tla"
    steps = [
        Transition({"t": 0}, action, (d,), {"t": d if action == "K!Tick" else -d})
        for action in ("K!Tick", "K!Back")
        for d in range(5)
    ]
    ticks = [Transition({"t": 1}, "Tick", (d,), {"t": 1 + d}) for d in range(4)]

    by_tlc = [type(one.step).__name__ for one in judge(load_spec(uses), steps)]
    ticks_by_tlc = [type(one.step).__name__ for one in judge(load_spec(whole), ticks)]

    wanted = [d in (1, 3) for d in range(5)] + [d in (1, 2, 3) for d in range(5)]
    assert by_tlc == ["Allowed" if yes else "Refused" for yes in wanted]
    assert [model_allows(uses, step) for step in steps] == wanted
    assert ticks_by_tlc == ["Refused", "Refused", "Failed", "Refused"]
    assert [model_allows(whole, step) for step in ticks] == [False, False, True, False]


def model_allows(module: Path, step: Transition) -> bool:
    found = load_model(module)
    assert step.pre is not None
    params = tuple([found.adopt_value(value) for value in step.params])
    return found.allows(step.action, params, found.adopt(step.pre), found.adopt(step.post))


def test_a_place_of_infinitely_many_arguments_stands_beside_another_one() -> None:
    module = SPECS / "Endless.tla"
    cases = [(0, 7, True), (0, -3, False), (5, -3, True), (5, -1, False), (5, 0, True)]
    steps = [Transition({"x": x}, "Add", (n,), {"x": x + n}) for x, n, _ in cases]

    judged = judge(load_spec(module), steps)

    wanted = [allowed for _, _, allowed in cases]
    assert [type(one.step).__name__ == "Allowed" for one in judged] == wanted
    assert [type(one.step).__name__ == "Refused" for one in judged] == [not yes for yes in wanted]
    assert [model_allows(module, step) for step in steps] == wanted
