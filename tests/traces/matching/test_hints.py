"""What a search that gives up says should be logged."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.traces.matching.meetings import PEOPLE, meeting
from tlatrace.judgement.verdict import Undecided
from tlatrace.matching import Budget, match_traces
from tlatrace.trace import Event, Header, Trace
from tlatrace.values import ModelValue


def given_up(*events: Event, states: int = 25) -> str:
    """Return why nobody knows: three stir, three come, and nobody can leave."""
    last = Event(step=len(events) + 1, action="Leave", known_params=())
    all_events = (Event(step=0, action="Init"), *events, last)
    trace = Trace(header=Header(spec="Meeting"), events=all_events)
    budget = Budget(states=states, states_per_event=1, crowded=None)
    (verdict,) = match_traces(meeting(Random(0)), [trace], budget=budget)
    assert isinstance(verdict, Undecided)
    return verdict.reason


EVENTS = (
    *[Event(step=at, action="Stir", known_params=()) for at in (1, 2, 3)],
    *[Event(step=at, action="Come", known_params=()) for at in (4, 5, 6)],
)


def test_it_names_the_arguments_and_variables_that_tell_candidates_apart() -> None:
    advice = given_up(*EVENTS).partition("; the most are ")[2]

    assert advice.startswith("11 candidates before step 7; fewer would be left with ")
    assert "the argument of Come (one of " in advice
    assert "present (one of " in advice
    assert "trust" not in advice  # it is the same in all of them


def test_what_is_logged_is_not_advised() -> None:
    people = [ModelValue(str(one)) for one in PEOPLE]
    named = [
        replace(event, params=(one,), known_params=None)
        for event, one in zip(EVENTS, people, strict=False)
    ]

    advice = given_up(*named[:3], *EVENTS[3:], states=16)

    assert "the argument of Come (one of " in advice
    assert "Stir" not in advice


def test_a_search_with_few_candidates_needs_no_advice() -> None:
    assert "fewer would be left" not in given_up(*EVENTS[:1], states=1)
