"""The clock of a simulated run: a heap of things to do, in virtual milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

__all__ = ["Scheduler"]


class Scheduler:
    """Run callbacks in the order of their time, and those of one time in the order of their call.

    Nothing else makes time pass, so a run is a function of what was put in.
    """

    __slots__ = ("_heap", "_sequence", "now_ms")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._sequence = 0
        self.now_ms = 0

    def after(self, delay_ms: int, callback: Callable[[], None]) -> None:
        """Call `callback` in `delay_ms`; a delay of 0 comes after what is already due now."""
        assert delay_ms >= 0, delay_ms
        self._sequence += 1
        heappush(self._heap, (self.now_ms + delay_ms, self._sequence, callback))

    def run_next(self, until_ms: int) -> bool:
        """Run what is due next, if it is due by `until_ms`; tell whether there was anything."""
        if not self._heap or self._heap[0][0] > until_ms:
            return False
        self.now_ms, _, callback = heappop(self._heap)
        callback()
        return True
