"""The cores in lockstep with PreOnline: a master that comes back, on real frames and files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Final

import pytest
from hypothesis import settings

from model_tests.machines.pre_online_model import goals, moves
from model_tests.machines.pre_online_stuttering import IDLE, StutteringBrokers
from model_tests.machines.scenarios import ALONE, assert_scenario_fails, scenario, step_somewhere
from rocketha.formats.offset_tables import TableKind
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.known_bugs import PRE_ONLINE_BUGS, Bug
from rocketha.pre_online import master
from rocketha.pre_online.events import PreOnlineDone
from rocketha.pre_online.state import PreOnlineState, Waits
from rocketproof.protocols.pre_online.projection import queues_of
from tlatrace.testing import Call, Lockstep, Mismatch, ModelMachine, check, machine, replay
from tlatrace.testing.goals import walk

# One worker: the model is compiled and explored once.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("pre-online model")]

_BASE: Final = settings(stateful_step_count=6, derandomize=True, database=None, deadline=None)
_WALKS: Final = 10
_WALK_STEPS: Final = 60
_RARE: Final = frozenset({"Disconnect", "Forget", "Remove", "Stop", "Synchronize"})
"""Possible so often that no master would be online again."""


def brokers(
    model: str, *bugs: Bug, kind: TableKind = TableKind.CONSUMER
) -> Callable[[], StutteringBrokers]:
    return lambda: StutteringBrokers(model, kind, frozenset(bugs))


def driven(*bugs: Bug) -> type[ModelMachine]:
    small = moves("small", TableKind.CONSUMER)
    return machine(small, brokers("small", *bugs), goals=goals())


def driven_beside(model: str, *bugs: Bug) -> type[ModelMachine]:
    return machine(moves(model, TableKind.CONSUMER), brokers(model, *bugs))


def test_the_cores_take_the_steps_of_the_specification() -> None:
    coverage = check(driven(), settings(_BASE, max_examples=60))

    print(coverage.text())
    assert coverage.never_taken == ()
    assert coverage.never_possible == ()
    assert coverage.stuttering_calls


def test_the_cores_can_take_steps_of_every_kind() -> None:
    idle: set[str] = set()
    for kind, group in goals().groups.items():
        made = False
        for goal in group[:20]:
            run = Lockstep(moves("small", TableKind.CONSUMER), brokers("small")())
            walk(run, goals().way_to(goal))
            made = run.steps[-1:] == [goal[1]]
            idle |= {name.partition(" ")[2] for name in run.stuttering_calls()}
            if made:
                break
        assert made, kind
    assert idle == IDLE


@pytest.mark.parametrize(
    ("model", "kind"),
    [("full", TableKind.CONSUMER), ("steps", TableKind.DELAY)],
    ids=["two slaves, consumers' offsets", "versions, delayed messages"],
)
def test_the_cores_take_random_steps_of_larger_models(model: str, kind: TableKind) -> None:
    taken = set()
    for seed in range(_WALKS):
        rng = Random(seed)
        run = Lockstep(moves(model, kind), brokers(model, kind=kind)())
        for _ in range(_WALK_STEPS):
            step_somewhere(run, rng, _RARE)
        taken |= {step.action for step in run.steps if isinstance(step, Call)}
    assert {"GoOnline", "SendHaInfo", "Synchronize", "TakeTable"} <= taken


SHRUNK = [(Bug.B76, 3), (Bug.FRESH, 5), (Bug.SERVING, 3), (Bug.TRANSFER, 7)]
"""How many steps are left when a bug is shrunk."""


@pytest.mark.parametrize(("bug", "length"), SHRUNK, ids=[bug.value for bug, _ in SHRUNK])
def test_a_bug_is_found_and_shrunk_to_steps_each_of_which_it_needs(bug: Bug, length: int) -> None:
    tested = driven(bug)
    with pytest.raises(Mismatch) as caught:
        check(tested, settings(_BASE, max_examples=100))

    print(f"{bug.value}, in {tested.coverage.runs} runs: {caught.value}")
    assert len(caught.value.steps) <= length
    assert replay(driven(), caught.value.steps) is None


RETURNS: Final = "Stop 0; Start 0; AskGroup"
GIVES: Final = "Handshake 1; TakeTable 1"


def test_a_table_without_a_report_is_taken_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slave gives its table while the other end of its connection stands at the master only."""
    ways = [scenario(f"{RETURNS}; Handshake 1; Disconnect 1")]
    assert check(driven_beside("small"), ALONE, ways).stuttering_calls

    given = master.table_given

    def without_report(
        state: PreOnlineState, waits: Waits, command: RemotingCommand
    ) -> PreOnlineDone:
        return given(state, replace(waits, conn=None), command)

    monkeypatch.setattr(master, "table_given", without_report)
    with pytest.raises(Mismatch, match="TakeTable"):
        check(driven_beside("small"), ALONE, ways)


FIRST, SECOND = queues_of(TableKind.CONSUMER)
FAR = [
    (Bug.B48, "small", f"Remove 0; Hear 1; Register 0; Register 1; Commit 0 {FIRST}", 6),
    (Bug.B48_VERSION, "steps", f"Commit 0 {FIRST}; Commit 0 {FIRST}; Synchronize 1", 3),
    (Bug.B49, "steps", f"Commit 0 {FIRST}", 1),
    (Bug.B50, "two", f"{RETURNS}; {GIVES}; Remove 1; AskGroup", 8),
    (
        Bug.COMPARED,
        "steps",
        f"Commit 0 {FIRST}; Synchronize 1; Commit 0 {FIRST}; Persist 0; {RETURNS}; {GIVES}",
        9,
    ),
    (Bug.GIVES, "small", f"Commit 0 {FIRST}; Persist 0; Stop 0; Start 0", 5),
    (Bug.HOST, "two", f"{RETURNS}; {GIVES}; AskGroup", 7),
    (Bug.ISOLATED, "small", "Stop 0; Start 0; Remove 0", 4),
    (
        Bug.TIES,
        "steps",
        f"Stop 0; Remove 0; Hear 1; Commit 1 {FIRST}; Start 0; AskGroup; {GIVES}",
        8,
    ),
    (
        Bug.VERSIONS,
        "steps",
        f"Commit 0 {FIRST}; Commit 0 {FIRST}; Persist 0; Stop 0; Remove 0; Hear 1; "
        f"Commit 1 {SECOND}; Start 0; AskGroup; {GIVES}",
        11,
    ),
]
"""Bugs to which random steps hardly come, or for which the small model has no room: a second slave,
a version that moves, an offset of more than one. At the end of each the brokers do what must change
nothing."""


@pytest.mark.parametrize(("bug", "model", "text", "length"), FAR, ids=[r[0].value for r in FAR])
def test_a_bug_is_found_at_the_end_of_a_scenario_and_shrunk(
    bug: Bug, model: str, text: str, length: int
) -> None:
    steps = assert_scenario_fails(text, driven_beside(model, bug), lambda: driven_beside(model))
    assert steps <= length


def test_every_switch_of_pre_online_is_found() -> None:
    found = {row[0] for row in SHRUNK} | {row[0] for row in FAR}
    assert found == PRE_ONLINE_BUGS - {Bug.B51}, "between its two writes no step ends"
