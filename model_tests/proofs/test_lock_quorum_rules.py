"""The steps of the theorem LockQuorum do what the actions of the specification do, from any state.

The theorem is an independent abstraction: its steps are written by hand, over real numbers. Here
states are drawn at random, reachable or not, with a message that the step is about. The compiled
model has the operators of LockQuorum, unbounded. Both must say the same: whether the step is
possible, and what one queue is after it. A step that is another one, or a wrong rule, is found.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

import pytest
import z3

from model_tests.proofs.lock_states import NONE, Lock, after, lock_of, pinned, whole
from rocketproof.theorems.lock_quorum import VARIANTS
from rocketproof.theorems.lock_state import Group, group_constants, time_constants
from rocketproof.theorems.lock_steps import RIGHT, STEPS, Choice, Rules, Step, choice_constants
from tlatrace.oracle import Model, ModelState, load_model
from tlatrace.runtime.values import FALSE, RuntimeValue, function, model_value
from tlatrace.tla.config import parse_config

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("theorem LockQuorum")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "lock_quorum"
MODULE: Final = Path(__file__).with_name("RandomLockQuorum.tla")
BROKERS, CONSUMERS, QUEUES = (
    tuple(map(model_value, names)) for names in (("r1", "r2", "r3"), ("c1", "c2", "c3"), ("a", "b"))
)
LOOKED_AT: Final = ("c1", "c2")
"""The consumers of the theorem; the third is somebody else."""
QUEUE, ELSEWHERE = QUEUES
VOTE_LIFE, LEASE_LIFE, PATIENCE = 4, 2, 1
UNREAD: Final = 9
TRIALS: Final = 60
"""Of each step."""
CONFIG: Final = f"""
SPECIFICATION Spec
CONSTANTS
  Replica = {{r1, r2, r3}}  Client = {{c1, c2, c3}}  Queue = {{a, b}}  None = None
  Configured = 3  Strict = TRUE
  VoteLife = {VOTE_LIFE}  LeaseLife = {LEASE_LIFE}  Patience = {PATIENCE}  Skew = 0
  Durations <- UpToThree
"""

Rule = Callable[..., Step]


@cache
def model() -> Model:
    return load_model(MODULE, parse_config(CONFIG, MODULE), libraries=[SPEC])


# ---- States that are drawn ----


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A state, what the theorem knows of it besides, and a choice for a step."""

    state: ModelState
    lock: Lock
    r: int
    c: int
    n: int
    heard: bool
    passed: int


def each(keys: tuple[RuntimeValue, ...], draw: Callable[[], RuntimeValue]) -> RuntimeValue:
    return function({key: draw() for key in keys})


def drawn(name: str, choice: random.Random) -> Trial:
    """Draw a state for a step, with the message that it is about."""
    r, n = choice.randrange(len(BROKERS)), choice.randrange(1, 4)
    c = 2 if name in ("VoteForOthers", "ReleaseOfOthers") else choice.randrange(2)
    tries: dict[RuntimeValue, RuntimeValue] = {one: choice.randrange(1, 4) for one in CONSUMERS}
    last = whole(tries[CONSUMERS[c]])
    message: dict[RuntimeValue, RuntimeValue] = {
        "c": CONSUMERS[c],
        "r": BROKERS[r],
        "qs": frozenset([QUEUE]),
    }
    number = min(n, last) if name == "Vote" else 3 if c == 2 else n
    asked = function({**message, "n": number, "first": FALSE})
    freed = function({**message, "n": number})

    def vote() -> RuntimeValue:
        who = choice.choice((*CONSUMERS, None))
        if who is None:
            return function({"c": model_value(NONE)})
        left = choice.randrange(1, VOTE_LIFE)  # a new one has more
        return function({"c": who, "n": choice.randrange(1, 4), "left": left})

    def attempt(consumer: RuntimeValue) -> RuntimeValue:
        if choice.random() < 0.4:
            return function({"n": 0})
        queues = choice.choice(([QUEUE], [QUEUE, ELSEWHERE]))
        voted = each(
            QUEUES,
            lambda: frozenset([one for one in BROKERS if choice.random() < 0.5]),
        )
        return function(
            {
                "n": tries[consumer],
                "qs": frozenset(queues),
                "left": choice.randrange(PATIENCE + 2),
                "yes": voted,
            }
        )

    unreleased = each(CONSUMERS, lambda: each(QUEUES, lambda: 0))
    values: dict[str, RuntimeValue] = {
        "votes": each(BROKERS, lambda: each(QUEUES, vote)),
        "released": each(BROKERS, lambda: unreleased),
        "wait": each(BROKERS, lambda: choice.choice((0, 0, 1, VOTE_LIFE))),
        "asks": frozenset([asked] if name in ("Vote", "VoteForOthers") else []),
        "frees": frozenset([freed] if name in ("Release", "ReleaseOfOthers") else []),
        "tries": function(tries),
        "attempt": function({one: attempt(one) for one in CONSUMERS}),
        "lease": each(CONSUMERS, lambda: each(QUEUES, lambda: choice.randrange(LEASE_LIFE + 1))),
        "fresh": each(CONSUMERS, lambda: frozenset()),
        "last": each(QUEUES, lambda: model_value(NONE)),
    }
    state = tuple([values[variable] for variable in model().variables])
    lock = replace(
        lock_of(model(), state, QUEUE, None),
        promised={str(one): choice.choice(("c1", "c2", "c3", NONE)) for one in BROKERS},
        still={str(one): choice.randrange(-1, VOTE_LIFE) for one in BROKERS},
    )
    return Trial(
        state=state,
        lock=lock,
        r=r,
        c=c,
        n=number,
        heard=choice.random() < 0.6,
        passed=choice.randrange(1, 4),
    )


