"""Which of the steps that a model can reach has somebody taken?

A step is a triple of a state, the name of an action, and the next state. Parameters are left out:
two choices of them that lead to the same state by the same action are one step, as in TLC's graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tlatrace.explore.explorer import Exploration
from tlatrace.oracle.states import ModelState

__all__ = ["ActionCoverage", "Coverage", "TakenStep", "coverage_of"]

TakenStep = tuple[ModelState, str, ModelState]
"""(state before, action, state after)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionCoverage:
    """How much of one action was taken."""

    action: str
    reachable: int
    """Distinct steps of the action in the explored graph."""
    taken: int
    """Distinct ones of them that were taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of an explored graph was taken."""

    actions: tuple[ActionCoverage, ...]
    """One for each action of the graph, by name."""
    states: int
    states_seen: int
    elsewhere: int
    """Distinct steps that are not in the graph: beyond its bounds, or not allowed."""

    @property
    def reachable(self) -> int:
        """Distinct steps of the graph."""
        return sum(action.reachable for action in self.actions)

    @property
    def taken(self) -> int:
        """Distinct steps of the graph that were taken."""
        return sum(action.taken for action in self.actions)

    @property
    def untouched(self) -> tuple[str, ...]:
        """The actions of the graph that were never taken."""
        return tuple([action.action for action in self.actions if not action.taken])


def coverage_of(exploration: Exploration, steps: Iterable[TakenStep]) -> Coverage:
    """Compare the steps that were taken with those that can be reached; memory: the graph."""
    states = exploration.states
    graph = {(states[t.source], t.action, states[t.target]) for t in exploration.steps}
    taken: set[TakenStep] = set()
    elsewhere: set[TakenStep] = set()
    for step in steps:
        (taken if step in graph else elsewhere).add(step)
    reachable: dict[str, int] = {}
    covered: dict[str, int] = {}
    for _, action, _ in graph:
        reachable[action] = reachable.get(action, 0) + 1
    for _, action, _ in taken:
        covered[action] = covered.get(action, 0) + 1
    seen = {state for before, _, after in taken for state in (before, after)}
    return Coverage(
        actions=tuple(
            [
                ActionCoverage(action=name, reachable=reachable[name], taken=covered.get(name, 0))
                for name in sorted(reachable)
            ]
        ),
        states=len(states),
        states_seen=len(seen),
        elsewhere=len(elsewhere),
    )
