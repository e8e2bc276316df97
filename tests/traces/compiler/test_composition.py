r"""`A \\cdot B` is what A and then B lead to, in one step.

TLC 2.15 cannot evaluate it, so the same steps are written out, in the same specification.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import EvaluationError
from tlatrace.explore import explore
from tlatrace.oracle import Model, load_model

MODULE: Final = r"""---- MODULE Mill ----
EXTENDS Naturals
VARIABLES corn, flour, log

Bring(n) == corn' = corn + n /\ UNCHANGED <<flour, log>>
Grind == corn > 0 /\ flour' = flour + corn /\ corn' = 0 /\ UNCHANGED log
Choose == log' \in {flour, corn} /\ UNCHANGED <<corn, flour>>

Init == corn = 0 /\ flour = 0 /\ log = 0
Composed ==
  /\ flour < 4
  /\ \/ \E n \in 0..2 : Bring(n) \cdot Grind
     \/ \E n \in 1..2 : (Bring(n) \cdot Choose) \cdot (Grind \cdot Choose)
WrittenOut ==
  /\ flour < 4
  /\ \/ \E n \in 0..2 : corn + n > 0 /\ flour' = flour + corn + n /\ corn' = 0 /\ UNCHANGED log
     \/ \E n \in 1..2 : /\ flour' = flour + corn + n
                       /\ corn' = 0
                       /\ log' \in {flour', 0}
Told == flour' = flour + 1 /\ corn' = 0 /\ UNCHANGED log /\ (Bring(1) \cdot Grind)
Vague == (corn' = 1) \cdot Grind
====
"""


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mill") / "Mill.tla"
    path.write_text(MODULE)
    return path


def opened(mill: Path, next_name: str) -> Model:
    config = mill.with_name(f"{next_name}.cfg")
    config.write_text(f"INIT Init NEXT {next_name}")
    return load_model(mill, config)


@pytest.mark.java
def test_the_steps_are_those_that_are_written_out(mill: Path) -> None:
    composed, written = opened(mill, "Composed"), opened(mill, "WrittenOut")
    found, expected = explore(composed), explore(written)

    assert set(found.states) == set(expected.states)
    assert len(found.states) > 10
    for one in found.states:
        steps = {step.post for step in composed.successors(one)}
        assert steps == {step.post for step in written.successors(one)}
        for other in found.states:
            assert composed.allows(None, (), one, other) == (other in steps)


@pytest.mark.java
def test_a_step_of_a_part_is_no_step(mill: Path) -> None:
    model = opened(mill, "Composed")
    names = {name: at for at, name in enumerate(model.variables)}
    assert names == {"corn": 0, "flour": 1, "log": 2}

    assert model.allows(None, (), (0, 0, 0), (0, 2, 0))
    assert not model.allows("Bring", (2,), (0, 0, 0), (2, 0, 0))
    assert not model.allows(None, (), (0, 0, 0), (2, 0, 0))


@pytest.mark.java
def test_a_composition_may_confirm_what_is_said_before_it(mill: Path) -> None:
    model = opened(mill, "Told")

    assert [step.post for step in model.successors((0, 0, 0))] == [(0, 1, 0)]
    assert model.successors((1, 0, 0)) == []


@pytest.mark.java
def test_a_first_part_that_leaves_something_open_has_no_value(mill: Path) -> None:
    model = opened(mill, "Vague")

    with pytest.raises(EvaluationError, match="does not say what flour, log will be"):
        model.successors((0, 0, 0))
