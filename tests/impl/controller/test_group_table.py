"""A table of groups is a mapping like any other, and does not change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.controller.group_table import GroupTable

names = st.text(max_size=3)


@given(st.lists(st.tuples(names, st.integers())))
def test_it_holds_what_was_put_last(puts: list[tuple[str, int]]) -> None:
    table: GroupTable[int] = GroupTable()
    expected: dict[str, int] = {}
    for name, value in puts:
        before = dict(table)
        grown = table.put(name, value)
        assert dict(table) == before, "the old one is what it was"
        table, expected = grown, {**expected, name: value}
        assert table == expected
        assert len(table) == len(expected)
        assert set(table) == set(expected)
        assert table == GroupTable(expected)
    assert repr(table) == f"GroupTable({dict(sorted(expected.items()))!r})"


def test_many_names_are_held_as_few_are() -> None:
    names = [f"group{number}" for number in range(200)]
    table: GroupTable[int] = GroupTable()
    for count, name in enumerate(names):
        grown = table.put(name, 0).put(name, count)
        assert set(table) == set(names[:count]), "the old one is what it was"
        assert dict(grown) == {name: at for at, name in enumerate(names[: count + 1])}
        assert grown == GroupTable(dict(grown))
        table = grown


def test_what_is_not_there_is_missing() -> None:
    many = {f"b{number}": 1 for number in range(200)}
    for table in (GroupTable[int](), GroupTable({"b": 1}), GroupTable(many)):
        assert "a" not in table
        assert table.get("a") is None
        with pytest.raises(KeyError):
            table["a"]


def test_tables_with_other_values_are_not_equal() -> None:
    assert GroupTable({"a": 1}) != GroupTable({"a": 2})
    assert GroupTable({"a": 1}) != GroupTable({"b": 1})
    assert GroupTable({"a": 1}) != GroupTable[int]()
