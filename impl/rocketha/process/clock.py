"""The clock of a process: the time of day at its start, and from then on what has passed.

So an operator who sets the clock of the machine neither ends heartbeats before their time nor keeps
dead brokers alive.
"""

from __future__ import annotations

import time
from typing import Final

from rocketha.types import TimestampMs

__all__ = ["ProcessClock"]

_NS: Final = 1_000_000


class ProcessClock:
    """Milliseconds since 1970, which never go back while the process runs."""

    def __init__(self) -> None:
        """Take the time of day."""
        self._ahead_ns = time.time_ns() - time.monotonic_ns()

    def now_ms(self) -> TimestampMs:
        """Return the time."""
        return TimestampMs((time.monotonic_ns() + self._ahead_ns) // _NS)
