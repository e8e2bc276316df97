"""Actions that have another name, or another text, where Next calls them: both engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import EvaluationError, SpecError
from tlatrace.judgement.specification import load_spec
from tlatrace.judgement.transition import Transition
from tlatrace.oracle import Model, load_model
from tlatrace.tla.config import read_config
from tlatrace.tlc.judge import judge

pytestmark = pytest.mark.java


@dataclass(frozen=True, kw_only=True)
class Case:
    modules: Mapping[str, str]
    """Name -> text; the first one is the root."""
    config: str = "INIT Init\nNEXT Next\n"
    steps: Sequence[tuple[str | None, tuple[int, ...], tuple[int, int], tuple[int, int], str]]
    """(action, arguments, (x, y) before, (x, y) after, what is right)."""
    by_tlc: bool = True
    """Whether the TLC engine takes the configuration."""
    untold: frozenset[int] = frozenset()
    """The steps that TLC does not tell."""


YES, NO, OPEN = "Allowed", "Refused", "Failed"

TAKER: Final = r"""EXTENDS Naturals
CONSTANT S
VARIABLES v, w
Add(i) == v' = v + (i % 2) /\ w' = w
Tens(i) == v' = v + 10 * i /\ w' = w
TNext == (\E i \in S : Add(i)) \/ (\E i \in S : v < 5 /\ Tens(i))"""

CASES: Final = {
    "a name that is LOCAL in the module of Next": Case(
        modules={
            "Root": "EXTENDS M\nS == 1..3",
            "M": r"""EXTENDS Naturals
VARIABLES x, y
LOCAL S == {1, 2}
Init == x = 0 /\ y = 0
A(i) == x' = x + i /\ y' = y
B(i) == x' = x + 10 * i /\ y' = y
Next == (\E i \in S : A(i)) \/ (\E i \in S : x < 5 /\ B(i))""",
        },
        steps=[
            *[("A", (i,), (0, 0), (i, 0), YES if i < 3 else NO) for i in (1, 2, 3)],
            *[("B", (i,), (0, 0), (10 * i, 0), YES if i < 3 else NO) for i in (1, 2, 3)],
        ],
    ),
    "an action in the place of a constant operator": Case(
        modules={
            "Root": r"""EXTENDS Naturals
CONSTANT Op(_)
VARIABLES x, y
Init == x = 0 /\ y = 0
Mine(i) == x' = x + (i % 2) /\ y' = y
Next == \E i \in {1, 2} : Op(i)""",
        },
        config="INIT Init\nNEXT Next\nCONSTANT Op <- Mine\n",
        steps=[("Mine", (3,), (0, 0), (1, 0), NO), ("Mine", (1,), (0, 0), (1, 0), YES)],
    ),
    "an action in the place of one of another module": Case(
        modules={
            "Root": "EXTENDS M\nOther(i) == x' = x + (i % 2) /\\ y' = y",
            "M": r"""EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Act(i) == x' = 50 + i /\ y' = y
Next == \E i \in {1, 2} : Act(i)""",
        },
        config="INIT Init\nNEXT Next\nCONSTANT Act <- [M]Other\n",
        steps=[
            ("Other", (3,), (0, 0), (1, 0), NO),
            ("Other", (1,), (0, 0), (1, 0), YES),
            ("Act", (3,), (0, 0), (1, 0), NO),
            ("Act", (1,), (0, 0), (1, 0), YES),
            ("Act", (1,), (0, 0), (51, 0), NO),
        ],
    ),
    "parameters that are primed": Case(
        modules={
            "Root": r"""EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
A(v, w) == v' = v + 1 /\ w' = w
Keep(v) == UNCHANGED v
B(v, w) == v' = v + 100 /\ Keep(w)
C(v) == B(v, y)
Next == A(x, y) \/ A(y, x) \/ C(x)""",
        },
        steps=[
            ("A", (3, 0), (3, 0), (4, 0), YES),
            ("A", (0, 3), (3, 0), (3, 1), YES),
            ("A", (3, 0), (3, 0), (3, 1), NO),
            ("A", (4, 0), (3, 0), (4, 0), NO),
            ("B", (3, 0), (3, 0), (103, 0), YES),
            ("C", (3,), (3, 0), (103, 0), YES),
            ("C", (103,), (3, 0), (103, 0), NO),
        ],
    ),
    "an action of an instance, called here and there": Case(
        modules={
            "Root": r"""EXTENDS Naturals
