"""What keeps an action from being taken, said of a small specification with four such actions."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tlatrace.matching.never_taken import NeverTaken, why_never_taken
from tlatrace.oracle import Model, ModelState, load_model

TEXT: Final = """---- MODULE Lamp ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Up == x < 3 /\\ x' = x + 1
Far == x > 1 /\\ x > 7 /\\ x' = 0
Pick(n) == n < x /\\ x > n + 5 /\\ x' = n
None(n) == x' = n
Stuck == x > 2 /\\ x' = x /\\ x' = x + 1
Next == Up \\/ Far \\/ (\\E n \\in 0..1 : Pick(n)) \\/ (\\E n \\in {} : None(n)) \\/ Stuck
Spec == Init /\\ [][Next]_x
====
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lamp")
    (folder / "Lamp.tla").write_text(TEXT)
    (folder / "Lamp.cfg").write_text("SPECIFICATION Spec")
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return load_model(folder / "Lamp.tla", folder / "Lamp.cfg", conjuncts=True)


def why(model: Model, folder: Path, action: str) -> NeverTaken:
    states: list[ModelState] = [(x,) for x in range(4)]
    return why_never_taken(model, [folder], action, states)


@pytest.mark.java
def test_the_guard_is_that_of_the_state_that_comes_furthest(model: Model, folder: Path) -> None:
    found = why(model, folder, "Far")
    assert found.guard is not None
    assert (found.guard.text, found.guard.place) == ("x > 7", "Lamp.tla:6:17")
    assert found.in_words() == "none of 4 states asked gets past Lamp.tla:6:17 in Far: x > 7"


@pytest.mark.java
def test_parameters_are_those_that_come_furthest(model: Model, folder: Path) -> None:
    found = why(model, folder, "Pick")
    assert found.guard is not None
    assert found.guard.text == "x > n + 5"
    assert len(found.guard.params) == 1


@pytest.mark.java
@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("None", "there is nothing that Next could give it"),
        ("Stuck", "its guards are TRUE, and no next state is allowed"),
    ],
)
def test_where_no_guard_is_false_that_is_said(
    model: Model, folder: Path, action: str, reason: str
) -> None:
    found = why(model, folder, action)
    assert (found.guard, found.in_words()) == (None, reason)
