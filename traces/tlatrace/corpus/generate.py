"""Make a corpus: run a function per trace, in processes or in Spark tasks, and write the parts.

The function gets a number and returns a trace, or several: it simulates the seed of that number, or
reads the file of that number. It must be pure, because a part may be made twice. A number for which
it raises becomes a row with the reason, so no trace is lost and no task fails.

Traces of different constants become a corpus of each set.

Which traces are a part depends on their numbers only, so the same numbers give the same files,
whoever makes them.
"""

from __future__ import annotations

import gc
import platform
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from tlatrace.corpus.finished import Generated, Made, finish_parts
from tlatrace.corpus.manifest import begin, is_begun
from tlatrace.corpus.processes import quiet_collector, run_tasks
from tlatrace.corpus.schema import CHUNK_STEPS
from tlatrace.corpus.writer import Part
from tlatrace.corpus.writers import PartWriters
from tlatrace.errors import CorpusError, ModelGapError, TraceFormatError
from tlatrace.harmless import harmless, is_text
from tlatrace.matching import LogMapping, read_log
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import read_trace
from tlatrace.trace.schema import refuse_clues
from tlatrace.values import Json

__all__ = [
    "MakeParts",
    "MakeTrace",
    "PartMaker",
    "generate_corpus",
    "import_corpus",
    "make_here",
]

MakeTrace = Callable[[int], Trace | tuple[Trace, ...]]
NameTrace = Callable[[int], str]

_TRACES_PER_PART: Final = (8, 1_000)
_PARTS: Final = 32
_REASON_CHARACTERS: Final = 400
_COLLECT_EVERY: Final = 25
"""Traces; what a run leaves behind refers to itself, so only the collector frees it."""


@dataclass(frozen=True, slots=True)
class PartMaker:
    """Makes and writes the traces of a range of numbers; picklable if its functions are."""

    folder: Path
    make: MakeTrace
    name: NameTrace
    is_seed: bool
    chunk_steps: int

    def __call__(self, task: tuple[int, range]) -> tuple[Part, ...]:
        """Write the part of this number, with the traces of these numbers: one of each constants.

        Raises:
            CorpusError: the folder is not seen from here, or cannot be written.
        """
        number, numbers = task
        if not is_begun(self.folder):
            reason = f"is not seen from {platform.node()}: all machines need the same folder"
            raise CorpusError(self.folder, reason)
        writers = PartWriters(self.folder, number, self.chunk_steps)
        with quiet_collector():
            for done, at in enumerate(numbers, start=1):
                self._add(writers, at)
                if done % _COLLECT_EVERY == 0:
                    gc.collect()
            return writers.close()

    def _add(self, writers: PartWriters, number: int) -> None:
        """Add the trace of a number; several are named `name/1`, `name/2`, ..."""
        name, seed = self.name(number), number if self.is_seed else None
        writers.numbers += 1
        try:
            made = self.make(number)
            if isinstance(made, Trace):
                writers.add(name, seed, made)
            else:
                for at, trace in enumerate(made, start=1):
                    writers.add(f"{name}/{at}", seed, trace)
        except CorpusError:
            raise
        except Exception as error:
            writers.fail(name, seed, _reason(error))


class MakeParts(Protocol):
    """Makes all parts, somewhere."""

    def __call__(
        self, maker: PartMaker, tasks: Sequence[tuple[int, range]], label: str, /
    ) -> Iterable[tuple[Part, ...]]:
        """Yield what was written, for each task once, in any order.

        Raises:
            TlatraceError: a part cannot be made.
        """
        ...


@dataclass(frozen=True, slots=True)
class _InProcesses:
    cores: int | None

    def __call__(
        self, maker: PartMaker, tasks: Sequence[tuple[int, range]], label: str, /
    ) -> Iterator[tuple[Part, ...]]:
        return run_tasks(
            tasks, maker, cores=self.cores, label=label, weight=lambda task: len(task[1])
        )


