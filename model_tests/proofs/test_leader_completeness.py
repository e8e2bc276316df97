"""Theorem LeaderCompleteness: its formulas say what the compiled model says, and bugs are refuted.

States and steps come from walks through a small part of ElectedLogs. The compiled model that judges
them has the theorem's specification: nothing in it is bounded.
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
from rocketproof.theorems.leader_completeness import (
    INVARIANTS,
    VARIANTS,
    Variant,
    false_variant,
    opened,
    theorem,
)
from tlatrace.errors import EvaluationError
from tlatrace.oracle import Model, ModelState, Step, load_model
from tlatrace.proofs import Limits, Proved, Unknown, prove_induction
from tlatrace.tla.config import parse_config

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("theorem LeaderCompleteness")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "dledger"
NODES: Final = 3
WALKS: Final = 30
LONGEST: Final = 40
"""Steps of a walk."""
OF_AN_ACTION: Final = 5
"""Steps that the formulas are asked about."""
LOSSES: Final = 5
"""One walk of so many has logs that are thrown away: those that differ are gone then."""
MOST: Final = 4
"""Terms and entries of a walk."""
CALM: Final = 0.8
LOSING: Final = frozenset({"DiscardLog", "DiscardInNewTerm"})
DISTURBING: Final = LOSING | {"BeginTerm", "IncreaseTerm", "EndRound", "RefuseVote", "Crash"}
"""Actions that are done now and then only, or nobody is elected."""
CONSTANTS: Final = "CONSTANTS Node = {n1, n2, n3} None = none SPECIFICATION Spec"
MORE_VARIANTS: Final = (
    Variant(
        name="OwnSync",
        description="a leader counts what it has not synchronized",
        overrides=("OwnIndex <- OwnSyncOwnIndex",),
        lemma="CommitEntry",
        state="OwnUnsynced",
    ),
    Variant(
        name="CommitOwnTerm",
        description="a leader commits an entry of an earlier term",
        overrides=("MayCommit <- CommitOwnTermMayCommit",),
        lemma="CommitEntry",
        state="Earlier",
    ),
    Variant(
        name="LateTruncate",
        description="a request to cut takes what is as the leader has it",
        overrides=("MayCut <- LateTruncateMayCut",),
        lemma="Truncate",
        state="Holding",
    ),
    Variant(
        name="ComparedFirst",
        description="an entry goes behind a log that nobody has compared",
        overrides=("MayAppend <- ComparedFirstMayAppend",),
        lemma="AppendAsFollower",
        state="Diverged",
    ),
)


@cache
def judge() -> Model:
    module = SPEC / "proofs" / "InductiveElectedLogs.tla"
    config = replace(parse_config(CONSTANTS, module), invariants=tuple(INVARIANTS))
    return load_model(module, config, libraries=[SPEC])


@cache
def comparison() -> Comparison:
    return Comparison(opened(NODES), judge(), {})


def is_small(state: ModelState) -> bool:
    led = state[judge().variables.index("led")]
    assert isinstance(led, tuple)
    return len(led) <= MOST and all(isinstance(q, tuple) and len(q) <= MOST for q in led)


@cache
def steps() -> tuple[tuple[ModelState, Step], ...]:
    """Walk, do what was done least, and keep some steps of each action."""
    choice = random.Random(7)
    done: Counter[str] = Counter()
    found: list[tuple[ModelState, Step]] = []
    for walk in range(WALKS):
        at = judge().initial_states()[0]
        for _ in range(LONGEST):
            ways = [way for way in judge().successors(at) if way.post != at and is_small(way.post)]
            if walk % LOSSES:
                ways = [way for way in ways if way.action not in LOSING]
            if not ways:  # no log is left by which anybody could be elected
                break
            actions = {way.action for way in ways}
            calm = actions - DISTURBING
            if calm and choice.random() < CALM:
                actions = calm
            action = min(sorted(actions), key=lambda one: done[one])
            way = choice.choice([way for way in ways if way.action == action])
            done[action] += 1
            if done[action] <= OF_AN_ACTION or done[action] % LONGEST == 0:
                found.append((at, way))
            at = way.post
    return tuple(found)


def states() -> list[ModelState]:
    return list(dict.fromkeys(pre for pre, _ in steps()))


def terms_of(state: ModelState) -> int:
    led = state[judge().variables.index("led")]
    assert isinstance(led, tuple)
    return len(led)


def corrupted_ones(choice: random.Random) -> Iterator[ModelState]:
    """Yield states that have the values of variables in another one with as many terms."""
    for state in states():
        others = [one for one in states() if terms_of(one) == terms_of(state)]
        for _ in range(2):
            other = choice.choice(others)
            yield with_parts_of(with_parts_of(state, other, choice), other, choice)


def test_invariants_have_the_values_of_the_compiled_model() -> None:
    seen: dict[str, int] = dict.fromkeys(INVARIANTS, 0)
    for state in states():
        assert judge().violated(state) == ()
        assert comparison().agrees(state, [*INVARIANTS], ()), state
    for state in corrupted_ones(random.Random(5)):
        try:
            violated = judge().violated(state)
        except EvaluationError:
            continue
        assert comparison().agrees(state, [*INVARIANTS], violated), state
        for name in violated:
            seen[name] += 1
    assert sum(count > 0 for count in seen.values()) > 6, seen


def test_steps_are_those_of_the_compiled_model() -> None:
    choice = random.Random(6)
    counted: Counter[bool] = Counter()
    actions: set[str] = set()
    for pre, step in steps():
        solver = comparison().pinned(pre)
        for post in (step.post, with_parts_of(step.post, choice.choice(states()), choice)):
            one = comparison().judged(pre, step.action, step.params, post)
            if one.allowed is None:
                continue
            assert comparison().is_step(solver, one) == one.allowed, one
            counted[one.allowed] += 1
            if one.allowed:
                actions.add(one.action)
    assert actions == set(comparison().steps)
    assert min(counted.values()) > 50, counted


# ---- The theorem ----


@pytest.mark.parametrize("nodes", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_the_theorem_holds_and_its_premises_can_be_met(nodes: int) -> None:
    proof = prove_induction(theorem(nodes))

    assert proof.is_proved, proof
    lemmas = {lemma.lemma.partition("(")[0] for lemma in proof.lemmas}
    assert lemmas == {"Init", *comparison().steps}
    assert all(lemma.example for lemma in proof.lemmas)


def test_too_low_a_limit_is_undecided() -> None:
    proof = prove_induction(theorem(NODES), limits=Limits(resources=100))

    assert not proof.is_proved
    assert not proof.is_refuted
    assert all(
        isinstance(answer, Proved | Unknown) for lemma in proof.lemmas for _, answer in lemma.claims
    )


@pytest.mark.parametrize(
    "variant",
    [*VARIANTS, *MORE_VARIANTS],
    ids=[variant.name for variant in (*VARIANTS, *MORE_VARIANTS)],
)
@pytest.mark.parametrize("nodes", [3, 5])
def test_a_variant_is_refuted(variant: Variant, nodes: int) -> None:
    proof = prove_induction(false_variant(variant, nodes))

    assert proof.is_refuted
    assert "-->" in proof.lemmas[-1].broken[0][1].text


@pytest.mark.parametrize("variant", MORE_VARIANTS, ids=[one.name for one in MORE_VARIANTS])
def test_the_state_of_a_variant_breaks_nothing_without_its_bug(variant: Variant) -> None:
    statement = Statement(invariants=INVARIANTS, shape="", not_shown="")
    elsewhere = opened(NODES, overrides=VARIANTS[0].overrides)
    assert variant.lemma != VARIANTS[0].lemma

    proof = prove_induction(
        induction("right", "", elsewhere, statement, variant.lemma, state=variant.state)
    )

    assert not proof.is_refuted
