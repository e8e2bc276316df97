"""Theorem ConsistentPoint: its formulas say what the compiled model says, and it is not too weak.

The compiled model judges what z3 finds: it has the very text that the formulas are made of. Caches
have at most three entries here, so that each question takes a second.
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
import z3
from click.testing import CliRunner

from rocketproof.commands.prove import command
from rocketproof.theorems.consistent_point import (
    ASSUMPTIONS,
    BROKERS,
    CLAIMS,
    VARIANTS,
    opened,
    theorem,
)
from tlatrace.oracle import Model, load_model
from tlatrace.proofs import Broken, InductionProof, Proved, prove_induction
from tlatrace.runtime.values import RuntimeValue, from_runtime, function, model_value
from tlatrace.symbolic.values import equal, literal
from tlatrace.tla.config import parse_config
from tlatrace.tla_text import parse_tla
from tlatrace.values import State

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("theorem ConsistentPoint")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "epoch_truncation"
MODULE: Final = SPEC / "proofs" / "FalseConsistentPoint.tla"
ENTRIES: Final = 3
STATES: Final = 1_000
EXACT: Final = "ConsistentPointExact"


@cache
def judge(rule: str | None = None) -> Model:
    """Compile what is assumed and claimed; with a wrong rule in the place of the right one."""
    override = "" if rule is None else f"ConsistentPoint <- {rule}"
    text = f"CONSTANTS Broker = {{{', '.join(BROKERS)}}} None = none {override} SPECIFICATION Spec"
    config = replace(parse_config(text, MODULE), invariants=(*ASSUMPTIONS, *CLAIMS, EXACT))
    return load_model(MODULE, config, libraries=[SPEC])


def judged(rule: str | None, state: State) -> tuple[str, ...]:
    """Tell what is false in a state of which some variables are given."""
    model = judge(rule)
    initial = model.show(model.initial_states()[0])
    return model.violated(model.adopt({**initial, **state}))


# ---- The formulas are the text ----


def random_states() -> Iterator[dict[str, RuntimeValue]]:
    """Yield roles, logs and caches: those of a history, and then some that are corrupted."""
    choice = random.Random(11)
    for _ in range(STATES):
        history = [choice.choice((1, 1, 2, 3)) for _ in range(choice.randrange(5))]
        history.sort()
        logs = [log_from(history, choice) for _ in BROKERS]
        caches = [cache_of(log, choice) for log in logs]
        roles = [choice.choice(("Slave", "Master", "Slave", "Down")) for _ in BROKERS]
        yield {
            name: function(dict(zip(map(model_value, BROKERS), values, strict=True)))
            for name, values in (("role", roles), ("log", logs), ("epochs", caches))
        }


def log_from(history: list[int], choice: random.Random) -> RuntimeValue:
    """Return a beginning of a history, and perhaps records that only one broker has."""
    kept = history[: choice.randrange(len(history) + 1)]
    last = max(kept, default=1)
    own = [last + choice.randrange(3)] * choice.randrange(3)
    corrupted = [choice.randrange(3)] if choice.random() < 0.1 else []
    return (*kept, *own, *corrupted)


def cache_of(log: RuntimeValue, choice: random.Random) -> RuntimeValue:
    """Return the cache that describes a log, or nearly so."""
    assert isinstance(log, tuple)
    starts = [(e, o) for o, e in enumerate(log) if o == 0 or log[o - 1] != e][:ENTRIES]
    if len(starts) < ENTRIES and choice.random() < 0.3:
        starts.append((choice.randrange(1, 6), len(log) + choice.choice((0, 0, 0, 1, -1))))
    if starts and choice.random() < 0.2:
        at = choice.randrange(len(starts))
        starts[at] = choice.choice((starts[at][0], 2, 3)), choice.randrange(4)
    ends = [start for _, start in starts[1:]] + [-1]
    if choice.random() < 0.05:
        ends[0] = choice.randrange(3)
    entries = zip(starts, ends, strict=False)
    return tuple([function({"e": e, "s": s, "end": end}) for (e, s), end in entries])


def test_the_formulas_have_the_values_of_the_compiled_model() -> None:
    """And the two claims together are the invariant of the specification."""
    spec = opened(ENTRIES)
    said = {name: spec.holds(name, spec.before) for name in (*ASSUMPTIONS, *CLAIMS)}
    seen: Counter[str] = Counter()
    for parts in random_states():
        false = judged(None, {name: from_runtime(value) for name, value in parts.items()})
        solver = z3.Solver()
        solver.add(
            [equal(spec.before[spec.variables.index(n)], literal(v)) for n, v in parts.items()]
        )
        agree = [formula == (name not in false) for name, formula in said.items()]
        assert solver.check() == z3.sat, parts
        assert solver.check(z3.Not(z3.And(agree))) == z3.unsat, (parts, false)
        if "Naturals" not in false:
            assert (EXACT in false) == bool({*CLAIMS} & {*false}), parts
        seen.update(false or ["nothing"])
    assert min(seen[name] for name in (*ASSUMPTIONS, *CLAIMS, "nothing")) >= 10, seen


# ---- The theorem, and its false neighbours ----


def answers(proof: InductionProof) -> dict[str, bool]:
    """Tell of each claim whether it is proved; it must be refuted otherwise."""
    (lemma,) = proof.lemmas
    assert all(isinstance(answer, Proved | Broken) for _, answer in lemma.claims), proof
    return {name: isinstance(answer, Proved) for name, answer in lemma.claims}


def counterexamples(proof: InductionProof) -> Iterator[tuple[str, State]]:
    """Yield each claim that is false, and a state that says so, unless it has a very long log."""
    for name, broken in proof.lemmas[0].broken:
        if " entries, the last are " in broken.text:
            continue
        lines = [line.partition(" = ") for line in broken.text.splitlines()]
        yield name, {variable: parse_tla(text) for variable, _, text in lines}


def test_the_theorem_holds_and_has_an_example() -> None:
    proof = prove_induction(theorem(ENTRIES))

    assert proof.is_proved
    example = proof.lemmas[0].example
    assert example is not None
    assert "epochs = (master :> <<[e |-> " in example


RULES: Final = [
    ("FartherEnd", "Sound"),
    ("OwnEnd", "Sound"),
    ("OthersEnd", "Sound"),
    ("FirstMatch", "Maximal"),
    ("WithTheirEnds", "Maximal"),
    ("StartsOnly", "Sound"),
]


@pytest.mark.parametrize(("rule", "false"), RULES)
def test_a_wrong_rule_is_refuted_by_two_logs_that_it_treats_wrongly(rule: str, false: str) -> None:
    proof = prove_induction(theorem(ENTRIES, rule=rule), until_broken=True)

    assert answers(proof) == {claim: claim != false for claim in CLAIMS}
    found = list(counterexamples(proof))
    assert found
    for claim, state in found:
        assert set(judged(rule, state)) == {claim, EXACT}
        assert judged(None, state) == ()


def test_the_variants_that_the_command_shows_are_among_those() -> None:
    assert {variant.name for variant in VARIANTS} <= {rule for rule, _ in RULES}


NEEDED: Final = [
    ("Naturals", {"Sound": False, "Maximal": False}),
    ("EpochWellFormed", {"Sound": False, "Maximal": False}),
    ("EpochLeLog", {"Sound": False, "Maximal": True}),
    ("EpochFaithful", {"Sound": False, "Maximal": False}),
    ("MasterEpochHistory", {"Sound": False, "Maximal": True}),
]


@pytest.mark.parametrize(("name", "left"), NEEDED, ids=[name for name, _ in NEEDED])
def test_without_an_assumption_a_claim_is_refuted(name: str, left: dict[str, bool]) -> None:
    proof = prove_induction(theorem(ENTRIES, without=[name]), until_broken=True)

    assert answers(proof) == left
    refuted = {claim for claim, holds in left.items() if not holds}
    found = list(counterexamples(proof))
    assert found
    for claim, state in found:
        assert {name, claim} <= set(judged(None, state)) <= {name, EXACT, *refuted}


def test_starts_must_be_compared_or_be_unique() -> None:
    compared = prove_induction(theorem(ENTRIES, without=["EpochStartUnique"]))
    unique = prove_induction(theorem(ENTRIES, rule="EpochsOnly"))
    neither = prove_induction(theorem(ENTRIES, rule="EpochsOnly", without=["EpochStartUnique"]))

    assert compared.is_proved
    assert unique.is_proved
    assert answers(neither) == {"Sound": False, "Maximal": True}


# ---- The command ----


def test_too_little_time_is_undecided() -> None:
    done = CliRunner().invoke(command, ["ConsistentPoint", "--entries", "5", "--timeout", "0.001"])

    assert done.exit_code == 3, done.output
    assert "UNDECIDED" in done.output


def test_the_command_proves_and_says_what_is_assumed() -> None:
    done = CliRunner().invoke(command, ["ConsistentPoint", "--entries", "2", "--verbose"])

    assert done.exit_code == 0, done.output
    for word in ("MasterEpochHistory", "Sound", "Maximal", "proved", "not shown", "REFUTED: Own"):
        assert word in done.output


def test_the_command_answers_in_json() -> None:
    done = CliRunner().invoke(command, ["ConsistentPoint", "--entries", "2", "--json"])

    (answer,) = json.loads(done.stdout)
    (proof,) = answer["proofs"]
    assert proof["assumptions"] == [*ASSUMPTIONS]
    assert [(lemma["claims"], lemma["proved"]) for lemma in proof["lemmas"]] == [(2, 2)]
    assert [one["refuted"] for one in answer["false_variants"]] == [True] * len(VARIANTS)
