"""The corpus of expressions, and what the comparison of its values detects."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import EvaluationError, SpecError
from tlatrace.judgement.verdict import Undecided
from tlatrace.selfcheck.differences import DIFFERENCES
from tlatrace.selfcheck.expressions import (
    EXPRESSIONS,
    ROOT,
    Answer,
    Expression,
    Is,
    Raises,
    compare_answers,
    model_answers,
    read_corpus,
)
from tlatrace.values import Value

CORPUS: Final = tuple(
    [Expression(name=f"One{at:02d}", module="Ones", line=at, text=f"{at}") for at in range(3)]
)
TLC: Final[dict[str, Answer]] = {"One00": Is("1"), "One01": Is("true"), "One02": Raises("an error")}


def test_the_corpus_is_large_enough() -> None:
    corpus = read_corpus()
    assert len(corpus) >= 1000
    assert sum(expression.module == "FailingExpressions" for expression in corpus) >= 25
    assert {"2 - 5", "Head(<<>>)", '1 = "a"'} <= {expression.text for expression in corpus}


def test_every_documented_difference_is_a_question() -> None:
    names = {expression.name for expression in read_corpus()}
    assert set(DIFFERENCES) <= names
    assert {name for name in names if name.startswith("Different")} <= set(DIFFERENCES)


def test_the_root_extends_every_module() -> None:
    text = ROOT.read_text("utf-8")
    modules = {path.stem for path in EXPRESSIONS.glob("*.tla")} - {ROOT.stem}
    assert sorted(module for module in modules if module not in text) == []


def test_questions_are_told_from_what_serves_them(tmp_path: Path) -> None:
    module = "---- MODULE M ----\nHelp == 1\nSum01 == Help\n  + 2\nSum02 == LET x1 == 1 IN x1\n===="
    (tmp_path / "M.tla").write_text(module)
    assert read_corpus(tmp_path) == (
        Expression(name="Sum01", module="M", line=3, text="Help + 2"),
        Expression(name="Sum02", module="M", line=5, text="LET x1 == 1 IN x1"),
    )


def test_a_name_may_be_used_once(tmp_path: Path) -> None:
    (tmp_path / "M.tla").write_text("Sum01 == 1\nSum01 == 2\n")
    with pytest.raises(SpecError, match="Sum01 is there twice"):
        read_corpus(tmp_path)


def test_equal_answers_agree() -> None:
    found = compare_answers(CORPUS, TLC, {**TLC, "One02": Raises("another reason")}, {})
    assert found.disagreements == ()
    assert found.examined == 3
    assert found.facts == {"values": 2, "errors": 1, "documented differences": 0}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("One00", Is("2")),
        ("One00", Is("true")),
        ("One01", Is("1")),
        ("One01", Raises("no idea")),
        ("One02", Is("0")),
    ],
    ids=["another number", "TRUE for 1", "1 for TRUE", "no value", "a value for an error"],
)
def test_a_wrong_answer_is_found(name: str, wrong: Answer) -> None:
    found = compare_answers(CORPUS, TLC, {**TLC, name: wrong}, {})
    (disagreement,) = found.disagreements
    assert disagreement.question.startswith(name)


@pytest.mark.parametrize("silent", ["tlc", "model"])
def test_silence_is_not_agreement(silent: str) -> None:
    tlc = {} if silent == "tlc" else TLC
    model = {} if silent == "model" else TLC
    found = compare_answers(CORPUS, tlc, model, {})
    assert len(found.disagreements) == 3
    assert found.examined == 0
    neither = compare_answers(CORPUS, {}, {}, {})
    assert len(neither.disagreements) == 3


def test_a_documented_difference_must_differ() -> None:
    meant = {"One00": "because"}
    assert compare_answers(CORPUS, TLC, {**TLC, "One00": Is("2")}, meant).disagreements == ()
    (found,) = compare_answers(CORPUS, TLC, TLC, meant).disagreements
    assert found.question == "One00: 0 (documented as a difference)"


def test_an_empty_corpus_is_undecided() -> None:
    assert isinstance(compare_answers((), {}, {}, {}).verdict, Undecided)


def test_a_model_without_a_value_raises() -> None:
    def evaluate(name: str) -> Value:
        if name == "One02":
            raise EvaluationError("Head of the empty sequence")
        return int(name[-2:])

    assert model_answers(CORPUS, evaluate) == {
        "One00": Is("0"),
        "One01": Is("1"),
        "One02": Raises("Head of the empty sequence"),
    }
