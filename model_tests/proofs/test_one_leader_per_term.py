"""Theorem OneLeaderPerTerm: z3 looks at all steps of the compiled model, and bugs are refuted.

States and steps come from walks through two small models. The compiled model that judges them has
the theorem's specification: nothing in it is bounded.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from model_tests.proofs.comparing import Comparison, with_parts_of
from rocketproof.theorems.inductions import Statement, induction
from rocketproof.theorems.one_leader_per_term import (
    INVARIANTS,
    VARIANTS,
    Variant,
    false_variant,
    opened,
    theorem,
)
from tlatrace.errors import EvaluationError, SubsetError
from tlatrace.oracle import Model, ModelState, Step, load_model
from tlatrace.proofs import Limits, Proved, Unknown, prove_induction
from tlatrace.runtime.values import function, model_value
from tlatrace.tla.config import parse_config

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("theorem OneLeaderPerTerm")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "dledger"
NODES: Final = 3
WALKS: Final = 30
LONGEST: Final = 50
"""Steps of a walk; the bounded model may end before."""
SAMPLES: Final = {"asks": 5, "sent": 4}
"""So many elements the sets of these states may have."""
OF_AN_ACTION: Final = 4
"""Steps that the formulas are asked about."""
CONSTANTS: Final = "CONSTANTS Node = {n1, n2, n3} None = none Preferred = {n1, n2, n3}\n"
OVERRIDES: Final = "Nat <- MCNat Explored <- Walked\n"
ELECTIONS: Final = (
    "MaxTerm = 3 MaxLog = 1 MaxCrash = 1 MaxAsks = 5 MaxSnapshot = 0 MaxTransfer = 1\n"
)
LOGS: Final = "MaxTerm = 1 MaxLog = 2 MaxCrash = 0 MaxAsks = 1 MaxSnapshot = 2 MaxTransfer = 0\n"
RARE: Final = {"Says", "Truncate"}
"""Actions that random walks do not get to; they change nothing that is looked at."""


@cache
def walkers() -> tuple[Model, Model]:
    """Return a model in which nodes are elected, and one in which a leader has a log."""
    module = Path(__file__).with_name("RandomDLedger.tla")
    texts = [f"{CONSTANTS}{bounds}{OVERRIDES}SPECIFICATION Spec" for bounds in (ELECTIONS, LOGS)]
    elections, logs = (
        load_model(module, parse_config(text, module), libraries=[SPEC]) for text in texts
    )
    return elections, logs


@cache
def judge() -> Model:
    module = SPEC / "proofs" / "InductiveElections.tla"
    config = parse_config(f"{CONSTANTS}SPECIFICATION Spec", module)
    return load_model(module, replace(config, invariants=tuple(INVARIANTS)), libraries=[SPEC])


@cache
def comparison() -> Comparison:
    assert all(walker.variables == judge().variables for walker in walkers())
    return Comparison(opened(NODES, samples=SAMPLES), judge(), {})


@cache
def steps() -> tuple[tuple[ModelState, Step], ...]:
    """Walk through the small models, do what was done least, and keep some steps of each action."""
    choice = random.Random(7)
    done: Counter[str] = Counter()
    found: list[tuple[ModelState, Step]] = []
    for walk in range(WALKS):
        walker = walkers()[walk % 2]
        at = walker.initial_states()[0]
        for _ in range(LONGEST):
            ways = [way for way in walker.successors(at) if way.post != at]
            if not ways:
                break
            action = min(sorted({way.action for way in ways}), key=lambda one: done[one])
            way = choice.choice([way for way in ways if way.action == action])
            done[action] += 1
            if done[action] <= OF_AN_ACTION:
                found.append((at, way))
            at = way.post
    return tuple(found)


def states() -> list[ModelState]:
    return list(dict.fromkeys(pre for pre, _ in steps()))


def corrupted_ones(state: ModelState, choice: random.Random) -> Iterator[ModelState]:
    """Yield states in which a variable that is looked at has the value of another state."""
    for name in ("term", "vote", "round"):
        at = judge().variables.index(name)
        value = choice.choice(states())[at]
        if value != state[at]:
            yield (*state[:at], value, *state[at + 1 :])


def by_hand() -> Iterator[ModelState]:
    """Yield states that have of two nodes what a walk has of one."""
    (first, *_) = judge().initial_states()
    nodes = [model_value(name) for name in ("n1", "n2", "n3")]
    accepts = function({"result": "ACCEPT", "term": 0})
    all_accept = function(dict.fromkeys(nodes, function(dict.fromkeys(nodes, accepts))))
    leaders = frozenset(
        function({"by": node, "inc": 0, "term": 2, "log": (), "commit": 0, "snap": 0})
        for node in nodes[:2]
    )
    for name, value in (("round", all_accept), ("sent", leaders)):
        at = judge().variables.index(name)
        yield (*first[:at], value, *first[at + 1 :])


def test_invariants_have_the_values_of_the_compiled_model() -> None:
    choice = random.Random(5)
    seen: dict[str, int] = dict.fromkeys(INVARIANTS, 0)
    for state in states():
        assert judge().violated(state) == ()
        assert comparison().agrees(state, [*INVARIANTS], ()), state
        for _ in range(3):
            corrupted = state
            for _ in range(3):
                corrupted = with_parts_of(corrupted, choice.choice(states()), choice)
            violated = judge().violated(corrupted)
            assert comparison().agrees(corrupted, [*INVARIANTS], violated), corrupted
            for name in violated:
                seen[name] += 1
    for state in by_hand():
        violated = judge().violated(state)
        assert comparison().agrees(state, [*INVARIANTS], violated), state
        for name in violated:
            seen[name] += 1
    assert min(seen.values()) > 0, seen


def test_every_step_of_the_compiled_model_is_looked_at_and_not_every_other_one() -> None:
    choice = random.Random(6)
    counted: Counter[tuple[bool, bool]] = Counter()
    actions: set[str] = set()
    for pre, step in steps():
        solver = comparison().pinned(pre)
        for post in (step.post, *corrupted_ones(step.post, choice)):
            one = comparison().judged(pre, step.action, step.params, post)
            if one.allowed is None:
                continue
            looked_at = comparison().is_step(solver, one)
            assert looked_at or not one.allowed, one
            counted[one.allowed, looked_at] += 1
            if one.allowed:
                actions.add(one.action)
    assert actions | RARE == set(comparison().steps)
    assert min(counted[True, True], counted[False, False]) > 50, counted


def test_the_initial_states_are_those_of_the_compiled_model() -> None:
    counted: Counter[bool] = Counter()
    for state in (*judge().initial_states(), *states()[:40]):
        found = comparison().is_initial(state)
        assert found or not judge().is_initial(state), state
        counted[found] += 1
    assert min(counted[True], counted[False]) > 0, counted


# ---- The theorem ----


@pytest.mark.parametrize("nodes", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_the_theorem_holds_and_its_premises_can_be_met(nodes: int) -> None:
    proof = prove_induction(theorem(nodes))

    assert proof.is_proved, proof
    assert {lemma.lemma for lemma in proof.lemmas} == {"Init", *comparison().steps}
    assert all(lemma.example for lemma in proof.lemmas)


@pytest.mark.parametrize("name", [name for name in INVARIANTS if name != "OneLeaderPerTerm"])
def test_nothing_of_the_invariant_can_be_left_out(name: str) -> None:
    fewer = {one: text for one, text in INVARIANTS.items() if one != name}
    statement = Statement(invariants=fewer, shape="", not_shown="")

    proof = prove_induction(induction("fewer", "", opened(NODES), statement))

    assert proof.is_refuted


def test_fewer_leaders_are_not_enough_to_look_at() -> None:
    fewer = opened(NODES, samples={"asks": 1, "sent": 2})
    with pytest.raises(SubsetError, match="3 elements of sent"):
        fewer.check_samples(tuple(INVARIANTS))


def test_too_low_a_limit_is_undecided() -> None:
    proof = prove_induction(theorem(NODES), limits=Limits(resources=100))

    assert not proof.is_proved
    assert not proof.is_refuted
    assert all(
        isinstance(answer, Proved | Unknown) for lemma in proof.lemmas for _, answer in lemma.claims
    )


def test_an_invariant_that_reads_logs_is_refused() -> None:
    with pytest.raises(EvaluationError, match="not looked at"):
        opened(NODES).holds("SyncedLeEnd", opened(NODES).before)


@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.name for variant in VARIANTS])
@pytest.mark.parametrize("nodes", [3, 5])
def test_a_variant_that_the_command_shows_is_refuted(variant: Variant, nodes: int) -> None:
    proof = prove_induction(false_variant(variant, nodes))

    assert proof.is_refuted
    assert "-->" in proof.lemmas[-1].broken[0][1].text
