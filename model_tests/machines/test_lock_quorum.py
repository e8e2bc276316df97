"""The cores in lockstep with LockQuorum: every action of the small model, on real bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import settings

from model_tests.machines.hand_locks import HandLocks
from model_tests.machines.lock_model import goals, moves
from rocketha.bugs import Bug, Bugs
from tlatrace.testing import Mismatch, ModelMachine, check, machine, replay

# One worker: the model is compiled and explored once.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("lock model")]

_BASE: Final = settings(stateful_step_count=6, derandomize=True, database=None, deadline=None)


def cores(bugs: Bugs) -> Callable[[], HandLocks]:
    return lambda: HandLocks(bugs)


def driven(*bugs: Bug) -> type[ModelMachine]:
    return machine(moves(), cores(frozenset(bugs)), goals=goals())


def test_the_cores_take_the_steps_of_the_specification() -> None:
    coverage = check(driven(), settings(_BASE, max_examples=100))

    assert coverage.never_taken == ()
    assert coverage.idle_calls


SHRUNK = [
    (Bug.B45_LEASE, 4),
    (Bug.B45_PARTIAL, 2),
    (Bug.B45_QUORUM, 2),
    (Bug.B45_RESTART, 5),
    (Bug.B46, 5),
    (Bug.COUNT_ONCE, 3),
    (Bug.LATE_ANSWER, 3),
    (Bug.LATE_ASK, 4),
    (Bug.UNLOCK_OWN, 5),
    (Bug.VOTE_ONCE, 4),
]
"""B77 needs a third broker, and LateFree a second attempt; runs show both."""


@pytest.mark.parametrize(("bug", "length"), SHRUNK, ids=[bug.value for bug, _ in SHRUNK])
def test_a_bug_is_found_and_shrunk_to_steps_each_of_which_it_needs(bug: Bug, length: int) -> None:
    with pytest.raises(Mismatch) as caught:
        check(driven(bug), settings(_BASE, max_examples=300))

    print(f"{bug.value}: {caught.value}")
    assert len(caught.value.steps) <= length
    assert replay(driven(), caught.value.steps) is None
