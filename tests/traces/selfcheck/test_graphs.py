"""The comparison of state graphs detects every kind of difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.traces.explore.tide import Tide
from tlatrace.explore import Exploration, Transit, explore
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided
from tlatrace.selfcheck.graphs import TlcGraph, compare_graphs
from tlatrace.tlc.state_graph import StateGraph, StateId

TIDE: Final = Tide()
EXPLORED: Final = explore(TIDE, check_invariants=False)


def as_tlc_wrote(found: Exploration) -> TlcGraph:
    """Write an explored graph as TLC's, with its fingerprints."""
    name = {at: StateId(1000 - 7 * at) for at in range(len(found.states))}
    edges = {(name[step.source], step.action, name[step.target]) for step in found.steps}
    graph = StateGraph(
        initial=tuple([name[at] for at, level in enumerate(found.levels) if level == 1]),
        states={name[at]: dict(TIDE.show(state)) for at, state in enumerate(found.states)},
        edges=sorted(edges),
    )
    return TlcGraph(graph, found.depth)


TLC: Final = as_tlc_wrote(EXPLORED)


def test_equal_graphs_agree() -> None:
    found = compare_graphs("Tide", TLC, EXPLORED, TIDE.show)
    assert found.disagreements == ()
    assert found.examined == len(TLC.graph.edges)
    assert found.facts == {"states": 10, "depth": 5, "steps": len(TLC.graph.edges)}
    assert found.verdict == Conforms(len(TLC.graph.edges))


def test_a_missing_step_is_shown_with_both_states() -> None:
    wrong = explore(Tide(wrong=True), check_invariants=False)
    found = compare_graphs("Tide", TLC, wrong, TIDE.show)
    (step,) = [d for d in found.disagreements if d.question.startswith("the step boats = 1")]
    assert (
        step.question
        == "the step boats = 1, level = 2  --Land-->  boats = 2, level = 2 (one of 10)"
    )
    assert (step.tlc, step.model) == ("has it", "lacks it")
    assert isinstance(found.verdict, Diverges)


def test_an_invented_step_is_found() -> None:
    more = replace(EXPLORED, steps=(*EXPLORED.steps, Transit(0, "Fall", (), 2)))
    (found,) = compare_graphs("Tide", TLC, more, TIDE.show).disagreements
    assert (found.tlc, found.model) == ("lacks it", "has it")


def test_a_step_with_another_label_is_found_from_both_sides() -> None:
    first, *rest = EXPLORED.steps
    other = replace(EXPLORED, steps=(replace(first, action="Next"), *rest))
    found = compare_graphs("Tide", TLC, other, TIDE.show)
    assert len(found.disagreements) == 2
    assert found.examined == len(TLC.graph.edges) - 1


def test_another_depth_and_another_initial_state_are_found() -> None:
    levels = (2, *EXPLORED.levels[1:])
    found = compare_graphs("Tide", TLC, replace(EXPLORED, levels=levels), TIDE.show)
    assert [d.question for d in found.disagreements] == ["the initial state boats = 0, level = 0"]
    found = compare_graphs("Tide", TlcGraph(TLC.graph, 6), EXPLORED, TIDE.show)
    assert [(d.question, d.tlc, d.model) for d in found.disagreements] == [
        ("number of depth", "6", "5")
    ]


def test_a_missing_state_is_found_and_many_are_counted() -> None:
    wrong = explore(Tide(limit=1), check_invariants=False)
    found = compare_graphs("Tide", TLC, wrong, TIDE.show)
    states = [d for d in found.disagreements if d.question.startswith("the state ")]
    assert len(states) == 5
    assert "(one of 8)" in states[0].question


def test_an_empty_graph_is_no_agreement() -> None:
    empty = Exploration(states=(), levels=(), steps=(), violations=(), outside=0, complete=True)
    nothing = TlcGraph(StateGraph(initial=(), states={}, edges=[]), 0)
    found = compare_graphs("Nothing", nothing, empty, TIDE.show)
    assert found.disagreements == ()
    assert isinstance(found.verdict, Undecided)
