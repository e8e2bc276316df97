"""Evictions of brokers that the controller takes back, because it hears them again.

A broker is gone and evicted, and then something comes that it had said before. The controller
counts it as alive again, until it misses it once more. ReplicaGroup has no such step; but as long
as nothing happened because of the eviction, nobody can tell that from a broker that was not evicted
yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tlatrace.trace import Event
from tlatrace.values import Fcn, TlaSet, Value, tla_set

__all__ = ["without_eviction"]

_ASK_WHO_LIVES = frozenset({"ElectMaster", "CleanBrokerData"})


def without_eviction(events: Sequence[Event], broker: str) -> list[Event] | None:
    """Leave out a broker's last eviction: it is alive in all states since.

    Returns None if it was not evicted, or something happened because it was: it was the master, and
    another one was elected, or its group cleaned.
    """
    evicted = [at for at, event in enumerate(events) if _evicts(event, broker)]
    if not evicted:
        return None
    at = evicted[-1]
    for before, event in zip(events[at:], events[at + 1 :], strict=False):
        if event.action in _ASK_WHO_LIVES and _of_controller(before, "master") == broker:
            return None
    since = [
        replace(event, step=step, state=_with_alive(event, broker))
        for step, event in enumerate(events[at + 1 :], start=at)
    ]
    return [*events[:at], *since]


def _evicts(event: Event, broker: str) -> bool:
    return event.action == "EvictBroker" and event.params[0] == broker


def _of_controller(event: Event, field: str) -> Value:
    assert event.state is not None
    controller = event.state["ctl"]
    assert isinstance(controller, Fcn)
    return controller.fields()[field]


def _with_alive(event: Event, broker: str) -> dict[str, Value]:
    assert event.state is not None
    alive = event.state["alive"]
    assert isinstance(alive, TlaSet)
    return {**event.state, "alive": tla_set([*alive, broker])}
