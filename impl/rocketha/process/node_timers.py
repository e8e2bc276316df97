"""What wakes a node of a process: its timer, and transfers as fast as the network takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rocketha.process.clock import ProcessClock
from rocketha.process.event_loop import Alarm, EventLoop
from rocketha.runtime.core import Sender
from rocketha.types import ConnectionId, TimestampMs

__all__ = ["NodeTimers", "has_no_backlog", "transfers_nothing"]

_FULL_BYTES: Final = 1 << 20
"""With so much on the way nothing more is given to a connection."""
_FULL_WAIT_S: Final = 0.005
_HEARTBEAT_MIN_S: Final = 0.02


class NodeTimers:
    """The `Timers` of one node."""

    def __init__(
        self,
        loop: EventLoop,
        clock: ProcessClock,
        *,
        timer: Callable[[], None],
        transfer: Callable[[ConnectionId], None],
        backlog: Callable[[ConnectionId], int],
    ) -> None:
        """Take whom to wake, and who knows what the network has not taken yet."""
        self._loop = loop
        self._clock = clock
        self._timer = timer
        self._transfer = transfer
        self._backlog = backlog
        self._next: tuple[TimestampMs, Alarm] | None = None
        self._soon: dict[ConnectionId, Alarm] = {}
        self._later: dict[ConnectionId, Alarm] = {}

    def wake_at(self, at_ms: TimestampMs) -> None:
        """Let the timer ring when the clock shows this; an earlier time stays."""
        if self._next is not None:
            if self._next[0] <= at_ms:
                return
            self._next[1].cancel()
        wait_s = max(1, at_ms - self._clock.now_ms()) / 1000
        self._next = (at_ms, self._loop.after(wait_s, self._ring))

    def _ring(self) -> None:
        self._next = None
        self._timer()

    def transfer(self, sender: Sender) -> None:
        """Have something sent: soon where there is something, else a heartbeat when it is due."""
        conn = sender.conn
        if sender.behind:
            if conn not in self._soon:
                full = self._backlog(conn) > _FULL_BYTES
                self._plan(self._soon, conn, _FULL_WAIT_S if full else 0.0)
        elif conn not in self._later:
            wait_s = (sender.heartbeat_at_ms - self._clock.now_ms()) / 1000
            self._plan(self._later, conn, max(_HEARTBEAT_MIN_S, wait_s))

    def _plan(self, plan: dict[ConnectionId, Alarm], conn: ConnectionId, wait_s: float) -> None:
        def due() -> None:
            del plan[conn]
            self._transfer(conn)

        plan[conn] = self._loop.after(wait_s, due)


def transfers_nothing(conn: ConnectionId) -> None:
    """Be the transfer of a node whose connections its core does not know."""
    raise AssertionError(f"this node transfers nothing: {conn}")


def has_no_backlog(conn: ConnectionId) -> int:
    """Be the backlog of such a node."""
    raise AssertionError(f"this node transfers nothing: {conn}")
