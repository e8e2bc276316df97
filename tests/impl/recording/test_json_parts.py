"""Parts of a state as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.recording.json_parts import as_json
from rocketha.recording.record import Json


class Role(StrEnum):
    MASTER = "master"


class Code(IntEnum):
    LOCK = 41


class Pair(Enum):
    BOTH = (1, "b")


class Place(NamedTuple):
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Queue:
    topic: str
    number: int


@dataclass(frozen=True)
class Single:
    queue: Queue


@dataclass(frozen=True)
class Nothing:
    """Has no field."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (0, 0),
        (-(1 << 40), -(1 << 40)),
        ("ä", "ä"),
        (Role.MASTER, "master"),
        (Code.LOCK, 41),
        (Pair.BOTH, [1, "b"]),
        (Place(1, 2), [1, 2]),
        ((1, [2, (3,)]), [1, [2, [3]]]),
        (frozenset({3, 1, 2}), [1, 2, 3]),
        (
            frozenset({Queue("b", 1), Queue("a", 2)}),
            [{"topic": "a", "number": 2}] * 1 + [{"topic": "b", "number": 1}],
        ),
        (Single(Queue("a", 0)), {"queue": {"topic": "a", "number": 0}}),
        (Nothing(), {}),
        ({"b": 1, "a": {2: Role.MASTER}}, [["a", [[2, "master"]]], ["b", 1]]),
        (MappingProxyType({("g", Queue("a", 0)): 5}), [[["g", {"topic": "a", "number": 0}], 5]]),
        ({}, []),
    ],
)
def test_a_value_has_one_form(value: object, expected: object) -> None:
    found = as_json(value)

    assert found == expected
    assert type(found) is type(expected)


@given(st.dictionaries(st.integers(), st.frozensets(st.text())))
def test_equal_values_have_the_same_form(value: dict[int, frozenset[str]]) -> None:
    turned = {key: frozenset(sorted(value[key], reverse=True)) for key in reversed(value)}

    assert turned == value
    assert as_json(turned) == as_json(value)


@pytest.mark.parametrize("value", [1.5, print, Queue, object(), [{"a": 0.0}]])
def test_what_has_no_form_is_named(value: object) -> None:
    inner = 0.0 if isinstance(value, list) else value
    with pytest.raises(TypeError, match=f"{type(inner).__name__} has no form in JSON"):
        as_json(value)


def test_bytes_are_their_number_and_tags_say_the_class() -> None:
    assert as_json(b"body") == {"size": 4}
    queue = Queue("t", 1)
    assert as_json((queue,), tagged=True) == [{"is": "Queue", **as_object(as_json(queue))}]


def as_object(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value
