"""Who has not had everything for long, by a master's clock and by what slaves reported to it.

The specification has no time: it asks of a Shrink whether it is `due`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["Lags"]

B = TypeVar("B")


@dataclass(slots=True)
class Lags(Generic[B]):
    """When each slave of a master had everything last; times are of the master's clock.

    A slave has everything when it says so, and until the log grows. One that has joined is watched
    from then on.
    """

    _full_ms: dict[B, int] = field(default_factory=dict)
    _full: frozenset[B] = frozenset()
    _end: int = -1
    _members: Set[B] = frozenset()

    def note(
        self, *, end: int, acks: Mapping[B, tuple[int, int]], members: Set[B], now_ms: int
    ) -> None:
        """Take the end of the log, each slave's last report, when it came, and the members.

        Ends and reports are in the same unit.
        """
        full = frozenset(slave for slave, (ack, _) in acks.items() if ack == end)
        for slave in full:
            self._full_ms[slave] = max(self._full_ms.get(slave, 0), acks[slave][1])
        for slave in self._full if end > self._end else ():
            self._full_ms[slave] = now_ms
        for slave in members - self._members:
            self._full_ms[slave] = now_ms
        self._full, self._end, self._members = full, end, members

    def are_behind(self, slaves: Iterable[B], *, for_ms: int, now_ms: int) -> bool:
        """Tell whether all of them have not had everything for longer than so many milliseconds."""
        return all(now_ms - self._full_ms.get(slave, now_ms) > for_ms for slave in slaves)
