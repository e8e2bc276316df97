"""Mutations keep types, change one place, and fit events that log a part only."""

from __future__ import annotations

from random import Random

import pytest

from tlatrace.trace import Event, Header, Part, Trace
from tlatrace.trace_mutation.kinds import Kind, Mutation
from tlatrace.trace_mutation.mutator import Mutator
from tlatrace.trace_mutation.places import Pool, changed
from tlatrace.values import ModelValue, Value, canonical, fcn, record, tla_set

NAMES = Pool()
NAMES.learn("role", record({"b1": "Slave", "b2": "Master"}))
NAMES.learn("role", record({"b1": "Down", "b2": "Slave"}))
NAMES.learn("owner", ModelValue("p1"))
NAMES.learn("owner", ModelValue("p2"))


def results(value: Value, shape: str = "x") -> set[str]:
    found = [changed(value, shape, NAMES, Random(seed)) for seed in range(200)]
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
    assert results(value, shape) == expected


def test_names_of_a_field_come_from_fields_of_the_same_name_where_there_are_no_others() -> None:
    pool = Pool()
    pool.learn("link", record({"phase": "Handshake"}))
    pool.learn("old", record({"phase": "Transfer"}))

    assert pool.others('link."phase"', "Handshake") == ["Transfer"]


PART = Part(variable="n", at=("b1",), value=7)
PARTIAL = Trace(
    header=Header(spec="Any"),
    events=(
        Event(step=0, action="Init", state={"n": 0}),
        Event(step=1, action=None, observed={"n": 1}),
        Event(step=2, action="Add", known_params=(None, 2), parts=(PART,)),
        Event(step=3, action="Add", known_params=()),
        Event(step=4, action="Add", params=(1, 2), observed={"n": 4}),
    ),
)


def drawn(kind: Kind) -> list[Mutation]:
    corrupter = Mutator(PARTIAL, {"Add": 2, "Move": 2, "Stop": 0})
    found = [corrupter.draw(kind, Random(seed)) for seed in range(200)]
    return [one for one in found if one is not None]


def test_a_part_of_a_variable_is_changed_like_a_variable() -> None:
    whats = {one.what for one in drawn(Kind.FIELD) if one.first == 2}

    assert whats == {'n["b1"]: 7 -> 8 after Add', 'n["b1"]: 7 -> 6 after Add'}


@pytest.mark.parametrize("kind", [Kind.PARAMETER, Kind.ACTION])
def test_only_what_is_logged_is_changed(kind: Kind) -> None:
    found = drawn(kind)

    assert {one.first for one in found} == {4}
    if kind is Kind.ACTION:
        assert {one.what for one in found} == {"Add(1, 2) became Move(1, 2)"}


def test_the_first_event_keeps_its_place() -> None:
    for kind in (Kind.DROP, Kind.DUPLICATE, Kind.SWAP, Kind.PARAMETER, Kind.ACTION):
        assert all(one.first >= 1 for one in drawn(kind))


def test_a_trace_of_one_event_has_no_corruption_but_of_its_state() -> None:
    short = Trace(header=PARTIAL.header, events=PARTIAL.events[:1])
    corrupter = Mutator(short, {"Add": 2})

    made = {kind for kind in Kind for seed in range(9) if corrupter.draw(kind, Random(seed))}

    assert made == {Kind.FIELD}
