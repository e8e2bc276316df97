"""A corpus, cut where no piece is cut: row groups of its files, read as batches of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from tlatrace.corpus.schema import SCANNED, STEPS_SCHEMA, UNREADABLE, variable_columns
from tlatrace.errors import CorpusError
from tlatrace.oracle.rows import MOST_ROWS

__all__ = ["Split", "batches_of", "splits_of"]

_BATCH_BYTES: Final = 16 << 20
_LEAST_ROWS: Final = 256
_TEXTS: Final = ("trace_id", "action", "params")
"""Are read as numbers of texts, as variables are."""


@dataclass(frozen=True, slots=True)
class Split:
    """Row groups of a file that hold whole pieces, if the file is sorted."""

    file: Path
    groups: tuple[int, ...]
    rows: int
    of_variables: tuple[str, ...]
    """Columns."""

    @property
    def name(self) -> str:
        """Name it among the splits of its corpus."""
        return f"{self.file.stem}-{self.groups[0] if self.groups else 0:05d}"


def splits_of(folder: Path) -> list[Split]:
    """Cut the steps of a corpus where no piece is cut.

    Raises:
        CorpusError: there is no folder of steps, or a file in it is no Parquet file of steps.
    """
    place = folder / "steps"
    if not place.is_dir():
        raise CorpusError(folder, "has no folder steps")
    return [split for file in sorted(place.glob("[!._]*.parquet")) for split in _cut(file)]


def _cut(file: Path) -> Iterator[Split]:
    try:
        with pq.ParquetFile(file) as parquet:
            metadata, schema = parquet.metadata, parquet.schema_arrow
    except UNREADABLE as error:
        raise CorpusError(file, f"cannot be read: {error}") from error
    for name in SCANNED:
        at = schema.get_field_index(name)
        if at < 0 or schema.field(at).type != STEPS_SCHEMA.field(name).type:
            raise CorpusError(file, f"has no column {name} of {STEPS_SCHEMA.field(name).type}")
    of_variables = tuple(variable_columns(schema.names).values())
    for name in of_variables:
        if schema.names.count(name) != 1 or schema.field(name).type != pa.string():
            raise CorpusError(file, f"has not one column {name} of {pa.string()}")
    begin, rows = 0, 0
    for group in range(metadata.num_row_groups):
        rows += metadata.row_group(group).num_rows
        last = group == metadata.num_row_groups - 1
        if last or _apart(_ends(file, metadata, group)[1], _ends(file, metadata, group + 1)[0]):
            yield Split(file, tuple(range(begin, group + 1)), rows, of_variables)
            begin, rows = group + 1, 0


_End = tuple[object, object] | None


def _ends(file: Path, metadata: pq.FileMetaData, group: int) -> tuple[_End, _End]:
    """Return (trace, chunk) of the first and the last row of a sorted row group, None if unknown.

    A chunk is known only where all rows are of one trace, or of one chunk.

    Raises:
        CorpusError: a trace's name in the statistics is no text.
    """
    least: list[object] = []
    most: list[object] = []
    found = metadata.row_group(group)
    names = [found.column(at).path_in_schema for at in range(found.num_columns)]
    for name in ("trace_id", "chunk"):
        statistics = found.column(names.index(name)).statistics
        if statistics is None or not statistics.has_min_max:
            return None, None
        try:
            least.append(statistics.min)
            most.append(statistics.max)
        except UNREADABLE as error:
            raise CorpusError(file, f"cannot be read: {error}") from error
    one_trace = least[0] == most[0]
    of_first = least[1] if one_trace or least[1] == most[1] else None
    of_last = most[1] if one_trace or least[1] == most[1] else None
    return (least[0], of_first), (most[0], of_last)


def _apart(last: _End, first: _End) -> bool:
    """Tell whether two neighbouring rows are surely of different pieces."""
    if last is None or first is None:
        return False
    if last[0] != first[0]:
        return True
    return last[1] is not None and first[1] is not None and last[1] != first[1]


def _rows_of_batch(metadata: pq.FileMetaData, split: Split) -> int:
    """Return how many rows have as many bytes as a batch may have."""
    size: int = sum(metadata.row_group(group).total_byte_size for group in split.groups)
    fitting = _BATCH_BYTES * split.rows // max(size, 1)
    return int(min(max(fitting, _LEAST_ROWS), MOST_ROWS))


def batches_of(split: Split) -> Iterator[pa.RecordBatch]:
    """Read the steps of a split.

    Raises:
        CorpusError: a file cannot be read.
    """
    try:
        numbered = [*_TEXTS, *split.of_variables]
        with pq.ParquetFile(split.file, pre_buffer=False, read_dictionary=numbered) as parquet:
            yield from parquet.iter_batches(
                _rows_of_batch(parquet.metadata, split),
                row_groups=list(split.groups),
                columns=[*SCANNED, *split.of_variables],
                use_threads=False,
            )
    except UNREADABLE as error:
        raise CorpusError(split.file, f"cannot be read: {error}") from error
