"""How a counterexample is told: what a step changes, and nothing else."""

from __future__ import annotations

import pytest

from rocketproof.counterexample import changes
from tlatrace.tla_text import parse_tla


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("1", "1", []),
        ("1", "2", ["x = 2"]),
        ("{1, 2}", "{2, 3}", ["x - 1", "x + 3"]),
        ("(5 :> 1 @@ 7 :> 2)", "(5 :> 1 @@ 7 :> 3)", ["x[7] = 3"]),
        ("[a |-> {}, b |-> 1]", "[a |-> {4}, b |-> 1]", ["x.a + 4"]),
        ("[a |-> 1]", "[a |-> 1, b |-> 2]", ["x = [a |-> 1, b |-> 2]"]),
        ("<<1, 2>>", "<<1, 3>>", ["x = <<1, 3>>"]),
    ],
)
def test_a_change_is_told_where_it_is(old: str, new: str, lines: list[str]) -> None:
    assert list(changes("x", parse_tla(old), parse_tla(new))) == lines
