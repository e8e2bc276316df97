"""Write the traces of one part of a corpus: a file of steps and a file of traces.

A row group ends where a piece ends, so whoever reads a row group reads whole pieces. A file appears
under its name when it is complete, and writing a part again gives the same files: whoever writes a
part may be killed and started again.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from tlatrace.corpus.checksums import TABLES, FileChecksum
from tlatrace.corpus.schema import (
    TRACES_SCHEMA,
    TraceRow,
    column_of,
    steps_schema,
    trace_row,
    variables_with_columns,
)
from tlatrace.errors import CorpusError
from tlatrace.trace import Event, Trace
from tlatrace.values import State, Value, canonical, canonical_state

__all__ = ["GROUP_ROWS", "Kind", "Part", "PartWriter", "begin_steps", "remove_unfinished"]

GROUP_ROWS: Final = 1 << 16
"""A row group ends with the piece that reaches so many rows."""

_REPEATED: Final = ["trace_id", "action", "params", "node"]
_WITH_STATISTICS: Final = ["trace_id", "chunk", "step"]
_ZSTD_LEVEL: Final = 3
_DICTIONARY_BYTES: Final = 32 << 20
"""Of the different texts of a column in a row group; what is more is written out row by row."""

Kind = tuple[str, str | None, str]
"""(specification, its hash, canonical JSON of the constants)."""

_StepRow = tuple[
    str, int | None, int, int, str | None, str, str | None, int | None, str | None, tuple[str, ...]
]
"""The columns of a step; the last of its texts are those of variables, if they have columns."""


@dataclass(slots=True)
class Part:
    """What has been written; plain data."""

    number: int
    place: str
    """The folder of its files, below that of the corpus."""
    numbers: int = 0
    """Runs, or files, that it stands for; one part of those that were written together."""
    traces: int = 0
    steps: int = 0
    failed: int = 0
    variables: tuple[str, ...] = ()
    """Those that have columns."""
    kinds: list[Kind] = field(default_factory=list)
    """What the traces are traces of; one kind, if they fit into one corpus."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """(trace id, reason) of the first traces that could not be made."""
    files: dict[str, FileChecksum] = field(default_factory=dict)
    """Path below `place` -> checksum."""


class PartWriter:
    """Writes the traces of a part that have the same constants; `close` ends it."""

    def __init__(self, folder: Path, place: str, number: int, chunk_steps: int) -> None:
        """Begin the files of a part in a folder below that of a corpus."""
        self.part = Part(number, place)
        self._chunk_steps = chunk_steps
        self._names = {
            table: folder / place / table / f"part-{number:06d}.parquet" for table in TABLES
        }
        # Not its process id: on another machine another writer may have the same.
        self._token = secrets.token_hex(8)
        self._rows: list[_StepRow] = []
        self._listed: list[dict[str, str | int | None]] = []
        self._file: pq.ParquetWriter | None = None

    @property
    def buffered(self) -> int:
        """How many rows of steps are not written yet."""
        return len(self._rows)

    def add(self, trace_id: str, seed: int | None, trace: Trace) -> None:
        """Add a trace, all of it or nothing.

        Raises:
            ValueFormatError: a value that has no canonical text.
        """
        if trace.header is not None and trace.header.seed is not None:
            seed = trace.header.seed
        rows: list[_StepRow] = []
        if self._file is None and not self.part.variables:
            whole = next((item.state for item in trace.events if item.state is not None), {})
            self.part.variables = variables_with_columns(whole)
        texts = _StateTexts(self.part.variables)
        carried: _StepRow | None = None
        for event in trace.events:
            chunk = event.step // self._chunk_steps
            if carried is not None and chunk != carried[2]:
                rows.append((*carried[:2], chunk, *carried[3:]))
            carried = _step_row(trace_id, seed, chunk, event, texts)
            rows.append(carried)
        self._begin_pieces(rows)
        header, events = trace.header, len(trace.events)
        listed = TraceRow(trace_id=trace_id, seed=seed, events=events, header=header, error=None)
        self._list(listed)
        self.part.steps += events
        if header is not None:
            row = self._listed[-1]
            kind = (header.spec, header.spec_sha256, str(row["constants"]))
            if kind not in self.part.kinds:
                self.part.kinds.append(kind)

    def fail(self, trace_id: str, seed: int | None, reason: str) -> None:
        """Add the one row of a trace that could not be made or read."""
        self._list(TraceRow(trace_id=trace_id, seed=seed, events=0, header=None, error=reason))
        self.part.failed += 1
        if len(self.part.failures) < 20:
            self.part.failures.append((trace_id, reason))

    def close(self) -> Part:
        """Write what is left and give the files their names.

        Raises:
            CorpusError: a file cannot be written.
        """
        self.write_group()
        try:
            assert self._file is not None, "a group opens it"
            self._file.close()
            listed = pa.Table.from_pylist(self._listed, schema=TRACES_SCHEMA)
            pq.write_table(listed, self._unfinished(self._names["traces"]), compression="zstd")
            for table, name in self._names.items():
                self.part.files[f"{table}/{name.name}"] = FileChecksum.of(self._unfinished(name))
                os.replace(self._unfinished(name), name)
        except (OSError, pa.ArrowException) as error:
            raise CorpusError(self._names["steps"], f"cannot be written ({error})") from error
        return self.part

    def _unfinished(self, path: Path) -> Path:
        return path.with_name(f"_{path.name}.{self._token}")

    def _list(self, row: TraceRow) -> None:
        self._listed.append(trace_row(row))
        self.part.traces += 1

    def _begin_pieces(self, rows: list[_StepRow]) -> None:
        """Append the rows of a trace; a full group ends between two pieces."""
        begin = 0
        for at in range(1, len(rows) + 1):
            if at == len(rows) or rows[at][2] != rows[begin][2]:
                self._rows += rows[begin:at]
                begin = at
                if len(self._rows) >= GROUP_ROWS:
                    self.write_group()

    def write_group(self) -> None:
        """Write the rows of steps that are there as a row group.

        Raises:
            CorpusError: the file cannot be written.
        """
        try:
            self._write_group()
        except (OSError, pa.ArrowException) as error:
            raise CorpusError(self._names["steps"], f"cannot be written ({error})") from error

    def _write_group(self) -> None:
        variables = self.part.variables
        schema = steps_schema(variables)
        if self._file is None:
            path = self._unfinished(self._names["steps"])
            path.parent.mkdir(parents=True, exist_ok=True)
            self._names["traces"].parent.mkdir(parents=True, exist_ok=True)
            self._file = begin_steps(path, variables)
        if self._rows:
            *values, parts = zip(*self._rows, strict=True)
            none = (None,) * len(variables)
            values += zip(*[part or none for part in parts], strict=True)
            columns = [
                pa.array(column, type=kind.type)
                for column, kind in zip(values, schema, strict=True)
            ]
            table = pa.Table.from_arrays(columns, schema=schema)
            self._file.write_table(table, row_group_size=len(self._rows))
            self._rows = []


def begin_steps(path: Path, variables: Sequence[str]) -> pq.ParquetWriter:
    """Begin a file of steps with the columns of some variables.

    Raises:
        OSError: it cannot be written.
    """
    return pq.ParquetWriter(
        path,
        steps_schema(variables),
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        use_dictionary=[*_REPEATED, *map(column_of, variables)],
        dictionary_pagesize_limit=_DICTIONARY_BYTES,
        write_statistics=_WITH_STATISTICS,
    )


def remove_unfinished(folder: Path) -> None:
    """Remove from the tables of a corpus what writers have left that were killed.

    Raises:
        OSError: a file cannot be removed.
    """
    for path in folder.rglob("_part-*.parquet.*"):
        path.unlink(missing_ok=True)


@dataclass(slots=True)
class _StateTexts:
    """Canonical texts of states that follow each other: most variables stay what they are."""

    variables: tuple[str, ...]
    """Those that have columns."""
    known: dict[str, tuple[Value, str]] = field(default_factory=dict)

    def of(self, state: State | None) -> tuple[str | None, tuple[str, ...]]:
        """Return the whole text, or those of the variables."""
        if state is None:
            return None, ()
        if len(state) != len(self.variables) or not self.variables:
            return canonical_state(state), ()
        parts = []
        for name in self.variables:
            if name not in state:
                return canonical_state(state), ()
            value = state[name]
            known = self.known.get(name)
            if known is None or known[0] is not value:
                known = self.known[name] = value, canonical(value)
            parts.append(known[1])
        return None, tuple(parts)


def _step_row(
    trace_id: str, seed: int | None, chunk: int, event: Event, texts: _StateTexts
) -> _StepRow:
    return (
        trace_id,
        seed,
        chunk,
        event.step,
        event.action,
        canonical(event.params),
        event.node,
        event.clock,
        *texts.of(event.state),
    )
