"""Brokers and controller in lockstep with ReplicaGroup: on real bytes, files and frames.

Each rule is an action of the specification. It can be applied when the model allows the action in
the present state; the group is made to take it, and must come to a state that the model allows.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import pytest
from hypothesis import settings

from model_tests.machines.group_model import SPEC, bounds, goals, moves
from model_tests.machines.manual_group import SAID_OF_NODES, ManualGroup
from model_tests.machines.scenarios import ALONE, assert_scenario_fails, scenario
from rocketha.known_bugs import GROUP_BUGS, Bug
from tlatrace.testing import Call, Lockstep, Mismatch, ModelMachine, check, machine, replay
from tlatrace.testing.goals import walk
from tlatrace.tools.manifest import read_manifest

# One worker: the model is compiled and explored once.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("group model")]

_BASE: Final = settings(stateful_step_count=6, derandomize=True, database=None, deadline=None)
_STATES: Final = 30_000
"""More than the small model has: it is explored whole."""
_EACH: Final = 3
"""Goals of each kind near which a bug is looked for."""
_WALKS: Final = 10
_WALK_STEPS: Final = 45
_RARE: Final = frozenset(
    {"Crash", "CleanBrokerData", "LearnSyncStateSet", "Disconnect", "CloseConnection"}
)
"""Possible so often that there would be little else."""

NOT_TOLD: Final = ("Handshake", "conn epochs known link log")
"""A master that restarts was told that there is none, and connects to nobody before it is told of
one: then it has nothing to learn in a handshake that cuts its log."""


def group(model: str, *bugs: Bug) -> Callable[[], ManualGroup]:
    return lambda: ManualGroup(moves(model), bounds(model), frozenset(bugs))


def driven(*bugs: Bug) -> type[ModelMachine]:
    return machine(moves("small"), group("small", *bugs), goals=goals("small", _STATES))


def driven_beside(model: str, *bugs: Bug) -> type[ModelMachine]:
    return machine(moves(model), group(model, *bugs))


def test_the_group_takes_the_steps_of_the_specification() -> None:
    coverage = check(driven(), settings(_BASE, max_examples=40))

    assert sorted(coverage.never_taken) == sorted(SAID_OF_NODES)
    # One proposal in all: it is the one that lets a slave join. Nothing bounds what comes late.
    never = [name for name in coverage.never_possible if "!" not in name]
    assert sorted(never) == ["HearAgain", "MaybeShrink"]
    assert coverage.stuttering_calls


def test_the_group_can_take_steps_of_every_kind() -> None:
    small = goals("small", _STATES)
    assert 10_000 < len(small.states) < _STATES
    for kind, group_of_kind in small.groups.items():
        made = False
        for goal in group_of_kind[:20]:
            run = Lockstep(moves("small"), group("small")())
            walk(run, small.way_to(goal))
            made = run.steps[-1:] == [goal[1]]
            if made:
                break
        assert made or kind == NOT_TOLD or kind[0] in SAID_OF_NODES, kind


SLAVE_IS_PROPOSED: Final = (
    "ElectMaster b1; BecomeMaster b1; BecomeSlave b2; Handshake b1 b2; ReceiveAck b1 b2;"
    "MaybeExpand b1 b2"
)
ONE_OF_TWO_IS_PROPOSED: Final = (
    "ElectMaster b1; BecomeMaster b1; BecomeSlave b2; BecomeSlave b3; Handshake b1 b2;"
    "Handshake b1 b3; ReceiveAck b1 b2; ReceiveAck b1 b3; MaybeExpand b1 b2"
)
SLAVE_HAS_JOINED: Final = f"{SLAVE_IS_PROPOSED}; AlterSyncStateSet b1; LearnSyncStateSet b1"


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (
            "clean",
            f"{SLAVE_HAS_JOINED}; PutMessage b1; MaybeShrink b1 {{b2}}; AlterSyncStateSet b1;"
            "LearnSyncStateSet b1; Acknowledge b1; Consume b1",
        ),
        (
            "small",
            "ElectMaster b1; BecomeMaster b1; BecomeSlave b2; Handshake b1 b2; ReceiveAck b1 b2;"
            "PutMessage b1; Crash b1 1; EvictBroker b1 0; CleanBrokerData; ElectMaster b2;"
            "Restart b1; BecomeMaster b2; Handshake b2 b1",
        ),
        (
            "unclean",
            "ElectMaster b1; BecomeMaster b1; PutMessage b1; Acknowledge b1; DesignateMaster b2;"
            "BecomeMaster b2; PutMessage b2; Acknowledge b2; Consume b2; Consume b1",
        ),
    ],
    ids=[
        "a member is removed",
        "a group is removed and begins anew",
        "two masters acknowledge different messages",
    ],
)
def test_a_scenario_can_be_taken_to_its_end(model: str, text: str) -> None:
    run = Lockstep(moves(model), group(model)())
    walk(run, scenario(text))

    assert run.steps == scenario(text)


@pytest.mark.parametrize("model", ["full", "unclean"])
def test_the_group_takes_random_steps_of_larger_models(model: str) -> None:
    taken = set()
    for seed in range(_WALKS):
        rng = Random(seed)
        run = Lockstep(moves(model), group(model)())
        for _ in range(_WALK_STEPS):
            _step_somewhere(run, rng)
        taken |= {step.action for step in run.steps if isinstance(step, Call)}
    assert {"AlterSyncStateSet", "RefuseAlter", "DesignateMaster", "Acknowledge"} <= taken


def _step_somewhere(run: Lockstep, rng: Random) -> None:
    if rng.random() < 0.3:
        run.stutter(rng.choice(run.stuttering_calls()))
        return
    offers = run.offers()
    if not offers:
        return  # a group that was removed, say
    actions = sorted({call.action for call in offers})
    [action] = rng.choices(actions, [0.1 if name in _RARE else 1 for name in actions])
    run.take(rng.choice([call for call in offers if call.action == action]))


FOUND = [
    (Bug.ALONE, "PutMessage", 4),
    (Bug.B10, "Restart", 3),
    (Bug.B25, "BecomeMaster", 3),
    (Bug.B31, "Restart", 3),
    (Bug.B35, "Restart", 4),
    (Bug.B36, "RefuseAlter", 8),
    (Bug.B37, "CleanBrokerData", 4),
    (Bug.B82, "MaybeExpand", 7),
    (Bug.B84, "Restart", 3),
    (Bug.HALF_OPEN, "MaybeExpand", 6),
    (Bug.LATE_EPOCH, "Restart", 4),
    (Bug.LATE_SET, "LearnSyncStateSet", 9),
    (Bug.NEW_EPOCH, "ElectMaster", 1),
    (Bug.REFUSAL, "RefuseAlter", 8),
    (Bug.SET_EPOCH, "RefuseAlter", 8),
    (Bug.SPENT, "RefuseAlter", 7),
    (Bug.W3, "Restart", 6),
    (Bug.W8, "PutMessage", 4),
]
"""Where to look for a bug, and how many steps are left when it is shrunk."""


@pytest.mark.parametrize(("bug", "action", "length"), FOUND, ids=[row[0].value for row in FOUND])
def test_a_bug_is_found_near_an_action_and_shrunk(bug: Bug, action: str, length: int) -> None:
    small = goals("small", _STATES)
    with pytest.raises(Mismatch) as caught:
        check(driven(bug), ALONE, map(small.way_to, small.nearest(_EACH, action)))

    print(f"{bug.value}: {caught.value}")
    assert len(caught.value.steps) <= length
    assert replay(driven(), caught.value.steps) is None


FAR = [
    (Bug.B28, "small", "Crash b1 0; Restart b1; ElectMaster b1", 4),
    (
        Bug.B11,
        "clean",
        f"{SLAVE_IS_PROPOSED}; AlterSyncStateSet b1; DesignateMaster b2; BecomeSlave b3;"
        "BecomeSlave b3",
        11,
    ),
    (Bug.ADOPT, "small", f"{SLAVE_IS_PROPOSED}; RefuseAlter b1; LearnSyncStateSet b1", 8),
    (Bug.B14, "small", f"{SLAVE_IS_PROPOSED}; PutMessage b1", 8),
    (Bug.B15, "small", f"{SLAVE_IS_PROPOSED}; PutMessage b1; CloseConnection b1 b2", 9),
    (
        Bug.B16,
        "small",
        "ElectMaster b1; BecomeMaster b1; PutMessage b1; Acknowledge b1; BecomeSlave b2;"
        "Handshake b1 b2; ReceiveAck b1 b2; Replicate b2; ReceiveAck b1 b2; MaybeExpand b1 b2;"
        "CloseConnection b1 b2; Handshake b1 b2",
        13,
    ),
    (
        Bug.B19,
        "small",
        f"{SLAVE_IS_PROPOSED}; CloseConnection b1 b2; Handshake b1 b2; PutMessage b1",
        10,
    ),
    (Bug.B20, "small", f"{SLAVE_IS_PROPOSED}; RefuseAlter b1; LearnSyncStateSet b1", 8),
    (Bug.B29, "small", "ElectMaster b1; Crash b1 0; Restart b1; ElectMaster b1", 4),
    (Bug.B33, "small", f"{SLAVE_IS_PROPOSED}; Crash b1 0; Restart b1", 9),
    (Bug.B79, "clean", ONE_OF_TWO_IS_PROPOSED, 10),
    (
        Bug.B83,
        "small",
        f"{SLAVE_IS_PROPOSED}; AlterSyncStateSet b1; PutMessage b1; Replicate b2;"
        "DesignateMaster b2; BecomeMaster b2; BecomeSlave b1; Handshake b2 b1; ReceiveAck b2 b1;"
        "HearEpoch b1; Crash b1 0; Restart b1",
        17,
    ),
    (Bug.B85, "small", f"{SLAVE_IS_PROPOSED}; Crash b2 0; Restart b2; RefuseAlter b1", 9),
    (
        Bug.EXPAND_CONFIRM,
        "small",
        "ElectMaster b1; BecomeMaster b1; PutMessage b1; Acknowledge b1; BecomeSlave b2;"
        "Handshake b1 b2; ReceiveAck b1 b2",
        8,
    ),
    (
        Bug.COUNTED,
        "clean",
        f"{ONE_OF_TWO_IS_PROPOSED}; PutMessage b1; Replicate b3; ReceiveAck b1 b3",
        13,
    ),
    (Bug.W2, "clean", f"{SLAVE_HAS_JOINED}; PutMessage b1; MaybeShrink b1 {{b2}}", 11),
]
"""The end of a scenario, where a bug shows that few lead to, and how many steps are left."""


@pytest.mark.parametrize(("bug", "model", "text", "length"), FAR, ids=[r[0].value for r in FAR])
def test_a_bug_is_found_at_the_end_of_a_scenario_and_shrunk(
    bug: Bug, model: str, text: str, length: int
) -> None:
    steps = assert_scenario_fails(text, driven_beside(model, bug), lambda: driven_beside(model))
    assert steps <= length


def test_every_bug_of_a_group_is_found_or_harmless_alone() -> None:
    mutants = [m for m in read_manifest(SPEC.parent).mutants if m.protocol == SPEC.name]
    harmless = {m.name for m in mutants if m.expect == "harmless"}
    found = {row[0] for row in FOUND} | {row[0] for row in FAR}

    assert found <= GROUP_BUGS
    assert {bug.value for bug in GROUP_BUGS - found} <= harmless
