"""When a broker has an occasion for a step: its clock and its packets, as anybody beside it sees.

The specification has no time: it asks of some steps whether they were `due`. This says so of the
steps of one broker, by when it took and sent packets, and by how long it is set up to wait.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

__all__ = ["Occasions", "Waits"]


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """How long a broker waits, in milliseconds: `LegacyOptions`, `HaOptions`.

    Where records do not say it, every time is over.
    """

    heartbeat_ms: int = 0
    housekeeping_ms: int = 0
    reconnect_ms: int = 0
    slave_timeout_ms: int = 0


@dataclass(slots=True)
class Occasions:
    """What one broker has heard and said, and when; all times are of the clock that it has."""

    waits: Waits
    _heard: dict[int, int] = field(default_factory=dict)
    """Connection -> when it was opened, or the broker took a packet of its peer last."""
    _said: dict[int, int] = field(default_factory=dict)
    """Connection -> when it was opened, or the broker sent something last."""
    _asked: dict[int, int] = field(default_factory=dict)
    """A producer's call -> when it came."""
    _left_ms: int | None = None
    """When it had a connection last that it has no more."""

    def clear(self) -> None:
        """Forget all: the broker stops."""
        for known in (self._heard, self._said, self._asked):
            known.clear()
        self._left_ms = None

    def opened(self, conn: int, now_ms: int) -> None:
        """Note that it has a connection."""
        self._heard.setdefault(conn, now_ms)
        self._said.setdefault(conn, now_ms)

    def heard(self, conn: int, now_ms: int) -> None:
        """Note that it took a packet."""
        self._heard[conn] = now_ms

    def said(self, conn: int, now_ms: int) -> None:
        """Note that it sent a packet."""
        self._said[conn] = now_ms

    def left(self, now_ms: int) -> None:
        """Note that a slave has its connection no more."""
        self._left_ms = now_ms

    def asked(self, put: int, now_ms: int) -> None:
        """Note a producer's call."""
        self._asked[put] = now_ms

    def may_speak(self, conn: int, now_ms: int) -> bool:
        """Tell whether it is time for a heartbeat."""
        return now_ms - self._said.get(conn, now_ms) >= self.waits.heartbeat_ms

    def is_silent(self, conn: int, now_ms: int) -> bool:
        """Tell whether the peer has said nothing for too long."""
        return now_ms - self._heard.get(conn, now_ms) >= self.waits.housekeeping_ms

    def may_connect(self, now_ms: int) -> bool:
        """Tell whether a slave has waited since it had a connection."""
        return self._left_ms is None or now_ms - self._left_ms >= self.waits.reconnect_ms

    def may_give_up(self, put: int, now_ms: int) -> bool:
        """Tell whether a producer has waited as long as it may."""
        return now_ms - self._asked.get(put, now_ms) >= self.waits.slave_timeout_ms
