"""Objects that look nearly like the one before are cut where their fields begin, or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tlatrace.oracle.segments import Segments
from tlatrace.runtime.values import RuntimeValue

NAMES = ["a", "bb", "c"]
VALUES = st.recursive(
    st.integers(-3, 30) | st.sampled_from(["x", ',"bb":', "}", '"', ',"c":1']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner),
    max_leaves=6,
)


def decode(_: int, part: str) -> RuntimeValue | None:
    try:
        json.loads(part)
    except ValueError:
        return None
    return part


def text_of(fields: dict[str, object]) -> str:
    return json.dumps(fields, separators=(",", ":"), sort_keys=True)


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)), min_size=1, max_size=8))
def test_a_cut_gives_the_fields_or_says_that_it_cannot(objects: list[dict[str, object]]) -> None:
    segments = Segments(NAMES)
    for fields in objects:
        found = segments.cut(text_of(fields), decode)
        if found is not None:
            assert found == [text_of({"": fields[name]})[4:-1] for name in NAMES]


def test_a_field_that_stays_is_not_decoded_again() -> None:
    asked: list[str] = []

    def note(_: int, part: str) -> RuntimeValue | None:
        asked.append(part)
        return part

    segments = Segments(NAMES)
    segments.cut('{"a":1,"bb":2,"c":3}', note)
    found = segments.cut('{"a":1,"bb":22,"c":3}', note)

    assert found == ["1", "22", "3"]
    assert asked == ["1", "2", "3", "22"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        "[]",
        '{"a":1,"bb":2}',
        '{"a":1,"bb":2,"c":3',
        '{"a":1,"bb":2,"c":3} ',
        '{"a":1,"bb":2,"c":3}}',
        '{"bb":2,"a":1,"c":3}',
        '{"a":1,"bb":2,"c":3,"d":4}',
        '{"a":,"bb":2,"c":3}',
        '{"a":1, "bb":2,"c":3}',
    ],
)
@pytest.mark.parametrize("before", [None, '{"a":1,"bb":2,"c":3}'])
def test_what_has_not_these_fields_is_not_cut(text: str, before: str | None) -> None:
    segments = Segments(NAMES)
    if before is not None:
        assert segments.cut(before, decode) == ["1", "2", "3"]

    assert segments.cut(text, decode) is None


def test_a_record_in_a_record_with_the_same_names_is_cut_where_the_outer_one_goes_on() -> None:
    inner = {"a": {"a": 1, "bb": 2}, "bb": {"a": 3, "bb": 4, "c": 5}, "c": 6}

    found = Segments(NAMES).cut(text_of({"a": inner, "bb": inner, "c": inner}), decode)

    assert found == [text_of(inner)] * 3


def test_a_name_that_stands_very_often_in_a_value_is_not_looked_for_all_the_time() -> None:
    asked: list[int] = []

    def count(at: int, part: str) -> RuntimeValue | None:
        asked.append(at)
        return decode(at, part)

    text = text_of({"a": [{"a": 1, "bb": 2}] * 1000, "bb": 3, "c": 4})

    assert Segments(NAMES).cut(text, count) is None
    assert len(asked) < 20
