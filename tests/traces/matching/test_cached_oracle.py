"""What the search asks of a model about the invariants of candidates."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlatrace.oracle import Model, load_model
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.states import ModelState, Step
from tlatrace.runtime import values
from tlatrace.runtime.values import Fcn, RuntimeValue, eq

SPEC = """---- MODULE Tanks ----
EXTENDS Naturals
VARIABLES level, open
Init == level = [t \\in {"a", "b"} |-> 0] /\\ open = {}
Next == UNCHANGED <<level, open>>
Low == \\A t \\in {"a", "b"} : level[t] < 3
Shut == open = {}
====
"""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    (tmp_path / "Tanks.tla").write_text(SPEC)
    (tmp_path / "Tanks.cfg").write_text("INIT Init\nNEXT Next\nINVARIANTS Low Shut\n")
    return load_model(tmp_path / "Tanks.tla", tmp_path / "Tanks.cfg")


def state(a: int, b: int, *opened: str) -> ModelState:
    return (Fcn({"a": a, "b": b}), frozenset(opened))


def test_invariants_are_named_only_where_not_all_hold(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = [state(0, 0), state(1, 0), state(3, 0), state(1, 2), state(4, 4, "a"), state(0, 1)]
    wanted = [model.violated(one) for one in states]
    named: list[ModelState] = []
    violated = model.violated

    def noting(one: ModelState) -> tuple[str, ...]:
        named.append(one)
        return violated(one)

    monkeypatch.setattr(model, "violated", noting)

    oracle = CachedOracle(model)

    assert [oracle.violated(one) for one in states] == wanted
    assert wanted == [(), (), ("Low",), (), ("Low", "Shut"), ()]
    assert named == [states[2], states[4]]


def test_answers_are_remembered_while_questions_come_twice(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ModelState] = []
    successors = model.successors

    def noting(one: ModelState) -> list[Step]:
        asked.append(one)
        return successors(one)

    monkeypatch.setattr(model, "successors", noting)
    oracle = CachedOracle(model, size=100_000)

    for number in range(3_000):  # each twice
        pre = state(number, 0)
        assert oracle.successors(pre) == oracle.successors(pre) == successors(pre)
    assert len(asked) == 3_000

    for number in range(3_000, 6_000):  # each once, until nothing is remembered
        oracle.successors(state(number, 0))
    asked.clear()
    for _ in range(2):
        assert oracle.successors(state(5_999, 0)) == successors(state(5_999, 0))
    assert len(asked) == 2


def test_the_texts_of_the_keys_of_a_growing_bag_are_written_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[RuntimeValue] = []
    short = values.short

    def noting(one: RuntimeValue) -> str:
        written.append(one)
        return short(one)

    monkeypatch.setattr(values, "short", noting)
    keys = [Fcn({"tank": f"grows {number}"}) for number in range(6)]
    other = Fcn({Fcn({"tank": f"other {number}"}): 1 for number in range(6)})

    for _ in range(3):
        assert not eq(Fcn(dict.fromkeys(keys, 1)), other)

    assert len(written) == 12
