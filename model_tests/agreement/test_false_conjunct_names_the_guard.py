"""For each known bug in runs: the false conjunct names the operator that the mutant replaces.

The implementation with the bug switched on is recorded; the compiled model says which conjunct of
the correct specification forbids its first bad step, and what that conjunct is made of.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketproof.runs import simulate_trace
from tlatrace.judgement.verdict import Diverges
from tlatrace.matching.explain import explain_verdict
from tlatrace.matching.false_conjuncts import ForbiddenAction
from tlatrace.matching.match import match_traces
from tlatrace.oracle import Model, load_model
from tlatrace.tools.manifest import Mutant, read_manifest

SPEC = Path(__file__).parents[2] / "spec"
FOLDER = SPEC / "epoch_truncation"
MUTANTS = [
    mutant
    for mutant in read_manifest(SPEC).mutants
    if mutant.protocol == "epoch_truncation" and mutant.bug and mutant.expect != "harmless"
]
SEEDS = 40

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def model() -> Model:
    header = simulate_trace("epoch_truncation", 0).header
    assert header is not None
    return load_model(FOLDER / "EpochTruncation.tla", constants=header.constants, conjuncts=True)


def failing_conjunct(model: Model, bug: str) -> ForbiddenAction:
    """Return what forbids the first bad step of the first run that shows the bug."""
    for seed in range(SEEDS):
        trace = simulate_trace("epoch_truncation", seed, (bug,))
        (verdict,) = match_traces(model, [trace])
        if isinstance(verdict, Diverges):
            claimed = [
                conjunct
                for conjunct in explain_verdict(model, trace, verdict, [FOLDER]).conjuncts
                if conjunct.claimed
            ]
            assert len(claimed) == 1
            return claimed[0]
    raise AssertionError(f"none of {SEEDS} runs shows {bug}")


def test_there_are_known_bugs_to_explain() -> None:
    assert len(MUTANTS) >= 15


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_false_conjunct_names_the_operator_that_the_mutant_replaces(
    model: Model, mutant: Mutant
) -> None:
    conjunct = failing_conjunct(model, mutant.name)

    replaced = mutant.overrides[0].split(" <- ")[0]
    assert replaced in {*conjunct.operators, *conjunct.within}
    assert conjunct.file == "EpochTruncation.tla"
    line = (FOLDER / conjunct.file).read_text("utf-8").split("\n")[conjunct.line - 1]
    assert conjunct.text.split(" ")[0] in line
    if conjunct.relation:
        assert conjunct.sides() or conjunct.differences()