@cache
def trials(name: str) -> tuple[Trial, ...]:
    choice = random.Random(f"steps {name}")
    return tuple([drawn(name, choice) for _ in range(TRIALS)])


# ---- What the specification says ----


def of_spec(name: str, trial: Trial) -> Lock | None:
    """Take the step of the specification; None: it is not possible, or does nothing."""
    consumer, broker = CONSUMERS[trial.c], BROKERS[trial.r]
    one, none = frozenset([QUEUE]), frozenset[RuntimeValue]()
    action, params = {
        "Lock": ("Lock", (consumer, one, broker)),
        "LockElsewhere": ("Lock", (consumer, frozenset([ELSEWHERE]), broker)),
        "Vote": ("ReceiveAsk", (consumer, broker)),
        "VoteForOthers": ("ReceiveAsk", (consumer, broker)),
        "Answer": ("ReceiveAnswer", (consumer, one if trial.heard else none)),
        "GiveUp": ("GiveUp", (consumer,)),
        "Unlock": ("Unlock", (consumer, one)),
        "Release": ("ReceiveFree", (consumer, broker)),
        "ReleaseOfOthers": ("ReceiveFree", (consumer, broker)),
        "Restart": ("Restart", (broker,)),
        "PassTime": ("Tick", (trial.passed,)),
    }[name]
    found = [
        step.post
        for step in model().action_successors(trial.state, action)
        if step.params == params
    ]
    if not found:
        return None
    (state,) = found
    post = after(model(), trial.lock, action, params, state, QUEUE)
    was, is_ = trial.lock.vote[str(broker)], post.vote[str(broker)]
    if name in ("Vote", "VoteForOthers") and is_[2] != VOTE_LIFE:
        return None  # the request is read, and there is no vote
    if name == "ReleaseOfOthers" and (was[0] != "c3" or is_[0] != NONE):
        return None
    return post


# ---- What the theorem says ----


def unread(group: Group, lock: Lock) -> Iterator[z3.BoolRef]:
    """Say what is where a state has nothing to say: a step must not take it over."""
    for r, (who, _, _) in enumerate(lock.vote[name] for name in sorted(lock.vote)):
        if who == NONE:
            yield group.left[r] == UNREAD
        if who not in LOOKED_AT:
            yield group.number[r] == UNREAD
    for c, consumer in enumerate(LOOKED_AT):
        if lock.asking[consumer] is None:
            yield z3.And(group.patience[c] == UNREAD, *group.yes[c])
        if lock.lease[consumer] == 0:
            yield group.lease[c] == -UNREAD


