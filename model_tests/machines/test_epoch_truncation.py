"""The cores in lockstep with EpochTruncation: every action of the small model, on real bytes.

Each rule is an action of the specification. It can be applied when the model allows the action in
the present state; the cores are made to take it, and must come to a state that the model allows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from model_tests.machines.manual_brokers import ManualBrokers
from model_tests.machines.scenarios import assert_scenario_fails, scenario
from model_tests.machines.small_model import goals, loss_moves, moves
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from tlatrace.testing import Lockstep, Mismatch, ModelMachine, check, machine, replay
from tlatrace.testing.goals import Goal, walk

# One worker: the model is compiled and explored once.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("small model")]

SAID_OF_A_RUN: Final = "Healed"
"""Nothing that the cores do."""

_BASE: Final = settings(stateful_step_count=6, derandomize=True, database=None, deadline=None)


def cores(bugs: Bugs) -> Callable[[], ManualBrokers]:
    return lambda: ManualBrokers(moves(), bugs)


def driven(*bugs: Bug) -> type[ModelMachine]:
    return machine(moves(), cores(frozenset(bugs)), goals=goals())


def test_the_cores_take_the_steps_of_the_specification() -> None:
    coverage = check(driven(), settings(_BASE, max_examples=500))

    assert coverage.never_taken == (SAID_OF_A_RUN,)
    assert coverage.stuttering_calls


def test_the_cores_can_take_steps_of_every_kind() -> None:
    for kind, group in goals().groups.items():
        assert any(was_made(goal) for goal in group[:200]) or kind[0] == SAID_OF_A_RUN, kind


def was_made(goal: Goal) -> bool:
    run = Lockstep(moves(), ManualBrokers(moves(), NO_BUGS))
    walk(run, goals().way_to(goal))
    return run.steps[-1:] == [goal[1]]


LOG_IS_LOST: Final = (
    "ElectMaster b1; BecomeMaster b1; PutMessage b1; ElectMaster b1; BecomeMaster b1; Crash b1 1;"
    "ElectNobody; LoseLog b1 0; Restart b1"
)
"""A master loses the record below its last epoch after its epoch, while its group has no master."""


STORE_IS_LOST: Final = (
    "ElectMaster b1; BecomeMaster b1; PutMessage b1; Crash b1 1; ElectMaster b2; BecomeMaster b2;"
    "LoseStore b1; Restart b1; BecomeSlave b1; Handshake b2 b1; ReceiveHandshake b1"
)
"""A master stops, and comes back with an empty disk when another one is elected."""


def driven_beside_losses(*bugs: Bug) -> type[ModelMachine]:
    return machine(loss_moves(), lambda: ManualBrokers(loss_moves(), frozenset(bugs)))


def test_the_cores_bear_the_loss_of_flushed_records() -> None:
    run = Lockstep(loss_moves(), ManualBrokers(loss_moves(), NO_BUGS))

    walk(run, scenario(LOG_IS_LOST))

    assert run.steps == scenario(LOG_IS_LOST)


def test_the_cores_bear_the_loss_of_all_files() -> None:
    run = Lockstep(loss_moves(), ManualBrokers(loss_moves(), NO_BUGS))

    walk(run, scenario(STORE_IS_LOST))

    assert run.steps == scenario(STORE_IS_LOST)


def test_an_epoch_cache_that_is_not_cut_to_what_was_lost_is_seen() -> None:
    steps = assert_scenario_fails(
        LOG_IS_LOST, driven_beside_losses(Bug.B83), lambda: driven_beside_losses()
    )

    assert steps == len(scenario(LOG_IS_LOST))


SHRUNK = [
    (Bug.B03, 4),
    (Bug.B05, 10),
    (Bug.B06, 7),
    (Bug.B07, 8),
    (Bug.B10, 4),
    (Bug.B83, 14),
    (Bug.MIN_END, 14),
]


@pytest.mark.parametrize(("bug", "length"), SHRUNK, ids=[bug.value for bug, _ in SHRUNK])
def test_a_bug_is_found_and_shrunk_to_steps_each_of_which_it_needs(bug: Bug, length: int) -> None:
    with pytest.raises(Mismatch) as caught:
        check(driven(bug), settings(_BASE, max_examples=600))

    print(f"{bug.value}: {caught.value}")
    assert len(caught.value.steps) <= length
    assert replay(driven(), caught.value.steps) is None


@pytest.mark.parametrize(
    ("bug", "examples"),
    [
        (Bug.B01, 600),
        (Bug.B02, 600),
        pytest.param(Bug.B04, 1500, marks=pytest.mark.slow),
        (Bug.B11, 600),
        (Bug.B86, 600),
        (Bug.FLUSH_BEFORE_EPOCH, 600),
        (Bug.MASTER_ANSWERS, 600),
    ],
)
def test_a_bug_is_found_by_random_steps(bug: Bug, examples: int) -> None:
    chosen = settings(_BASE, max_examples=examples, phases=[Phase.generate])

    with pytest.raises(Mismatch):
        run_state_machine_as_test(driven(bug), settings=chosen)
