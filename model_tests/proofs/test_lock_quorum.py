"""Theorem LockQuorum: its steps are those of the compiled model, and bugs are refuted.

Walks go through finite models of LockQuorum in which clocks agree. Each step of a walk must be one
of the theorem's for the queue and the two consumers that are looked at, or change nothing of them;
what a mutant does besides must be none.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import pytest
import z3
from click.testing import CliRunner

from model_tests.proofs.lock_states import Lock, after, lock_of, members, pinned
from rocketproof.commands.prove import command
from rocketproof.theorems.lock_quorum import (
    INVARIANTS,
    VARIANTS,
    Variant,
    false_variant,
    theorem,
)
from rocketproof.theorems.lock_state import (
    Group,
    group_constants,
    time_constants,
)
from rocketproof.theorems.lock_steps import RIGHT, STEPS, Rules, choice_constants
from tlatrace.oracle import Model, ModelState, load_model
from tlatrace.oracle.states import Step
from tlatrace.proofs import prove_induction
from tlatrace.runtime.values import Fcn, RuntimeValue
from tlatrace.tla.config import parse_config

SPEC: Final = Path(__file__).parents[2] / "spec" / "lock_quorum"
VOTE_LIFE, LEASE_LIFE, PATIENCE = 2, 1, 1
"""Of the finite models that are walked through."""
WALKS: Final = {"two": 10, "again": 8, "three": 4, "batch": 4}
"""Through which models, and how often."""
EXAMINED: Final = 2
"""Of so many steps one is put to z3."""
LONGEST: Final = 30

MUTANTS: Final = {
    "B45Quorum": ("Quorum", "two"),
    "B45Restart": ("WaitAfterRestart", "two"),
    "B45Lease": ("LeaseAfterAnswer", "two"),
    "VoteOnce": ("IsFree", "two"),
    "LateFree": ("IsOver", "again"),
    "LateAnswer": ("InTime", "two"),
}
"""Mutants that are variants of the theorem: what they override, and in which model."""


# ---- The theorem ----


@pytest.mark.parametrize("brokers", [1, 2, 7])
def test_the_theorem_holds_and_its_premises_can_be_met(brokers: int) -> None:
    proof = prove_induction(theorem(brokers))

    assert proof.is_proved, proof
    assert [lemma.lemma for lemma in proof.lemmas] == ["Init", *STEPS, "Clocks"]
    assert all(lemma.example for lemma in proof.lemmas)


@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.name for variant in VARIANTS])
def test_a_variant_that_the_command_shows_is_refuted(variant: Variant) -> None:
    proof = prove_induction(false_variant(variant, 3))

    assert proof.is_refuted
    assert f"-- {variant.lemma} -->" in proof.lemmas[-1].broken[0][1].text


def test_a_consumer_can_hold_a_queue_by_votes_of_which_some_are_forgotten() -> None:
    """The invariants do not only hold where nothing happens."""
    group, times = group_constants(3), time_constants()
    solver = z3.Solver()
    solver.add(times.possible, RIGHT.times_fit(times), times.rho > 0)
    solver.add([one(group, times, RIGHT) for _, one in INVARIANTS.values()])
    solver.add(group.holds(0), group.wait[0] > 0, group.promised[0] == 1)
    solver.add(group.holder[1] == 1, group.holder[2] == 2, group.asking[1], group.yes[1][2])
    assert solver.check() == z3.sat


def test_the_command_says_what_it_proves() -> None:
    result = CliRunner().invoke(command, ["LockQuorum", "--brokers", "2", "--json"])

    assert result.exit_code == 0, result.output
    (told,) = json.loads(result.stdout)
    assert [group["answer"] for group in told["proofs"]] == ["proved", "proved"]
    assert {one["name"] for one in told["false_variants"] if one["refuted"]} == {
        variant.name for variant in VARIANTS
    }


# ---- Walks through the finite models ----


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A step of a walk, for one queue."""

    pre: Lock
    action: str
    params: tuple[RuntimeValue, ...]
    post: Lock


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A state of a walk, with what the theorem knows of one queue."""

    model: str
    queue: RuntimeValue
    state: ModelState
    lock: Lock


@cache
def walked(name: str) -> Model:
    module = SPEC / "MCLockQuorum.tla"
    return load_model(module, module.with_name(f"MCLockQuorum_{name}.cfg"))


@cache
def mutated(name: str) -> Model:
    module = SPEC / "mutants" / "MutLockQuorum.tla"
    operator, model = MUTANTS[name]
    text = (SPEC / f"MCLockQuorum_{model}.cfg").read_text("utf-8")
    override = f"CONSTANT {operator} <- {name}{operator}"
    return load_model(module, parse_config(f"{text}\n{override}\n", module), libraries=[SPEC])


def text_of(value: RuntimeValue | Step) -> str:
    """Write down a value or a step, the same in every run."""
    if isinstance(value, Step):
        return f"{value.action}{text_of(value.params)}{text_of(value.post)}"
    if isinstance(value, Fcn):
        return str(sorted([(text_of(key), text_of(value[key])) for key in value]))
    if isinstance(value, tuple | frozenset):
        parts = [text_of(one) for one in value]
        return str(parts if isinstance(value, tuple) else sorted(parts))
    return str(value)


def likelihood(step: Step, slow: bool) -> int:
    """Say how likely a walk takes a step: consumers should often get what they ask for, or late."""
    if step.action in ("ReceiveAnswer", "GiveUp") and slow:
        return 1
    if step.action == "ReceiveAnswer":
        return 40 if step.params[1] else 2
    return {"ReceiveAsk": 16, "Unlock": 8}.get(step.action, 4)


@cache
def walks() -> tuple[tuple[Place, ...], tuple[tuple[Place, Move], ...]]:
    """Walk through the models: the places, and all steps from each."""
    choice = random.Random(7)
    places: list[Place] = []
    moves: list[tuple[Place, Move]] = []
    for name, count in WALKS.items():
        model = walked(name)
        for walk in range(count):
            slow = walk % 4 == 0
            state = model.initial_states()[0]
            at = dict(zip(model.variables, state, strict=True))
            queue = choice.choice(members(at["last"]))
            lock = lock_of(model, state, queue, None)
            for _ in range(LONGEST):
                place = Place(model=name, queue=queue, state=state, lock=lock)
                places.append(place)
                steps = sorted(model.successors(state), key=text_of)
                if not steps:
                    break
                found = [
                    Move(
                        pre=lock,
                        action=step.action,
                        params=step.params,
                        post=after(model, lock, step.action, step.params, step.post, queue),
                    )
                    for step in steps
                ]
                moves += [(place, move) for move in found]
                weights = [likelihood(step, slow) for step in steps]
                (taken,) = choice.choices(range(len(steps)), weights)
                state, lock = steps[taken].post, found[taken].post
    return tuple(places), tuple(moves)


# ---- The same in formulas ----


@cache
def judge(brokers: int) -> tuple[z3.Solver, Group, z3.BoolRef]:
    """Return a solver for states, and that all invariants hold."""
    group, times = group_constants(brokers), time_constants()
    solver = z3.Solver()
    solver.add(times.vote == VOTE_LIFE, times.lease == LEASE_LIFE, times.patience == PATIENCE)
    solver.add(times.rho == 0, times.gain == 1)
    return solver, group, z3.And([one(group, times, RIGHT) for _, one in INVARIANTS.values()])


@cache
def solver_of(name: str, brokers: int, rules: Rules, lease_life: int) -> tuple[z3.Solver, Group]:
    """Return a solver that takes one step of the theorem, by clocks that agree."""
    times, choice = time_constants(), choice_constants(brokers)
    step = STEPS[name](group_constants(brokers), times, rules, choice)
    solver = z3.Solver()
    solver.add(times.vote == VOTE_LIFE, times.lease == lease_life, times.patience == PATIENCE)
    solver.add(times.rho == 0, times.gain == 1, step.possible)
    advances = (*choice.by_broker, *choice.by_consumer)
    solver.add([one == advances[0] for one in advances])
    return solver, step.post


def step_of(move: Move, consumers: tuple[str, str | None]) -> str:
    """Name the step of the theorem that a step of the specification should be."""
    first = str(move.params[0])
    known = first in consumers
    asked = known and move.pre.asking[first] is not None
    match move.action:
        case "Lock":
            takes = known and move.post.asking[first] is not None
            return "Lock" if takes else "LockElsewhere" if known else ""
        case "ReceiveAsk":
            return "Vote" if known else "VoteForOthers"
        case "ReceiveAnswer":
            return "Answer" if asked else ""
        case "GiveUp":
            return "GiveUp" if asked else ""
        case "Unlock":
            return "Unlock" if known else ""
        case "ReceiveFree":
            return "Release" if known else "ReleaseOfOthers"
        case "Restart":
            return "Restart"
        case "Tick":
            return "PassTime"
        case _:
            return ""


def is_step(
    move: Move,
    consumers: tuple[str, str | None],
    rules: Rules = RIGHT,
    lease_life: int = LEASE_LIFE,
) -> bool:
    name, brokers = step_of(move, consumers), len(move.pre.vote)
    if not name:
        return False
    solver, post = solver_of(name, brokers, rules, lease_life)
    solver.push()
    solver.add(*pinned(group_constants(brokers), move.pre, consumers))
    solver.add(*pinned(post, move.post, consumers))
    answer = solver.check()
    solver.pop()
    assert answer != z3.unknown
    return bool(answer == z3.sat)


def changes_nothing(move: Move, consumers: tuple[str, str | None]) -> bool:
    """Tell whether the theorem sees no difference."""
    group = group_constants(len(move.pre.vote), "same.")
    same = z3.And(*pinned(group, move.post, consumers))
    solver = z3.Solver()
    solver.add(*pinned(group, move.pre, consumers), z3.Not(same))
    return bool(solver.check() == z3.unsat)


@pytest.mark.java
@pytest.mark.xdist_group("theorem LockQuorum")
def test_each_step_of_the_specification_is_one_of_the_theorem_or_changes_nothing() -> None:
    taken: dict[str, int] = {}
    for number, (_, move) in enumerate(walks()[1][::EXAMINED]):
        consumers = ("c1", "c2") if number % 3 else ("c2", None)
        if is_step(move, consumers):
            name = step_of(move, consumers)
            taken[name] = taken.get(name, 0) + 1
        else:
            assert changes_nothing(move, consumers), (consumers, move)
    assert set(taken) == set(STEPS)
    assert min(taken.values()) >= 3, taken


@pytest.mark.java
@pytest.mark.xdist_group("theorem LockQuorum")
def test_the_invariants_hold_wherever_the_specification_goes() -> None:
    for place in {place.state: place for place in walks()[0]}.values():
        solver, group, all_hold = judge(len(place.lock.vote))
        here = z3.And(*pinned(group, place.lock, ("c1", "c2")))
        assert solver.check(here) == z3.sat
        assert solver.check(here, z3.Not(all_hold)) == z3.unsat, place


@pytest.mark.java
@pytest.mark.xdist_group("theorem LockQuorum")
def test_invariants_that_the_specification_has_are_no_weaker_in_the_theorem() -> None:
    """In states with the leases or votes of another one."""
    choice = random.Random(8)
    seen = {"LockMutex": 0, "HeldByQuorum": 0, "YesMeansVote": 0}
    places = [place for place in walks()[0] if place.model == "again"]
    model = walked("again")
    for place in places:
        for changed in ("lease", "votes", "attempt"):
            at = model.variables.index(changed)
            other = choice.choice(places).state[at]
            if changed == "lease":  # all hold the queue
                other = Fcn({c: Fcn({place.queue: 1}) for c in members(other)})
            state = (*place.state[:at], other, *place.state[at + 1 :])
            lock = lock_of(model, state, place.queue, place.lock)
            violated = model.violated(state)
            solver, group, _ = judge(2)
            here = z3.And(*pinned(group, lock, ("c1", "c2")))
            for name in seen:
                if name in violated:
                    seen[name] += 1
                    both = [INVARIANTS[one][1] for one in (name, "ForgottenWaits")]
                    holds = [one(group, time_constants(), RIGHT) for one in both]
                    assert solver.check(here, *holds) == z3.unsat, (name, state)
    assert min(seen.values()) > 5, seen


@pytest.mark.java
@pytest.mark.xdist_group("theorem LockQuorum")
@pytest.mark.parametrize("name", MUTANTS)
def test_what_only_a_mutant_does_is_no_step_but_of_its_variant(name: str) -> None:
    (variant,) = [one for one in VARIANTS if one.name == name]
    model, consumers = mutated(name), ("c1", "c2")
    found = 0
    for place in [place for place in walks()[0] if place.model == MUTANTS[name][1]]:
        right = [move.post for at, move in walks()[1] if at is place]
        for step in model.successors(place.state):
            post = after(model, place.lock, step.action, step.params, step.post, place.queue)
            if post in right:
                continue
            move = Move(pre=place.lock, action=step.action, params=step.params, post=post)
            if changes_nothing(move, consumers) or is_free_step(move):
                continue
            assert not is_step(move, consumers), move
            lease_life = LEASE_LIFE + 1 if name == "B45Lease" else LEASE_LIFE
            assert is_step(move, consumers, variant.rules, lease_life), move
            found += 1
    assert found >= 2


def is_free_step(move: Move) -> bool:
    """Tell whether the theorem allows what a mutant does: another release may do it, too."""
    if move.action != "ReceiveFree":
        return False
    c, r = (str(param) for param in move.params)
    who, number, _ = move.pre.vote[r]
    return who == c and number <= move.pre.given[c]
