"""Equal values are read once, and values that only look alike are not taken for each other."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given

from model_tests.value_strategies import values
from tlatrace.judgement.specification import SpecUnderTest
from tlatrace.judgement.transition import Transition, transition_key, transition_keys
from tlatrace.readings import Kind, Reading, Types
from tlatrace.tla.declarations import Declarations, Operator
from tlatrace.tlc.read import read_transitions
from tlatrace.values import (
    MAX_DEPTH,
    ExactString,
    ModelValue,
    Value,
    canonical,
    fcn,
    record,
    tla_set,
)

SPECS = Path(__file__).with_name("specs")
A = ModelValue("a")
IN_DOUBT = 'may be the string or the model value of that name: the trace has to say {"#str"'
TYPES = Types(
    names=("a", "b1"),
    kinds=(
        Kind(),
        Kind(models=("a", "b1")),
        Kind(strings=("a",), any_string=True),
        Kind(models=("a",), strings=("a",)),
        Kind(element=1),
        Kind(element=2),
    ),
    variables=(("models", (4,)), ("strings", (5,)), ("either", (3,))),
    parameters=(),
)


def specification(types: Types, *variables: str) -> SpecUnderTest:
    """A specification that no tool has read."""
    return SpecUnderTest(
        module=SPECS / "Some.tla",
        declarations=Declarations(
            module="Some",
            constants=(),
            variables=variables,
            operators={"Step": Operator(0, 2, "Some")},
            formulas={},
            places={},
        ),
        init="Init",
        next="Step",
        invariants=(),
        constants=(),
        definitions=(),
        values={},
        reading=Reading(types),
        places={},
        name="Some",
    )


def read_of(types: Types, variable: str, *given_values: Value) -> list[Value]:
    """Read each value as that of the variable, in a state of its own."""
    steps = [Transition(None, None, (), {variable: value}) for value in given_values]
    found, reasons = read_transitions(specification(types, variable), steps)
    assert not reasons
    return [step.post[variable] for step in found]


def test_equal_values_of_a_variable_are_one_object_afterwards() -> None:
    first, again, other = read_of(
        TYPES, "models", tla_set(["a", "b1"]), tla_set(["b1", "a"]), tla_set(["a"])
    )

    assert first == tla_set([A, ModelValue("b1")])
    assert first is again
    assert other == tla_set([A])


def test_a_value_is_read_by_the_types_of_its_own_variable() -> None:
    text = tla_set(["a"])
    step = Transition(None, None, (), {"models": text, "strings": text})

    (found,), reasons = read_transitions(specification(TYPES, "models", "strings"), [step])

    assert not reasons
    assert found.post == {"models": tla_set([A]), "strings": text}


def test_values_that_python_takes_for_equal_are_kept_apart() -> None:
    alike: list[Value] = [(1,), (True,), ("a",), (ExactString("a"),), (A,), (0,), (False,), 1, True]

    found = read_of(TYPES, "plain", *alike)

    assert [canonical(value) for value in found] == [
        "[1]",
        "[true]",
        '[{"#model":"a"}]',
        '["a"]',
        '[{"#model":"a"}]',
        "[0]",
        "[false]",
        "1",
        "true",
    ]


def test_a_value_in_doubt_is_so_each_time_it_comes() -> None:
    steps = [
        Transition(None, None, (), {"either": value}) for value in ("a", ExactString("a"), "a")
    ]

    found, reasons = read_transitions(specification(TYPES, "either"), steps)

    assert sorted(reasons) == [0, 2]
    assert all(IN_DOUBT in reason for reason in reasons.values())
    assert found[1].post == {"either": "a"}


def test_a_state_with_other_variables_is_named_each_time_it_comes() -> None:
    state = {"y": 1}
    steps = [
        Transition(None, None, (), state),
        Transition(state, "Step", (), {"x": 1}),
        Transition({"x": 1}, "Step", (), {"x": 1, "y": 1}),
        Transition({"x": 1}, "Step", (), {"x": 2}),
        Transition({"x": 1}, "Other", (), {"x": 2}),
    ]

    _, reasons = read_transitions(specification(TYPES, "x"), steps)

    assert reasons == {
        0: "a state lacks x of Some",
        1: "a state lacks x of Some",
        2: "Some has no variable y",
        4: "Some has no action Other",
    }


def test_a_value_that_is_too_deep_is_no_reason_to_stop() -> None:
    deep: Value = "a"
    for _ in range(MAX_DEPTH + 2):
        deep = (deep,)

    _, reasons = read_transitions(
        specification(TYPES, "x"), [Transition(None, None, (), {"x": deep})]
    )

    assert f"deeper than {MAX_DEPTH}" in reasons[0]


@given(values())
def test_what_is_left_alone_by_its_text_is_left_alone_by_reading(value: Value) -> None:
    reading = Reading(Types.of_names(["a", "b1"]))

    for part in (value, (value, "a"), (value, ExactString("x")), fcn([(0, value)])):
        if reading.leaves_alone(canonical(part)):
            assert reading.plain(part) is part


def test_texts_tell_what_is_to_be_replaced() -> None:
    reading = Reading(Types.of_names(["a", "b1"]))
    alone: list[Value] = ["b", (1, "a b1"), record({"c": tla_set(["a,"])}), "#string"]
    looked_at: list[Value] = [A, 'q"a', "#str"]
    replaced: list[Value] = ["a", ("b", ("b1",)), record({"b1": 0}), tla_set([ExactString("x")])]

    assert all(reading.leaves_alone(canonical(value)) for value in alone)
    assert not any(reading.leaves_alone(canonical(value)) for value in looked_at)
    assert all(reading.plain(value) is value for value in [*alone, *looked_at])
    assert not any(reading.leaves_alone(canonical(value)) for value in replaced)


def test_the_keys_of_steps_are_those_of_each_step() -> None:
    states = [{"x": value} for value in (0, 1, True, (1,))]
    steps = [
        Transition(None, None, (), states[0]),
        Transition(states[0], "Step", (1,), states[1]),
        Transition(states[1], "Step", (True,), states[2]),
        Transition(states[1], "Step", (True,), states[2]),
        Transition({"x": True}, None, (), states[3]),
    ]

    keys = transition_keys(steps)

    assert keys == [transition_key(step) for step in steps]
    assert [keys.index(key) for key in keys] == [0, 1, 2, 2, 4]