@dataclass(frozen=True, slots=True)
class Taken:
    """A step of the theorem from any state, and the constants that it chooses by."""

    before: Group
    choice: Choice
    step: Step
    solver: z3.Solver

    def agrees(self, name: str, trial: Trial, expected: Lock | None) -> bool:
        """Tell whether the step is possible just when it is expected, and leads there."""
        choice, chosen = self.choice, trial.passed
        self.solver.push()
        self.solver.add(*pinned(self.before, trial.lock, LOOKED_AT))
        self.solver.add(*unread(self.before, trial.lock))
        self.solver.add(choice.r == trial.r, choice.c == trial.c, choice.n == trial.n)
        self.solver.add(choice.heard == trial.heard)
        self.solver.add([one == chosen for one in (*choice.by_broker, *choice.by_consumer)])
        assert self.solver.check() == z3.sat, trial
        self.solver.add(self.step.possible)
        if name == "Answer" and trial.heard:  # too few votes are an answer of another kind
            self.solver.add(self.step.post.lease[trial.c] > 0)
        if expected is not None:
            self.solver.add(*pinned(self.step.post, expected, LOOKED_AT))
        answer = self.solver.check()
        self.solver.pop()
        assert answer != z3.unknown
        return bool(answer == z3.sat) == (expected is not None)


def taken(name: str, rules: Rules = RIGHT, steps: Mapping[str, Rule] = STEPS) -> Taken:
    before, times = group_constants(len(BROKERS)), time_constants()
    choice, solver = choice_constants(len(BROKERS)), z3.Solver()
    solver.add(times.vote == VOTE_LIFE, times.lease == LEASE_LIFE, times.patience == PATIENCE)
    solver.add(times.rho == 0, times.gain == 1)
    return Taken(before, choice, steps[name](before, times, rules, choice), solver)


def disagreements(name: str, one: Taken) -> int:
    return sum(not one.agrees(name, trial, of_spec(name, trial)) for trial in trials(name))


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_possible_and_does_what_the_specification_says(name: str) -> None:
    expected = [of_spec(name, trial) for trial in trials(name)]
    possible = sum(post is not None for post in expected)

    assert disagreements(name, taken(name)) == 0
    assert possible >= 8
    always = name in ("Release", "Restart", "PassTime")
    assert (possible == TRIALS) == always, "both answers are asked for"


# ---- What is wrong is found ----

WRONG_RULES: Final = {
    "B45Quorum": "Answer",
    "B45Restart": "Restart",
    "VoteOnce": "Vote",
    "LateFree": "Release",
    "LateAnswer": "Answer",
}


@pytest.mark.parametrize("name", WRONG_RULES)
def test_a_wrong_rule_is_found(name: str) -> None:
    (variant,) = [one for one in VARIANTS if one.name == name]

    assert disagreements(WRONG_RULES[name], taken(WRONG_RULES[name], variant.rules)) > 0


@pytest.mark.parametrize("name", STEPS)
def test_a_step_without_its_effect_is_found(name: str) -> None:
    one = taken(name)
    idle = replace(one, step=replace(one.step, post=one.before))

    assert disagreements(name, idle) > 0


@pytest.mark.parametrize(
    "name", [name for name in STEPS if name not in {"Release", "Restart", "PassTime"}]
)
def test_a_step_without_its_guard_is_found(name: str) -> None:
    one = taken(name)
    free = replace(one, step=replace(one.step, possible=z3.BoolVal(True)))

    assert disagreements(name, free) > 0


EFFECTS: Final = [
    ("Lock", "tries"),
    ("Lock", "asking"),
    ("Lock", "patience"),
    ("Lock", "yes"),
    ("Vote", "left"),
    ("Vote", "number"),
    ("Vote", "yes"),
    ("Vote", "still"),
    ("Answer", "asking"),
    ("Answer", "lease"),
    ("Answer", "given"),
    ("GiveUp", "given"),
    ("Unlock", "given"),
    ("Restart", "wait"),
    ("PassTime", "left"),
    ("PassTime", "wait"),
    ("PassTime", "lease"),
    ("PassTime", "patience"),
]


@pytest.mark.parametrize(("name", "part"), EFFECTS, ids=[" ".join(one) for one in EFFECTS])
def test_a_step_that_leaves_one_part_as_it_was_is_found(name: str, part: str) -> None:
    one = taken(name)
    stale = replace(one.step.post, **{part: getattr(one.before, part)})

    assert disagreements(name, replace(one, step=replace(one.step, post=stale))) > 0
