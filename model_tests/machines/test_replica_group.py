"""Brokers and controller in lockstep with ReplicaGroup: on real bytes, files and frames.

Each rule is an action of the specification. It can be applied when the model allows the action in
the present state; the group is made to take it, and must come to a state that the model allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import settings

from model_tests.machines.group_hand_driven import GroupHandDriven
from model_tests.machines.group_model import bounds, goals, moves
from rocketha.bugs import NO_BUGS, Bug, Bugs
from tlatrace.testing import Lockstep, Mismatch, ModelMachine, check, machine, replay
from tlatrace.testing.goals import walk

# One worker: the model is compiled and explored once.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("group model")]

_BASE: Final = settings(stateful_step_count=6, derandomize=True, database=None, deadline=None)
_STATES: Final = 30_000
"""More than the small model has: it is explored whole."""


NOT_TOLD: Final = ("Handshake", "conn epochs known link log")
"""A master that restarts was told that there is none, and connects to nobody before it is told of
one: then it has nothing to learn in a handshake that cuts its log."""


def group(model: str, bugs: Bugs) -> Callable[[], GroupHandDriven]:
    return lambda: GroupHandDriven(moves(model), bounds(model), bugs)


def driven(*bugs: Bug) -> type[ModelMachine]:
    return machine(moves("small"), group("small", frozenset(bugs)), goals=goals("small", _STATES))


def test_the_group_takes_the_steps_of_the_specification() -> None:
    coverage = check(driven(), settings(_BASE, max_examples=60))

    assert coverage.never_taken == ()
    # One proposal in all: it is the one that lets a slave join.
    assert coverage.never_possible == ("MaybeShrink",)
    assert coverage.idle_calls


def test_the_group_can_take_steps_of_every_kind() -> None:
    small = goals("small", _STATES)
    assert 10_000 < len(small.states) < _STATES
    for kind, group_of_kind in small.groups.items():
        made = False
        for goal in group_of_kind[:20]:
            run = Lockstep(moves("small"), group("small", NO_BUGS)())
            walk(run, small.way_to(goal))
            made = run.steps[-1:] == [goal[1]]
            if made:
                break
        assert made or kind == NOT_TOLD, kind


SHRUNK = [
    (Bug.B10, 3),
    (Bug.B14, 8),
    (Bug.B25, 3),
    (Bug.B28, 3),
    (Bug.B29, 4),
    (Bug.B35, 4),
    (Bug.B36, 8),
    (Bug.B37, 4),
    (Bug.B82, 7),
    (Bug.B84, 3),
    (Bug.HALF_OPEN, 6),
    (Bug.LATE_REIGN, 4),
    (Bug.NEW_EPOCH, 1),
    (Bug.REFUSAL, 8),
    (Bug.SET_EPOCH, 8),
    (Bug.SPENT, 7),
    (Bug.W3, 6),
    (Bug.W8, 4),
]


@pytest.mark.parametrize(("bug", "length"), SHRUNK, ids=[bug.value for bug, _ in SHRUNK])
def test_a_bug_is_found_and_shrunk_to_steps_each_of_which_it_needs(bug: Bug, length: int) -> None:
    with pytest.raises(Mismatch) as caught:
        check(driven(bug), settings(_BASE, max_examples=50))

    print(f"{bug.value}: {caught.value}")
    assert len(caught.value.steps) <= length
    assert replay(driven(), caught.value.steps) is None
