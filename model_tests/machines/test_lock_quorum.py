"""The cores in lockstep with LockQuorum: every action of the small model, on real bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import settings

from model_tests.machines.lock_model import goals, moves
from model_tests.machines.manual_locks import ManualLocks
from model_tests.machines.scenarios import assert_scenario_fails
from rocketha.known_bugs import LOCK_BUGS, Bug
from tlatrace.testing import Mismatch, ModelMachine, check, machine, replay

# One worker: the model is compiled and explored once.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("lock model")]

_BASE: Final = settings(stateful_step_count=6, derandomize=True, database=None, deadline=None)


def cores(model: str, *bugs: Bug) -> Callable[[], ManualLocks]:
    return lambda: ManualLocks(model, frozenset(bugs))


def driven(*bugs: Bug) -> type[ModelMachine]:
    return machine(moves("small"), cores("small", *bugs), goals=goals())


def driven_beside(model: str, *bugs: Bug) -> type[ModelMachine]:
    return machine(moves(model), cores(model, *bugs))


def test_the_cores_take_the_steps_of_the_specification() -> None:
    coverage = check(driven(), settings(_BASE, max_examples=100))

    assert coverage.never_taken == ()
    assert coverage.stuttering_calls


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
"""How many steps are left when a bug is shrunk."""


@pytest.mark.parametrize(("bug", "length"), SHRUNK, ids=[bug.value for bug, _ in SHRUNK])
def test_a_bug_is_found_and_shrunk_to_steps_each_of_which_it_needs(bug: Bug, length: int) -> None:
    with pytest.raises(Mismatch) as caught:
        check(driven(bug), settings(_BASE, max_examples=300))

    print(f"{bug.value}: {caught.value}")
    assert len(caught.value.steps) <= length
    assert replay(driven(), caught.value.steps) is None


LOCKS = "Lock c1 {q1} b1; ReceiveAsk c1 b1"
FAR = [
    (Bug.B77, "three", f"{LOCKS}; ReceiveAsk c1 b2; ReceiveAnswer c1 {{q1}}", 4),
    (
        Bug.LATE_FREE,
        "two",
        f"Lock c1 {{q1}} b1; GiveUp c1; {LOCKS}; ReceiveAsk c1 b1; ReceiveFree c1 b1",
        6,
    ),
]
"""Bugs that the small model has no room for: a third broker, a second attempt."""


@pytest.mark.parametrize(("bug", "model", "text", "length"), FAR, ids=[r[0].value for r in FAR])
def test_a_bug_is_found_in_a_larger_model_and_shrunk(
    bug: Bug, model: str, text: str, length: int
) -> None:
    steps = assert_scenario_fails(text, driven_beside(model, bug), lambda: driven_beside(model))
    assert steps <= length


def test_every_switch_of_locks_is_found() -> None:
    assert {row[0] for row in SHRUNK} | {row[0] for row in FAR} == LOCK_BUGS
