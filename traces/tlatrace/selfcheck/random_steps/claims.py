"""Claim steps of random machines to every judge, and compare with TLC's own successors of Next.

A machine's steps say which call made them (`machine`). So a claim (state, action, arguments, next
state) is right exactly if the next state is in TLC's list and says so. Claimed are all calls with
all arguments of `vocabulary.DOMAINS` that the actions allow by themselves, whether Next makes them
or not, the same steps without an action's name, with another name, and with a changed variable.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tlatrace.judgement.transition import Transition
from tlatrace.selfcheck.random_steps.machine import calls_told
from tlatrace.values import State, canonical_state

__all__ = ["Claim", "Lists", "claims"]

Lists: TypeAlias = Mapping[str, Sequence[State]]
"""Canonical text of a state -> the states that may follow."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A step that is claimed, and whether TLC's list has it."""

    step: Transition
    right: bool


def claims(
    draw: random.Random, states: Sequence[State], free: Lists, allowed: Lists
) -> Iterator[Claim]:
    """Claim steps of one relation: those of its list, and those of actions called freely."""
    for state in states:
        key = canonical_state(state)
        right = {canonical_state(after) for after in allowed[key]}
        every = {canonical_state(after): after for after in (*allowed[key], *free[key])}
        others = [calls_told(after)[0] for after in free[key]]
        for text, after in every.items():
            yield Claim(Transition(state, None, (), after), text in right)
            for action, params in calls_told(after):
                yield Claim(Transition(state, action, params, after), text in right)
            chance = draw.random()
            action, params = calls_told(after)[0]
            if chance < 0.1:
                other = draw.choice(others)
                if other[0] != action:
                    yield Claim(Transition(state, *other, after), False)
            elif chance < 0.2:
                name = draw.choice(("x", "y"))
                changed = {**after, name: draw.randrange(4)}
                step = Transition(state, action, params, changed)
                yield Claim(step, canonical_state(changed) in right)
