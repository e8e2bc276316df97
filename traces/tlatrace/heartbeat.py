"""Signs of life of long work, for whoever reads a log: a line on standard error now and then.

On a terminal other things move, and nothing is written; where CI is set it is a log all the same.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from tlatrace.harmless import harmless_lines

__all__ = ["EVERY_S", "duration", "heartbeat", "left_text"]

EVERY_S: Final = 30.0
"""Build servers end a job that says nothing for minutes; more lines than this nobody reads."""

_SURE: Final = 0.02
"""With less than this part done, nothing is known of the rest."""
_SECONDS: Final = 90.0
_MINUTES: Final = 2 * 3600.0
"""Until then a duration is written in seconds, and in minutes."""


@contextmanager
def heartbeat(
    doing: str, *, every_s: float = EVERY_S, write: Callable[[str], None] | None = None
) -> Iterator[Callable[[str], None]]:
    """Tell every so often what is being done, and for how long; yield what changes it."""
    if write is None and sys.stderr.isatty() and not os.environ.get("CI"):
        yield lambda _doing: None
        return
    tell = write or _to_standard_error
    current, ended, began = [doing], threading.Event(), time.monotonic()

    def beat() -> None:
        while not ended.wait(every_s):
            tell(f"{current[0]} ({time.monotonic() - began:.0f} s)")

    def change(now: str) -> None:
        current[0] = now

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield change
    finally:
        ended.set()
        thread.join()


def left_text(done: int, total: int | None, seconds: float) -> str:
    """Say how long the rest will take at the pace so far; nothing where that is not known."""
    if not total or done < total * _SURE or done > total:
        return ""
    return f"about {duration(seconds * (total - done) / done)} left"


def duration(seconds: float) -> str:
    """Say how long something takes, no more exactly than anybody wants to know."""
    if seconds < _SECONDS:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < _MINUTES else f"{seconds / 3600:.1f} h"


def _to_standard_error(line: str) -> None:
    sys.stderr.write(harmless_lines(line) + "\n")
    sys.stderr.flush()
