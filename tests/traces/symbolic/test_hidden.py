"""Steps whose guards and values depend on what is not looked at: all that may be are possible."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest
import z3

from tlatrace.errors import EvaluationError
from tlatrace.symbolic import Specification, Step, open_specification
from tlatrace.symbolic.shapes import HIDDEN, INTEGER, AtMost, SequenceOf, record
from tlatrace.symbolic.showing import shown_changes
from tlatrace.symbolic.values import Shape
from tlatrace.tla.config import parse_config

pytestmark = pytest.mark.java

MODULE: Final = Path(__file__).parent / "specs" / "Unseen.tla"
KEPT: Final = ("Natural", "Sized")


@cache
def unseen(seen: Shape = INTEGER) -> Specification:
    boxes = AtMost(2, record({"size": INTEGER, "what": HIDDEN}), sampled=True)
    shapes = {"seen": seen, "box": boxes}
    return open_specification(MODULE, parse_config("", MODULE), shapes, others_hidden=True)


def step(action: str) -> Step:
    (found,) = [one for one in unseen().actions if one.name == action]
    return unseen().step(found)


def may_be(action: str, before: int, after: int) -> bool:
    one = step(action)
    at = unseen().variables.index("seen")
    numbers = unseen().before[at] == before, one.post[at] == after
    return bool(z3.Solver().check(one.possible, *numbers) == z3.sat)


def breaks(action: str, claim: str) -> bool:
    one = step(action)
    solver = z3.Solver()
    solver.add(one.possible, *[unseen().holds(name, unseen().before) for name in KEPT])
    assert solver.check() == z3.sat, f"{action} is never possible"
    return bool(solver.check(z3.Not(unseen().holds(claim, one.post))) == z3.sat)


@pytest.mark.parametrize(
    ("action", "after", "possible"),
    [
        ("AskTwice", 2, True),
        ("AskTwice", -1, False),
        ("AskOthers", 2, True),
        ("AskOthers", -1, True),
        ("Copy", 1, True),
        ("Copy", -5, True),
        ("AskAll", 2, True),
        ("Either", 2, True),
        ("Either", 3, True),
        ("Either", 100, False),
        ("Either", 1, False),
    ],
)
def test_what_may_come_of_a_hidden_value_is_possible(
    action: str, after: int, possible: bool
) -> None:
    assert may_be(action, 1, after) == possible


@pytest.mark.parametrize("claim", KEPT)
def test_what_does_not_depend_on_it_is_kept(claim: str) -> None:
    for action in ("AskTwice", "AskAll", "Either", "Put", "Grow", "Replace"):
        assert not breaks(action, claim), action
    unseen().check_samples(KEPT)


def test_what_depends_on_it_is_not() -> None:
    assert breaks("AskOthers", "Natural")
    assert breaks("Copy", "Natural")


def test_a_step_says_of_a_hidden_part_that_it_is_any() -> None:
    put = step("Put")
    solver = z3.Solver()
    solver.add(put.possible, unseen().before[unseen().variables.index("seen")] == 4)
    assert solver.check() == z3.sat

    state, changed = shown_changes(unseen().variables, unseen().before, put.post, solver.model())

    assert [line.partition(" ")[0] for line in state] == ["box", "seen"]
    assert "[size |-> 4, what |-> any]" in changed[0]


def test_an_invariant_must_not_read_it() -> None:
    with pytest.raises(EvaluationError, match="not looked at"):
        unseen().holds("Known", unseen().before)


def test_a_whole_sequence_cannot_come_of_it() -> None:
    specification = unseen(SequenceOf(INTEGER))
    (copy,) = [one for one in specification.actions if one.name == "Copy"]

    with pytest.raises(EvaluationError, match="not looked at where one is"):
        specification.step(copy)
