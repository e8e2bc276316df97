"""Clocks that are wrong: each machine has its own beginning and its own speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.types import TimestampMs

__all__ = ["TRUE_TIME", "Clock"]


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
