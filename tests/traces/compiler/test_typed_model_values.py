"""Model values such as m_1 have a type, and TLC compares them with their like and untyped ones.

What each expression has to be was asked of TLC; three of them are asked again here.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from rocketproof.file_check import FileCheck, by_model, by_tlc
from tlatrace.oracle.interchange import split_by
from tlatrace.runtime.values import Atom, from_runtime, model_value, to_runtime
from tlatrace.tools.jar import find_jar
from tlatrace.tools.tlc_output import Outcome
from tlatrace.values import ModelValue

VALUES = (
    "A = A2",
    "A = C",
    "A \\in {C}",
    "A \\in {A2, C}",
    "A \\in {}",
    "Cardinality({A, A2, C}) = 3",
    "Cardinality({C, 1}) = 2",
    "<<1, A>> = <<2, B>>",
    "[a |-> A] = [a |-> A2]",
)
NONE = (
    "A = 5",
    "A = B",
    'A = "m_1"',
    "A = TRUE",
    "A = {}",
    "A = <<>>",
    "A # B",
    "A \\in {B}",
    "A \\in 1..3",
    "A \\in Nat",
    "A \\in STRING",
    "A \\in Seq({1})",
    "A \\in SUBSET {1}",
    "A \\in [{1} -> {1}]",
    "A \\in [a : {1}]",
    "A \\in {1} \\X {1}",
    "A \\in {1} \\cup {C}",
    "{A} = {B}",
    "{A} \\subseteq {B}",
    "{A} \\cup {1} = {1}",
    "<<A, 1>> = <<B, 2>>",
    "[a |-> A] = [a |-> 1]",
)
ONLY_TLC = ("A \\in BOOLEAN", "Cardinality({A, B}) = 2", "Cardinality({A, 1}) = 2")
"""Where TLC has a value: its order of the elements of a set does not ask for types."""


def _silently(name: str, found: int, to_do: int) -> None:
    del name, found, to_do


def choice(folder: Path, expression: str) -> FileCheck:
    module = folder / "Typed.tla"
    module.write_text(
        "---- MODULE Typed ----\nEXTENDS Naturals, Sequences, FiniteSets\n"
        "CONSTANTS A, A2, B, C\nVARIABLE x\nInit == x = 0\n"
        f"Next == x = 0 /\\ x' = IF {expression} THEN 1 ELSE 2\n====\n"
    )
    config = folder / "Typed.cfg"
    config.write_text("INIT Init\nNEXT Next\nCONSTANTS A = m_1\nA2 = m_2\nB = n_1\nC = c\n")
    return FileCheck(module=module, config=config, deadlock=False)


@pytest.mark.parametrize("expression", VALUES)
def test_values_of_one_type_and_untyped_ones_are_compared(expression: str, tmp_path: Path) -> None:
    found = by_model(choice(tmp_path, expression), _silently)
    assert (found.outcome, found.distinct) == (Outcome.SUCCESS, 2)


@pytest.mark.parametrize("expression", [*NONE, *ONLY_TLC])
def test_a_typed_value_is_compared_with_nothing_else(expression: str, tmp_path: Path) -> None:
    assert by_model(choice(tmp_path, expression), _silently).outcome is Outcome.EVALUATION_ERROR


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (NONE[1], Outcome.EVALUATION_ERROR),
        (NONE[10], Outcome.EVALUATION_ERROR),
        (ONLY_TLC[1], Outcome.SUCCESS),
    ],
)
def test_tlc_says_so(expression: str, expected: Outcome, tmp_path: Path) -> None:
    assert by_tlc(choice(tmp_path, expression), find_jar(), _silently).outcome is expected


def test_a_typed_value_is_one_object_of_its_name_and_its_type_is_told_apart() -> None:
    one, other, untyped = map(model_value, ("m_1", "n_1", "m_"))
    assert model_value("m_1") is one
    assert pickle.loads(pickle.dumps(one)) is one
    assert to_runtime(from_runtime(one)) is one
    assert from_runtime(one) == ModelValue("m_1")
    assert type(untyped) is Atom
    assert len({type(one), type(other), Atom}) == 3
    assert split_by([(one, model_value("m_2"))], []) == ((one, model_value("m_2")),)