VARIABLES x, y
I == INSTANCE Taker WITH v <- x, w <- y, S <- {1}
Init == x = 0 /\ y = 0
Next == I!TNext \/ (\E i \in {2} : x = 9 /\ I!Tens(i))""",
            "Taker": TAKER,
        },
        steps=[
            ("I!Tens", (1,), (0, 0), (10, 0), YES),
            ("I!Tens", (1,), (7, 0), (17, 0), NO),
            ("I!Tens", (2,), (9, 0), (29, 0), YES),
            ("I!Tens", (2,), (0, 0), (20, 0), NO),
            ("I!Add", (1,), (0, 0), (1, 0), YES),
            ("I!Add", (3,), (0, 0), (1, 0), NO),
        ],
        untold=frozenset([0, 4, 5]),
    ),
    "the same action of two instances": Case(
        modules={
            "Root": r"""EXTENDS Naturals
VARIABLES x, y
INSTANCE Taker WITH v <- x, w <- y, S <- {1}
J == INSTANCE Taker WITH v <- y, w <- x, S <- {3}
Init == x = 0 /\ y = 0
Next == J!TNext""",
            "Taker": TAKER,
        },
        steps=[
            ("Add", (3,), (0, 0), (0, 1), NO),
            ("J!Add", (3,), (0, 0), (0, 1), YES),
            ("J!Add", (1,), (0, 0), (0, 1), NO),
        ],
        untold=frozenset([1, 2]),
    ),
    "a SPECIFICATION whose Next is not the one of that name": Case(
        modules={
            "Root": r"""EXTENDS Naturals
VARIABLES x, y
Init == x = 9 /\ y = 9
Start == x = 0 /\ y = 0
Next == x' = x + 1 /\ y' = y
More == Next \/ (x' = x + 5 /\ y' = y)
Spec == Start /\ [][More]_<<x, y>>"""
        },
        config="SPECIFICATION Spec\n",
        steps=[
            ("Next", (), (0, 0), (5, 0), NO),
            ("Next", (), (0, 0), (1, 0), YES),
            ("More", (), (0, 0), (5, 0), YES),
            (None, (), (0, 0), (5, 0), YES),
        ],
    ),
    "a SPECIFICATION whose Next has no name": Case(
        modules={
            "Root": r"""EXTENDS Naturals
VARIABLES x, y
Init == x = 9 /\ y = 9
Next == x' = x + 1 /\ y' = y
Spec == x = 0 /\ y = 0 /\ [][Next \/ (x' = x + 5 /\ y' = y)]_<<x, y>>"""
        },
        config="SPECIFICATION Spec\n",
        steps=[
            ("Next", (), (0, 0), (5, 0), NO),
            ("Next", (), (0, 0), (1, 0), YES),
            (None, (), (0, 0), (5, 0), YES),
        ],
        by_tlc=False,
    ),
    "an instance with parameters": Case(
        modules={
            "Root": r"""EXTENDS Naturals
VARIABLES x, y
I(k) == INSTANCE Taker WITH v <- x, w <- y, S <- {k}
Init == x = 0 /\ y = 0
Next == \E k \in {1, 5} : I(k)!TNext""",
            "Taker": TAKER,
        },
        steps=[
            ("I!Tens", (1, 5), (0, 0), (50, 0), OPEN),
            ("I!Tens", (1, 9), (0, 0), (90, 0), NO),
        ],
        untold=frozenset([0]),
    ),
    "a call of an instance with parameters": Case(
        modules={
            "Root": r"""EXTENDS Naturals
VARIABLES x, y
I(k, m) == INSTANCE Both WITH v <- x, w <- y, S <- {k, m}
Init == x = 0 /\ y = 0
Next == \E k \in {1, 5} : x < 50 /\ (I(k, 7)!Stop \/ \E i \in {1, 2} : I(k, 7)!Add(i))""",
            "Both": r"""EXTENDS Naturals
