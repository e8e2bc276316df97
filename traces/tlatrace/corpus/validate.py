"""Give every trace of a corpus its verdict: the Spark plan, and the accounting around it.

    steps -> scan (pairs, counts) -> exchange by fingerprint -> TLC on distinct pairs -> bad pairs
    steps -> locate the bad pairs -> the first bad step of each trace      (only if there are any)

The scan reads whole files of sorted traces and needs no exchange. One does follow it, so that equal
pairs meet in one task, and every distinct pair is judged once; what comes back is small.

Every row is accounted for: the steps of the manifest are those that were read, each is initial,
evaluated or skipped, every pair that was sent was judged or is a repetition, and the traces that
are listed or have steps are those that have a verdict. Otherwise there is no answer.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tlatrace.corpus.examples import ExampleMaker, examples_of
from tlatrace.corpus.judging import Judge, JudgeKernel
from tlatrace.corpus.manifest import CorpusManifest, read_manifest
from tlatrace.corpus.progress import show_progress
from tlatrace.corpus.result import CorpusResult, FaultCount, Figures, nothing_in
from tlatrace.corpus.scan import (
    FLOW_COLUMNS,
    LOCATED_COLUMNS,
    SCANNED,
    Bad,
    LocateKernel,
    ScanKernel,
)
from tlatrace.corpus.schema import STEPS_COLUMNS, TRACES_COLUMNS
from tlatrace.corpus.session import path_to_read, spark_errors
from tlatrace.corpus.verdicts import Listed, Located, Scanned, verdicts_of
from tlatrace.errors import CorpusError, ToolError
from tlatrace.validate.spec import SpecUnderTest, differing_constants, module_sha256
from tlatrace.values import state_from_json

__all__ = ["validate_corpus"]

_STEPS_PER_TASK: Final = 25_000
_BATCH: Final = 25_000
"""Transitions for one TLC: more than a task usually has, so that few pay for a second start."""

_READ_COLUMNS: Final = ("trace_id", "seed", "events", "faults", "error")


@dataclass(slots=True)
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = time.monotonic() - started


def validate_corpus(
    spark: SparkSession,
    folder: Path,
    spec: SpecUnderTest,
    judge: Judge,
    *,
    make_example: ExampleMaker | None = None,
    batch_size: int = _BATCH,
) -> CorpusResult:
    """Judge all traces of a corpus against a specification.

    `make_example` is asked to look closely at the first trace of each way to diverge.

    Raises:
        CorpusError: no finished corpus, or recorded with other constants than those of `spec`.
        SpecError: TLC refuses the specification itself.
        ToolError: Spark or TLC failed, or rows were lost on the way.
    """
    nothing = nothing_in(folder)
    if nothing is not None:
        return nothing
    manifest = read_manifest(folder)
    _check_constants(folder, manifest, spec)
    clock = _Clock()
    with spark_errors():
        with clock.phase("list"):
            listed = _listed(spark, folder)
        with clock.phase("scan and judge"), show_progress(spark, ["pairing states", "TLC judges"]):
            flow = _judge(spark, folder, manifest, judge, batch_size)
        with clock.phase("locate"), show_progress(spark, ["finding the steps"]):
            located = _locate(spark, folder, flow.bad) if flow.bad else []
    figures = _figures(flow)
    verdicts = verdicts_of(spec, listed.traces, flow.scanned, located, flow.bad)
    with clock.phase("explain"):
        examples = examples_of(verdicts, located, flow.bad, make_example)
    return CorpusResult(
        folder=folder,
        manifest=manifest,
        verdicts=verdicts,
        figures=figures,
        actions=dict(sorted(flow.actions.items())),
        unseen=tuple(sorted(spec.places.keys() - flow.actions.keys())),
        faults=listed.faults,
        examples=examples,
        problems=_problems(manifest, listed, figures),
        notes=_notes(manifest, spec),
        seconds={**clock.seconds, "TLC and packing (all tasks)": flow.judge_seconds},
    )


def _check_constants(folder: Path, manifest: CorpusManifest, spec: SpecUnderTest) -> None:
    differing = differing_constants(spec, state_from_json(dict(manifest.constants)))
    if differing:
        reason = f"was recorded with another value of the constant {differing[0]}"
        raise CorpusError(folder, f"{reason} than the specification has here")


def _notes(manifest: CorpusManifest, spec: SpecUnderTest) -> tuple[str, ...]:
    if manifest.spec_sha256 in (None, module_sha256(spec.module)):
        return ()
    return (f"{spec.declarations.module} is not the same text as when the corpus was recorded",)


# ---- reading ----


@dataclass(slots=True)
class _ListedTraces:
    traces: list[Listed] = field(default_factory=list)
    faults: dict[str, FaultCount] = field(default_factory=dict)


def _listed(spark: SparkSession, folder: Path) -> _ListedTraces:
    table = _read(spark, folder, "traces", TRACES_COLUMNS).select(*_READ_COLUMNS).toArrow()
    listed = _ListedTraces()
    decode = msgspec.json.Decoder(dict[str, int]).decode
    strikes: Counter[str] = Counter()
    traces: Counter[str] = Counter()
    for batch in table.to_batches():
        for row in batch.to_pylist():
            listed.traces.append(Listed(row["trace_id"], row["seed"], row["events"], row["error"]))
            try:
                faults = decode(row["faults"] or "{}")
            except msgspec.MsgspecError:
                continue  # for people only
            strikes.update(faults)
            traces.update(faults.keys())
    for name in sorted(strikes):
        listed.faults[name] = FaultCount(strikes=strikes[name], traces=traces[name])
    return listed


def _read(spark: SparkSession, folder: Path, table: str, columns: tuple[str, ...]) -> DataFrame:
    path = folder / table
    if not path.is_dir():
        raise CorpusError(folder, f"has no folder {table}")
    # With its schema given, a table without a row or without a file can be read, too.
    return spark.read.schema(", ".join(columns)).parquet(path_to_read(path))


# ---- judging ----


@dataclass(slots=True)
class _Flow:
    """What came out of the scan and the judge."""

    scanned: list[Scanned] = field(default_factory=list)
    bad: dict[bytes, Bad] = field(default_factory=dict)
    actions: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def judge_seconds(self) -> float:
        return self.counts["milliseconds"] / 1000


def _judge(
    spark: SparkSession, folder: Path, manifest: CorpusManifest, judge: Judge, batch_size: int
) -> _Flow:
    steps = _read(spark, folder, "steps", STEPS_COLUMNS).select(*SCANNED)
    columns = ", ".join(FLOW_COLUMNS)
    table = (
        steps.mapInArrow(ScanKernel(), columns)
        .repartition(_tasks(spark, manifest.steps), "key")
        .mapInArrow(JudgeKernel(judge, batch_size), columns)
        .toArrow()
    )
    return _read_flow(table)


def _tasks(spark: SparkSession, steps: int) -> int:
    """Choose the number of judging tasks: a multiple of the cores, each with one TLC's work."""
    cores = max(int(spark.conf.get("spark.sql.shuffle.partitions") or 2) // 2, 1)
    rounds = -(-steps // (_STEPS_PER_TASK * cores))
    return max(rounds, 1) * cores


def _read_flow(table: pa.Table) -> _Flow:
    flow = _Flow()
    for batch in table.to_batches():
        for row in batch.to_pylist():
            match row["kind"]:
                case "trace":
                    flow.scanned.append(
                        Scanned(row["name"], row["count"], row["step"], row["detail"])
                    )
                case "bad":
                    flow.bad[row["key"]] = Bad(row["name"], row["detail"])
                case "action":
                    flow.actions[row["name"]] = flow.actions.get(row["name"], 0) + row["count"]
                case "error":
                    raise ToolError("TLC", f"{row['name']}: {row['detail']}")
                case count_of:
                    flow.counts[count_of] += row["count"]
    return flow


def _figures(flow: _Flow) -> Figures:
    """Count each row once, and the pairs from end to end.

    Raises:
        ToolError: rows were lost, or came twice.
    """
    counts = flow.counts
    steps = sum(trace.rows for trace in flow.scanned)
    pairs = sum(trace.pairs for trace in flow.scanned)
    initial = sum(trace.pairs > 0 for trace in flow.scanned)
    if counts["paired"] != pairs:
        raise ToolError("Spark", f"{counts['paired']} pairs were found, but traces have {pairs}")
    arrived = counts["judged"] + counts["dropped"]
    if counts["sent"] != arrived:
        raise ToolError("Spark", f"{counts['sent']} pairs were sent, but {arrived} arrived")
    if sum(flow.actions.values()) != steps:
        raise ToolError("Spark", f"{steps} steps were read, but not as many have been counted")
    return Figures(
        steps=steps,
        initial=initial,
        evaluated=pairs - initial,
        skipped=steps - pairs,
        distinct=counts["judged"],
    )


def _problems(manifest: CorpusManifest, listed: _ListedTraces, figures: Figures) -> tuple[str, ...]:
    problems = []
    if len(listed.traces) != manifest.traces:
        problems.append(f"it has {len(listed.traces)} traces; its manifest says {manifest.traces}")
    if figures.steps != manifest.steps:
        problems.append(f"it has {figures.steps} steps; its manifest says {manifest.steps}")
    return tuple(problems)


def _locate(spark: SparkSession, folder: Path, bad: Mapping[bytes, Bad]) -> list[Located]:
    steps = _read(spark, folder, "steps", STEPS_COLUMNS).select(*SCANNED)
    table = steps.mapInArrow(LocateKernel(dict(bad)), ", ".join(LOCATED_COLUMNS)).toArrow()
    return [Located(**row) for batch in table.to_batches() for row in batch.to_pylist()]
