"""Theorem SnapshotLoading: z3's formulas say what the compiled model says, and bugs are refuted.

States and steps come from walks through a finite model with stray entries, power cuts and damage.
The compiled model that judges them has the theorem's specification: nothing in it is bounded.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from model_tests.proofs.comparing import (
    Comparison,
    Transition,
    by_pre,
    steps_and_others,
    with_parts_of,
)
from rocketproof.commands.prove import command
from rocketproof.theorems.inductions import Variant
from rocketproof.theorems.snapshot_loading import (
    FILES,
    INVARIANTS,
    VARIANTS,
    false_variant,
    opened,
    theorem,
)
from tlatrace.errors import EvaluationError
from tlatrace.oracle import Model, ModelState, load_model
from tlatrace.proofs import Limits, prove_induction
from tlatrace.runtime.values import FALSE, Fcn, function
from tlatrace.tla.config import parse_config

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("theorem SnapshotLoading")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "snapshot_loading"
TERMS: Final = (1, 3, 3)
NUMBERS: Final = {"Stray": 2, "Threshold": 1, "Reserved": 2}
STATES: Final = 120
LONGEST: Final = 60
"""Steps of a walk; the finite model may end before."""


@cache
def walker() -> Model:
    """Return a model with everything in it: too large to be explored."""
    module = SPEC / "MCSnapshotLoading.tla"
    text = (SPEC / "MCSnapshotLoading_small.cfg").read_text("utf-8")
    for name, was, is_ in (("MaxLog", 0, 4), ("MaxBad", 0, 2), ("MaxCrashes", 1, 3)):
        assert f"{name} = {was}\n" in text
        text = text.replace(f"{name} = {was}\n", f"{name} = {is_}\n")
    return load_model(module, parse_config(text, module))


@cache
def judge() -> Model:
    module = SPEC / "proofs" / "InductiveSnapshotLoading.tla"
    config = replace(
        parse_config("SPECIFICATION Spec", module), invariants=(*INVARIANTS, "ConstantsAssumed")
    )
    return load_model(module, config, constants={"Terms": TERMS, **NUMBERS}, libraries=[SPEC])


@cache
def comparison() -> Comparison:
    return Comparison(opened(FILES), judge(), {"Terms": TERMS, **NUMBERS})


@cache
def states() -> tuple[ModelState, ...]:
    """Walk through the finite model; among many states, take some of every length of the way.

    Expired files are rare: whichever way the walks take, some states have one.
    """
    choice = random.Random(7)
    found: dict[ModelState, None] = {}
    expired = False
    while len(found) < STATES or not expired:
        at = walker().initial_states()[0]
        for _ in range(LONGEST):
            ways = walker().successors(at)
            deletes = any(way.action == "DeleteExpired" for way in ways)
            is_taken = len(found) < STATES and choice.random() < 0.5
            if is_small(at) and (is_taken or (deletes and not expired)):
                found[at] = None
                expired = expired or deletes
            if not ways:
                break
            actions = sorted({way.action or "" for way in ways})
            action = choice.choice(actions)  # those with few parameters as often as others
            at = choice.choice([way for way in ways if (way.action or "") == action]).post
    return tuple(found)


def is_small(state: ModelState) -> bool:
    """Tell whether a state has no more files than the formulas look at."""
    snaps = state[walker().variables.index("snaps")]
    assert isinstance(snaps, frozenset)
    return len(snaps) <= FILES


def transitions_from(pre: ModelState, choice: random.Random) -> Iterator[Transition]:
    """Yield a step of each action from a state, and steps like them that are corrupted."""
    ways = walker().successors(pre)
    actions = sorted({way.action or "" for way in ways})
    steps = [choice.choice([way for way in ways if way.action == action]) for action in actions]
    return steps_and_others(comparison(), steps, pre, states(), choice)


def with_another_file(state: ModelState, choice: random.Random) -> ModelState:
    """Change a field of a file, or the mode, now and then."""
    at = {name: place for place, name in enumerate(walker().variables)}
    snaps, found = state[at["snaps"]], list(state)
    assert isinstance(snaps, frozenset)
    files = sorted(snaps, key=repr)
    if choice.random() < 0.2:
        found[at["mode"]] = choice.choice(("up", "down", "refused"))
    if files and choice.random() < 0.5:
        file = choice.choice(files)
        assert isinstance(file, Fcn)
        field, value = choice.choice(
            [
                ("synced", FALSE),
                ("name", choice.choice(("tmp", "new", "kept", "gone"))),
                ("data", choice.choice(("good", "bad", "rotten"))),
                ("idx", choice.randrange(4)),
            ]
        )
        found[at["snaps"]] = (snaps - {file}) | {function({**file, field: value})}
    return tuple(found)


def test_invariants_have_the_values_of_the_compiled_model() -> None:
    choice = random.Random(8)
    seen: Counter[str] = Counter()
    for state in states():
        assert judge().violated(state) == ()
        assert comparison().agrees(state, [*INVARIANTS], ()), state
        for _ in range(3):
            corrupted = with_another_file(
                with_parts_of(state, choice.choice(states()), choice), choice
            )
            try:
                violated = judge().violated(corrupted)
            except EvaluationError:
                continue
            assert comparison().agrees(corrupted, [*INVARIANTS], violated), corrupted
            seen.update(violated)
    assert set(INVARIANTS) - set(seen) <= {"OneKept"}, seen  # two are kept


def test_steps_are_those_of_the_compiled_model() -> None:
    choice = random.Random(9)
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
    assert actions == set(comparison().steps)
    assert min(counted.values()) > 100, counted


def test_the_initial_states_are_those_of_the_compiled_model() -> None:
    (initial,) = judge().initial_states()
    assert comparison().is_initial(initial)
    others = [state for state in states() if state != initial][:20]
    assert not any(map(comparison().is_initial, others))


# ---- The theorem ----


def test_the_theorem_holds_and_its_premises_can_be_met() -> None:
    proof = prove_induction(theorem(files=3))

    assert proof.is_proved, proof
    assert {lemma.lemma for lemma in proof.lemmas} == {"Init", *comparison().steps}
    assert all(lemma.example for lemma in proof.lemmas)


def test_too_low_a_limit_is_undecided() -> None:
    proof = prove_induction(theorem(files=2), limits=Limits(resources=1_000))

    assert not proof.is_proved
    assert not proof.is_refuted


FOUND_BY: Final = {
    "B53": "SnapExact",
    "B57": "LoadContiguous",
    "B68": "Covered",
    "SnapAtApplied": "SnapExact",
}


@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.name for variant in VARIANTS])
def test_a_variant_that_the_command_shows_is_refuted(variant: Variant) -> None:
    proof = prove_induction(false_variant(variant), until_broken=True)

    broken = dict(proof.lemmas[-1].broken)
    assert "-->" in broken[FOUND_BY[variant.name]].text


MUTANTS: Final = [
    ("Commit", "MayCommit <- CommitAgreedMayCommit", "AppliedLeCommit"),
    ("Rename", "MayRename <- SyncFirstMayRename", "NamedSynced"),
    ("ReadBack", "ReadsBack <- ReadBackReadsBack", "LastSnapThere"),
    ("DeleteExpired", "ExpiredFiles <- ExpiredExpiredFiles", "LastSnapThere"),
    ("CutLog", "CutTo <- B55CutTo", "LastSnapThere"),
    ("CutLog", "TermOfCut <- BoundaryOfCutTermOfCut", "BoundaryTerm"),
    ("LoadNewest", "IsWhole <- CrcIsWhole", "SnapExact"),
    ("LoadNewest", "AfterFailedLoad <- FreshObjectAfterFailedLoad", "SnapExact"),
    ("LoadNewest", "KeepsLog <- SuffixDroppedKeepsLog", "CommittedAgrees"),
    ("LoadNewest", "MayReplay <- RefuseGapMayReplay", "LoadContiguous"),
    ("ReadBack", "KeepsLog <- SuffixKeptKeepsLog", "AppliedLeCommit"),
    ("ReadBack", "CommitAfterLoad <- B58CommitAfterLoad", "AppliedLeCommit"),
    ("Start", "BoundaryAfterStart <- B59BoundaryAfterStart", "BoundaryTerm"),
    ("Install", "IsFresh <- InstallFreshIsFresh", "JobFile"),
]
"""(action, override, what it breaks)."""


@pytest.mark.parametrize(("action", "override", "broken"), MUTANTS, ids=[m[1] for m in MUTANTS])
def test_a_mutant_breaks_the_induction(action: str, override: str, broken: str) -> None:
    variant = Variant(name="mutant", description="", overrides=(override,), lemma=action)

    proof = prove_induction(false_variant(variant), until_broken=True)

    assert broken in dict(proof.lemmas[-1].broken)


def test_the_command_says_what_it_proves() -> None:
    result = CliRunner().invoke(command, ["SnapshotLoading", "--json"])

    assert result.exit_code == 0, result.output
    (answer,) = json.loads(result.stdout)
    assert [proof["answer"] for proof in answer["proofs"]] == ["proved"]
    assert all(one["refuted"] for one in answer["false_variants"])
