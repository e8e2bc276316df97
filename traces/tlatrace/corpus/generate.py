"""Make a corpus: run a function per trace in Spark tasks, and write what it returns.

The function gets a number and returns a trace: it simulates the seed of that number, or reads the
file of that number. It must be pure, because Spark may run a task twice. A number for which it
raises becomes a row with the reason, so no trace is lost and no task fails.

How many traces share a file depends on their number only, so the same numbers give the same rows
in the same order, whatever the cores.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tlatrace.corpus.manifest import CorpusManifest, begin, finish
from tlatrace.corpus.progress import show_progress
from tlatrace.corpus.schema import (
    ROW_COLUMNS,
    STEPS_COLUMNS,
    TRACES_COLUMNS,
    failure_rows,
    rows_of,
)
from tlatrace.corpus.session import path_to_read, path_to_write, spark_errors
from tlatrace.errors import CorpusError, TraceFormatError
from tlatrace.trace import Trace
from tlatrace.trace.lines import DEFAULT_LIMITS
from tlatrace.trace.ndjson import read_trace
from tlatrace.trace.strict_json import parse_json
from tlatrace.values import Json

__all__ = ["Generated", "MakeTrace", "NameTrace", "generate_corpus", "import_corpus"]

MakeTrace = Callable[[int], Trace]
NameTrace = Callable[[int], str]

_MAX_ROWS: Final = 2_000
_TRACES_PER_FILE: Final = (8, 2_000)
_FILES: Final = 32
_REASON_CHARACTERS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A finished corpus, and what went wrong on the way."""

    manifest: CorpusManifest
    failures: tuple[tuple[str, str], ...]
    """(trace id, reason) of the first traces that could not be made, in order."""


def seed_name(seed: int) -> str:
    """Name the trace of a seed; names sort like seeds up to ten digits."""
    return f"seed-{seed:010d}"


def generate_corpus(
    spark: SparkSession,
    folder: Path,
    make: MakeTrace,
    *,
    first_seed: int,
    runs: int,
    source: Mapping[str, Json],
    reproduce: str | None = None,
    force: bool = False,
) -> Generated:
    """Make the traces of `runs` seeds from `first_seed` on, and write them as a corpus.

    `make` must be picklable. `reproduce` is a command line with `{seed}` in it.

    Raises:
        CorpusError: the folder is taken, or the traces have different specs or constants.
        ToolError: Spark failed; the corpus stays unfinished.
    """
    seeds: Mapping[str, Json] = {"first_seed": first_seed, "runs": runs, **source}
    writer = _Writer(spark, folder, seeds, reproduce)
    begin(folder, force=force)
    return writer.write(make, seed_name, first_seed, runs, "simulating", is_seed=True)


