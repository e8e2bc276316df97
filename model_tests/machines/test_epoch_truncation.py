"""The cores in lockstep with EpochTruncation: every action of the small model, on real bytes.

Each rule is an action of the specification. It can be applied when the model allows the action in
the present state; the cores are made to take it, and must come to a state that the model allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from model_tests.machines.hand_driven import Divergence, HandDriven
from model_tests.machines.invariants import INVARIANTS, broken, reign_history
from model_tests.machines.small_model import CONFIG, SmallModel, Step, load_small_model
from rocketha.bugs import NO_BUGS, Bug, Bugs
from tlatrace.tools.tlc_config import invariants_of

# One worker: the graph is made once, and takes much memory.
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("small model")]

model = cache(load_small_model)

CHOICES = st.integers(min_value=0, max_value=3)
"""Which of the steps that one action may be; four are enough for two brokers."""


@cache
def goals() -> list[list[tuple[int, Step]]]:
    """Return all steps, each with the state it starts from, by what they do.

    Two steps do the same if they are of one action and change the same variables. So those that
    truncate are as likely to be drawn as those that have nothing to truncate.
    """
    groups: dict[tuple[str, str], list[tuple[int, Step]]] = {}
    for number, leaving in enumerate(model().steps):
        for step in leaving:
            groups.setdefault((step.action, step.changed), []).append((number, step))
    return list(groups.values())


def can(action: str) -> Callable[[EpochTruncation], bool]:
    """Say when a rule applies: the model allows the action, and it can be made to happen."""
    return lambda machine: action in machine.steps


class EpochTruncation(RuleBasedStateMachine):
    """Rules are named after actions, invariants after invariants."""

    def __init__(self, graph: SmallModel, bugs: Bugs) -> None:
        super().__init__()
        self.cluster = HandDriven(graph, bugs)
        self.steps: dict[str, list[Step]] = {}
        self.look()

    def look(self) -> None:
        self.steps = {}
        for step in self.cluster.feasible():
            self.steps.setdefault(step.action, []).append(step)

    def take(self, action: str, choice: int) -> None:
        steps = self.steps[action]
        self.cluster.take(steps[choice % len(steps)])
        self.look()

    @initialize(data=st.data())
    def walk(self, data: st.DataObject) -> None:
        """Go where some step is possible, and take it: far from where random steps lead.

        A step of the way may be left out, and shrinking leaves out what it can.
        """
        group = goals()[data.draw(st.integers(0, len(goals()) - 1))]
        source, step = group[data.draw(st.integers(0, len(group) - 1))]
        way = [*model().way_to(source), step]
        self.cluster.walk([step for step in way if data.draw(st.integers(0, 99)) > 0])
        self.look()

    @precondition(lambda machine: not machine.steps or machine.cluster.strangers())
    @rule(choice=CHOICES)
    def connect_in_vain(self, choice: int) -> None:
        """Nothing comes of a connection to a broker that is not a master."""
        pairs = self.cluster.strangers()
        if pairs:
            self.cluster.connect_in_vain(*pairs[choice % len(pairs)])

    @invariant()
    def every_invariant_holds(self) -> None:
        assert not broken(self.cluster.state), broken(self.cluster.state)

    @precondition(can("ElectMaster"))
    @rule(choice=CHOICES)
    def ElectMaster(self, choice: int) -> None:
        self.take("ElectMaster", choice)

    @precondition(can("BecomeMaster"))
    @rule(choice=CHOICES)
    def BecomeMaster(self, choice: int) -> None:
        self.take("BecomeMaster", choice)

    @precondition(can("BecomeSlave"))
    @rule(choice=CHOICES)
    def BecomeSlave(self, choice: int) -> None:
        self.take("BecomeSlave", choice)

    @precondition(can("Flush"))
    @rule(choice=CHOICES)
    def Flush(self, choice: int) -> None:
        self.take("Flush", choice)

    @precondition(can("Crash"))
    @rule(choice=CHOICES)
    def Crash(self, choice: int) -> None:
        self.take("Crash", choice)

    @precondition(can("Restart"))
    @rule(choice=CHOICES)
    def Restart(self, choice: int) -> None:
        self.take("Restart", choice)

    @precondition(can("PutMessage"))
    @rule(choice=CHOICES)
    def PutMessage(self, choice: int) -> None:
        self.take("PutMessage", choice)

    @precondition(can("Handshake"))
    @rule(choice=CHOICES)
    def Handshake(self, choice: int) -> None:
        self.take("Handshake", choice)

    @precondition(can("ReceiveAck"))
    @rule(choice=CHOICES)
    def ReceiveAck(self, choice: int) -> None:
        self.take("ReceiveAck", choice)

    @precondition(can("Transfer"))
    @rule(choice=CHOICES)
    def Transfer(self, choice: int) -> None:
        self.take("Transfer", choice)

    @precondition(can("ReceiveHandshake"))
    @rule(choice=CHOICES)
    def ReceiveHandshake(self, choice: int) -> None:
        self.take("ReceiveHandshake", choice)

    @precondition(can("ReceiveTransfer"))
    @rule(choice=CHOICES)
    def ReceiveTransfer(self, choice: int) -> None:
        self.take("ReceiveTransfer", choice)

    @precondition(can("Disconnect"))
    @rule(choice=CHOICES)
    def Disconnect(self, choice: int) -> None:
        self.take("Disconnect", choice)


def run(bugs: Bugs, examples: int, *phases: Phase) -> None:
    """Run the machine, always with the same random numbers.

    Raises: Divergence
    """
    chosen = settings(
        max_examples=examples,
        stateful_step_count=6,
        phases=phases,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    # A factory will do, says its documentation; its type says otherwise.
    run_state_machine_as_test(lambda: EpochTruncation(model(), bugs), settings=chosen)  # type: ignore[arg-type]


def replay(bugs: Bugs, steps: Sequence[Step]) -> Divergence | None:
    """Take the steps, those that can be taken, and return what the cores did wrong."""
    cluster = HandDriven(model(), bugs)
    try:
        cluster.walk(steps)
    except Divergence as error:
        return error
    return None


def shortest(bugs: Bugs, found: Divergence) -> Divergence:
    """Leave out one step after the other, as long as the cores still diverge."""
    at = 0
    while at < len(found.taken):
        shorter = replay(bugs, [*found.taken[:at], *found.taken[at + 1 :]])
        if shorter is not None:
            found, at = shorter, 0
        else:
            at += 1
    return found


def test_the_cores_take_the_steps_of_the_specification() -> None:
    run(NO_BUGS, 500, Phase.generate, Phase.shrink)


def test_the_cores_can_take_steps_of_every_kind() -> None:
    for group in goals():
        made = False
        for source, step in group[:20]:
            cluster = HandDriven(model(), NO_BUGS)
            cluster.walk([*model().way_to(source), step])
            made = made or cluster.taken[-1:] == [step]
        assert made, f"{group[0][1].action} that changes {group[0][1].changed}"


SHRUNK = [
    (Bug.B03, 4),
    (Bug.B05, 10),
    (Bug.B06, 16),
    (Bug.B07, 16),
    (Bug.B10, 5),
    (Bug.B83, 14),
    (Bug.MIN_END, 18),
]


@pytest.mark.parametrize(("bug", "length"), SHRUNK, ids=[bug.value for bug, _ in SHRUNK])
def test_a_bug_is_found_and_shrunk_to_steps_each_of_which_it_needs(bug: Bug, length: int) -> None:
    bugs = frozenset({bug})

    with pytest.raises(Divergence) as caught:
        run(bugs, 600, Phase.generate, Phase.shrink)

    found = shortest(bugs, caught.value)
    print(f"{bug.value}: {found}")
    assert len(found.taken) <= length
    assert replay(NO_BUGS, found.taken) is None


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
def test_a_bug_is_found(bug: Bug, examples: int) -> None:
    with pytest.raises(Divergence):
        run(frozenset({bug}), examples, Phase.generate)


def test_the_invariants_hold_in_the_states_of_the_model() -> None:
    """So do their versions in Python, and what the theorem ConsistentPoint assumes of reigns."""
    assert INVARIANTS.keys() <= set(invariants_of(CONFIG.read_text()))
    for number in range(len(model().texts)):
        state = model().state(number)
        assert reign_history(state), state
        if number % 5 == 0:
            assert not broken(state), state
