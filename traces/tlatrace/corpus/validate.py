"""Give every trace of a corpus its verdict: a driver, the accounting around it, and TLC's word.

    steps -> driver: kernels in many workers -> findings -> TLC on a sample -> verdicts

or, where TLC is to judge all, it does so in the workers, beside the kernels.

Every row is accounted for: the rows that were read are initial, evaluated, remembered, recalled,
skipped or carried; the steps are those that the manifest counts; and the traces that are listed or
have steps are those that have a verdict. Otherwise there is no answer.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tlatrace.corpus.checker import CheckerSource, RowsSource
from tlatrace.corpus.checksums import check_files, missing_files
from tlatrace.corpus.examples import ExampleMaker, examples_of
from tlatrace.corpus.findings import MACHINE_CODE, Findings
from tlatrace.corpus.kernel import KernelOptions
from tlatrace.corpus.manifest import CorpusManifest, read_manifest
from tlatrace.corpus.recheck import Authority, recheck, rechecked_everywhere
from tlatrace.corpus.result import CorpusResult, FaultCount, Figures, Rechecked, nothing_in
from tlatrace.corpus.sample import texts_of
from tlatrace.corpus.schema import TRACES_SCHEMA, UNREADABLE, says_dead
from tlatrace.corpus.sketch import SPAN
from tlatrace.corpus.store import VerdictStore
from tlatrace.corpus.verdicts import Listed, verdicts_of
from tlatrace.corpus.worker import Work
from tlatrace.errors import CorpusError, DisagreementError, ToolError
from tlatrace.logged import Logged

__all__ = ["Driver", "Subject", "TlcRecheck", "validate_corpus"]

_NO_CHECKSUMS: Final = ("its corpus.json has no checksums: damage of its files may go unnoticed",)
_READ_COLUMNS: Final = ("trace_id", "seed", "events", "faults", "error", "header")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The model that a corpus is held against."""

    module: str
    """Name of the TLA+ module."""
    fingerprint: str
    """Of its text, configuration and compiler: the same one, the same verdicts."""
    source: CheckerSource
    rows: RowsSource | None = None
    """Machine code that is asked first."""
    actions: Sequence[str]
    """Actions that a corpus should show; those that it does not are reported."""
    variables: Sequence[str] = ()
    """Of the specification."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TlcRecheck:
    """How TLC is asked for its word."""

    authority: Authority
    """Plain data if it is to cross to workers."""
    sample: int | None
    """Accepted transitions, chosen at random; None: all, and workers ask."""


class Driver(Protocol):
    """Brings all steps of a corpus to kernels, somewhere."""

    def __call__(self, folder: Path, work: Work, /) -> Iterable[pa.RecordBatch]:
        """Yield the findings of all kernels.

        Raises:
            TlatraceError: steps could not be read, or a worker was lost for good.
        """
        ...


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
    folder: Path,
    subject: Subject,
    driver: Driver,
    *,
    tlc: TlcRecheck | None = None,
    store: Path | None = None,
    make_example: ExampleMaker | None = None,
    seed: int = 0,
    memo: int | None = None,
) -> CorpusResult:
    """Judge all traces of a corpus.

    `tlc` asks the authority as well. `store` is a folder of accepted transitions: what is in it is
    not judged again, and what is accepted now is added. `make_example` looks closely at the first
    trace of each way to diverge. `seed` chooses TLC's sample.

    Raises:
        CorpusError: no finished corpus, or a file that is damaged or cannot be read.
        DisagreementError: TLC says something else than the compiled model.
        ToolError: a worker or TLC failed, or rows were lost on the way.
    """
    if (nothing := nothing_in(folder)) is not None:
        return nothing
    manifest = read_manifest(folder)
    clock = _Clock()
    if manifest.files is not None:
        with clock.phase("check"):
            check_files(folder, manifest.files)
    with clock.phase("list"):
        listed = _listed(folder)
    sample = None if tlc is None else tlc.sample
    options = KernelOptions(chunk_steps=manifest.chunk_steps, sample=sample or 0, seed=seed)
    options = replace(options, memo=options.memo if memo is None else memo)
    work = Work(source=subject.source, options=options, rows=subject.rows)
    if tlc is not None and sample is None:
        work = replace(work, authority=tlc.authority, options=replace(options, shown=range(SPAN)))
    findings = Findings()
    with _stored(work, subject, store) as stored:
        with clock.phase("judge"):
            for batch in driver(folder, stored):
                findings.add(batch)
        figures = _figures(findings, has_machine_code=subject.rows is not None)
        rechecked = None
        if tlc is not None and sample is None:
            rechecked = rechecked_everywhere(findings)
        elif tlc is not None and sample is not None:
            with clock.phase("TLC"):
                ranks = findings.chosen(sample)
                texts = texts_of(folder, driver, options, ranks, rows=subject.rows)
                rechecked = recheck(findings, tlc.authority, texts)
    verdicts = verdicts_of(subject.module, manifest.chunk_steps, listed.traces, findings.pieces)
    with clock.phase("explain"):
        examples = examples_of(verdicts, findings, manifest.chunk_steps, make_example)
    actions = {name: count for name, count in sorted(findings.actions.items()) if count}
    return CorpusResult(
        folder=folder,
        manifest=manifest,
        verdicts=verdicts,
        figures=figures,
        actions=actions,
        unseen=tuple(sorted(set(subject.actions) - actions.keys())),
        logged=_logged(subject, figures, actions),
        faults=listed.faults,
        examples=examples,
        problems=_problems(folder, manifest, listed, figures, rechecked),
        notes=(*_NO_CHECKSUMS, *subject.notes) if manifest.files is None else subject.notes,
        rechecked=rechecked,
        seconds=clock.seconds,
    )


@contextmanager
def _stored(work: Work, subject: Subject, folder: Path | None) -> Iterator[Work]:
    """Give the work a store; if TLC disagrees, take away what the run has put there."""
    if folder is None:
        yield work
        return
    run = f"{time.time_ns():020d}-{os.getpid()}"
    store = VerdictStore(folder.resolve(), subject.fingerprint, run)
    with store.merged() as known:
        try:
            options = replace(work.options, keeps=True)
            yield replace(work, store=store, known=known, options=options)
        except DisagreementError:
            store.withdraw()
            raise


# ---- reading ----


@dataclass(slots=True)
class _ListedTraces:
    traces: list[Listed] = field(default_factory=list)
    faults: dict[str, FaultCount] = field(default_factory=dict)


def _listed(folder: Path) -> _ListedTraces:
    place = folder / "traces"
    if not place.is_dir():
        raise CorpusError(folder, "has no folder traces")
    listed = _ListedTraces()
    decode = msgspec.json.Decoder(dict[str, int]).decode
    strikes: Counter[str] = Counter()
    traces: Counter[str] = Counter()
    for file in sorted(place.glob("[!._]*.parquet")):
        for row in _rows_of(file):
            dead = says_dead(row["header"])
            listed.traces.append(
                Listed(row["trace_id"], row["seed"], row["events"], row["error"], dead)
            )
            try:
                faults = decode(row["faults"] or "{}")
            except ValueError:
                continue  # for people only
            strikes.update(faults)
            traces.update(faults.keys())
    for name in sorted(strikes):
        listed.faults[name] = FaultCount(strikes=strikes[name], traces=traces[name])
    return listed


def _rows_of(file: Path) -> list[dict[str, Any]]:
    """Read a file of traces; what it holds is of the types of the schema, and has a name.

    Raises:
        CorpusError: it cannot be read, or is another table.
    """
    try:
        table = pq.read_table(file, columns=list(_READ_COLUMNS))
        rows: list[dict[str, Any]] = table.to_pylist()
    except UNREADABLE as error:
        raise CorpusError(file, f"cannot be read: {error}") from error
    for name in _READ_COLUMNS:
        kind = TRACES_SCHEMA.field(name).type
        at = table.schema.get_field_index(name)
        if at < 0 or table.schema.field(at).type != kind:
            raise CorpusError(file, f"has no column {name} of {kind}")
    if any(row["trace_id"] is None for row in rows):
        raise CorpusError(file, "has a row without a trace_id")
    return rows


# ---- accounting ----


def _figures(findings: Findings, *, has_machine_code: bool) -> Figures:
    """Count each row once, in three ways that must agree.

    Raises:
        ToolError: rows were lost, or came twice.
    """
    counts = findings.counts
    steps = sum(piece.steps for piece in findings.pieces)
    distinct = findings.distinct()
    figures = Figures(
        steps=steps,
        initial=counts["initial"],
        evaluated=counts["evaluated"],
        remembered=counts["remembered"],
        recalled=counts["recalled"],
        skipped=counts["skipped"],
        distinct=distinct.count,
        distinct_is_exact=distinct.exact,
        by_machine_code=counts[MACHINE_CODE],
        has_machine_code=has_machine_code,
        cpu_seconds=counts["cpu_us"] / 1e6,
        worker_peak_mb=findings.peak_kb / 1024,
    )
    if counts["rows"] - counts["carried"] != steps:
        raise ToolError("corpus", f"{counts['rows']} rows were read, but traces have {steps} steps")
    if figures.accounted != steps:
        raise ToolError("corpus", f"{steps} steps were read, but {figures.accounted} are accounted")
    if sum(findings.actions.values()) != steps:
        raise ToolError("corpus", f"{steps} steps were read, but not as many have been counted")
    return figures


def _logged(subject: Subject, figures: Figures, actions: Mapping[str, int]) -> Logged:
    """Say what of the specification a corpus shows; a step that is judged has a whole state."""
    judged = figures.evaluated + figures.remembered + figures.recalled
    return Logged(
        steps=figures.steps - figures.initial,
        variables=dict.fromkeys(sorted(subject.variables), judged),
        actions={name: actions.get(name, 0) for name in sorted(subject.actions)},
    )


def _problems(
    folder: Path,
    manifest: CorpusManifest,
    listed: _ListedTraces,
    figures: Figures,
    again: Rechecked | None,
) -> tuple[str, ...]:
    problems = [f"{name} is missing" for name in missing_files(folder, manifest.files or {})]
    if len(listed.traces) != manifest.traces:
        problems.append(f"it has {len(listed.traces)} traces; its manifest says {manifest.traces}")
    if figures.steps != manifest.steps:
        problems.append(f"it has {figures.steps} steps; its manifest says {manifest.steps}")
    if again is not None and again.unanswered:
        asked = again.accepted + again.rejected + again.unanswered
        problems.append(
            f"TLC has no answer for {again.unanswered:,} of {asked:,} transitions: {again.reason}"
        )
    return tuple(problems)
