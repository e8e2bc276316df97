"""Theorem SyncStateSet: z3's formulas say what the compiled model says, and bugs are refuted.

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

from model_tests.proofs.comparing import (
    Comparison,
    Transition,
    by_pre,
    steps_and_others,
    with_parts_of,
)
from rocketproof.theorems.sync_state_set import (
    INVARIANTS,
    VARIANTS,
    Variant,
    false_variant,
    opened,
    theorem,
)
from tlatrace.errors import EvaluationError
from tlatrace.oracle import Model, ModelState, load_model
from tlatrace.proofs import Limits, Proved, Unknown, prove_induction
from tlatrace.tla.config import parse_config

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("theorem SyncStateSet")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "sync_state_set"
BROKERS: Final = 3
STATES: Final = 150
INITIAL: Final = 60
"""How many of the states Init is asked about."""
LONGEST: Final = 35
"""Steps of a walk; the bounded model may end before."""
CONSTANTS: Final = "CONSTANTS Master = m Slave = {s1, s2} None = none SPECIFICATION Spec"


@cache
def walkers() -> tuple[Model, Model]:
    """Return a model that begins with nothing, and one that begins with a record from before."""
    module = SPEC / "MCSyncStateSet.tla"
    small, before = (module.with_name(f"{module.stem}_{name}.cfg") for name in ("small", "before"))
    return load_model(module, small), load_model(module, before)


def walker_at(state: ModelState) -> Model:
    small, before = walkers()
    start = state[small.variables.index("start")]
    return small if start == 0 else before


@cache
def judge() -> Model:
    module = SPEC / "proofs" / "InductiveSyncStateSet.tla"
    config = replace(parse_config(CONSTANTS, module), invariants=tuple(INVARIANTS))
    return load_model(module, config, libraries=[SPEC])


@cache
def comparison() -> Comparison:
    assert judge().variables == walkers()[0].variables
    return Comparison(opened(BROKERS), judge(), {})


@cache
def states() -> tuple[ModelState, ...]:
    """Walk through the small models: long ways are as likely as short ones."""
    choice = random.Random(7)
    found: dict[ModelState, None] = {}
    while len(found) < STATES:
        at = choice.choice(walkers()).initial_states()[0]
        for _ in range(LONGEST):
            found[at] = None
            ways = [way for way in walker_at(at).successors(at) if way.post != at]
            if not ways:
                break
            at = choice.choice(ways).post
    return tuple(found)


def transitions_from(pre: ModelState, choice: random.Random) -> Iterator[Transition]:
    """Yield the steps from a state, and steps like them that are corrupted."""
    return steps_and_others(comparison(), walker_at(pre).successors(pre), pre, states(), choice)


def test_invariants_have_the_values_of_the_compiled_model() -> None:
    choice = random.Random(5)
    seen: dict[str, int] = dict.fromkeys(INVARIANTS, 0)
    for state in states():
        assert judge().violated(state) == ()
        assert comparison().agrees(state, [*INVARIANTS], ()), state
        for _ in range(3):
            corrupted = with_parts_of(state, choice.choice(states()), choice)
            try:
                violated = judge().violated(corrupted)
            except EvaluationError:
                continue
            assert comparison().agrees(corrupted, [*INVARIANTS], violated), corrupted
            for name in violated:
                seen[name] += 1
    always = {name for name, count in seen.items() if not count}
    # These are about one variable, and each value of it is one that the walks have.
    assert always <= {"Naturals", "OnePending", "MasterInSSS"}


def test_steps_are_those_of_the_compiled_model() -> None:
    choice = random.Random(6)
    counted = {True: 0, False: 0}
    actions: set[str] = set()
    for state in states():
        for pre, transitions in by_pre(transitions_from(state, choice)).items():
            solver = comparison().pinned(pre)
            for one in transitions:
                assert comparison().is_step(solver, one) == one.allowed, one
                counted[one.allowed is True] += 1
                if one.allowed:
                    actions.add(one.action)
    # No state of a random walk is one that everybody is well in.
    assert actions | {"Healed"} == set(comparison().steps)
    assert min(counted.values()) > 300, counted


def test_the_initial_states_are_those_of_the_compiled_model() -> None:
    counted: Counter[bool] = Counter()
    for state in states()[:INITIAL]:
        expected = judge().is_initial(state)
        assert comparison().is_initial(state) == expected, state
        counted[expected] += 1
    assert min(counted[True], counted[False]) > 1, counted


# ---- The theorem ----


def test_the_theorem_holds_and_its_premises_can_be_met() -> None:
    proof = prove_induction(theorem(BROKERS))

    assert proof.is_proved, proof
    assert {lemma.lemma for lemma in proof.lemmas} == {"Init", *comparison().steps}
    assert all(lemma.example for lemma in proof.lemmas)


def test_looking_at_more_requests_changes_nothing() -> None:
    proof = prove_induction(theorem(2, samples=4))

    assert proof.is_proved


def test_too_low_a_limit_is_undecided() -> None:
    proof = prove_induction(theorem(BROKERS), limits=Limits(resources=1_000))

    assert not proof.is_proved
    assert not proof.is_refuted
    assert all(
        isinstance(answer, Proved | Unknown) for lemma in proof.lemmas for _, answer in lemma.claims
    )


@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.name for variant in VARIANTS])
def test_a_variant_that_the_command_shows_is_refuted(variant: Variant) -> None:
    proof = prove_induction(false_variant(variant, BROKERS))

    assert proof.is_refuted
    assert "-->" in proof.lemmas[-1].broken[0][1].text
