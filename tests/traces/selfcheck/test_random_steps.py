"""Random specifications, and what their comparison with TLC's successors of Next detects."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest

from tlatrace.judgement.transition import Failed, Judged, Refused
from tlatrace.selfcheck.random_steps.claims import claims
from tlatrace.selfcheck.random_steps.examine import draw_machine, examine_random_steps
from tlatrace.selfcheck.random_steps.judges import (
    ENGINES,
    MODEL,
    by_model,
    examine_machine,
)
from tlatrace.selfcheck.random_steps.machine import (
    Operator,
    Relation,
    calls_told,
    draw_actions,
    draw_states,
)
from tlatrace.selfcheck.random_steps.shapes import Shape, guard, leaf, smaller, written
from tlatrace.selfcheck.verdicts import Judge
from tlatrace.trace.ndjson import read_trace
from tlatrace.values import State, canonical_state

EXISTS: Final = Shape("under", ("\\E v1 \\in 1..2 :",), (leaf("Push(v1)"),), frozenset({"v1"}))


def lines_of(number: int) -> list[str]:
    return draw_machine(random.Random(number), "Machine").module.split("\n")


# ---- drawing ----


def test_the_same_seed_draws_the_same_machine() -> None:
    assert lines_of(7) == lines_of(7)
    assert lines_of(7) != lines_of(8)


@pytest.mark.parametrize(
    "text",
    [
        "CASE ",
        "IF ",
        "LET ",
        "\\E <<v",
        "(_) ==",
        "Op1(v",
        "Commit(",
        "I!Bump(",
        ")!Bump(",
        ", v2 \\in",
        "via' = <<>>)",
    ],
)
def test_every_shape_is_drawn(text: str) -> None:
    relations = [
        relation.text
        for number in range(60)
        for relation in draw_machine(random.Random(number), "Machine").relations
    ]
    assert any(text.replace("(_) ==", "(_)") in relation for relation in relations)


def test_some_actions_are_not_called() -> None:
    actions = draw_actions(random.Random(1))
    machine = draw_machine(random.Random(1), "Machine")
    assert machine.actions == actions
    assert any(a.name not in r.text for a in actions for r in machine.relations)


# ---- writing, and making small ----


def test_shapes_are_written_in_one_line_or_many() -> None:
    both = Shape("and", (), (guard("x = 0"), EXISTS))
    assert written(both) == ["(x = 0) /\\ (\\E v1 \\in 1..2 : Push(v1))"]
    tall = Shape("or", (), (both, Shape("if", ("y = 0",), (EXISTS, leaf("Zap")), tall=True)))
    assert written(Shape("and", (), (guard("x = 0"), tall), tall=True)) == [
        "/\\ x = 0",
        "/\\ \\/ (x = 0) /\\ (\\E v1 \\in 1..2 : Push(v1))",
        "   \\/ IF y = 0",
        "        THEN \\E v1 \\in 1..2 : Push(v1)",
        "        ELSE Zap",
    ]


def test_a_smaller_shape_binds_what_it_uses() -> None:
    unused = Shape("under", ("\\E v2 \\in s :",), (EXISTS,), frozenset({"v2"}))
    assert list(smaller(EXISTS)) == []
    assert list(smaller(unused)) == [EXISTS]
    guarded = Shape("and", (), (guard("x = 0"), EXISTS))
    assert list(smaller(guarded)) == [EXISTS]


def test_a_smaller_relation_has_the_operators_that_it_calls() -> None:
    inner = Operator("Next1Op1", (), leaf("Zap"))
    outer = Operator("Next1Op2", ("v1",), leaf("Next1Op1"))
    relation = Relation(
        "Next1", Shape("or", (), (leaf("Next1Op2(1)"), leaf("Push(1)"))), (inner, outer)
    )
    found = [(less.body, less.operators) for less in relation.smaller()]
    assert (leaf("Push(1)"), ()) in found
    assert (leaf("Next1Op2(1)"), (inner, outer)) in found
    assert "Next2 ==\n  (Next2Op2(1))" in relation.renamed("Next2").text
    assert "Next1Op" not in relation.renamed("Next2").text


# ---- claims ----


def after(state: State, *called: object) -> State:
    return {**state, "x": 1, "last": called}  # type: ignore[dict-item]


def test_claims_are_right_where_the_list_has_them() -> None:
    state = draw_states(random.Random(0), 1)[0]
    listed, unlisted = after(state, "Push", 1), after(state, "Push", 2)
    key = canonical_state(state)
    found = list(claims(random.Random(0), [state], {key: [listed, unlisted]}, {key: [listed]}))
    told = [(c.step.action, c.step.params, c.right) for c in found]
    assert told[:4] == [
        (None, (), True),
        ("Push", (1,), True),
        (None, (), False),
        ("Push", (2,), False),
    ]
    assert calls_told({"last": ("Push", 1), "via": ("Commit",)}) == [
        ("Push", (1,)),
        ("Commit", ()),
    ]


# ---- detecting ----


def by_free(module: Path, config: str) -> Judge:
    """Judge by the actions alone, as if Next had no bounds and no conditions."""
    free = "\n".join(["NEXT Free" if "NEXT" in line else line for line in config.split("\n")])
    return by_model(module, free)


def refusing(module: Path, config: str) -> Judge:  # noqa: ARG001
    return lambda steps: [Judged(step=Refused()) for _ in steps]


def undecided(module: Path, config: str) -> Judge:  # noqa: ARG001
    return lambda steps: [Judged(step=Failed("no idea")) for _ in steps]


@pytest.mark.java
@pytest.mark.parametrize(
    ("engine", "answers"),
    [(by_free, {"allowed"}), (refusing, {"refused"}), (undecided, {"undecided: no idea"})],
    ids=["without bounds", "always refuses", "never decides"],
)
def test_a_judge_that_errs_is_found_and_its_error_made_small(
    engine: object, answers: set[str], tmp_path: Path
) -> None:
    assert callable(engine)
    found = examine_random_steps(1, seed=1, engines={MODEL: engine}, reproducers=tmp_path)
    assert found.disagreements
    assert {d.model.removeprefix(f"{MODEL}: ") for d in found.disagreements[:-1]} <= answers
    (folder,) = tmp_path.iterdir()
    trace = read_trace(folder / "trace.ndjson")
    assert trace.events[0].action == "Init"
    assert len(trace.events) == 2
    (module,) = folder.glob("*.tla")
    (config,) = folder.glob("*.cfg")
    assert "NEXT Next" in config.read_text()
    assert len(module.read_text()) < 3500


@pytest.mark.java
def test_all_engines_agree_with_the_lists_of_a_machine(tmp_path: Path) -> None:
    draw = random.Random(2)
    machine = draw_machine(draw, "Machine", 3)
    found = examine_machine(machine, draw_states(draw, 4), draw=draw, folder=tmp_path)
    assert found.wrong == []
    assert found.counts["right"] > 20
    for engine in ENGINES:
        assert found.counts[engine] == found.counts["claims"] > 200
