"""What is outside of `spec/SUBSET.md` is refused, with its place; the document names real tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.source_files import ROOT
from tlatrace.compiler.lower.builtin import OF_MODULES, REFUSED
from tlatrace.errors import SubsetError
from tlatrace.oracle import load_model
from tlatrace.selfcheck.expressions import EXPRESSIONS
from tlatrace.selfcheck.subjects import packaged_subjects
from tlatrace.tla.config import parse_config

SUBSET: Final = ROOT / "spec" / "SUBSET.md"
MODULE: Final = r"""---- MODULE Refused ----
EXTENDS Reals, TLC
VARIABLE x
Init == x = 0
EnabledLater == (ENABLED (x' = 1))' /\ x' = 1
Always == [](x = 0)
Eventually == <>(x = 0)
LeadsTo == (x = 0) ~> (x = 1)
Fair == WF_x(x' = 1)
Some == x' = 1 /\ \E z : z = 1
Every == x' = 1 /\ \A z : z = 1
Clock == x' = JavaTime
Random == x' = RandomElement({1, 2})
Got == x' = TLCGet(1)
Stored == TLCSet(1, 2) /\ x' = 1
Anything == x' = 1 /\ x \in Any
Half == x' = 1 / 2
Text == x' = ToString(1..3)
Hidden == PrintT(IF ToString(x) = "0" THEN 1 ELSE 2) /\ x' = 1
Decimal == x' = 1.5
Twisted == LET f[<<a, b>> \in {<<1, 2>>}, c \in {1}] == f[<<a, b>>, c] IN x' = f[<<1, 2>>, 1]
====
"""
NAMES: Final = [
    name for name in re.findall(r"^(\w+) ==", MODULE, re.MULTILINE) if name not in ("Init",)
]


@pytest.mark.java
def test_what_is_outside_is_refused_with_line_and_caret(tmp_path: Path) -> None:
    module = tmp_path / "Refused.tla"
    module.write_text(MODULE)
    lines = MODULE.split("\n")
    assert len(NAMES) >= 14
    for name in NAMES:
        config = parse_config(f"INIT Init\nNEXT {name}\n", module)
        with pytest.raises(SubsetError) as refused:
            load_model(module, config)
        error = refused.value
        assert error.line is not None, name
        assert lines[error.line - 1].startswith(f"{name} =="), name
        shown, caret = error.excerpt.split("\n")
        assert shown == lines[error.line - 1]
        assert caret.index("^") + 1 == error.column
        assert error.reason


def test_the_document_names_every_operator_of_the_modules() -> None:
    text = SUBSET.read_text("utf-8")
    plain = {"\\leq": "<=", "\\geq": ">=", "-.": "unary `-`", "\\o": "\\o", "\\div": "\\div"}
    missing = [name for name in OF_MODULES if plain.get(name, name) not in text]
    assert missing == []


def test_the_document_names_what_is_refused() -> None:
    text = SUBSET.read_text("utf-8")
    known = {name for name in REFUSED if re.fullmatch(r"[A-Za-z]+", name)}
    assert sorted(name for name in known - {"Real", "Infinity"} if name not in text) == []


def test_the_document_names_every_test() -> None:
    text = SUBSET.read_text("utf-8")
    column = "\n".join(line.rsplit("|", 2)[1] for line in text.split("\n") if line.endswith("|"))
    named = set(re.findall(r"\b[A-Z]\w+", column))
    specs = {subject.name for subject in packaged_subjects()}
    modules = {path.stem for path in EXPRESSIONS.glob("*.tla")}
    covering = specs | (modules - {"AllExpressions", "DifferentExpressions"})
    assert sorted(covering - named - {"Voting", "Tally"}) == []
    assert {"TwoQueues", "SetExpressions"} <= named
