"""Traces are held against `XProperties.tla` beside `X.tla`: its invariants, X's steps and name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import InvariantError
from tlatrace.trace import Header

pytestmark = pytest.mark.java

SPEC: Final = """\
---- MODULE Lamp ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Press == x' = 1 - x
Next == Press
====
"""
PROPERTIES: Final = """\
---- MODULE LampProperties ----
EXTENDS {extended}
TypeOK == {x} \\in {{0, 1}}
====
"""
SMALL: Final = "INIT Init\nNEXT Next\nINVARIANTS\n  TypeOK\n  Finite\n"
HEADER: Final = Header(spec="Lamp")


def choice(folder: Path, *, extended: str = "Lamp, FiniteSets", x: str = "x") -> SpecChoice:
    """Write a specification and what lies beside it, and choose it by its file."""
    (folder / "Lamp.tla").write_text(SPEC)
    (folder / "LampProperties.tla").write_text(PROPERTIES.format(extended=extended, x=x))
    (folder / "MCLamp_small.cfg").write_text(SMALL)
    return SpecChoice(module=folder / "Lamp.tla")


def test_the_invariants_of_the_small_model_are_those_of_the_properties(tmp_path: Path) -> None:
    chosen = choice(tmp_path)
    spec, model = chosen.load(HEADER), chosen.model(HEADER)
    assert (spec.invariants, spec.name) == (("TypeOK",), "Lamp")
    assert (model.source.invariants, model.module) == (("TypeOK",), "Lamp")
    assert chosen.module_of(HEADER) == tmp_path / "Lamp.tla"


def test_an_invariant_of_the_properties_may_be_asked_for(tmp_path: Path) -> None:
    chosen = choice(tmp_path)
    asked = SpecChoice(module=chosen.module, invariants=("TypeOK",))
    assert asked.load(HEADER).invariants == ("TypeOK",)
    wrong = SpecChoice(module=chosen.module, invariants=("Dark",))
    with pytest.raises(InvariantError, match="Dark"):
        wrong.load(HEADER)


def test_a_file_of_that_name_that_extends_something_else_is_left_alone(tmp_path: Path) -> None:
    chosen = choice(tmp_path, extended="Naturals", x="0")
    assert chosen.load(HEADER).invariants == ()