CONSTANT S
VARIABLES v, w
Add(i) == v' = v + i /\ w' \in S
Stop == v' = 100 /\ w' \in S""",
        },
        steps=[
            ("I!Add", (1, 7, 2), (0, 0), (2, 1), YES),
            ("I!Add", (1, 7, 2), (0, 0), (2, 5), NO),
            ("I!Add", (5, 7, 2), (0, 0), (2, 5), YES),
            ("I!Add", (5, 7, 3), (0, 0), (3, 5), NO),
            ("I!Add", (5, 8, 2), (0, 0), (2, 5), NO),
            ("I!Stop", (5, 7), (0, 0), (100, 7), YES),
            ("I!Stop", (4, 7), (0, 0), (100, 7), NO),
            ("I!Stop", (5, 7), (60, 0), (100, 7), NO),
        ],
    ),
    "an action without parameters that only the Next of an instance calls": Case(
        modules={
            "Root": r"""EXTENDS Naturals
VARIABLES x, y
I == INSTANCE Steps WITH v <- x, w <- y
Init == x = 0 /\ y = 0
Next == (x < 5 /\ I!SNext) \/ (x = 7 /\ x' = 8 /\ y' = y)""",
            "Steps": r"""EXTENDS Naturals
VARIABLES v, w
Plus == v' = v + 1 /\ w' = w
SNext == Plus""",
        },
        steps=[
            ("I!Plus", (), (7, 0), (8, 0), NO),
            ("I!Plus", (), (1, 0), (2, 0), YES),
            ("I!Plus", (), (1, 0), (3, 0), NO),
        ],
        untold=frozenset([0, 1]),
    ),
}


def write(case: Case, folder: Path) -> tuple[Path, Path]:
    for name, text in case.modules.items():
        (folder / f"{name}.tla").write_text(f"---- MODULE {name} ----\n{text}\n====\n", "utf-8")
    config = folder / "Root.cfg"
    config.write_text(case.config, "utf-8")
    return folder / "Root.tla", config


def by_model(model: Model, step: Transition) -> str:
    assert step.pre is not None
    params = tuple([model.adopt_value(value) for value in step.params])
    try:
        allowed = model.allows(step.action, params, model.adopt(step.pre), model.adopt(step.post))
    except EvaluationError:
        return OPEN
    return YES if allowed else NO


@pytest.mark.parametrize("name", CASES)
def test_both_engines_find_what_next_calls(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    module, config = write(case, tmp_path)
    steps = [
        Transition({"x": pre[0], "y": pre[1]}, action, params, {"x": post[0], "y": post[1]})
        for action, params, pre, post, _ in case.steps
    ]

    model = load_model(module, config)

    wanted = [right for *_, right in case.steps]
    assert model.is_initial(model.adopt({"x": 0, "y": 0}))
    assert not model.is_initial(model.adopt({"x": 9, "y": 9}))
    assert [by_model(model, step) for step in steps] == wanted
    if not case.by_tlc:
        return
    judged = judge(load_spec(module, config=read_config(config)), steps)
    told = [OPEN if at in case.untold else right for at, right in enumerate(wanted)]
    assert [type(one.step).__name__ for one in judged] == told


@pytest.mark.parametrize(
    "formula",
    [
        "[](x # 2)",
        r"\A k \in {2} : [][x' # k]_x",
        r"\A k \in {2} : Never(k)",
        r"(TRUE => [][FALSE]_y)",
    ],
)
def test_a_specification_that_forbids_more_than_next_does_is_refused(
    formula: str, tmp_path: Path
) -> None:
    text = r"""EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == x' = x + 1 /\ y' = y
Never(k) == [](x # k)
Fair(k) == <>[](x < k) => []<><<Next>>_x
Spec == Init /\ [][Next]_<<x, y>> /\ (\A k \in {2} : Fair(k)) /\ WF_x(Next)
More == Spec /\ """
    case = Case(modules={"Root": text + formula}, steps=[], config="SPECIFICATION More\n")
    module, config = write(case, tmp_path)

    with pytest.raises(SpecError, match="forbids steps"):
        load_model(module, config)
    with pytest.raises(SpecError, match="not of the form"):
        load_spec(module, config=read_config(config))

    config.write_text("SPECIFICATION Spec\n", "utf-8")
    assert load_model(module, config).next == "Next"
    assert load_spec(module, config=read_config(config)).next == "Next"
