"""The cores in lockstep with Route: every action of a small model, on real bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import settings

from model_tests.machines.manual_route import ManualRoute
from model_tests.machines.route_model import goals, moves
from model_tests.machines.scenarios import assert_scenario_fails
from rocketha.known_bugs import ROUTE_BUGS, Bug
from tlatrace.testing import Mismatch, ModelMachine, check, machine, replay

# One worker: the model is compiled and explored once.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("route model")]

_BASE: Final = settings(stateful_step_count=6, derandomize=True, database=None, deadline=None)


def cores(model: str, *bugs: Bug) -> Callable[[], ManualRoute]:
    return lambda: ManualRoute(model, frozenset(bugs))


def driven(*bugs: Bug) -> type[ModelMachine]:
    return machine(moves("serving"), cores("serving", *bugs), goals=goals())


def driven_beside(model: str, *bugs: Bug) -> type[ModelMachine]:
    return machine(moves(model), cores(model, *bugs))


def test_the_cores_take_the_steps_of_the_specification() -> None:
    coverage = check(driven(), settings(_BASE, max_examples=60))

    assert coverage.never_taken == ()
    assert coverage.stuttering_calls


SHRUNK = [(Bug.B40, 7), (Bug.B44, 1)]
"""How many steps are left when a bug is shrunk."""


@pytest.mark.parametrize(("bug", "length"), SHRUNK, ids=[bug.value for bug, _ in SHRUNK])
def test_a_bug_is_found_and_shrunk_to_steps_each_of_which_it_needs(bug: Bug, length: int) -> None:
    with pytest.raises(Mismatch) as caught:
        check(driven(bug), settings(_BASE, max_examples=100))

    print(f"{bug.value}: {caught.value}")
    assert len(caught.value.steps) <= length
    assert replay(driven(), caught.value.steps) is None


MASTER = "LearnRole 1; Register 1 n1"
FAR = [
    (
        Bug.B40_FORGOTTEN,
        "waiting",
        f"{MASTER}; Elect 2; LearnRole 2; Register 2 n1; ReceiveRegistration n1 2; Decide n1 2; "
        "Remove n1 2; ReceiveRegistration n1 1",
        9,
    ),
    (
        Bug.B41,
        "waiting",
        f"{MASTER}; ReceiveRegistration n1 1; Decide n1 1; Elect 2; LearnRole 2; Register 2 n1; "
        "ReceiveRegistration n1 2; Remove n1 1",
        9,
    ),
    (
        Bug.B42,
        "waiting",
        f"{MASTER}; ReceiveRegistration n1 1; Decide n1 1; Reconnect 1; Register 1 n1; "
        "ReceiveRegistration n1 1; Remove n1 1",
        8,
    ),
    (
        Bug.B43,
        "not_acting",
        f"{MASTER}; ReceiveRegistration n1 1; LearnRole 2; Register 2 n1; "
        "ReceiveRegistration n1 2; Decide n1 1; Remove n1 1",
        8,
    ),
]
"""Bugs to which random steps hardly come."""


@pytest.mark.parametrize(("bug", "model", "text", "length"), FAR, ids=[r[0].value for r in FAR])
def test_a_bug_is_found_in_a_scenario_and_shrunk(
    bug: Bug, model: str, text: str, length: int
) -> None:
    steps = assert_scenario_fails(text, driven_beside(model, bug), lambda: driven_beside(model))
    assert steps <= length


def test_every_switch_of_route_is_found() -> None:
    assert {row[0] for row in SHRUNK} | {row[0] for row in FAR} == ROUTE_BUGS
