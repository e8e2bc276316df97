"""A corpus judged by each driver, against DuckDB with the same checker as somebody would write it.

DuckDB pairs each state with the one before by a window, keeps the different pairs, and hands them
to two processes with the compiled model. It checks neither the order nor that nothing is missing,
and gives no verdict of a trace; it is the least that any of them must do.

The corpus is some runs of the implementation, each of them once and eleven times.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rocketproof.runs import simulate_trace
from rocketproof.trace_inputs import SpecChoice
from tlatrace.corpus.checker import Checker, CheckerSource
from tlatrace.corpus.checksums import checksums_in
from tlatrace.corpus.generate import generate_corpus, make_here
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.manifest import finish, read_manifest
from tlatrace.corpus.model_source import ModelCheckerSource
from tlatrace.corpus.on_spark import ScanDriver, SortDriver
from tlatrace.corpus.processes import run_tasks
from tlatrace.corpus.schema import STEPS_SCHEMA
from tlatrace.corpus.session import open_session
from tlatrace.corpus.state_texts import StateTexts
from tlatrace.corpus.validate import Driver, Subject, validate_corpus
from tlatrace.corpus.writer import GROUP_ROWS, begin_steps
from tlatrace.judgement.transition import Allowed
from tlatrace.judgement.verdict import Conforms
from tlatrace.trace import Header
from tlatrace.values import state_from_json

PROTOCOL = "epoch_truncation"
RUNS = 300
CORES = 2
COPIES = (1, 11)
ROWS_OF_FILE = 60_000
DIFFERENT_PAIRS = """
    SELECT DISTINCT lag(state) OVER steps_of AS pre, action, params, state AS post
    FROM read_parquet(?) WINDOW steps_of AS (PARTITION BY trace_id ORDER BY step)
