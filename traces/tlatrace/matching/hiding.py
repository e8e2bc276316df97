"""Hide parts of a trace: what would the check still see if less had been logged?

Actions that are hidden become silent steps, declared with the largest number of them before any
event; variables that are hidden are left out of every state.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from random import Random

from tlatrace.trace import INIT, Event, Silent, State, Trace

__all__ = ["hide", "some_of"]


def hide(trace: Trace, *, variables: Collection[str] = (), actions: Collection[str] = ()) -> Trace:
    """Return the trace without some variables, and without the events of some actions.

    Events after the last one that is left are gone with it. `Init` is never hidden.
    """
    assert INIT not in actions, "the initial state is no step"
    events: list[Event] = []
    gap = most = 0
    for event in trace.events:
        if event.action in actions:
            gap += 1
            continue
        most = max(most, gap)
        gap = 0
        events.append(_without(replace(event, step=len(events)), variables))
    header = trace.header
    if header is not None and actions:
        assert header.silent is None, "the trace has silent steps of its own"
        header = replace(header, silent=Silent(actions=tuple(sorted(actions)), most=most))
    return Trace(header=header, events=tuple(events))


def _without(event: Event, variables: Collection[str]) -> Event:
    known: State | None = event.observed if event.state is None else event.state
    if not variables or known is None:
        return event
    left = {name: value for name, value in known.items() if name not in variables}
    parts = tuple([part for part in event.parts if part.variable not in variables])
    return replace(event, state=None, observed=left, parts=parts)


def some_of(names: Collection[str], count: int, seed: int) -> frozenset[str]:
    """Draw names; the same seed gives the same ones."""
    return frozenset(Random(seed).sample(sorted(names), count))