def make_here(cores: int | None = None) -> MakeParts:
    """Make parts in processes of this machine, as many as it has cores."""
    return _InProcesses(cores)


def seed_name(seed: int) -> str:
    """Name the trace of a seed; names sort like seeds up to ten digits."""
    return f"seed-{seed:010d}"


def generate_corpus(
    make_parts: MakeParts,
    folder: Path,
    make: MakeTrace,
    *,
    first_seed: int,
    runs: int,
    source: Mapping[str, Json],
    reproduce: str | None = None,
    force: bool = False,
    chunk_steps: int = CHUNK_STEPS,
) -> Generated:
    """Make the traces of `runs` seeds from `first_seed` on, and write them as a corpus.

    `make` must be picklable. `reproduce` is a command line with `{seed}` in it.

    Raises:
        CorpusError: the folder is taken, or the traces have different specifications, or too many
            sets of constants.
        ToolError: a worker failed; the corpus stays unfinished.
    """
    seeds: Mapping[str, Json] = {"first_seed": first_seed, "runs": runs, **source}
    begin(folder, force=force)
    maker = PartMaker(folder.resolve(), make, seed_name, True, chunk_steps)
    parts = make_parts(maker, _tasks(range(first_seed, first_seed + runs)), "simulating")
    how = Made(expected=runs, chunk_steps=chunk_steps, source=seeds, reproduce=reproduce)
    return finish_parts(folder, parts, how)


def import_corpus(
    make_parts: MakeParts,
    folder: Path,
    files: Iterable[Path],
    *,
    mapping: LogMapping | None = None,
    force: bool = False,
    chunk_steps: int = CHUNK_STEPS,
) -> Generated:
    """Write traces from NDJSON files as a corpus; a trace is named by its path as given.

    With a mapping the files are logs of another system. Bytes of a path that are no UTF-8 are
    written out in the name, `\\xff`.

    Raises: as `generate_corpus`; CorpusError, too, if a file is given twice.
    """
    paths = sorted(str(path) for path in files)
    known = tuple([path if is_text(path) else harmless(path) for path in paths])
    if len(set(known)) < len(paths):
        raise CorpusError(folder, "the same trace file is given twice")
    absolute = [str(Path(path).resolve()) for path in paths]
    begin(folder, force=force)
    reader, names = _Reader(tuple(absolute), mapping), _Names(known)
    maker = PartMaker(folder.resolve(), reader, names, False, chunk_steps)
    parts = make_parts(maker, _tasks(range(len(paths))), "reading")
    source: Mapping[str, Json] = {"kind": "import", "files": len(paths)}
    how = Made(expected=len(paths), chunk_steps=chunk_steps, source=source, reproduce=None)
    return finish_parts(folder, parts, how)


@dataclass(frozen=True, slots=True)
class _Reader:
    paths: tuple[str, ...]
    mapping: LogMapping | None

    def __call__(self, number: int) -> Trace:
        path = Path(self.paths[number])
        if self.mapping is None:
            trace = read_trace(path)
        else:
            trace = read_log(path, self.mapping).trace
            for event in trace.events:
                refuse_clues(event)
        if trace.header is None:
            raise TraceFormatError(self.paths[number], None, "the file is empty")
        if trace.header.silent is not None:
            raise ModelGapError("it has silent steps, and a corpus is not searched")
        return trace


@dataclass(frozen=True, slots=True)
class _Names:
    names: tuple[str, ...]

    def __call__(self, number: int) -> str:
        return self.names[number]


def _tasks(numbers: range) -> list[tuple[int, range]]:
    low, high = _TRACES_PER_PART
    size = min(max(-(-len(numbers) // _PARTS), low), high)
    return [(part, numbers[at : at + size]) for part, at in enumerate(range(0, len(numbers), size))]


def _reason(error: Exception) -> str:
    """Say what happened in one line, with the place, because nobody can repeat it here."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    if isinstance(error, TraceFormatError):
        place = ""
    text = " ".join(str(error).split())[:_REASON_CHARACTERS]
    return f"{type(error).__name__}: {text}{place}"
