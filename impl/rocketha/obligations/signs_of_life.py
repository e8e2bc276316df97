"""Whom a controller may take for alive, folded from the frames that it received and its clock.

Nothing is asked of the controller itself: one that takes a silent broker for alive, or one that it
hears for dead, is seen because it does something else than follows from these signs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rocketha.controller.state import HEARTBEAT_TIMEOUT_MS

__all__ = ["SignsOfLife"]

_BEFORE_ITS_START: Final = 0
"""Stands for the channels on which a controller heard brokers before it started again."""


@dataclass(slots=True)
class _Signs:
    """Of one broker, in the incarnation that is registered."""

    last_ms: dict[int, int] = field(default_factory=dict)
    """Channel -> when the last sign came on it."""
    timeout_ms: int = HEARTBEAT_TIMEOUT_MS


class SignsOfLife:
    """The signs of life of all brokers of a group, by their names.

    Source: DefaultBrokerHeartbeatManager
    """

    def __init__(self) -> None:
        """Begin with nobody heard of."""
        self._of: dict[str, _Signs] = {}
        self._clock_ms = 0
        self._applied_ms = 0

    def note_time(self, shows_ms: int) -> None:
        """Let the controller see its clock: it goes by the latest time that it ever saw."""
        self._clock_ms = max(self._clock_ms, shows_ms)

    def applied(self, shows_ms: int) -> None:
        """Note that an entry was applied: the log tells this time to who starts again."""
        self.note_time(shows_ms)
        self._applied_ms = self._clock_ms

    def registered(self, broker: str, channel: int, *, restarted: bool) -> None:
        """Note a registration that was taken; of another incarnation nothing was heard before."""
        if restarted or broker not in self._of:
            self._of[broker] = _Signs()
        self._heard(broker, channel)

    def beat(self, broker: str, channel: int, timeout_ms: int | None) -> None:
        """Note a heartbeat of the registered incarnation, and how long it holds."""
        if broker in self._of:
            self._of[broker].timeout_ms = HEARTBEAT_TIMEOUT_MS if timeout_ms is None else timeout_ms
            self._heard(broker, channel)

    def _heard(self, broker: str, channel: int) -> None:
        last_ms = self._of[broker].last_ms
        last_ms.pop(_BEFORE_ITS_START, None)
        last_ms[channel] = self._clock_ms

    def closed(self, channel: int) -> None:
        """Forget what was heard on a channel that is gone."""
        for signs in self._of.values():
            signs.last_ms.pop(channel, None)

    def silent_channels(self) -> set[int]:
        """Return the channels on which nothing came for too long, and forget them."""
        silent: set[int] = set()
        for signs in self._of.values():
            for channel, last_ms in list(signs.last_ms.items()):
                if last_ms + signs.timeout_ms < self._clock_ms:
                    silent.add(channel)
                    del signs.last_ms[channel]
        return silent - {_BEFORE_ITS_START}

    def started(self, shows_ms: int) -> None:
        """Note that the controller started again: who was alive is so once more, on no channel.

        That is who was so when the last entry was applied: a later time was seen, and is forgotten.
        """
        alive = [broker for broker in self._of if self._was_alive(broker, self._applied_ms)]
        self._clock_ms = max(self._applied_ms, shows_ms)
        for broker, signs in self._of.items():
            signs.last_ms = {_BEFORE_ITS_START: self._clock_ms} if broker in alive else {}

    def forget(self) -> None:
        """Forget everybody: the group was removed."""
        self._of.clear()

    def is_alive(self, broker: str) -> bool:
        """Tell whether a sign of life is recent enough."""
        return self._was_alive(broker, self._clock_ms)

    def _was_alive(self, broker: str, at_ms: int) -> bool:
        signs = self._of.get(broker)
        return signs is not None and any(
            last_ms + signs.timeout_ms >= at_ms for last_ms in signs.last_ms.values()
        )
