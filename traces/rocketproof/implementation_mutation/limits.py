"""How much a run of a mutation may use: processor time, and memory."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Final

__all__ = ["NoEnd", "cpu_limit", "memory_limit"]

_MEMORY_BYTES: Final = 3 << 30
"""A mutation that collects without end gets a MemoryError."""


class NoEnd(BaseException):
    """The processor time of something is up."""


@contextlib.contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise `NoEnd` in the block when it has used so much processor time; not on Windows."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise NoEnd

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def memory_limit() -> Iterator[None]:
    """Raise MemoryError in the block when it has too much; where the system has such a limit."""
    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(ValueError, OSError):  # macOS
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