"""

Pair = tuple[str | None, str | None, str, str]


def main() -> None:
    """Print steps a second for each, and the ratios to DuckDB."""
    with tempfile.TemporaryDirectory(prefix="rocketproof-bench-") as scratch:
        once = Path(scratch) / "once"
        generate_corpus(
            make_here(CORES),
            once,
            partial(simulate_trace, PROTOCOL),
            first_seed=0,
            runs=RUNS,
            source={},
        )
        manifest = read_manifest(once)
        header = Header(spec=str(manifest.spec), constants=state_from_json(manifest.constants))
        model = SpecChoice().model(header)
        subject = Subject(
            module=model.module,
            fingerprint=model.fingerprint,
            source=ModelCheckerSource(model.source),
            actions=(),
        )
        began = time.monotonic()
        with open_session(CORES) as spark:
            print(f"Spark session: {time.monotonic() - began:.1f} s, not counted below")
            for copies in COPIES:
                folder = once if copies == 1 else repeated(once, copies)
                steps = read_manifest(folder).steps
                print(f"corpus, {RUNS} runs {copies} times, {steps:,} steps, {CORES} cores:")
                steps_of = with_whole_states(folder)
                baseline = timed(lambda: duck(steps_of, subject.source))  # noqa: B023  # called now
                print(f"  DuckDB and a pool (baseline): {steps / baseline:8,.0f} steps/s")
                for name, driver in (
                    ("local driver", LocalDriver(CORES)),
                    ("Spark scan", ScanDriver(spark)),
                    ("Spark sort", SortDriver(spark, steps)),
                ):
                    seconds = timed(partial(judge, folder, subject, driver))
                    print(
                        f"  {name:28}  {steps / seconds:8,.0f} steps/s   "
                        f"ratio: {baseline / seconds:.2f}"
                    )


def timed(call: Callable[[], object]) -> float:
    """Return the wall time of one call, in seconds."""
    began = time.monotonic()
    call()
    return time.monotonic() - began


def judge(folder: Path, subject: Subject, driver: Driver) -> None:
    """Judge a corpus as the command does."""
    result = validate_corpus(folder, subject, driver)
    assert isinstance(result.verdict, Conforms), result.verdict


def repeated(once: Path, copies: int) -> Path:
    """Write a corpus that has each trace several times, under other names.

    Its files have about as many rows as those of a large corpus.
    """
    folder = once.with_name(f"times-{copies}")
    manifest = read_manifest(once)
    for table in ("steps", "traces"):
        (folder / table).mkdir(parents=True)
        parts = sorted((once / table).iterdir())
        renamed = (_renamed(pq.read_table(part), copy) for copy in range(copies) for part in parts)
        for number, rows in enumerate(_together(renamed, ROWS_OF_FILE)):
            name = folder / table / f"part-{number:05d}.parquet"
            with (
                begin_steps(name, manifest.variables)
                if table == "steps"
                else pq.ParquetWriter(name, rows[0].schema, compression="zstd") as writer
            ):
                for group in _together(iter(rows), GROUP_ROWS):
                    whole = pa.concat_tables(group)
                    writer.write_table(whole, row_group_size=len(whole))
    grown = replace(manifest, traces=manifest.traces * copies, steps=manifest.steps * copies)
    finish(folder, replace(grown, files=checksums_in(folder)))
    return folder


def with_whole_states(folder: Path) -> Path:
    """Write the steps of a corpus with the text of each whole state, which is less for DuckDB."""
    other = folder.with_name(f"{folder.name}-whole")
    other.mkdir()
    for part in sorted((folder / "steps").iterdir()):
        with pq.ParquetFile(part) as file, begin_steps(other / part.name, ()) as writer:
            for number in range(file.num_row_groups):
                rows = file.read_row_group(number)
                texts = [
                    text
                    for batch in rows.to_batches()
                    for text in StateTexts(batch).made(0, batch.num_rows)
                ]
                kept = rows.select([*STEPS_SCHEMA.names[:-1]])
                writer.write_table(kept.append_column("state", pa.array(texts)), len(texts))
    return other


def _together(tables: Iterator[pa.Table], least: int) -> Iterator[list[pa.Table]]:
    """Yield some tables at a time, of at least so many rows."""
    some: list[pa.Table] = []
    for table in tables:
        some.append(table)
        if sum(map(len, some)) >= least:
            yield some
            some = []
    if some:
        yield some


def _renamed(rows: pa.Table, copy: int) -> pa.Table:
    names = pc.binary_join_element_wise(rows.column("trace_id"), f"copy{copy}", "-")
    return rows.set_column(0, "trace_id", names.cast(pa.string()))


def duck(folder: Path, source: CheckerSource) -> None:
    """Judge the different pairs that DuckDB finds in some files of steps."""
    import duckdb  # here: the workers import this module, and DuckDB complains when they end

    connection = duckdb.connect(config={"threads": CORES, "memory_limit": "4GB"})
    try:
        pairs = connection.sql(DIFFERENT_PAIRS, params=[str(folder / "*.parquet")])
        tasks = list(_tasks(pairs.to_arrow_reader(8_192)))
    finally:
        connection.close()
    found = run_tasks(tasks, _JudgePairs(source), cores=CORES, label="pairs")
    assert sum(found) == sum(map(len, tasks)) > 0


def _tasks(reader: pa.RecordBatchReader) -> Iterator[list[Pair]]:
    for batch in reader:
        columns = [batch.column(name).to_pylist() for name in ("pre", "action", "params", "post")]
        yield list(zip(*columns, strict=True))


@dataclass(frozen=True, slots=True)
class _JudgePairs:
    source: CheckerSource

    def __call__(self, pairs: list[Pair]) -> int:
        checker = _checker(self.source)
        good = 0
        for pre, action, params, post in pairs:
            state = checker.state(post)
            before = None if pre is None else checker.state(pre)
            allowed = isinstance(checker.step(before, action, params, state), Allowed)
            good += allowed and checker.invariants(state) == ((), None)
        return good


@lru_cache(maxsize=1)
def _checker(source: CheckerSource) -> Checker[object]:
    return source.open()


if __name__ == "__main__":
    print(f"cores of this machine: {os.cpu_count()}")
    main()
