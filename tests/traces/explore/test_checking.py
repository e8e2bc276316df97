"""The search that stops at the first violation, on toys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.traces.explore.tide import MAX, Tide
from tlatrace.errors import EvaluationError
from tlatrace.explore import ModelState, PathState, check_model, images_of
from tlatrace.oracle import Step
from tlatrace.runtime.values import Fcn, RuntimeValue, model_value
from tlatrace.tools.tlc_output import Outcome

A, B, C = (model_value(name) for name in ("a", "b", "c"))
SWAPS = frozenset([Fcn({A: B, B: A, C: C}), Fcn({A: A, B: C, C: B})])


@dataclass(frozen=True, slots=True)
class Seats:
    """Guests sit down one by one, in any order; `most` of them may, a state without a value is."""

    guests: tuple[RuntimeValue, ...] = (A, B, C)
    most: int = 3
    valueless_at: int = 9

    def initial_states(self) -> list[ModelState]:
        return [(frozenset(),)]

    def successors(self, state: ModelState) -> list[Step]:
        seated = _seated(state)
        if len(seated) == self.valueless_at:
            raise EvaluationError("there is no next guest")
        free = [guest for guest in self.guests if guest not in seated]
        return [Step("Sit", (guest,), (seated | {guest},)) for guest in free]

    def violated(self, state: ModelState) -> tuple[str, ...]:
        return () if len(_seated(state)) <= self.most else ("FewSit", "Polite")

    def within(self, _: ModelState) -> bool:
        return True

    def within_step(self, _pre: ModelState, _post: ModelState) -> bool:
        return True


def _seated(state: ModelState) -> frozenset[RuntimeValue]:
    (seated,) = state
    assert isinstance(seated, frozenset)
    return seated


def test_a_model_that_holds_is_counted() -> None:
    found = check_model(Seats(), deadlock=False)

    assert (found.outcome, found.distinct, found.depth) == (Outcome.SUCCESS, 8, 4)
    assert found.generated == 1 + 12
    assert found.path == ()


def test_a_violation_is_shown_on_a_shortest_way() -> None:
    found = check_model(Seats(most=1))

    assert (found.outcome, found.violated) == (Outcome.INVARIANT, "FewSit")
    assert [(item.action, len(_seated(item.state))) for item in found.path] == [
        (None, 0),
        ("Sit", 1),
        ("Sit", 2),
    ]
    assert _seated(found.path[2].state) - _seated(found.path[1].state) == {*found.path[2].params}


def test_a_violation_beyond_the_constraint_has_its_way_too() -> None:
    found = check_model(Tide())

    assert (found.violated, [item.state for item in found.path]) == ("Low", [(MAX + 1, 0)])


def test_a_state_without_successor_is_a_deadlock_where_it_is_wanted() -> None:
    found = check_model(Seats())

    assert found.outcome is Outcome.DEADLOCK
    assert len(found.path) == 4
    assert check_model(Seats(), deadlock=False).outcome is Outcome.SUCCESS


def test_where_there_is_no_value_is_shown_and_is_no_success() -> None:
    found = check_model(Seats(valueless_at=1), deadlock=False)

    assert (found.outcome, found.message) == (
        Outcome.EVALUATION_ERROR,
        str(EvaluationError("there is no next guest")),
    )
    assert [len(_seated(item.state)) for item in found.path] == [0, 1]


@dataclass(frozen=True, slots=True)
class Nothing(Seats):
    """There is no initial state."""

    def initial_states(self) -> list[ModelState]:
        return []


def test_zero_states_are_no_success() -> None:
    found = check_model(Nothing())

    assert found.outcome is Outcome.EVALUATION_ERROR
    assert "no initial state" in found.message


def test_a_limit_is_no_success() -> None:
    by_states = check_model(Seats(), deadlock=False, max_states=3)
    ticks: Iterator[float] = iter(range(100))
    by_time = check_model(Seats(), deadlock=False, timeout_s=2, clock=lambda: next(ticks))

    assert (by_states.outcome, by_time.outcome) == (Outcome.TIMEOUT, Outcome.TIMEOUT)
    assert "more than 3 states" in by_states.message
    assert "after 2 s" in by_time.message


def test_states_that_differ_by_a_permutation_count_once() -> None:
    images = images_of(SWAPS, "Symmetry")
    found = check_model(Seats(), deadlock=False, images=images)

    assert len(images) == 5
    assert (found.outcome, found.distinct, found.depth) == (Outcome.SUCCESS, 4, 4)
    violating = check_model(Seats(most=1), images=images)
    assert [item.action for item in violating.path] == [None, "Sit", "Sit"]
    assert violating.path[0] == PathState(None, (), (frozenset(),))


def test_permutations_go_into_values_of_every_kind() -> None:
    images = images_of(frozenset([Fcn({A: B, B: A})]), "Symmetry")
    state: ModelState = ((A, 1), frozenset([A, C]), Fcn({A: "a", B: B}), "a")

    assert list(images(state)) == [
        ((B, 1), frozenset([B, C]), Fcn({B: "a", A: A}), "a"),
    ]


@pytest.mark.parametrize(
    "declared",
    [
        pytest.param(Fcn({A: B, B: A}), id="no set"),
        pytest.param(frozenset([Fcn({A: B, B: B})]), id="not one to one"),
        pytest.param(frozenset([Fcn({"x": "y", "y": "x"})]), id="strings"),
        pytest.param(frozenset([7]), id="numbers"),
    ],
)
def test_what_permutes_no_model_values_is_refused(declared: RuntimeValue) -> None:
    with pytest.raises(EvaluationError, match="SYMMETRY S "):
        images_of(declared, "S")
