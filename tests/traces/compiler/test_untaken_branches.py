r"""Branches that the configuration rules out are not written, and mean what they meant.

PGo's translations hold every action twice and more, for constants that switch failures on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import EvaluationError
from tlatrace.oracle import Model, load_model

pytestmark = pytest.mark.java

SPEC: Final = r"""---- MODULE Switched ----
EXTENDS Naturals
CONSTANTS Fails, Odd
VARIABLE x
Init == x = 0
Crash == x' = 99
Up == IF Fails THEN x < 40 /\ x' = x + 41 ELSE x < 2 /\ x' = x + (IF ~Fails THEN 1 ELSE 42)
Strange == IF Odd THEN x' = 5 ELSE x' = 6
Next == (IF Fails THEN Crash ELSE Up) \/ (x = 1 /\ Strange)
Small == IF Fails THEN x < 43 ELSE x < 3
====
"""


@pytest.fixture(name="switched")
def open_switched(tmp_path: Path) -> Model:
    return _load(tmp_path, fails="FALSE", odd="FALSE")


def _load(folder: Path, *, fails: str, odd: str) -> Model:
    (folder / "Switched.tla").write_text(SPEC)
    config = f"INIT Init\nNEXT Next\nINVARIANT Small\nCONSTANTS Fails = {fails} Odd = {odd}\n"
    (folder / "Switched.cfg").write_text(config)
    return load_model(folder / "Switched.tla", folder / "Switched.cfg", conjuncts=True)


def test_what_no_branch_leads_to_is_not_written(switched: Model, tmp_path: Path) -> None:
    other = _load(tmp_path, fails="TRUE", odd="FALSE")

    assert [str(n) for n in (40, 41, 42, 43) if str(n) in switched.source.python] == []
    assert "43" in other.source.python
    assert {step.post for step in other.successors((0,))} == {(99,)}


def test_the_branch_that_is_taken_means_what_it_meant(switched: Model) -> None:
    steps = {(step.action, step.post) for x in range(3) for step in switched.successors((x,))}

    assert steps == {("Next", (1,)), ("Next", (2,)), ("Next", (6,))}
    assert switched.allows("Up", (), (0,), (1,))
    assert not switched.allows("Up", (), (0,), (41,))
    assert switched.violated((2,)) == ()
    assert switched.violated((3,)) == ("Small",)


def test_an_action_that_never_happens_is_still_one(switched: Model) -> None:
    assert switched.actions["Crash"] == 0
    assert not switched.allows("Crash", (), (0,), (99,))
    assert switched.action_successors((0,), "Crash") == []


def test_a_condition_that_is_no_boolean_has_no_value(tmp_path: Path) -> None:
    model = _load(tmp_path, fails="FALSE", odd="3")

    with pytest.raises(EvaluationError):
        model.successors((1,))
    assert {step.post for step in model.successors((0,))} == {(1,)}
