"""What long commands print while they work: a line for all that is done, and what is being done.

What is done goes to standard output as it is found, or to standard error where standard output is
for a machine. What is being done goes to standard error: a line that changes on a terminal, in a
log one now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from rocketproof.output import print_text
from tlatrace.heartbeat import heartbeat

__all__ = ["ProgressDisplay", "open_progress_display"]


class ProgressDisplay:
    """Where a command prints what it has done, and what it does."""

    def __init__(self, beat: Callable[[str], None], status: Status | None, *, quiet: bool) -> None:
        self._beat, self._status, self._quiet = beat, status, quiet

    def doing(self, what: str) -> None:
        """Say what is being done now; from any thread."""
        self._beat(what)
        if self._status is not None:
            self._status.update(escape(what))

    def line(self, text: str) -> None:
        """Print lines for good."""
        if self._status is not None:  # rich takes all that is printed to where its status is
            self._status.stop()
        print_text(text, err=self._quiet)
        if self._status is not None:
            self._status.start()


@contextmanager
def open_progress_display(doing: str, *, quiet: bool = False) -> Iterator[ProgressDisplay]:
    """Say what is being done until the block ends; `quiet` keeps standard output for a machine."""
    console = Console(stderr=True)
    with heartbeat(doing) as beat:
        if not console.is_terminal:
            yield ProgressDisplay(beat, None, quiet=quiet)
            return
        with console.status(escape(doing)) as status:
            yield ProgressDisplay(beat, status, quiet=quiet)
