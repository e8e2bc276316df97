"""Corrupted steps: the same ones every time, each with one place changed."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest

from tests.traces.tlc.toy import INITIAL, all_steps, state_of, transition_of
from tlatrace.judgement.transition import Transition, transition_key
from tlatrace.selfcheck.corruption import KINDS, Corrupted, corruptions
from tlatrace.tlc.comparable import state_is_doubtful
from tlatrace.values import State, canonical, same

STEPS: Final = tuple([transition_of(step) for step in all_steps(200)])
START: Final = state_of(INITIAL)
DRAWN: Final = corruptions(STEPS, [START], count=600, seed="Mailbox")


def differing(left: State, right: State) -> list[str]:
    return [name for name in left if not same(left[name], right[name])]


def test_there_are_as_many_as_wanted_and_all_are_different() -> None:
    assert len(DRAWN) == 600
    assert len({transition_key(item.transition) for item in DRAWN}) == 600


def test_every_kind_is_drawn() -> None:
    drawn = Counter(item.kind for item in DRAWN)
    assert set(drawn) == set(KINDS)
    assert drawn["part"] > drawn["type"]


def test_the_same_seed_draws_the_same() -> None:
    def keys(seed: str) -> list[str]:
        drawn = corruptions(STEPS, [START], count=50, seed=seed)
        return [transition_key(item.transition) for item in drawn]

    assert keys("a") == keys("a")
    assert keys("a") != keys("b")


@pytest.mark.parametrize("item", [i for i in DRAWN if i.kind in ("part", "type", "variable")][:40])
def test_one_variable_after_the_step_is_changed(item: Corrupted) -> None:
    sources = [
        step
        for step in STEPS
        if step.pre is not None
        and item.transition.pre is not None
        and step.action == item.transition.action
        and not differing(step.pre, item.transition.pre)
        and canonical(step.params) == canonical(item.transition.params)
    ]
    assert any(len(differing(step.post, item.transition.post)) == 1 for step in sources)


def test_types_are_changed_by_their_kind_only() -> None:
    totals = [item for item in DRAWN if type(item.transition.post["total"]) is not int]
    assert {item.kind for item in totals} == {"type"}


def test_no_value_is_drawn_that_tlc_cannot_build() -> None:
    clean: set[str] = set()
    for item in DRAWN:
        for state in (item.transition.pre, item.transition.post):
            assert state is None or not state_is_doubtful(state, clean)


def test_a_claimed_initial_state_has_none_before_it() -> None:
    initial = [item.transition for item in DRAWN if item.kind == "initial"]
    assert initial
    assert all(transition.pre is None for transition in initial)


def test_a_small_graph_ends_the_search() -> None:
    one: State = {"x": True}
    drawn = corruptions([Transition(one, "Rest", (), one)], [one], count=500, seed="One")
    assert 1 <= len(drawn) < 100


def test_without_steps_there_is_nothing_to_corrupt() -> None:
    assert corruptions([], [START], count=10, seed="None") == []