def import_corpus(
    spark: SparkSession, folder: Path, files: Iterable[Path], *, force: bool = False
) -> Generated:
    """Write traces from NDJSON files as a corpus; a trace is named by its path as given.

    Raises: as `generate_corpus`; CorpusError, too, if a file is given twice.
    """
    paths = sorted(str(path) for path in files)
    if len(set(paths)) < len(paths):
        raise CorpusError(folder, "the same trace file is given twice")
    absolute = [str(Path(path).resolve()) for path in paths]
    source: Mapping[str, Json] = {"kind": "import", "files": len(paths)}
    writer = _Writer(spark, folder, source, None)
    begin(folder, force=force)
    return writer.write(
        _Reader(tuple(absolute)), _Names(tuple(paths)), 0, len(paths), "reading", is_seed=False
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    paths: tuple[str, ...]

    def __call__(self, number: int) -> Trace:
        trace = read_trace(Path(self.paths[number]))
        if trace.header is None:
            raise TraceFormatError(self.paths[number], None, "the file is empty")
        return trace


@dataclass(frozen=True, slots=True)
class _Names:
    names: tuple[str, ...]

    def __call__(self, number: int) -> str:
        return self.names[number]


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Numbers in, rows of both tables out."""

    make: MakeTrace
    name: NameTrace
    is_seed: bool

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from self._rows(number)

    def _rows(self, number: int) -> Iterator[pa.RecordBatch]:
        name, seed = self.name(number), number if self.is_seed else None
        try:
            # All of a trace or nothing of it: a row that breaks must not leave half of it behind.
            rows = list(rows_of(name, seed, self.make(number), _MAX_ROWS))
        except Exception as error:
            yield failure_rows(name, seed, _reason(error))
            return
        yield from rows


def _reason(error: Exception) -> str:
    """Say what happened in one line, with the place, because nobody can repeat it here."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    if isinstance(error, TraceFormatError):
        place = ""
    text = " ".join(str(error).split())[:_REASON_CHARACTERS]
    return f"{type(error).__name__}: {text}{place}"


@dataclass(frozen=True, slots=True)
class _Writer:
    spark: SparkSession
    folder: Path
    source: Mapping[str, Json]
    reproduce: str | None

    def write(
        self, make: MakeTrace, name: NameTrace, first: int, count: int, label: str, *, is_seed: bool
    ) -> Generated:
        low, high = _TRACES_PER_FILE
        per_file = min(max(-(-count // _FILES), low), high)
        numbers = self.spark.range(first, first + count, 1, max(-(-count // per_file), 1))
        kernel = _Kernel(make, name, is_seed)
        rows = numbers.mapInArrow(kernel, ", ".join(ROW_COLUMNS))
        rows = rows.persist(StorageLevel.DISK_ONLY)
        try:
            with spark_errors(), show_progress(self.spark, [label, "writing"]):
                self._write_table(rows.where(F.col("step").isNotNull()), STEPS_COLUMNS, "steps")
                traces = rows.where(F.col("step").isNull()).coalesce(1)
                self._write_table(traces.sortWithinPartitions("trace_id"), TRACES_COLUMNS, "traces")
            with spark_errors():
                return self._finish(count)
        finally:
            rows.unpersist()

    def _write_table(self, rows: DataFrame, columns: tuple[str, ...], table: str) -> None:
        names = [column.split()[0] for column in columns]
        rows.select(*names).write.mode("overwrite").parquet(path_to_write(self.folder / table))

    def _finish(self, expected: int) -> Generated:
        traces = self.spark.read.parquet(path_to_read(self.folder / "traces"))
        kinds = (
            traces.groupBy("spec", "spec_sha256", "constants", F.col("error").isNull().alias("ok"))
            .agg(F.count("*").alias("traces"), F.sum("events").alias("events"))
            .collect()
        )
        made = [row for row in kinds if row["ok"]]
        hashes = {row["spec_sha256"] for row in made} - {None}
        if len({(row["spec"], row["constants"]) for row in made}) > 1 or len(hashes) > 1:
            reason = "its traces have different specifications or constants: make a corpus of each"
            raise CorpusError(self.folder, reason)
        total = sum(row["traces"] for row in kinds)
        if total != expected:
            raise CorpusError(self.folder, f"{total} traces were written, of {expected}")
        failed = sum(row["traces"] for row in kinds if not row["ok"])
        constants = _constants(made[0]["constants"]) if made else {}
        manifest = CorpusManifest(
            spec=made[0]["spec"] if made else None,
            spec_sha256=max(hashes, default=None),
            constants=constants,
            traces=total,
            steps=sum(row["events"] for row in kinds),
            failed=failed,
            source=self.source,
            reproduce=self.reproduce,
        )
        failures = self._failures(traces) if failed else ()
        finish(self.folder, manifest)
        return Generated(manifest=manifest, failures=failures)

    def _failures(self, traces: DataFrame) -> tuple[tuple[str, str], ...]:
        rows = traces.where(F.col("error").isNotNull()).orderBy("trace_id").limit(20).collect()
        return tuple([(row["trace_id"], row["error"]) for row in rows])


def _constants(text: str) -> Mapping[str, Json]:
    data = parse_json(text.encode(), path=Path("constants"), line=1, limits=DEFAULT_LIMITS)
    assert isinstance(data, dict), "canonical_state writes an object"
    return data
