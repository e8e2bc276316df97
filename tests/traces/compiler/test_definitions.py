"""Definitions that are compiled with a specification, without being in its text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import SpecError
from tlatrace.oracle import load_model

pytestmark = pytest.mark.java

LOCKS: Final = Path(__file__).parents[3] / "traces" / "samples" / "lock_server"


def test_a_definition_is_evaluated_in_states_and_the_module_keeps_its_name() -> None:
    texts = {"waiting": "[c \\in Client |-> c \\in Waiting]", "size": "Len(queue)"}

    model = load_model(LOCKS / "LockServer.tla", LOCKS / "LockServer.cfg", definitions=texts)
    (start,) = model.initial_states()
    (asked, *_) = model.action_successors(start, "Request")

    assert model.module == "LockServer"
    assert model.show_value(model.evaluate("size", start)) == 0
    assert model.show_value(model.evaluate("size", asked.post)) == 1
    assert "TRUE" in str(model.evaluate("waiting", asked.post))


@pytest.mark.parametrize(
    ("text", "error", "reason"),
    [
        ("Len(", SpecError, "size, other: SANY refuses"),
        ("Len(cue)", SpecError, "cue"),
        ("queue'", SpecError, "size has primes"),
        ("1\n====\n", SpecError, ""),
    ],
)
def test_a_definition_that_is_wrong_is_refused_for_the_module(
    text: str, error: type[SpecError], reason: str
) -> None:
    with pytest.raises(error) as caught:
        load_model(
            LOCKS / "LockServer.tla",
            LOCKS / "LockServer.cfg",
            definitions={"size": text, "other": "Len(queue)"},
        )

    assert reason in caught.value.reason
    assert "rocketproof-definitions" not in str(caught.value)
