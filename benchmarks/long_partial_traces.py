"""Partial traces of 500 and of 50,000 events: what one event costs in each."""

from __future__ import annotations

import time
from random import Random
from typing import Final

from tlatrace.judgement.verdict import Conforms
from tlatrace.matching import match_traces
from tlatrace.matching.hiding import hide
from tlatrace.oracle import Model, load_model
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Event, Header, Trace

LENGTHS: Final = (500, 50_000)
HIDDEN: Final = {"variables": ("queue", "holder"), "actions": ("Expire", "Request")}


def main() -> None:
    """Print microseconds an event for both lengths, and the ratio."""
    folder = find_spec_root().parent / "traces" / "samples" / "lock_server"
    model = load_model(folder / "LockServer.tla", folder / "LockServer.cfg")
    cost = {}
    for length in LENGTHS:
        seeds = range(LENGTHS[-1] // length)  # as many events for each length
        traces = [hide(walk(model, length, seed), **HIDDEN) for seed in seeds]
        events = sum(len(trace.events) for trace in traces)
        begin = time.process_time()
        verdicts = [match_traces(model, [trace])[0] for trace in traces]
        cost[length] = (time.process_time() - begin) / events * 1e6
        assert all(isinstance(verdict, Conforms) for verdict in verdicts), verdicts
        print(f"partial traces of {length:6} events: {cost[length]:8.0f} us CPU an event")
    print(f"ratio to the short one: {cost[LENGTHS[1]] / cost[LENGTHS[0]]:.2f}")


def walk(model: Model, length: int, seed: int) -> Trace:
    """Draw a behaviour of the model that shows at least `length` events when parts are hidden."""
    rng = Random(seed)
    (state,) = model.initial_states()
    events = [Event(step=0, action="Init", state=model.show(state))]
    shown = 1
    while shown < length:
        step = rng.choice(model.successors(state))
        state = step.post
        shown += step.action not in HIDDEN["actions"]
        params = tuple([model.show_value(param) for param in step.params])
        event = Event(step=len(events), action=step.action, params=params, state=model.show(state))
        events.append(event)
    return Trace(header=Header(spec=model.module), events=tuple(events))


if __name__ == "__main__":
    main()
