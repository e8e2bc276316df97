"""Corpora judged by machine code on one core, against the compiled Python and two query engines.

The query engines bring the different steps of a corpus to the same machine code: each state is
paired with the one before by a window, and what is twice is dropped. They check neither the order
nor that nothing is missing, and give no verdict of a trace. Each row says CPU time, of all threads.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from benchmarks.compiled_validation import Line
from benchmarks.corpus_drivers import DIFFERENT_PAIRS, repeated, with_whole_states
from benchmarks.tlc_loader import javac, seconds_by_loader
from rocketproof.runs import simulate_trace
from rocketproof.trace_inputs import SpecChoice
from tlatrace.corpus.findings import MACHINE_CODE, Findings
from tlatrace.corpus.generate import generate_corpus, make_here
from tlatrace.corpus.kernel import KernelOptions
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.manifest import read_manifest
from tlatrace.corpus.model_source import ModelCheckerSource
from tlatrace.corpus.rows import Codes, calls_in
from tlatrace.corpus.state_texts import texts_in
from tlatrace.corpus.worker import Work
from tlatrace.judgement.specification import load_spec
from tlatrace.oracle import Model
from tlatrace.oracle.native_rows import NativeRows
from tlatrace.oracle.rows import ASK, INITIAL, READ_ONLY, RowJudge, States, Texts
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Header
from tlatrace.trace.ndjson import dump_trace
from tlatrace.values import state_from_json

RUNS = {"epoch_truncation": 600, "replica_group": 100, "lock_quorum": 100}
FEW = 40
"""Runs that are repeated most often."""
REPEATED = "epoch_truncation"
COPIES = (11, 300)
TIMES = 3
PAIRS = 8_000


def main() -> None:
    """Print µs of CPU a step, and the ratios."""
    with tempfile.TemporaryDirectory(prefix="rocketproof-bench-") as scratch:
        for protocol, runs in RUNS.items():
            once = made(Path(scratch) / protocol, protocol, runs)
            compare(protocol, once, python=True, queries=protocol == REPEATED)
        once = Path(scratch) / REPEATED
        compare(f"{REPEATED}, {COPIES[0]} times", repeated(once, COPIES[0]), queries=True)
        few = made(Path(scratch) / "few", REPEATED, FEW)
        compare(f"{REPEATED}, {COPIES[1]} times", repeated(few, COPIES[1]), queries=True)
    from_ndjson()


def made(folder: Path, protocol: str, runs: int) -> Path:
    """Make a corpus of some runs."""
    simulate = partial(simulate_trace, protocol)
    generate_corpus(make_here(2), folder, simulate, first_seed=0, runs=runs, source={})
    return folder


def model_of(folder: Path) -> Model:
    """Compile the model of a corpus."""
    manifest = read_manifest(folder)
    constants = state_from_json(dict(manifest.constants))
    return SpecChoice().model(Header(spec=str(manifest.spec), constants=constants), native=True)


def compare(name: str, folder: Path, *, python: bool = False, queries: bool = False) -> None:
    """Judge a corpus in each way."""
    model = model_of(folder)
    steps = read_manifest(folder).steps
    began = time.process_time()
    NativeRows(model)
    print(f"{name}: {steps:,} steps; machine code opened in {time.process_time() - began:.2f} s")
    seconds = cpu_seconds(lambda: judge(folder, model, native=True), times=TIMES)
    say("machine code", steps, seconds, None)
    whole = with_whole_states(folder) if queries else folder
    others: list[tuple[str, Callable[[], object], int]] = []
    if python:
        others.append(("compiled Python", lambda: judge(folder, model, native=False), 1))
    if queries:
        duck, frames = partial(by_duckdb, whole), partial(by_polars, whole)
        others.append(("DuckDB, then machine code", lambda: judge_pairs(model, duck()), TIMES))
        others.append(("Polars, then machine code", lambda: judge_pairs(model, frames()), TIMES))
    for other, call, times in others:
        say(other, steps, cpu_seconds(call, times=times), seconds)


def say(what: str, steps: int, seconds: float, machine_code: float | None) -> None:
    """Print a row."""
    ratio = "" if machine_code is None else f"   ratio: {seconds / machine_code:.2f}"
    rate = steps / seconds
    print(f"  {what:26} {seconds / steps * 1e6:7.2f} µs/step {rate:11,.0f} steps/s/core{ratio}")


def cpu_seconds(call: Callable[[], object], *, times: int) -> float:
    """Return the median CPU time of a call."""
    measured = []
    for _ in range(times):
        gc.collect()
        begin = time.process_time()
        call()
        measured.append(time.process_time() - begin)
    return statistics.median(measured)


def judge(folder: Path, model: Model, *, native: bool) -> None:
    """Judge a corpus as a worker does, in this process."""
    source = ModelCheckerSource(model.source)
    options = KernelOptions(chunk_steps=read_manifest(folder).chunk_steps)
    work = Work(source=source, options=options, rows=source if native else None)
    findings = Findings()
    for batch in LocalDriver(1, here_rows=1 << 40)(folder, work):
        findings.add(batch)
    assert not findings.bad
    assert findings.counts["rows"] > 0
    assert (findings.counts[MACHINE_CODE] > 0) is native


# ---- query engines ----


def by_duckdb(folder: Path) -> Iterator[pa.RecordBatch]:
    """Yield the different steps that DuckDB finds."""
    import duckdb  # here: it complains when workers end that have it

    with duckdb.connect(config={"threads": 1, "memory_limit": "4GB"}) as connection:
        found = connection.sql(DIFFERENT_PAIRS, params=[str(folder / "*.parquet")])
        yield from found.to_arrow_reader(PAIRS)


def by_polars(folder: Path) -> Iterable[pa.RecordBatch]:
    """Return the different steps that Polars finds."""
    import polars as pl

    steps = pl.scan_parquet(folder / "*.parquet").sort("trace_id", "step")
    pre = pl.col("state").shift(1).over("trace_id").alias("pre")
    pairs = steps.select(pre, "action", "params", pl.col("state").alias("post")).unique()
    found: Iterable[pa.RecordBatch] = pairs.collect().to_arrow().to_batches(PAIRS)
    return found


def judge_pairs(model: Model, batches: Iterable[pa.RecordBatch]) -> None:
    """Judge pairs of states by machine code."""
    rows = NativeRows(model)
    count = 0
    for batch in batches:
        count += batch.num_rows
        assert (judged_pairs(rows, batch) != ASK).all()
    assert count > 0


def judged_pairs(rows: RowJudge, batch: pa.RecordBatch) -> np.ndarray:
    """Return the answers for a batch of pairs: each is two rows, of which one is only read."""
    pre, action, params, post = [
        batch.column(name).cast(pa.string()) for name in ("pre", "action", "params", "post")
    ]
    count = batch.num_rows
    first = np.asarray(pre.is_null().to_numpy(zero_copy_only=False))
    both = texts_in(pa.concat_arrays([pre.fill_null(""), post]))
    order = np.arange(2 * count).reshape(2, count).T.ravel()
    texts = Texts(both.begins[order], both.ends[order], both.kept)
    names, codes = Codes(action), Codes(params)
    calls, numbers = calls_in(names, codes, ~first)
    roles = np.full(2 * count, READ_ONLY)
    roles[1::2][~first] = numbers
    roles[1::2][first] = INITIAL
    answers: np.ndarray = rows.judge(States(texts), roles, calls)[1::2, 0]
    return answers


# ---- NDJSON ----


def from_ndjson() -> None:
    """Judge lines of NDJSON as they are written; TLC reads them by Java, without invariants."""
    traces = [simulate_trace(REPEATED, seed) for seed in range(RUNS[REPEATED])]
    header = traces[0].header
    assert header is not None
    lines = [line for trace in traces for line in list(dump_trace(header, trace.events))[1:]]
    model = SpecChoice().model(header, native=True)
    NativeRows(model)
    seconds = cpu_seconds(lambda: judge_lines(model, lines), times=TIMES)
    print(f"{REPEATED} from NDJSON: {len(lines):,} steps")
    say("machine code", len(lines), seconds, None)
    compiler = javac()
    if compiler is None:
        print("  TLC with a Java loader: not measured, there is no JDK here")
        return
    module = find_spec_root() / REPEATED / f"{header.spec}.tla"
    spec = load_spec(module, constants=header.constants)
    by_clock, by_tlc = seconds_by_loader(spec, traces, compiler)
    say("TLC with a Java loader", len(lines), by_tlc, seconds)
    print(f"  the same by the clock      {by_clock / len(lines) * 1e6:7.2f} µs/step")


def judge_lines(model: Model, lines: list[bytes]) -> None:
    """Judge lines of traces that follow each other."""
    rows = NativeRows(model)
    decode = msgspec.json.Decoder(Line).decode
    for at in range(0, len(lines), PAIRS):
        read = [decode(line) for line in lines[at : at + PAIRS]]
        names = Codes(pa.array([line.action for line in read]))
        params = Codes(pa.array([str(line.params, "utf-8") for line in read]))
        first = names.are("Init")
        calls, numbers = calls_in(names, params, ~first)
        roles = np.full(len(read), INITIAL)
        roles[~first] = numbers
        texts = Texts.of([bytes(line.state) for line in read])
        found = rows.judge(States(texts), roles, calls)
        assert (found[:, 0] != ASK).all()


if __name__ == "__main__":
    main()
