"""The compiled model agrees with TLC: graphs, expressions, verdicts on corrupted steps.

`rocketproof selfcheck` does the same with more of the steps on which both fail.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.source_files import ROOT
from tlatrace.errors import EvaluationError
from tlatrace.explore import explore
from tlatrace.judgement.transition import Allowed, Failed, Transition
from tlatrace.oracle import load_model
from tlatrace.selfcheck.agreement import Agreement, state_text
from tlatrace.selfcheck.corruption import corruptions
from tlatrace.selfcheck.examine import (
    Effort,
    examine_expressions,
    examine_subject,
    model_judge,
    right_steps,
)
from tlatrace.selfcheck.subjects import Subject, manifest_subjects, packaged_subjects
from tlatrace.tools.manifest import read_manifest

pytestmark = pytest.mark.java

PACKAGED: Final = packaged_subjects()
SMALL: Final = manifest_subjects(read_manifest(ROOT / "spec"))
LARGE: Final = frozenset(
    f"{name}:small"
    for name in (
        "controller_group",
        "dledger",
        "epoch_truncation",
        "escape",
        "pre_online",
        "register",
        "replica_group",
        "route",
        "sync_state_set",
    )
)
"""A quarter of a minute to three minutes each; `rocketproof selfcheck` compares them, too."""
DRAWN: Final = 860
EXAMINED: Final = 650
"""At least so many of the drawn steps are put to both; the others have no value in the model."""


def named(subject: Subject) -> str:
    return subject.name


def shown(agreement: Agreement) -> str:
    return "\n".join([f"{d.question}\n  {d.tlc}\n  {d.model}" for d in agreement.disagreements])


def test_enough_is_compared() -> None:
    assert len(PACKAGED) >= 27
    assert len(PACKAGED) * EXAMINED >= 20_000
    assert SMALL, "no model of the project is compared"


@pytest.mark.parametrize("subject", PACKAGED, ids=named)
def test_a_small_specification_agrees(subject: Subject) -> None:
    asked = 1 if PACKAGED.index(subject) % 8 == 0 else 0  # two starts of TLC each
    effort = Effort(corrupted=DRAWN, failed=asked)
    graph, verdicts = examine_subject(subject, parts=("graphs", "corrupted"), effort=effort)
    assert graph.disagreements == (), shown(graph)
    assert graph.facts["states"] >= 10
    assert graph.examined == graph.facts["steps"]
    assert verdicts.disagreements == (), shown(verdicts)
    assert verdicts.examined >= EXAMINED
    assert verdicts.facts["refused"] > 100


@pytest.mark.parametrize(
    "subject",
    [pytest.param(one, marks=[pytest.mark.slow] * (one.name in LARGE)) for one in SMALL],
    ids=named,
)
def test_a_small_model_of_the_project_agrees(subject: Subject) -> None:
    effort = Effort(corrupted=2000, failed=0)
    graph, verdicts = examine_subject(subject, parts=("graphs", "corrupted"), effort=effort)
    assert graph.disagreements == (), shown(graph)
    assert graph.examined == graph.facts["steps"]
    assert verdicts.disagreements == (), shown(verdicts)
    assert verdicts.examined > 1000


def test_expressions_agree() -> None:
    found = examine_expressions()
    assert found.disagreements == (), shown(found)
    assert found.facts["values"] >= 320
    assert found.facts["errors"] >= 25


@pytest.mark.parametrize("subject", PACKAGED[::3], ids=named)
def test_a_step_is_allowed_iff_it_is_a_successor(subject: Subject) -> None:
    """Compare two writings of the same text: the predicate and the list of successors.

    A list of what may follow has no steps that only [Next]_v allows.
    """
    model = load_model(subject.module, subject.config, stuttering=False)
    steps, initial = right_steps(model, explore(model, check_invariants=False))
    drawn = corruptions(steps, initial, count=500, seed="successors")
    corrupted = [item.transition for item in drawn]
    judged = model_judge(model)([*steps, *corrupted])
    compared = 0
    for step, judgement in zip([*steps, *corrupted], judged, strict=True):
        if step.pre is None or isinstance(judgement.step, Failed):
            continue
        try:
            if step.action is None:
                found = model.successors(model.adopt(step.pre))
            else:
                params = model.adopt_params(step.action, step.params)
                found = model.bound_successors(model.adopt(step.pre), step.action, params)
        except EvaluationError:
            continue  # a successor that has nothing to do with this step
        compared += 1
        is_successor = model.adopt(step.post) in {step.post for step in found}
        assert is_successor == (judgement.step == Allowed()), shown_step(step)
    assert compared > 400


def shown_step(step: Transition) -> str:
    before = "" if step.pre is None else state_text(step.pre)
    return f"{before} --{step.action}{step.params}--> {state_text(step.post)}"
