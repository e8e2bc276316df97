"""A node with snapshots in lockstep with SnapshotLoading, on real bytes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import pytest
from hypothesis import settings

from model_tests.machines.manual_snapshots import ManualSnapshots
from model_tests.machines.scenarios import assert_scenario_fails, scenario
from model_tests.machines.snapshot_model import TERMS, goals, moves
from rocketha.known_bugs import SNAPSHOT_BUGS, Bug
from tlatrace.testing import Call, Lockstep, Mismatch, ModelMachine, check, machine, replay
from tlatrace.testing.goals import walk

# One worker: the model is compiled and explored once.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("snapshot model")]

_BASE: Final = settings(stateful_step_count=6, derandomize=True, database=None, deadline=None)
_WALKS: Final = 20
_WALK_STEPS: Final = 60
_RARE: Final = frozenset({"Crash", "Install", "LeaderCompacts", "Rot"})
"""Possible so often that no log would be cut."""


def node(model: str, *bugs: Bug) -> Callable[[], ManualSnapshots]:
    return lambda: ManualSnapshots(moves(model), TERMS[model], frozenset(bugs))


def driven(*bugs: Bug) -> type[ModelMachine]:
    return machine(moves("small"), node("small", *bugs), goals=goals())


def driven_beside(model: str, *bugs: Bug) -> type[ModelMachine]:
    return machine(moves(model), node(model, *bugs))


def test_the_node_takes_the_steps_of_the_specification() -> None:
    coverage = check(driven(), settings(_BASE, max_examples=60))

    assert coverage.never_taken == ()
    assert coverage.never_possible == ("AppendStray",), "it is in the larger models"
    assert coverage.stuttering_calls


def test_the_node_can_take_steps_of_every_kind() -> None:
    for kind, group_of_kind in goals().groups.items():
        made = False
        for goal in group_of_kind[:4]:
            run = Lockstep(moves("small"), node("small")())
            walk(run, goals().way_to(goal))
            made = made or run.steps[-1:] == [goal[1]]
        assert made, kind


def test_a_file_that_is_written_again_may_be_lost() -> None:
    follows = "Agree; AppendEntry 1; Commit 1; Apply"
    saves = "Save good; SyncTemporary; Rename"
    text = (
        f"{follows}; {saves}; SyncDirectory; ReadBack; Rot 1; {RESTARTS}; LoadNewest; "
        f"Commit 1; Apply; {saves}; Crash {{}} TRUE"
    )
    assert replay(driven_beside("full"), scenario(text)) is None


def test_the_node_takes_random_steps_of_a_larger_model() -> None:
    taken = set()
    for seed in range(_WALKS):
        rng = Random(seed)
        run = Lockstep(moves("full"), node("full")())
        for _ in range(_WALK_STEPS):
            _step_somewhere(run, rng)
        taken |= {step.action for step in run.steps if isinstance(step, Call)}
    assert {"AppendStray", "CutLog", "DeleteExpired", "Install", "LoadNewest", "Rot"} <= taken


def _step_somewhere(run: Lockstep, rng: Random) -> None:
    idle, offers = run.stuttering_calls(), run.offers()
    if idle and rng.random() < 0.2:
        run.stutter(rng.choice(idle))
    elif offers:
        actions = sorted({call.action for call in offers})
        [action] = rng.choices(actions, [0.1 if name in _RARE else 1 for name in actions])
        run.take(rng.choice([call for call in offers if call.action == action]))


WRITES: Final = "Install good; SyncTemporary; Rename; SyncDirectory"
INSTALLS: Final = f"{WRITES}; ReadBack"
RESTARTS: Final = "Crash {} FALSE; Start; LoadNewest"

FOUND = [
    (Bug.B54, 3),
    (Bug.B55, 9),
    (Bug.B56, 7),
    (Bug.B58, 7),
    (Bug.B68, 5),
    (Bug.BOUNDARY_OF_CUT, 17),
    (Bug.CRC, 10),
    (Bug.CUT_AT_OLDEST, 10),
    (Bug.DIRECTORY_SYNC, 6),
    (Bug.EXPIRED, 7),
    (Bug.FRESH_OBJECT, 9),
    (Bug.INSTALL_FRESH, 8),
    (Bug.READ_BACK, 8),
    (Bug.SNAP_AT_APPLIED, 9),
    (Bug.SUFFIX_KEPT, 8),
    (Bug.SYNC_FIRST, 4),
]
"""How many steps are left when a bug is shrunk: none can go alone, fewer in all may do."""


@pytest.mark.parametrize(("bug", "length"), FOUND, ids=[bug.value for bug, _ in FOUND])
def test_a_bug_is_found_and_shrunk_to_steps_each_of_which_it_needs(bug: Bug, length: int) -> None:
    with pytest.raises(Mismatch) as caught:
        check(driven(bug), settings(_BASE, max_examples=60))

    print(f"{bug.value}: {caught.value}")
    assert len(caught.value.steps) <= length
    assert replay(driven(), caught.value.steps) is None


FAR = [
    (
        Bug.B53,
        "full",
        f"Agree; AppendEntry 1; Commit 1; Apply; Agree; Agree; LeaderCompacts 3; {INSTALLS}",
        12,
    ),
    (
        Bug.B57,
        "small",
        f"Agree; LeaderCompacts 1; {INSTALLS}; Rot 1; {RESTARTS}; LoadNewest",
        12,
    ),
    (Bug.B59, "small", f"Agree; LeaderCompacts 1; {INSTALLS}; Crash {{}} FALSE; Start", 9),
    (
        Bug.REFUSE_GAP,
        "small",
        f"Agree; LeaderCompacts 1; {INSTALLS}; Rot 1; {RESTARTS}; LoadNewest",
        12,
    ),
    (Bug.SUFFIX_DROPPED, "full", f"AppendStray; Agree; LeaderCompacts 1; {INSTALLS}", 8),
    (
        Bug.VALIDITY,
        "small",
        f"Agree; AppendEntry 1; LeaderCompacts 1; {WRITES}; Agree; AppendEntry 2; Commit 2; Apply; "
        "Apply; ReadBack",
        13,
    ),
]
"""The end of a scenario, where a bug shows that few lead to, and how many steps are left. In the
small model no snapshot that is installed has a register less than the node, and no leader does not
last: B53 and `SuffixDropped` need `full`."""


@pytest.mark.parametrize(("bug", "model", "text", "length"), FAR, ids=[r[0].value for r in FAR])
def test_a_bug_is_found_at_the_end_of_a_scenario_and_shrunk(
    bug: Bug, model: str, text: str, length: int
) -> None:
    steps = assert_scenario_fails(text, driven_beside(model, bug), lambda: driven_beside(model))
    assert steps <= length


def test_every_switch_of_snapshots_is_found() -> None:
    found = {row[0] for row in FOUND} | {row[0] for row in FAR}
    assert found == SNAPSHOT_BUGS - {Bug.TERM_FIRST}, "it is harmless"
