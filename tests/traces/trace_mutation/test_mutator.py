"""Mutations change one place, and fit events that log a part only."""

from __future__ import annotations

from random import Random

import pytest

from tlatrace.trace import Event, Header, Part, Trace
from tlatrace.trace_mutation.kinds import Kind, Mutation
from tlatrace.trace_mutation.mutator import Mutator

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
