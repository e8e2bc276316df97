"""A limit on the time of a search that holds inside of one huge enumeration, too."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

__all__ = ["Clock", "TimeIsUpError", "time_limit"]

_AGAIN_S: Final = 0.2
"""The alarm is repeated: one that rings where Python ignores errors is lost."""


class TimeIsUpError(BaseException):
    """The time is up; no `Exception`, or a model would take it for an expression without value."""


class Clock:
    """Tells whether the time is up."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def rest(self) -> float | None:
        """Return the seconds that are left; None: there is no limit."""
        return None if self._end is None else self._end - time.monotonic()

    def check(self) -> None:
        """Stop if the time is up.

        Raises:
            TimeIsUpError: it is.
        """
        if self._end is not None and time.monotonic() >= self._end:
            raise TimeIsUpError


@contextmanager
def time_limit(clock: Clock) -> Iterator[None]:
    """Raise `TimeIsUpError` where the program happens to be when the time is up.

    In another thread than the main one, and where the system has no alarms, only `Clock.check`
    raises it. An alarm that was set before is set again.
    """
    rest = clock.rest()
    is_main = threading.current_thread() is threading.main_thread()
    if rest is None or not is_main or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TimeIsUpError

    started = time.monotonic()
    old_handler = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, max(rest, 1e-6), _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler)
        if left:
            left = max(left - (time.monotonic() - started), 1e-6)
            signal.setitimer(signal.ITIMER_REAL, left, interval)
