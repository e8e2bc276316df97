"""The modules that proofs cite are built in: a specification with proofs needs no library."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tlatrace.explore import explore
from tlatrace.model import load_model
from tlatrace.tools.sany import BUILT_IN, export_xml
from tlatrace.tools.tlc import Outcome, run_tlc

PROVED: Final = """---- MODULE Proved ----
EXTENDS Integers, TLAPS, FiniteSetTheorems, SequenceTheorems, FunctionTheorems
VARIABLE x
Init == x = 0
Inc == x < 3 /\\ x' = x + 1
Next == Inc
Small == x \\in 0..3
THEOREM Init => Small
  <1>1. IsFiniteSet({0}) BY FS_Singleton
  <1>2. QED BY <1>1, NatInduction, SetExtensionality, SMTT(5), PTL, Isa DEF Init, Small
====
"""


@pytest.mark.java
def test_a_specification_with_proofs_needs_no_library(tmp_path: Path) -> None:
    (tmp_path / "Proved.tla").write_text(PROVED)
    (tmp_path / "Proved.cfg").write_text("INIT Init NEXT Next INVARIANT Small")

    model = load_model(tmp_path / "Proved.tla", tmp_path / "Proved.cfg")
    run = run_tlc(tmp_path / "Proved.tla", tmp_path / "Proved.cfg")

    assert len(explore(model).states) == 4
    assert (run.outcome, run.distinct) == (Outcome.SUCCESS, 4)


@pytest.mark.java
def test_every_module_of_ours_is_parsed(tmp_path: Path) -> None:
    names = sorted(path.stem for path in BUILT_IN[1].glob("*.tla"))
    assert {"TLAPS", "FiniteSetTheorems", "NaturalsInduction"} < set(names)
    instances = "\n".join([f"{name}_ == INSTANCE {name}" for name in names])
    text = f"---- MODULE All ----\n{instances}\n====\n"
    (tmp_path / "All.tla").write_text(text)

    assert export_xml(tmp_path / "All.tla").find("RootModule") is not None
