"""Time a call a few times."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["median_seconds"]


def median_seconds(call: Callable[[], object], *, times: int) -> float:
    """Return the median wall time of a call, in seconds."""
    assert times >= 1
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)
