"""The search against a naive one that keeps every state for every event, on random traces."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from tests.traces.matching.toy import ToyModel, counters, lock_server
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided
from tlatrace.matching import match_traces
from tlatrace.oracle.states import ModelState
from tlatrace.trace import Event, Header, Part, Silent, State, Trace
from tlatrace.values import Value, canonical

CASES = 150


def naive(model: ToyModel, trace: Trace) -> int | None:
    """Return the first event that no explanation reaches without a violation, None if all are."""
    assert trace.header is not None
    silent = trace.header.silent
    most = 0 if silent is None or silent.most is None else silent.most
    states: set[ModelState] = set()
    for event in trace.events:
        if event.step == 0:
            found = set(model.initial_states())
        else:
            layer = set(states)
            for _ in range(most):
                layer = {
                    step.post
                    for state in layer
                    for step in model.successors(state)
                    if silent is not None and step.action in silent.actions
                    if not model.violated(step.post)
                }
                states |= layer
            found = {
                step.post
                for state in states
                for step in model.successors(state)
                if event.action in (None, step.action) and params_agree(model, event, step.params)
            }
        states = {s for s in found if agrees(model.show(s), event) and not model.violated(s)}
        if not states:
            return event.step
    return None


def params_agree(model: ToyModel, event: Event, params: ModelState) -> bool:
    if event.arguments is None or event.action is None:
        return True
    return all(
        wanted is None or model.adopt_value(wanted) == given
        for wanted, given in zip(
            model.reading.arguments(event.action, event.arguments), params, strict=True
        )
    )


def agrees(shown: State, event: Event) -> bool:
    known = event.observed if event.state is None else event.state
    if any(canonical(shown[name]) != canonical(value) for name, value in (known or {}).items()):
        return False
    for part in event.parts:
        sequence, (index,) = shown[part.variable], part.at
        assert isinstance(sequence, tuple)
        assert isinstance(index, int)
        if index > len(sequence) or canonical(sequence[index - 1]) != canonical(part.value):
            return False
    return True


def behaviour(model: ToyModel, rng: Random, length: int) -> list[Event]:
    state = model.initial_states()[0]
    events = [Event(step=0, action="Init", state=model.show(state))]
    for step in range(1, length):
        taken = rng.choice(model.successors(state))
        state = taken.post
        params = tuple([model.show_value(param) for param in taken.params])
        event = Event(step=step, action=taken.action, params=params, state=model.show(state))
        events.append(event)
    return events


def corrupted(model: ToyModel, rng: Random, event: Event) -> Event:
    """Take the state of another behaviour at some event."""
    other = behaviour(model, rng, rng.randrange(1, 6))[-1]
    return replace(event, state=other.state)


def partly(rng: Random, event: Event) -> Event:
    """Hide some of an event."""
    assert event.state is not None
    if rng.random() < 0.1:
        return event
    known: dict[str, Value] = {
        name: value for name, value in event.state.items() if rng.random() < 0.3
    }
    parts: tuple[Part, ...] = ()
    queue = event.state.get("queue", ())
    if isinstance(queue, tuple) and queue and "queue" not in known and rng.random() < 0.5:
        at = rng.randrange(len(queue))
        parts = (Part(variable="queue", at=(at + 1,), value=queue[at]),)
    shown = replace(event, state=None, observed=known, parts=parts)
    if event.step and rng.random() < 0.3:
        return replace(shown, action=None, params=())
    if event.params and rng.random() < 0.3:
        return replace(shown, params=(), known_params=(None,))
    return shown


def partial_trace(model: ToyModel, rng: Random) -> Trace:
    events = behaviour(model, rng, rng.randrange(2, 14))
    names = sorted(model.actions)
    quiet = rng.sample(names, rng.randrange(3))
    left = [event for event in events if event.action not in quiet]
    if rng.random() < 0.4:
        at = rng.randrange(len(left))
        left[at] = corrupted(model, rng, left[at])
    left = [partly(rng, replace(event, step=step)) for step, event in enumerate(left)]
    silent = Silent(actions=tuple(quiet), most=rng.randrange(4)) if quiet else None
    return Trace(header=Header(spec=model.module, silent=silent), events=tuple(left))


@pytest.mark.parametrize(
    "model",
    [
        counters(),
        counters(Apart=lambda state: state["left"] != state["right"] or state["left"] == 0),
        counters(Low=lambda state: state["right"] in (0, 1, 2)),
        lock_server(),
        lock_server(Few=lambda state: state["queue"] == () or state["holder"] != ()),
        lock_server(Cheap=lambda state: state["token"] in (0, 1, 2)),
    ],
    ids=["counters", "apart", "low", "lock server", "few", "cheap"],
)
def test_it_finds_what_a_naive_search_finds(model: ToyModel) -> None:
    rng = Random(model.module + "".join(model.invariants))
    kinds: Counter[str] = Counter()

    for _ in range(CASES):
        trace = partial_trace(model, rng)
        expected = naive(model, trace)
        (found,) = match_traces(model, [trace])
        kinds[type(found).__name__] += 1
        match found:
            case Conforms(events):
                assert expected is None, trace
                assert events == len(trace.events)
            case Diverges(step):
                assert expected == step, trace
            case Undecided(reason):
                raise AssertionError(reason)

    assert min(kinds["Conforms"], kinds["Diverges"]) > CASES // 20, kinds
