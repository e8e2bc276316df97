"""Cores whose effects come in another order: bugs that show only when a step ends in the middle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from rocketha.runtime.core import Core, Inbox, Sender, Step
from rocketha.types import ConnectionId, TimestampMs

__all__ = ["Reordered", "moved_before", "swapped"]

Order = Callable[[Sequence[Any]], Sequence[Any]]


class Reordered(Core[Any, Any, Any, Any]):
    """Steps as another core does, but for the order of the effects."""

    def __init__(self, core: Core[Any, Any, Any, Any], order: Order) -> None:
        """Wrap a core."""
        self._core = core
        self._order = order
        self.effects = core.effects  # type: ignore[misc]
        self.reordered = 0
        """Steps whose effects came in another order."""

    def step(self, state: Any, event: Any, *, now_ms: TimestampMs, log: Any) -> Step[Any, Any, Any]:
        """Take one event."""
        step = self._core.step(state, event, now_ms=now_ms, log=log)
        effects = tuple(self._order(step.effects))
        if effects == tuple(step.effects):
            return step
        self.reordered += 1
        changed: Any = step
        return replace(changed, effects=effects)  # type: ignore[no-any-return]

    def next_timer_ms(self, state: Any) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        return self._core.next_timer_ms(state)

    def senders(self, state: Any, log: Any) -> Iterable[Sender]:
        """Return the connections over which the node may send."""
        return self._core.senders(state, log)

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> Inbox[Any]:
        """Begin to hear the peer of a connection."""
        return self._core.inbox(conn, accepted=accepted)


def moved_before(first: type | tuple[type, ...], then: type | tuple[type, ...]) -> Order:
    """Perform the effects of one kind before those of another, in steps that have both."""

    def order(effects: Sequence[Any]) -> Sequence[Any]:
        places = [at for at, effect in enumerate(effects) if isinstance(effect, then)]
        if not places:
            return effects
        before, behind = list(effects[: places[0]]), list(effects[places[0] :])
        moved = [effect for effect in behind if isinstance(effect, first)]
        return [*before, *moved, *(effect for effect in behind if effect not in moved)]

    return order


def swapped(one: type, other: type) -> Order:
    """Let the first effects of two kinds change their places, in steps that have both."""

    def order(effects: Sequence[Any]) -> Sequence[Any]:
        places = [
            next((at for at, effect in enumerate(effects) if isinstance(effect, kind)), None)
            for kind in (one, other)
        ]
        if None in places:
            return effects
        a, b = places
        assert a is not None
        assert b is not None
        changed = list(effects)
        changed[a], changed[b] = changed[b], changed[a]
        return changed

    return order
