"""Write the traces of one part, those of each set of constants into a folder of their own.

Which traces have the same constants is known only when they are made.
"""

from __future__ import annotations

from pathlib import Path

from tlatrace.corpus.places import NO_CONSTANTS, place_of
from tlatrace.corpus.writer import GROUP_ROWS, Part, PartWriter
from tlatrace.trace import Trace

__all__ = ["PartWriters"]


class PartWriters:
    """Writes one part; `close` ends it."""

    def __init__(self, folder: Path, number: int, chunk_steps: int) -> None:
        """Begin a part of the corpus in `folder`."""
        self.numbers = 0
        """Runs, or files, that were taken; each is a trace, or several."""
        self._folder = folder
        self._number = number
        self._chunk_steps = chunk_steps
        self._writers: dict[str, PartWriter] = {}
        self._last: PartWriter | None = None
        self._failed: list[tuple[str, int | None, str]] = []
        """What failed before there was a trace."""

    def add(self, trace_id: str, seed: int | None, trace: Trace) -> None:
        """Add a trace, all of it or nothing.

        Raises:
            ValueFormatError: no header, or a value that has no canonical text.
        """
        writer = self._writer(place_of(trace))
        self._last = writer
        for failed in self._failed:
            writer.fail(*failed)
        self._failed.clear()
        writer.add(trace_id, seed, trace)
        if sum(each.buffered for each in self._writers.values()) > GROUP_ROWS:  # memory is bounded
            max(self._writers.values(), key=lambda each: each.buffered).write_group()

    def fail(self, trace_id: str, seed: int | None, reason: str) -> None:
        """Add the one row of a trace that could not be made or read, beside the trace before."""
        if self._last is None:
            self._failed.append((trace_id, seed, reason))
        else:
            self._last.fail(trace_id, seed, reason)

    def close(self) -> tuple[Part, ...]:
        """Write what is left and give the files their names; there is one part at least.

        Raises:
            CorpusError: a file cannot be written.
        """
        if not self._writers:
            writer = self._writer(NO_CONSTANTS)
            for failed in self._failed:
                writer.fail(*failed)
        parts = tuple([self._writers[place].close() for place in sorted(self._writers)])
        parts[0].numbers = self.numbers
        return parts

    def _writer(self, place: str) -> PartWriter:
        if place not in self._writers:
            self._writers[place] = PartWriter(self._folder, place, self._number, self._chunk_steps)
        return self._writers[place]
