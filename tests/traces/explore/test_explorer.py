"""The breadth-first search, on a toy."""

from __future__ import annotations

from tests.traces.explore.tide import MAX, Tide, numbers
from tlatrace.explore import explore


def test_it_finds_every_state_once_and_the_nearest_first() -> None:
    found = explore(Tide())
    assert len(set(found.states)) == len(found.states)
    assert set(found.states) == {
        (level, boats) for level in range(MAX + 1) for boats in range(3) if level or not boats
    }
    assert list(found.levels) == sorted(found.levels)
    assert found.initial == ((0, 0),)
    assert found.complete


def test_the_depth_counts_the_states_of_the_longest_shortest_way() -> None:
    found = explore(Tide())
    levels = dict(zip(found.states, found.levels, strict=True))
    assert levels[0, 0] == 1
    assert levels[2, 0] == 2
    assert levels[2, 1] == 3
    assert levels[2, 2] == 4
    assert found.depth == 5


def test_a_step_is_recorded_for_each_choice_of_parameters() -> None:
    found = explore(Tide())
    from_start = [step for step in found.steps if found.states[step.source] == (0, 0)]
    assert [(step.action, step.params) for step in from_start] == [("Rise", (1,)), ("Rise", (2,))]
    assert sum(step.source == step.target for step in found.steps) == MAX  # Rest


def test_a_state_beyond_the_constraint_is_neither_counted_nor_expanded() -> None:
    found = explore(Tide(limit=1))
    assert {numbers(state)[0] for state in found.states} == {0, 1}
    assert found.outside == 3  # 2, 3, and the initial state 4
    assert all(numbers(found.states[step.target])[0] <= 1 for step in found.steps)


def test_invariants_are_evaluated_beyond_the_constraint_too() -> None:
    found = explore(Tide())
    broken = {violation.state: violation for violation in found.violations}
    assert broken[4, 0].source is None
    source = broken[4, 1].source
    assert source is not None
    assert found.states[source] in ((2, 1), (3, 1))
    assert broken[4, 1].invariants == ("Low",)
    assert broken[4, 2].invariants == ("Low", "Few")
    within = [v for v in found.violations if v.invariants == ("Few",)]
    assert {v.state for v in within} == {(1, 2), (2, 2), (3, 2)}


def test_a_step_beyond_the_action_constraint_is_not_taken_but_its_end_is_checked() -> None:
    found = explore(Tide(haste=1))
    rises = {step.params for step in found.steps if step.action == "Rise"}
    assert rises == {(1,)}
    assert (4, 1) not in found.states
    patient = {violation.state for violation in explore(Tide(haste=0)).violations}
    assert patient == {(4, 0)}
    assert len(explore(Tide(haste=0)).states) == 1


def test_invariants_are_left_alone_when_nobody_asks() -> None:
    assert explore(Tide(), check_invariants=False).violations == ()


def test_a_search_that_was_cut_off_says_so() -> None:
    found = explore(Tide(), max_states=3)
    assert not found.complete
    assert len(found.states) < len(explore(Tide()).states)


def test_deadlocks_are_the_states_without_a_step() -> None:
    found = explore(Tide(limit=0))
    assert found.deadlocks() == ((0, 0),)
    assert explore(Tide()).deadlocks() == ()
