"""Machine code finds the states and steps that the model finds, or says that it cannot."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from tlatrace.explore import explore
from tlatrace.explore.native_space import NativeSpace, NotSure
from tlatrace.oracle import Model, Step, load_model
from tlatrace.selfcheck.subjects import Subject, packaged_subjects
from tlatrace.tla.config import parse_config

pytestmark = pytest.mark.java

NODES: Final = 1 << 22
PYTHONS: Final = frozenset(["Maps", "Numbers", "Shop", "Stairs", "Workshop"])
"""Those of which something is not lowered."""


@pytest.mark.parametrize("subject", packaged_subjects(), ids=lambda subject: subject.name)
def test_the_steps_from_each_state_are_those_of_the_model(subject: Subject) -> None:
    model = load_model(subject.module, subject.config, native=True)
    if subject.name in PYTHONS:
        with pytest.raises(NotSure):
            NativeSpace(model, nodes=NODES)
        return
    space = NativeSpace(model, table=1 << 18, nodes=NODES)
    initial = [space.shown(state) for state in space.initial_states()]
    assert set(initial) == set(model.initial_states())
    states = list(islice(explore(space, check_invariants=False, max_states=400).states, 400))
    compared = 0
    for state in states:
        found = {
            Step(step.action, tuple(map(space.value, step.params)), space.shown(step.post))
            for step in space.successors(state)
        }
        shown = space.shown(state)
        assert found == set(model.successors(shown)), shown
        assert space.violated(state) == model.violated(shown)
        assert space.within(state) == model.within(shown)
        compared += len(found)
    assert compared > 5


def test_states_that_do_not_fit_are_no_smaller_model() -> None:
    (subject,) = [one for one in packaged_subjects() if one.name == "TwoQueues"]
    model = load_model(subject.module, subject.config, native=True)
    for table, nodes in ((64, NODES), (1 << 12, 300)):
        with pytest.raises(NotSure, match="do not fit into memory"):
            explore(NativeSpace(model, table=table, nodes=nodes))


def memory_of(space: NativeSpace) -> memoryview:
    """Return the array from its beginning to where the first nodes are."""
    return memoryview(vars(space)["_memory"]).cast("B")[: 8 * (1 << 18)]


def space_of(folder: Path, text: str, invariant: str) -> tuple[Model, NativeSpace]:
    module = folder / "Small.tla"
    module.write_text(f"---- MODULE Small ----\nEXTENDS Naturals\nVARIABLES x, y\n{text}\n====\n")
    config = parse_config(f"INIT Init NEXT Next INVARIANT {invariant}", module)
    model = load_model(module, config, native=True, kept=False)
    return model, NativeSpace(model, table=1 << 16, nodes=NODES)


@pytest.mark.parametrize(
    "action",
    [
        "Op(x') /\\ y' = 0",
        "LET n == 2 IN Op(x') /\\ y' = n",
        "y' = 1 /\\ Op(x') /\\ Op(3)",
        "Op(x') /\\ Op(x') /\\ y' = x'",
        "LET v == x' IN Op(v) /\\ y' = v",
        "LET v == x' w == v IN Op(w) /\\ LET u == w + 1 IN y' = u",
        "LET v == x' w == v + y' IN y' = 2 /\\ Op(v) /\\ w = 5",
    ],
)
def test_an_operator_may_be_given_what_is_still_to_be_assigned(tmp_path: Path, action: str) -> None:
    text = (
        f"Via(Op(_)) == {action}\nInit == x = 0 /\\ y = 0\nNo == x >= 0\n"
        "Next == (x < 3 /\\ x' = x + 1 /\\ y' = y) \\/ Via(LAMBDA v : v = 3)"
    )
    model, space = space_of(tmp_path, text, "No")
    (state,) = space.initial_states()
    for _ in range(3):
        steps = space.successors(state)
        found = {space.shown(step.post) for step in steps}
        assert found == {step.post for step in model.successors(space.shown(state))}
        state = steps[0].post


@pytest.mark.parametrize(
    "action", ["v > 2 /\\ x' = 3", "y' = v /\\ x' = 3", "y' \\in {v} /\\ v = 3"]
)
def test_a_name_of_what_is_not_assigned_yet_is_not_read(tmp_path: Path, action: str) -> None:
    text = f"Init == x = 0 /\\ y = 0\nNo == x >= 0\nNext == LET v == x' IN {action}"
    with pytest.raises(NotSure, match="a next value that is read before it is known"):
        space_of(tmp_path, text, "No")


def test_values_that_grow_deeper_end_the_search_and_not_the_process(tmp_path: Path) -> None:
    text = "Init == x = <<>> /\\ y = <<1>>\nNext == x' = <<x>> /\\ y' = <<y>>\nDiffer == x # y"
    _, space = space_of(tmp_path, text, "Differ")
    with pytest.raises(NotSure, match="something has no value"):
        explore(space, max_states=5_000)


def test_a_process_that_is_forked_has_an_array_of_its_own(tmp_path: Path) -> None:
    text = "Init == x = 0 /\\ y = 0\nNext == x' = x + 1 /\\ y' = y\nNo == x < 100"
    _, space = space_of(tmp_path, text, "No")
    (state,) = space.initial_states()
    before = bytes(memory_of(space))
    child = os.fork()
    if child == 0:
        explore(space, max_states=50, check_invariants=False)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert bytes(memory_of(space)) == before
    assert [space.shown(step.post) for step in space.successors(state)] == [(1, 0)]
