"""Coverage of a graph by steps."""

from __future__ import annotations

from tests.traces.explore.tide import Tide
from tlatrace.explore import TakenStep, coverage_of, explore

GRAPH = explore(Tide(), check_invariants=False)


def test_nothing_taken_covers_nothing() -> None:
    found = coverage_of(GRAPH, [])
    assert found.taken == 0
    assert found.reachable == sum(action.reachable for action in found.actions) > 10
    assert found.untouched == ("Fall", "Land", "Rest", "Rise")


def test_a_step_counts_once_and_for_its_action() -> None:
    step: TakenStep = ((0, 0), "Rise", (2, 0))
    found = coverage_of(GRAPH, [step, step])
    assert {a.action: a.taken for a in found.actions} == {
        "Fall": 0,
        "Land": 0,
        "Rest": 0,
        "Rise": 1,
    }
    assert found.states_seen == 2


def test_all_steps_cover_all() -> None:
    steps: list[TakenStep] = [
        (GRAPH.states[t.source], t.action, GRAPH.states[t.target]) for t in GRAPH.steps
    ]
    found = coverage_of(GRAPH, steps)
    assert found.taken == found.reachable
    assert found.untouched == ()
    assert found.states_seen == found.states
    assert found.elsewhere == 0


def test_a_step_that_the_graph_lacks_is_counted_apart() -> None:
    steps: list[TakenStep] = [((0, 0), "Fall", (2, 0)), ((0, 0), "Rise", (9, 9))]
    found = coverage_of(GRAPH, steps)
    assert found.elsewhere == 2
    assert found.taken == 0
