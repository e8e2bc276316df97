"""The cores in lockstep with Escape: what a slave that acts puts into other masters' logs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import pytest
from hypothesis import settings

from model_tests.machines.escape_model import MODELS, goals, moves
from model_tests.machines.escape_stuttering import IDLE, StutteringEscape
from model_tests.machines.scenarios import scenario, step_somewhere
from rocketha.known_bugs import ESCAPE_BUGS, Bug
from rocketproof.protocols.escape.missed import MISSED
from rocketproof.protocols.escape.seen import TraceKind
from tlatrace.testing import Call, Lockstep, Mismatch, ModelMachine, check, machine, replay
from tlatrace.testing.goals import walk

# One worker: the models are compiled and explored once.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("escape model")]

_BASE: Final = settings(stateful_step_count=6, derandomize=True, database=None, deadline=None)
_WALKS: Final = 8
_WALK_STEPS: Final = 60
_RARE: Final = frozenset({"Act", "Die", "LearnRoute", "Return", "Stop"})
"""Possible so often that little would be put."""
_OF: Final = {
    TraceKind.DELAYED: {"Put", "StorePut", "HearPut", "FailPut", "Pass", "Save"},
    TraceKind.HALVES: {"Put", "StorePut", "HearPut", "FailPut", "Pass", "Save", "End", "Check"},
    TraceKind.POPS: {
        "Accept",
        "Acknowledge",
        "CheckPoint",
        "Revive",
        "StoreAck",
        "StoreCheckPoint",
    },
}
"""What is taken in each model, besides what is in all of them."""
STORED_TWICE: Final = "Act TRUE; Put 1 b11; FailPut 1 b11; Put 1 b11; StorePut 1 b11"
_OF_ALL: Final = {"Act", "LearnRoute", "Die", "Return", "Stop", "Start"}
DELAYED, HALVES, POPS = TraceKind.DELAYED, TraceKind.HALVES, TraceKind.POPS


def nodes(model: str, kind: TraceKind, *bugs: Bug) -> Callable[[], StutteringEscape]:
    return lambda: StutteringEscape(model, kind, frozenset(bugs))


def driven(kind: TraceKind, *bugs: Bug) -> type[ModelMachine]:
    model = MODELS[kind]
    return machine(moves(model, kind), nodes(model, kind, *bugs), goals=goals(kind))


@pytest.mark.parametrize("kind", TraceKind, ids=[kind.name for kind in TraceKind])
def test_the_cores_take_the_steps_of_the_specification(kind: TraceKind) -> None:
    coverage = check(driven(kind), settings(_BASE, max_examples=40))

    print(coverage.text())
    assert coverage.never_taken == ()
    assert set(coverage.taken) == _OF[kind] | _OF_ALL
    assert coverage.stuttering_calls


def test_every_action_is_taken_but_the_one_that_no_slave_takes() -> None:
    taken = _OF_ALL.union(*_OF.values())
    model = moves(MODELS[DELAYED], DELAYED).model
    left = {name for name in model.actions if model.calls(name)} - taken
    said = {"Deny", "RefuseAck", "SkipAck", "WaitFor"}
    assert left == {"PutHere", "Missed"} | said | MISSED, "finite models leave these out"


def test_the_cores_can_take_steps_of_every_kind() -> None:
    run = Lockstep(moves("small", DELAYED), nodes("small", DELAYED)())
    walk(run, scenario(STORED_TWICE))
    run.stutter("b11 stores again what it has")

    idle = {"stores again what it has"}
    for of in TraceKind:
        for kind, group in goals(of).groups.items():
            made = False
            for goal in group[:20]:
                run = Lockstep(moves(MODELS[of], of), nodes(MODELS[of], of)())
                walk(run, goals(of).way_to(goal))
                made = goal[1] in run.steps
                idle |= {name.partition(" ")[2] for name in run.stuttering_calls()}
                if made:
                    break
            assert made, kind
    assert idle == IDLE


@pytest.mark.parametrize("pops", ["", "CheckPoint p1 b12; "], ids=["nobody waits", "one waits"])
def test_a_consumer_is_told_why_it_is_given_nothing(pops: str) -> None:
    """Where another one waits for its check point it hears that first, and not of masters."""
    run = Lockstep(moves(MODELS[POPS], POPS), nodes(MODELS[POPS], POPS)())
    walk(run, scenario(f"Act TRUE; {pops}LearnRoute b12 FALSE; LearnRoute b11 FALSE"))

    run.stutter("b2 refuses a consumer")


@pytest.mark.parametrize("kind", [DELAYED, HALVES], ids=["DELAYED", "HALVES"])
def test_the_cores_take_random_steps_with_two_records_under_way(kind: TraceKind) -> None:
    taken = set()
    for seed in range(_WALKS):
        rng = Random(seed)
        run = Lockstep(moves("window", kind), nodes("window", kind)())
        for _ in range(_WALK_STEPS):
            step_somewhere(run, rng, _RARE)
        taken |= {step.action for step in run.steps if isinstance(step, Call)}
    assert {"FailPut", "HearPut", "Pass", "Save"} <= taken


SHRUNK = [
    (Bug.B47, DELAYED, 1),
    (Bug.B48, DELAYED, 4),
    (Bug.EARLY, DELAYED, 3),
    (Bug.LOCAL_FIRST, DELAYED, 4),
    (Bug.SENT, DELAYED, 3),
    (Bug.SKIPS, HALVES, 4),
    (Bug.STAYS_HALF, HALVES, 3),
    (Bug.UNASKED, HALVES, 4),
    (Bug.MEETS, POPS, 2),
    (Bug.NAMES, POPS, 4),
    (Bug.TOLD, POPS, 5),
]
"""In which model a bug is found, and how many steps are left when it is shrunk."""


@pytest.mark.parametrize(("bug", "kind", "length"), SHRUNK, ids=[bug.value for bug, _, _ in SHRUNK])
def test_a_bug_is_found_and_shrunk_to_steps_each_of_which_it_needs(
    bug: Bug, kind: TraceKind, length: int
) -> None:
    tested = driven(kind, bug)
    with pytest.raises(Mismatch) as caught:
        check(tested, settings(_BASE, max_examples=40))

    print(f"{bug.value}, in {tested.coverage.runs} runs: {caught.value}")
    assert len(caught.value.steps) <= length
    assert replay(driven(kind), caught.value.steps) is None


def test_every_switch_of_escape_is_found() -> None:
    assert {row[0] for row in SHRUNK} == ESCAPE_BUGS
