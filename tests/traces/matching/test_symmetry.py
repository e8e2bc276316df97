"""Candidates that differ by symmetry: the same verdicts as a naive search, and fewer candidates."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from random import Random
from typing import Final

import pytest

from tests.traces.matching.meetings import PEOPLE, Meeting, meeting
from tests.traces.matching.test_against_naive_search import naive
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.matching import Budget, match_traces
from tlatrace.matching.observation import observe
from tlatrace.matching.search import Search
from tlatrace.matching.symmetry import Symmetry, futures
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.interchange import renamed
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import RuntimeValue
from tlatrace.trace import Event, Header, Silent, Trace
from tlatrace.values import ModelValue, Value, tla_set

ALWAYS: Final = Budget(states=200_000, crowded=1, patience=8)


def behaviour(model: Meeting, rng: Random, length: int) -> list[Event]:
    state = model.initial_states()[0]
    events = [Event(step=0, action="Init", state=model.show(state))]
    for step in range(1, length):
        steps = model.successors(state)
        if not steps:
            break
        taken = rng.choice(steps)
        state = taken.post
        params = tuple([model.show_value(param) for param in taken.params])
        event = Event(step=step, action=taken.action, params=params, state=model.show(state))
        events.append(event)
    return events


def hidden(rng: Random, event: Event) -> Event:
    """Show the action mostly, some of its arguments, and a variable now and then."""
    assert event.state is not None
    known: dict[str, Value] = {n: value for n, value in event.state.items() if rng.random() < 0.08}
    shown = replace(event, state=None, observed=known or None)
    if event.step and rng.random() < 0.1:
        return replace(shown, action=None, params=())
    if event.params and rng.random() < 0.8:
        params = tuple([one if rng.random() < 0.2 else None for one in event.params])
        return replace(shown, params=(), known_params=params) if None in params else shown
    return shown


def random_trace(model: Meeting, rng: Random) -> Trace:
    events = behaviour(model, rng, rng.randrange(4, 12))
    quiet = rng.sample(sorted(model.actions), rng.randrange(2))
    left = [event for event in events if event.action not in quiet]
    if rng.random() < 0.6:
        for at in rng.sample(range(len(left)), min(2, len(left))):
            left[at] = replace(left[at], state=behaviour(model, rng, 6)[-1].state)
    if rng.random() < 0.5:
        left = [one for one in left if not one.step or rng.random() < 0.8]
    left = [hidden(rng, replace(event, step=step)) for step, event in enumerate(left)]
    silent = Silent(actions=tuple(quiet), most=rng.randrange(3)) if quiet else None
    return Trace(header=Header(spec=model.module, silent=silent), events=tuple(left))


def compared(
    named: int, cases: int, *, pretend: bool = False
) -> tuple[Counter[str], list[tuple[Trace, Verdict, int | None]]]:
    """Judge random traces of machines that name some people; return what the naive one disputes."""
    rng = Random(1000 * named + pretend)
    kinds: Counter[str] = Counter()
    disputed: list[tuple[Trace, Verdict, int | None]] = []
    for case in range(cases):
        model = meeting(Random(case), named=named)
        if pretend:
            model.classes = (PEOPLE,)
        trace = random_trace(model, rng)
        wanted = naive(model, trace)  # type: ignore[arg-type]  # it asks for the same methods
        (found,) = match_traces(model, [trace], budget=ALWAYS)
        kinds[type(found).__name__] += 1
        agrees = (
            wanted is None
            if isinstance(found, Conforms)
            else isinstance(found, Diverges) and found.step == wanted
        )
        if not agrees:
            disputed.append((trace, found, wanted))
    return kinds, disputed


@pytest.mark.parametrize("named", [0, 1, 2, 4])
def test_it_finds_what_a_naive_search_finds(named: int) -> None:
    kinds, disputed = compared(named, 100)

    assert not disputed
    assert min(kinds["Conforms"], kinds["Diverges"]) > 15, kinds


def test_a_symmetry_that_there_is_not_is_noticed() -> None:
    _, disputed = compared(2, 100, pretend=True)

    assert disputed
    assert all(isinstance(found, Diverges) for _, found, _ in disputed)  # accepted is accepted


def visited(model: Meeting, rng: Random, number: int) -> list[ModelState]:
    states = [model.initial_states()[0]]
    for at in range(number):
        steps = model.successors(states[-1])
        states.append(rng.choice(steps).post if steps and at % 9 else states[0])
    return states


def test_the_key_of_a_state_is_that_of_its_permutations_and_one_of_them() -> None:
    rng = Random(3)
    symmetry = Symmetry((PEOPLE,))
    orders: list[dict[RuntimeValue, RuntimeValue]] = [
        dict(zip(PEOPLE, order, strict=True)) for order in permutations(PEOPLE)
    ]
    for case in range(40):
        for state in visited(meeting(Random(case)), rng, 25):
            images = [tuple([renamed(value, names) for value in state]) for names in orders]
            assert symmetry.key(state) in images
            assert symmetry.key(rng.choice(images)) == symmetry.key(state)


def test_values_that_later_events_name_are_told_apart_before_them() -> None:
    model = meeting(Random(1))
    p1, _, p3, p4 = [ModelValue(str(one)) for one in PEOPLE]
    seen = [
        Event(step=0, action="Init"),
        Event(step=1, action="Come", params=(p1,)),
        Event(step=2, action="Stir", known_params=()),
        Event(step=3, action=None, observed={"present": tla_set([p3, p4])}),
        Event(step=4, action="Part"),
    ]

    found = futures(model, [observe(model, event) for event in seen])

    classes = [set() if one is None else set(map(frozenset, one.classes)) for one in found]
    everyone = {frozenset(PEOPLE)}
    pairs = {frozenset(PEOPLE[:2]), frozenset(PEOPLE[2:])}
    assert classes[1:] == [{frozenset(PEOPLE[2:])}, pairs, pairs, everyone, everyone]


def test_fewer_candidates_are_looked_at() -> None:
    model = meeting(Random(0))
    events = [Event(step=0, action="Init")]
    events += [Event(step=at, action="Stir", known_params=()) for at in range(1, 5)]
    events += [Event(step=5, action="Stir", known_params=())]
    seen = [observe(model, event) for event in events]

    looked_at = []
    for crowded in (1, None):
        search = Search(CachedOracle(model), seen, silent=None, budget=Budget(crowded=crowded))
        assert search.from_the_beginning().reached == 5
        looked_at.append(search.found.looked_at)

    assert looked_at == [5, 16], looked_at


def test_a_near_goal_is_reached_that_a_far_one_hides() -> None:
    """All people are named at the end, so that only a near goal makes candidates one."""
    model = meeting(Random(0))
    events = [Event(step=0, action="Init")]
    events += [Event(step=at, action="Stir", known_params=()) for at in range(1, 5)]
    events += [Event(step=at, action="Come", known_params=()) for at in range(5, 9)]
    events += [Event(step=9, action="Stir", known_params=())]
    events += [
        Event(step=at, action="Leave", params=(ModelValue(str(one)),))
        for at, one in enumerate(PEOPLE, start=10)
    ]
    trace = Trace(header=Header(spec="Meeting"), events=tuple(events))
    few = Budget(states=35, states_per_event=1, crowded=1)

    near, far = [
        match_traces(model, [trace], budget=replace(few, patience=patience))[0]
        for patience in (4, None)
    ]

    assert isinstance(near, Diverges)
    assert near.step == 9
    assert isinstance(far, Undecided)
