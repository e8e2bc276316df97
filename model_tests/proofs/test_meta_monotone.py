"""Theorem MetaMonotone: z3's formulas say what the compiled model says, and bugs are refuted.

States and steps come from walks through a small model. The compiled model that judges them has the
theorem's specification: nothing in it is bounded.
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
import z3

from model_tests.proofs.comparing import (
    Comparison,
    Transition,
    by_pre,
    steps_and_others,
    with_parts_of,
)
from rocketproof.theorems.inductions import Variant
from rocketproof.theorems.meta_monotone import (
    INVARIANTS,
    STEPS,
    VARIANTS,
    false_variant,
    opened,
    theorem,
)
from tlatrace.errors import SubsetError
from tlatrace.oracle import Model, ModelState, load_model
from tlatrace.proofs import prove_induction
from tlatrace.symbolic.values import literal
from tlatrace.tla.config import parse_config

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("theorem MetaMonotone")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "pre_online"
SLAVES: Final = 2
STATES: Final = 400
LONGEST: Final = 40
"""Steps of a walk."""
SOUGHT: Final = ("TakeTable", "Handshake", "AskGroup", "Start")
"""Actions that a walk takes rather than others: else it hardly ever comes to the first of them."""
STEP: Final = 2
CONSTANTS: Final = (
    f"SPECIFICATION Spec CONSTANTS Slave = {{2, 3}} Queue = {{q1, q2}} Step = {STEP} "
)


@cache
def walker() -> Model:
    module = SPEC / "MCPreOnline.tla"
    text = CONSTANTS + "MaxOffset = 2 Explored <- Bounded"
    return load_model(module, parse_config(text, module))


@cache
def judge() -> Model:
    module = SPEC / "proofs" / "InductivePreOnline.tla"
    config = replace(parse_config(CONSTANTS, module), invariants=tuple(INVARIANTS))
    return load_model(module, config, libraries=[SPEC], properties=tuple(STEPS))


@cache
def comparison() -> Comparison:
    assert judge().variables == walker().variables
    return Comparison(opened(SLAVES), judge(), {"Step": STEP})


@cache
def states() -> tuple[ModelState, ...]:
    choice = random.Random(8)
    found: dict[ModelState, None] = {}
    while len(found) < STATES:
        at = walker().initial_states()[0]
        for _ in range(LONGEST):
            found[at] = None
            ways = [way for way in walker().successors(at) if way.post != at]
            sought = [way for action in SOUGHT for way in ways if way.action == action]
            at = choice.choice(sought[:1] if sought and choice.random() < 0.7 else ways).post
    return tuple(found)


def transitions_from(pre: ModelState, choice: random.Random) -> Iterator[Transition]:
    """Yield the steps from a state, and steps like them that are corrupted."""
    return steps_and_others(comparison(), walker().successors(pre), pre, states(), choice)


def test_invariants_have_the_values_of_the_compiled_model() -> None:
    choice = random.Random(5)
    seen: dict[str, int] = dict.fromkeys(INVARIANTS, 0)
    for state in states():
        assert judge().violated(state) == ()
        assert comparison().agrees(state, [*INVARIANTS], ()), state
        for _ in range(4):
            corrupted = state
            for _ in range(3):
                corrupted = with_parts_of(corrupted, choice.choice(states()), choice)
            violated = judge().violated(corrupted)
            assert comparison().agrees(corrupted, [*INVARIANTS], violated), corrupted
            for name in violated:
                seen[name] += 1
    # The values of each variable are those of brokers, and natural numbers.
    assert {name for name, count in seen.items() if not count} == {"Brokers", "Naturals"}


def test_steps_are_those_of_the_compiled_model() -> None:
    choice = random.Random(6)
    counted = {True: 0, False: 0}
    actions: set[str] = set()
    for state in states()[::3]:
        for pre, transitions in by_pre(transitions_from(state, choice)).items():
            solver = comparison().pinned(pre)
            for one in transitions:
                assert comparison().is_step(solver, one) == one.allowed, one
                counted[one.allowed is True] += 1
                if one.allowed:
                    actions.add(one.action)
    assert actions == set(comparison().steps)
    assert min(counted.values()) > 200, counted


def pairs(choice: random.Random) -> Iterator[tuple[ModelState, ModelState]]:
    """Yield states with others after them, or other tables, and steps that take over no table."""
    table = judge().variables.index("table")
    for pre in states()[::3]:
        for _ in range(6):
            post = pre
            for _ in range(3):
                post = with_parts_of(post, choice.choice(states()), choice)
            yield pre, post
        for _ in range(6):
            yield pre, (*pre[:table], choice.choice(states())[table], *pre[table + 1 :])
        for step in walker().successors(pre):
            if step.action == "TakeTable":
                yield pre, (*step.post[:table], pre[table], *step.post[table + 1 :])


def test_what_is_said_of_steps_is_what_the_compiled_model_says() -> None:
    """Of steps from any state to any other one, whatever action they are called."""
    spec, step = comparison().specification, comparison().steps["TakeTable"]
    broken: Counter[str] = Counter()
    for pre, post in pairs(random.Random(8)):
        expected = judge().broken(pre, post)
        before, after = tuple(map(literal, pre)), replace(step, post=tuple(map(literal, post)))
        said = [spec.allows(name, before, after) == (name not in expected) for name in STEPS]
        assert holds(z3.And(said)), (pre, post, expected)
        broken.update(expected)
    assert set(broken) == set(STEPS), broken


def holds(formula: z3.BoolRef) -> bool:
    solver = z3.Solver()
    answer = solver.check(z3.Not(formula))
    assert answer != z3.unknown
    return bool(answer == z3.unsat)


def test_only_what_is_said_of_steps_is_such_a_claim() -> None:
    spec = comparison().specification
    step = comparison().steps["TakeTable"]

    with pytest.raises(SubsetError, match="PreOnlineAll is not of the form"):
        spec.allows("PreOnlineAll", spec.before, step)


# ---- The theorem ----


def test_the_theorem_holds_and_its_premises_can_be_met() -> None:
    proof = prove_induction(theorem(SLAVES + 1))

    assert proof.is_proved, proof
    assert {lemma.lemma for lemma in proof.lemmas} == {"Init", *comparison().steps}
    assert all(lemma.example for lemma in proof.lemmas)
    claimed = {name for lemma in proof.lemmas for name, _ in lemma.claims}
    assert claimed == {*INVARIANTS, *STEPS, "Shape"}


@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.name for variant in VARIANTS])
def test_a_variant_that_the_command_shows_is_refuted(variant: Variant) -> None:
    proof = prove_induction(false_variant(variant, SLAVES + 1))

    assert proof.is_refuted
    assert "-->" in proof.lemmas[-1].broken[0][1].text


OTHERS: Final = (
    ("B50", "IsComplete <- B50IsComplete", "GoOnline", "PreOnlineAll"),
    ("B51", "Copied <- B51Copied", "Synchronize", "SlaveCopies"),
    ("Gives", "MayBeCopied <- GivesMayBeCopied", "Synchronize", "SlaveKept"),
    ("Serving", "TakesCommits <- ServingTakesCommits", "Commit", "PreOnlineNoServe"),
    ("Isolated", "MayRegister <- IsolatedMayRegister", "Register", "PreOnlineNoServe"),
)


@pytest.mark.parametrize(("name", "override", "lemma", "claim"), OTHERS)
def test_other_bugs_are_refuted(name: str, override: str, lemma: str, claim: str) -> None:
    variant = Variant(name=name, description=name, overrides=(override,), lemma=lemma)
    proof = prove_induction(false_variant(variant, SLAVES + 1))

    assert claim in {broken for one in proof.lemmas for broken, _ in one.broken}
