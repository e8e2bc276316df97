"""From TLA+ text to answers of z3, with a small specification that has every construct."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest
import z3

from tlatrace.errors import ModelGapError, SubsetError
from tlatrace.runtime.values import model_value
from tlatrace.symbolic import Specification, Step, open_specification
from tlatrace.symbolic.shapes import (
    BOOLEAN,
    INTEGER,
    AtMost,
    Enumeration,
    FunctionOn,
    OneOf,
    PartialMap,
    SequenceOf,
    record,
)
from tlatrace.symbolic.showing import shown_changes
from tlatrace.symbolic.values import Function, Shape, equal
from tlatrace.tla.config import parse_config

pytestmark = pytest.mark.java

TOY: Final = Path(__file__).parent / "specs" / "Toy.tla"
CHOICES: Final = TOY.with_name("Choices.tla")
PERSONS: Final = (model_value("a"), model_value("b"))
KEPT: Final = ("HeldOld", "SentOld", "LogOld", "StateHeld", "HeldState", "Few")


def shapes(samples: int = 2) -> dict[str, Shape]:
    ticket = record({"ticket": INTEGER, "served": BOOLEAN})
    none = Function(("ticket",), (z3.IntVal(-1),))
    call = record({"to": Enumeration(PERSONS), "number": INTEGER})
    return {
        "last": INTEGER,
        "held": PartialMap(PERSONS),
        "sent": AtMost(samples, call, sampled=True),
        "log": SequenceOf(INTEGER),
        "state": FunctionOn(tuple([(person, OneOf(ticket, none)) for person in PERSONS])),
    }


@cache
def toy(samples: int = 2) -> Specification:
    config = parse_config("CONSTANTS Person = {a, b} Start = Start", TOY)
    return open_specification(TOY, config, shapes(samples), naturals=("Start",))


def steps() -> dict[str, Step]:
    return {action.name: toy().step(action) for action in toy().actions}


def breaks(step: Step, claim: z3.BoolRef) -> z3.ModelRef | None:
    solver = z3.Solver()
    solver.add(toy().assumed, step.possible, *[toy().holds(name, toy().before) for name in KEPT])
    assert solver.check() == z3.sat, f"{step.action} is never possible"
    solver.add(z3.Not(claim))
    answer = solver.check()
    assert answer != z3.unknown
    return solver.model() if answer == z3.sat else None


def test_every_disjunct_of_next_is_an_action() -> None:
    assert list(steps()) == ["Take", "Call", "Serve", "Leave", "Skip"]


@pytest.mark.parametrize("name", KEPT)
def test_what_is_inductive_is_kept_by_every_step(name: str) -> None:
    for step in steps().values():
        assert breaks(step, toy().holds(name, step.post)) is None, step.action


def test_it_holds_at_the_beginning() -> None:
    initial = toy().initial()
    solver = z3.Solver()
    solver.add(toy().assumed, initial.possible)
    solver.add(z3.Not(z3.And([toy().holds(name, initial.post) for name in KEPT])))

    assert solver.check() == z3.unsat


def test_a_step_that_breaks_a_formula_is_found_and_shown() -> None:
    skip = steps()["Skip"]
    broken = z3.And(
        toy().holds("LastHeld", toy().before), z3.Not(toy().holds("LastHeld", skip.post))
    )
    model = breaks(skip, z3.Not(broken))
    assert model is not None
    _, changed = shown_changes(toy().variables, toy().before, skip.post, model)
    assert [line.partition("'")[0] for line in changed] == ["last"]


def test_a_state_after_a_step_has_the_shape_or_not() -> None:
    for step in steps().values():
        assert breaks(step, toy().fits(step)) is None, step.action
    take = steps()["Take"]
    solver = z3.Solver()  # without the invariants, a person may hold a ticket and take another
    solver.add(take.possible, z3.Not(toy().fits(take)))
    assert solver.check() == z3.sat


def test_the_number_of_elements_that_is_enough_is_read_off_the_text() -> None:
    toy().check_samples(KEPT)
    with pytest.raises(SubsetError, match="2 elements of sent"):
        toy(1).check_samples(KEPT)


@pytest.mark.parametrize("name", ["SentSmall", "SentKnown"])
def test_a_formula_for_which_no_number_is_enough_is_refused(name: str) -> None:
    with pytest.raises(SubsetError, match="a part of it may not be enough"):
        toy().check_samples((*KEPT, name))


def test_every_variable_needs_a_shape() -> None:
    config = parse_config("CONSTANTS Person = {a, b} Start = Start", TOY)
    fewer = {name: shape for name, shape in shapes().items() if name != "log"}

    with pytest.raises(ModelGapError, match="log"):
        open_specification(TOY, config, fewer, naturals=("Start",))


@pytest.mark.parametrize(
    ("start", "has", "runs", "possible"),
    [
        (3, (0, 3), (True, False), True),
        (0, (0, 0), (True, True), True),
        (3, (4, 0), (True, True), False),
        (3, (-1, 0), (True, True), False),
        (-1, (-1, -1), (True, True), False),
        (3, (0, 0), (False, False), False),
    ],
)
def test_an_initial_state_may_be_chosen_from_sets(
    start: int, has: tuple[int, int], runs: tuple[bool, bool], possible: bool
) -> None:
    numbers, flags = (FunctionOn(tuple([(p, s) for p in PERSONS])) for s in (INTEGER, BOOLEAN))
    spec = open_specification(
        CHOICES,
        parse_config("CONSTANTS Person = {a, b}", CHOICES),
        {"start": INTEGER, "has": numbers, "runs": flags},
    )
    initial = spec.initial()
    values = {
        "start": z3.IntVal(start),
        "has": Function(PERSONS, tuple(map(z3.IntVal, has))),
        "runs": Function(PERSONS, tuple(map(z3.BoolVal, runs))),
    }
    same = [
        equal(variable, values[name])
        for name, variable in zip(spec.variables, initial.post, strict=True)
    ]

    assert (z3.Solver().check(initial.possible, *same) == z3.sat) == possible
