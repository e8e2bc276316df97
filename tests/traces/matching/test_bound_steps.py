"""Steps of an action whose arguments are known, asked of compiled models."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from rocketproof.runs import simulate_trace
from tlatrace.errors import EvaluationError, ModelGapError
from tlatrace.oracle import Model, ModelState, load_model
from tlatrace.tools.spec_root import find_spec_root

ROOT: Final = Path(__file__).parents[3]
LOCK_SERVER: Final = ROOT / "traces" / "samples" / "lock_server"

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def nested() -> Model:
    return load_model(Path(__file__).with_name("specs") / "Nested.tla")


def reachable(model: Model, limit: int) -> list[ModelState]:
    states = dict.fromkeys(model.initial_states())
    for state in (waiting := list(states)):
        for step in model.successors(state):
            if step.post not in states and len(states) < limit:
                states[step.post] = None
                waiting.append(step.post)
    return list(states)


def test_they_are_the_steps_of_the_action_that_have_those_arguments() -> None:
    model = load_model(LOCK_SERVER / "LockServer.tla", LOCK_SERVER / "LockServer.cfg")
    compared = 0

    for state in reachable(model, 300):
        steps = model.successors(state)
        for action in ("Request", "Grant", "Release"):
            for client in ("c1", "c2", "c3"):
                params = model.adopt_params(action, [client])
                wanted = [s for s in steps if (s.action, s.params) == (action, params)]
                assert model.bound_successors(state, action, params) == wanted
                compared += len(wanted)
        own = [step for step in steps if step.action == "Expire"]
        assert model.bound_successors(state, "Expire", ()) == own

    assert compared > 300


def test_parameters_from_an_infinite_set_need_no_override() -> None:
    trace = simulate_trace("epoch_truncation", 7)
    assert trace.header is not None
    module = find_spec_root() / "epoch_truncation" / "EpochTruncation.tla"
    model = load_model(module, constants=trace.header.constants)
    before: ModelState | None = None

    for event in trace.events:
        assert event.state is not None
        assert event.action is not None
        after = model.adopt(event.state)
        if before is not None:
            params = model.adopt_params(event.action, event.params)
            steps = model.bound_successors(before, event.action, params)
            assert after in [step.post for step in steps]
            assert {(step.action, step.params) for step in steps} == {(event.action, params)}
        before = after
    assert before is not None
    with pytest.raises(EvaluationError):
        model.successors(before)


def test_an_action_within_another_one_is_asked_of_next(nested: Model) -> None:
    (start,) = nested.initial_states()
    config = Path(__file__).with_name("specs") / "Nested.cfg"
    finite = load_model(config.with_suffix(".tla"), config)
    two, four = nested.adopt_value(2), nested.adopt_value(4)

    assert [nested.calls(name) for name in ("Set", "Both", "Add")] == [True, True, False]
    (step,) = nested.bound_successors(start, "Set", (four,))
    assert nested.show(step.post) == {"x": 4, "y": 4}
    with pytest.raises(EvaluationError):  # Next takes the parameter of Set from Nat
        nested.bound_successors(start, "Add", (two,))
    assert [finite.show(s.post) for s in finite.bound_successors(start, "Add", (two,))] == [
        {"x": 2, "y": 0}
    ]
    assert finite.bound_successors(start, "Add", (four,)) == []


def test_the_number_of_arguments_is_checked(nested: Model) -> None:
    with pytest.raises(ModelGapError):
        nested.bound_successors(nested.initial_states()[0], "Set", ())
