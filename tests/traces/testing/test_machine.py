"""The state machine: it passes what conforms, finds what does not, and shrinks it."""

from __future__ import annotations

import unittest
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

from tests.traces.testing.test_lockstep import Picky
from tests.traces.testing.toy import Tank, TankModel
from tlatrace.errors import ModelGapError
from tlatrace.testing import Coverage, Mismatch, ModelMachine, check, machine, replay
from tlatrace.testing.calls import call_of
from tlatrace.testing.goals import Goals
from tlatrace.testing.moves import Moves
from tlatrace.trace.ndjson import read_trace

MODEL = TankModel()
FEW = settings(max_examples=60, stateful_step_count=12, derandomize=True, database=None)
SHORT = settings(FEW, stateful_step_count=1)


def steps_of(tested: type[ModelMachine], chosen: settings = FEW) -> list[str]:
    with pytest.raises(Mismatch) as caught:
        check(tested, chosen)
    return [repr(step) for step in caught.value.steps]


def test_a_system_that_conforms_passes_and_every_action_is_taken() -> None:
    coverage = check(machine(MODEL, Tank), FEW)

    assert coverage.never_taken == ()
    assert coverage.runs >= 60
    assert "Fill" in coverage.text()


def test_a_bug_is_shrunk_to_the_steps_it_needs() -> None:
    assert steps_of(machine(MODEL, lambda: Tank(overflows_at=1))) == ["Fill(1)"]

    tested = machine(MODEL, lambda: Tank(overflows_at=4))
    with pytest.raises(Mismatch) as caught:
        check(tested, FEW)
    steps = caught.value.steps
    assert {repr(step) for step in steps} <= {"Fill(1)", "Fill(2)"}
    for at in range(len(steps)):
        assert replay(tested, [*steps[:at], *steps[at + 1 :]]) is None


def test_a_bug_behind_four_steps_is_shrunk_to_them() -> None:
    found = steps_of(machine(MODEL, lambda: Tank(breaks=True)))

    assert found == ["Fill(2)", "Drain", "Fill(2)", "Drain", "Empty"]


def test_a_run_that_begins_at_a_goal_finds_what_one_step_does_not() -> None:
    stuck = machine(MODEL, lambda: Tank(breaks=True))
    moves = Moves(MODEL)
    far = machine(moves, lambda: Tank(breaks=True), goals=Goals(moves, 100))

    assert check(stuck, SHORT).never_possible == ("Empty",)
    assert steps_of(far, SHORT)[-1] == "Empty"


def test_a_bug_at_the_end_of_a_way_that_is_given_is_found() -> None:
    ways = [[call_of("Fill", (1,))], [call_of(*step) for step in _TO_EMPTY]]
    stuck = machine(MODEL, lambda: Tank(breaks=True))

    with pytest.raises(Mismatch) as caught:
        check(stuck, SHORT, ways)

    assert [repr(step) for step in caught.value.steps][-1] == "Empty"
    assert stuck.coverage.runs == 2, "hypothesis was not needed"
    assert check(machine(MODEL, Tank), SHORT, ways).taken["Empty"] == 1


_TO_EMPTY: Final = [
    ("Fill", (2,)),
    ("Drain", ()),
    ("Fill", (2,)),
    ("Drain", ()),
    ("Empty", ()),
]


def test_the_trace_of_a_failing_run_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "failing.ndjson"
    tested = machine(MODEL, lambda: Tank(overflows_at=4), failing_trace=path)

    with pytest.raises(Mismatch) as caught:
        check(tested, FEW)

    trace = read_trace(path)
    assert trace.header is not None
    assert trace.header.spec == "Tank"
    assert trace.events == caught.value.trace.events
    assert {event.action for event in trace.events} == {"Init", "Fill"}


def test_every_system_is_closed_once() -> None:
    made: list[Tank] = []

    def make() -> Tank:
        made.append(Tank(overflows_at=4))
        return made[-1]

    with pytest.raises(Mismatch):
        check(machine(MODEL, make), FEW)

    assert {tank.closed for tank in made} == {1}


