"""The drivers on Spark: for corpora that are on many machines, or in no order.

`ScanDriver` gives splits to tasks, which read them as a worker of this machine does: no step goes
through the JVM, and nothing is exchanged. `SortDriver` takes steps in any order, from any writer:
it carries the last row of each full chunk to the next one, gathers each piece in one task, and
sorts it there.

Both give the kernel to `mapInArrow` and use the DataFrame API only, so they run over Spark Connect.
A task that is done again, because its executor was lost, begins with a kernel that remembers
nothing, and gives the same findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tlatrace.corpus.findings import FINDING_COLUMNS
from tlatrace.corpus.generate import PartMaker
from tlatrace.corpus.manifest import read_manifest
from tlatrace.corpus.processes import quiet_collector
from tlatrace.corpus.progress import show_progress
from tlatrace.corpus.schema import SCANNED, STEPS_COLUMNS, column_of
from tlatrace.corpus.session import path_to_read, spark_errors
from tlatrace.corpus.shipping import VERSIONS_KEY, MapBatches, guarded
from tlatrace.corpus.splits import Split, batches_of, splits_of
from tlatrace.corpus.worker import Work
from tlatrace.corpus.writer import Part
from tlatrace.errors import CorpusError, ToolError

__all__ = ["STEPS_KEY", "ScanDriver", "SortDriver", "SparkParts"]

_PARTS: Final = msgspec.json.Decoder(tuple[Part, ...])
_STEPS_PER_TASK: Final = 250_000
STEPS_KEY: Final = "spark.rocketproof.stepsPerTask"
"""A setting of ours: how many steps a task of a scan has, if there are so many."""
_MAX_TASKS: Final = 100_000
"""The number of steps is what a manifest claims."""
_TASKS: Final = 64
"""Of a large scan; each begins with a kernel that remembers nothing."""


@dataclass(frozen=True, slots=True)
class _Task:
    """What `mapInArrow` calls."""

    work: Work

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        with quiet_collector():
            yield from self.work.judge(self.work.fresh(), batches, f"spark-{number:06d}")


@dataclass(frozen=True, slots=True)
class _SplitTask:
    """Judges the splits of the tasks whose numbers it gets."""

    work: Work
    tasks: tuple[tuple[Split, ...], ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with quiet_collector():
            for batch in batches:
                for number in batch.column("id").to_pylist():
                    steps = chain.from_iterable(map(batches_of, self.tasks[number]))
                    yield from self.work.judge(self.work.fresh(), steps, f"spark-{number:06d}")


@dataclass(frozen=True, slots=True)
class ScanDriver:
    """Judges a sorted corpus on Spark, whose machines all see its folder."""

    spark: SparkSession

    def __call__(self, folder: Path, work: Work) -> Iterator[pa.RecordBatch]:
        """Yield the findings of all steps.

        Raises:
            CorpusError: there is no folder of steps, or a file in it is no file of steps.
            ToolError: Spark failed, or its setting `STEPS_KEY` is no number.
        """
        splits = splits_of(folder.resolve())
        least = _steps_per_task(self.spark)
        tasks = _together(splits, max(least, sum(split.rows for split in splits) // _TASKS))
        numbers = self.spark.range(0, len(tasks), 1, max(len(tasks), 1))
        yield from _judged(self.spark, numbers, _SplitTask(work, tasks), ["judging"])


@dataclass(frozen=True, slots=True)
class SortDriver:
    """Judges the steps of a corpus on Spark, in whatever order they are."""

    spark: SparkSession
    steps: int
    """About how many there are."""

    def __call__(self, folder: Path, work: Work) -> Iterator[pa.RecordBatch]:
        """Yield the findings of all steps.

        Raises: as `ScanDriver`.
        """
        tasks = min(max(-(-self.steps // _STEPS_PER_TASK), 2), _MAX_TASKS)
        rows = _carried(_steps(self.spark, folder), work.options.chunk_steps)
        rows = rows.repartition(tasks, "trace_id", "chunk")
        rows = rows.sortWithinPartitions("trace_id", "chunk", "step")
        yield from _judged(self.spark, rows, _Task(work), ["sorting", "judging"])


@dataclass(frozen=True, slots=True)
class SparkParts:
    """Makes the parts of a corpus in Spark tasks, which must see its folder."""

    spark: SparkSession

    def __call__(
        self, maker: PartMaker, tasks: Sequence[tuple[int, range]], label: str, /
    ) -> Iterator[tuple[Part, ...]]:
        """Yield what was written.

        Raises:
            ToolError: Spark failed.
        """
        numbers = self.spark.range(0, len(tasks), 1, max(len(tasks), 1))
        run = _MakeParts(maker, tuple(tasks))
        with spark_errors(), show_progress(self.spark, [label]):
            table = numbers.mapInArrow(_guarded(self.spark, run), "part binary").toArrow()
        for text in table.column("part").to_pylist():
            yield _PARTS.decode(text)


@dataclass(frozen=True, slots=True)
class _MakeParts:
    maker: PartMaker
    tasks: tuple[tuple[int, range], ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            parts = [self.maker(self.tasks[at]) for at in batch.column("id").to_pylist()]
            texts = pa.array([msgspec.json.encode(part) for part in parts], type=pa.binary())
            yield pa.RecordBatch.from_arrays([texts], names=["part"])


def _steps_per_task(spark: SparkSession) -> int:
    given = spark.conf.get(STEPS_KEY, None)
    if given is None:
        return _STEPS_PER_TASK
    if not given.isdecimal():
        raise ToolError("Spark", f"{STEPS_KEY} is {given!r}, not a number of steps")
    return int(given)


def _together(splits: Iterable[Split], least: int) -> tuple[tuple[Split, ...], ...]:
    """Put splits together that have so many rows."""
    tasks: list[tuple[Split, ...]] = []
    some: list[Split] = []
    for split in splits:
        some.append(split)
        if sum(one.rows for one in some) >= least:
            tasks.append(tuple(some))
            some = []
    return (*tasks, tuple(some)) if some else tuple(tasks)


def _carried(steps: DataFrame, chunk_steps: int) -> DataFrame:
    """Give the last row of each full chunk to the next one, whether or not the writer has."""
    full = (F.col("step") + 1) % chunk_steps == 0
    mine = F.floor(F.col("step") / chunk_steps).cast("int")
    is_carried = full & (F.col("chunk") == mine + 1)
    own = steps.where(~F.coalesce(is_carried, F.lit(False)))
    chunks = F.when(full & (F.col("chunk") == mine), F.array(mine, mine + 1))
    return own.withColumn("chunk", F.explode(chunks.otherwise(F.array("chunk"))))


def _steps(spark: SparkSession, folder: Path) -> DataFrame:
    place = folder / "steps"
    if not place.is_dir():
        raise CorpusError(folder, "has no folder steps")
    columns = [column_of(name) for name in read_manifest(folder).variables]
    # With its schema given, a folder without a file can be read, too.
    schema = ", ".join([*STEPS_COLUMNS, *[f"{name} string" for name in columns]])
    steps = spark.read.schema(schema).parquet(path_to_read(place))
    return steps.select(*SCANNED, *columns)


def _judged(
    spark: SparkSession, given: DataFrame, run: MapBatches, labels: list[str]
) -> Iterator[pa.RecordBatch]:
    with spark_errors(), show_progress(spark, labels):
        task = _guarded(spark, run)
        table = given.mapInArrow(task, ", ".join(FINDING_COLUMNS)).toArrow()
    yield from table.to_batches()


def _guarded(spark: SparkSession, task: MapBatches) -> MapBatches:
    """Let a task run only where our code is this code, if it has gone to other machines."""
    versions = spark.conf.get(VERSIONS_KEY, None)
    return task if versions is None else guarded(task, versions)
