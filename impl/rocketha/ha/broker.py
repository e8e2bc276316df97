"""The core of a broker: one event in, the new state, effects, and at most one action out."""

from __future__ import annotations

from rocketha.ha.effects import Stepped
from rocketha.ha.events import Event
from rocketha.ha.state import BrokerState, LogView
from rocketha.types import TimestampMs

__all__ = ["next_timer_ms", "step"]


def step(state: BrokerState, event: Event, *, now_ms: TimestampMs, log: LogView) -> Stepped:
    """Take one event.

    Events for connections that the core has closed change nothing. Nothing is raised, whatever a
    peer sends: the connection is closed.
    """
    raise NotImplementedError((state, event, now_ms, log))


def next_timer_ms(state: BrokerState) -> TimestampMs | None:
    """Return when `TimerFired` will have something to do, `None` if only an event can tell."""
    raise NotImplementedError(state)
