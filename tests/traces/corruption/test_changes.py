"""One place of a value is changed: to another value of its type, of its kind, or of another one."""

from __future__ import annotations

from random import Random

import pytest

from tlatrace.corruption.changes import (
    Others,
    changed,
    of_another_kind,
    of_its_kind,
    of_its_type,
)
from tlatrace.corruption.places import Pool
from tlatrace.values import ModelValue, Value, canonical, fcn, record, tla_set

NAMES = Pool()
NAMES.learn("role", record({"b1": "Slave", "b2": "Master"}))
NAMES.learn("role", record({"b1": "Down", "b2": "Slave"}))
NAMES.learn("owner", ModelValue("p1"))
NAMES.learn("owner", ModelValue("p2"))


def results(value: Value, shape: str, others: Others) -> set[str]:
    found = [changed(value, shape, NAMES, Random(seed), others) for seed in range(400)]
    return {canonical(one) for one in found if one is not None}


@pytest.mark.parametrize(
    ("value", "shape", "expected"),
    [
        (True, "x", {"false"}),
        (3, "x", {"2", "4"}),
        ((), "x", set()),
        ((1,), "x", {"[]", "[1,1]", "[0]", "[2]"}),
        (tla_set([1]), "x", {'{"#set":[]}', '{"#set":[0]}', '{"#set":[2]}'}),
        (record({"a": True}), "x", {'{"a":false}'}),
        (fcn([(0, False)]), "x", {'{"#map":[[0,true]]}'}),
        ("Slave", 'role."b1"', {'"Down"'}),
        (record({"b1": "Slave"}), "role", {'{"b1":"Down"}'}),
        (ModelValue("p1"), "owner", {'{"#model":"p2"}'}),
        ("nobody has another", "x", set()),
    ],
)
def test_one_place_gets_another_value_of_its_type(
    value: Value, shape: str, expected: set[str]
) -> None:
    assert results(value, shape, of_its_type) == expected


def test_names_of_a_field_come_from_fields_of_the_same_name_where_there_are_no_others() -> None:
    pool = Pool()
    pool.learn("link", record({"phase": "Handshake"}))
    pool.learn("old", record({"phase": "Transfer"}))

    assert pool.others('link."phase"', "Handshake") == ["Transfer"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, {"2", "4"}),
        ((), {"[1]"}),
        ((1, 2), {"[1]", "[1,2,2]", "[2,1]", "[0,2]", "[2,2]", "[1,1]", "[1,3]"}),
        (tla_set([]), {'{"#set":[1]}'}),
        (tla_set([1]), {f'{{"#set":[{one}]}}' for one in ("", "0", "2", "0,1", "1,2")}),
        (fcn([(0, False)]), {"[]", '{"#map":[[0,true]]}', '{"#map":[[-1,false]]}', "[false]"}),
        (ModelValue("p1"), {'{"#model":"p2"}'}),
        ("Slave", {'"Down"', '"Master"'}),
    ],
)
def test_one_place_gets_another_value_of_its_kind(value: Value, expected: set[str]) -> None:
    assert results(value, "elsewhere", of_its_kind) == expected


def test_a_string_is_changed_to_a_string_also_where_model_values_stood() -> None:
    pool = Pool()
    pool.learn("some", tla_set([ModelValue("m"), "a"]))
    pool.learn("other", "b")
    assert pool.anywhere("some.*", "a") == ["b"]
    assert pool.anywhere("some.*", ModelValue("n")) == [ModelValue("m")]


def test_a_key_is_not_changed_to_one_that_is_there() -> None:
    assert results(fcn([(0, 5), (1, 5)]), "x", of_its_kind) >= {'{"#map":[[-1,5],[1,5]]}'}
    assert all(
        text.count(",5]") in (1, 2) for text in results(fcn([(0, 5), (2, 5)]), "x", of_its_kind)
    )


@pytest.mark.parametrize(
    ("value", "never"), [("a", {'"other"', "[]", "[1]"}), ((), {'"other"', "[]"}), (1, set[str]())]
)
def test_a_place_gets_a_value_of_another_kind(value: Value, never: set[str]) -> None:
    found = results(value, "x", of_another_kind)
    assert {"true", '{"#set":[]}'} <= found
    assert not never & found
