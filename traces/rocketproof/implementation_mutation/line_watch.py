"""Which runs come to the lines of a mutation."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

from rocketproof.implementation_mutation.run_task import RunKey

__all__ = ["LineWatch"]


class LineWatch:
    """Notes which of some lines are executed."""

    def __init__(self, watched: Mapping[str, frozenset[int]]) -> None:
        """Take lines by their files."""
        self._watched = watched
        self._seen: set[tuple[str, int]] = set()
        self._at_import: frozenset[tuple[str, int]] = frozenset()
        self.executed: dict[RunKey, frozenset[tuple[str, int]]] = {}

    @property
    def is_asked(self) -> bool:
        """Tell whether there are lines to watch."""
        return bool(self._watched)

    @contextlib.contextmanager
    def lines(self, run: RunKey | None) -> Iterator[None]:
        """Note what the block executes, for a run; None: for all of them."""
        if not self.is_asked:
            yield
            return
        self._seen = set()
        sys.settrace(self._of_call)
        try:
            yield
        finally:
            sys.settrace(None)
            if run is None:
                self._at_import = frozenset(self._seen)
            else:
                self.executed[run] = self._at_import | self._seen

    def _of_call(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        """Follow the frames of code in which a watched line is."""
        del event, arg
        lines = self._watched.get(frame.f_code.co_filename)
        if lines is None:
            return None
        in_code = {line for _, _, line in frame.f_code.co_lines() if line is not None}
        return self._of_line if in_code & lines else None

    def _of_line(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
        del event, arg
        place = frame.f_code.co_filename, frame.f_lineno
        if place[1] in self._watched[place[0]]:
            self._seen.add(place)
        return self._of_line
