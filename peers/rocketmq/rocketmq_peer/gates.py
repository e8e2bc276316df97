"""Where a thread of a broker waits, as one that gets no processor for a while.

Between two things that RocketMQ does without a lock anything may happen, but by itself it hardly
does. A gate that is shut holds every thread that comes to a method, before it or behind, until it
is opened. It is a file, named like the method; a thread that waits makes one more (`agent/`,
`Gates`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["LOOKED", "PROPOSE", "Gates"]

PROPOSE: Final = "markSynchronizingSyncStateSet"
"""The master has compared what a slave reported, and has not proposed it yet."""

LOOKED: Final = "maybeShrinkSyncStateSet"
"""The master has looked who of its SyncStateSet is behind, and has not compared the rest with the
set that it knows yet."""


class Gates:
    """The gates of a group; all are open at first."""

    def __init__(self, folder: Path) -> None:
        """Take the folder, which need not be there."""
        self._folder = folder

    def of(self, node: str) -> Path:
        """Return the folder that a node looks at; it is made. Raises: OSError"""
        folder = self._folder / node
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def shut(self, node: str, method: str) -> None:
        """Let threads of a node wait at a method. Raises: OSError"""
        self._reached(node, method).unlink(missing_ok=True)
        (self.of(node) / method).touch()

    def open(self, node: str, method: str) -> None:
        """Let them go on; nothing happens if it is open. Raises: OSError"""
        (self.of(node) / method).unlink(missing_ok=True)

    def is_reached(self, node: str, method: str) -> bool:
        """Tell whether a thread has come to a gate since it was shut."""
        return self._reached(node, method).exists()

    def _reached(self, node: str, method: str) -> Path:
        return self.of(node) / f"{method}.reached"
