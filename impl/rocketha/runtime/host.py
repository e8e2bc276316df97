"""What every host does with events: one by one, and what follows from one before the next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Generic, TypeVar

__all__ = ["Host"]

S = TypeVar("S")
E = TypeVar("E")


class Host(ABC, Generic[S, E]):
    """Runs one node; it runs when it has a state."""

    __slots__ = ("_busy", "_follow", "state")

    def __init__(self) -> None:
        """Make a node that is down."""
        self.state: S | None = None
        self._follow: deque[E] = deque()
        self._busy = False

    def stop(self) -> None:
        """Forget everything that is not in a file."""
        self.state = None
        self._follow.clear()

    def take(self, event: E) -> None:
        """Take an event and all that follows from it.

        Raises: CommitLogError, DiskError, whatever a port raises
        """
        assert not self._busy, "an event comes before another one is done with"
        self._busy = True
        try:
            self._take(event)
            while self._follow:
                self._take(self._follow.popleft())
        finally:
            self._busy = False

    def hear(self, event: E) -> None:
        """Take an event now, or after the one that is being taken."""
        if self._busy:
            self._follow.append(event)
        else:
            self.take(event)

    @abstractmethod
    def _take(self, event: E) -> None:
        """Let the core take an event, and perform the effects."""
