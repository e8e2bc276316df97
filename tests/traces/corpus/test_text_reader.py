"""The reader of canonical texts."""

from __future__ import annotations

import pytest

from tlatrace.corpus.text_reader import StateReader
from tlatrace.errors import ValueFormatError
from tlatrace.values import tla_set


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"x": 1}',
        '{"x":1} ',
        '{"x":1,"x":2}',
        '{"y":1,"x":2}',
        '{"x":NaN}',
        '{"x":1.0}',
        '{"x":null}',
        '{"x":{"#set":[2,1]}}',
        '{"x":{"b":1,"a":2}}',
        '{"x":{"a":1,"a":2}}',
        '{"x":01}',
        '{"\\u0078":1}',
        '{"x":"\\ud800"}',
        '{"x":' + "[" * 100 + "]" * 100 + "}",
        '{"x":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
    ids=lambda text: str(text)[:24],
)
def test_only_the_canonical_text_of_a_state_is_read(text: str) -> None:
    with pytest.raises(ValueFormatError):
        StateReader().state(text)


def test_states_and_equal_values_are_read_once() -> None:
    reader = StateReader()

    left = reader.state('{"x":{"#set":[1,2]},"y":"é"}')
    right = reader.state('{"x":{"#set":[1,2]},"y":"z"}')

    assert left == {"x": tla_set([1, 2]), "y": "é"}
    assert left["x"] is right["x"]
    assert reader.state('{"x":{"#set":[1,2]},"y":"é"}') is left
    assert reader.state("{}") == {}


def test_parameters_are_a_tuple() -> None:
    assert StateReader().params('[1,"b"]') == (1, "b")
    with pytest.raises(ValueFormatError):
        StateReader().params('{"a":1}')


def test_a_transition_has_both_states() -> None:
    found = StateReader().transition(None, "Init", "[]", '{"x":1}')

    assert (found.pre, found.action, found.params, found.post) == (None, "Init", (), {"x": 1})
