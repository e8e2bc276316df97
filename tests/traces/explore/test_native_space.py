"""Machine code finds the states and steps that the model finds, or says that it cannot."""

from __future__ import annotations

from itertools import islice
from typing import Final

import pytest

from tlatrace.explore import explore
from tlatrace.explore.native_space import NativeSpace, NotSure
from tlatrace.oracle import Step, load_model
from tlatrace.selfcheck.subjects import Subject, packaged_subjects

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
