"""Clocks that are wrong: each machine has its own beginning and its own speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import TimestampMs

NS_PER_MS: Final = 1_000_000

__all__ = ["TRUE_TIME", "Clock", "MachineClock"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """What a machine takes for the time; it never goes back."""

    offset_ms: int = 0
    rate_permille: int = 1_000
    """How much it goes on in a true second."""

    def __post_init__(self) -> None:
        assert self.offset_ms >= 0, self.offset_ms
        assert self.rate_permille > 0, self.rate_permille

    def shows(self, true_ms: int) -> TimestampMs:
        """Return what it shows at a true time."""
        return TimestampMs(self.offset_ms + true_ms * self.rate_permille // 1_000)

    def when(self, shown_ms: int) -> int:
        """Return the first true time at which it shows so much, 0 if it always did."""
        return max(0, -((self.offset_ms - shown_ms) * 1_000 // self.rate_permille))


TRUE_TIME: Final = Clock()


class MachineClock:
    """The monotonic clock of the machine on which all nodes run, as their recorders read it.

    It shows no time twice, as no clock in nanoseconds does that is read so seldom.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        """Begin at 0."""
        self._scheduler = scheduler
        self._last_ns = -1

    def now_ns(self) -> int:
        """Return nanoseconds of virtual time."""
        self._last_ns = max(self._last_ns + 1, self._scheduler.now_ms * NS_PER_MS)
        return self._last_ns