def test_a_system_that_begins_elsewhere_fails_and_is_closed() -> None:
    made: list[Tank] = []

    def make() -> Tank:
        made.append(Tank(level=1))
        return made[-1]

    assert steps_of(machine(MODEL, make)) == []
    assert {tank.closed for tank in made} == {1}


def test_a_system_that_cannot_be_compared_is_closed() -> None:
    made: list[Tank] = []

    def make() -> Tank:
        made.append(Tank(shows=()))
        return made[-1]

    with pytest.raises(ModelGapError, match="shows nothing"):
        check(machine(MODEL, make), FEW)
    assert {tank.closed for tank in made} == {1}


def test_an_idle_call_that_changes_something_is_found() -> None:
    class Spilling(Picky):
        spills = True

    assert steps_of(machine(MODEL, Spilling)) == ["'look'"]


def test_a_run_of_nothing_is_no_pass() -> None:
    with pytest.raises(ModelGapError, match="nothing"):
        check(machine(TankModel(bound=-1), Tank), FEW)


def test_a_machine_is_a_test_case_for_pytest_and_unittest() -> None:
    result = unittest.TestResult()
    good, bad = machine(MODEL, Tank), machine(MODEL, lambda: Tank(overflows_at=1))
    for made in (good, bad):
        made.TestCase.settings = settings(made.TestCase.settings, stateful_step_count=10)

    good.TestCase().run(result)
    assert result.wasSuccessful()
    assert result.testsRun == 1

    bad.TestCase().run(result)
    assert len(result.failures) == 1
    assert "Fill(1)" in result.failures[0][1]
    assert "the model has 1, the system 0" in result.failures[0][1]
    assert "Draw 1: Fill(1)" in result.failures[0][1]


class _WithInstance(TankModel):
    """Has an action of an instance, which Next does not call."""

    @property
    def actions(self) -> Mapping[str, int]:
        return {**super().actions, "Inner!Fill": 1}


def test_a_specification_with_instances_makes_a_machine() -> None:
    coverage = check(machine(_WithInstance(), Tank), FEW)

    assert coverage.taken["Fill"]
    assert not coverage.taken["Inner!Fill"]


def test_steps_are_taken_again() -> None:
    bad = machine(MODEL, lambda: Tank(overflows_at=4))
    with pytest.raises(Mismatch) as caught:
        check(bad, FEW)

    again = replay(bad, caught.value.steps)

    assert again is not None
    assert again.what == caught.value.what
    assert replay(machine(MODEL, Tank), caught.value.steps) is None


def test_goals_are_one_of_each_kind_of_step() -> None:
    goals = Goals(Moves(MODEL), 100)

    assert set(goals.groups) == {
        ("Fill", "level"),
        ("Drain", "level"),
        ("Drain", "level lost"),  # the same call: it has two outcomes
        ("Empty", "lost"),
        ("Empty", "level lost"),
    }
    (group,) = [group for kind, group in goals.groups.items() if kind == ("Empty", "lost")]
    way = goals.way_to(group[0])
    assert repr(way[-1]) == "Empty"
    assert len(Goals(Moves(MODEL), 3).way_to(next(iter(goals.groups.values()))[0])) == 1
    assert len(Goals(Moves(MODEL), 3).states) == 3


def test_coverage_says_what_was_never_taken_and_what_was_never_possible() -> None:
    coverage = Coverage(actions=("Drain", "Empty", "Paint"))
    coverage.saw([call_of("Drain", ()), call_of("Empty", ())])
    coverage.taken["Drain"] += 2

    assert coverage.never_taken == ("Empty",)
    assert coverage.never_possible == ("Paint",)
    assert coverage.text().splitlines()[1:] == [
        "  Drain         2",
        "  Empty         0   never taken",
        "  never possible: Paint",
    ]
