"""Corpora of the toy, made and looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from tests.traces.corpus.toy import record_badly
from tlatrace.corpus.checksums import checksums_in
from tlatrace.corpus.generate import generate_corpus, make_here
from tlatrace.corpus.manifest import finish, read_manifest
from tlatrace.trace import Trace

RUNS: Final = 60
CHUNK: Final = 5
HERE: Final = make_here(1)


def make(folder: Path, recorder: Callable[[int], Trace], first_seed: int = 100) -> None:
    generate_corpus(
        HERE,
        folder,
        recorder,
        first_seed=first_seed,
        runs=RUNS,
        source={"kind": "toy"},
        reproduce="simulate toy --seed {seed}",
        chunk_steps=CHUNK,
    )


def seal(folder: Path) -> None:
    """Give the files of a corpus their checksums again: only what is in them is damaged."""
    finish(folder, replace(read_manifest(folder), files=checksums_in(folder)))


def record_mixed(seed: int) -> Trace:
    """Record runs of many lengths, some of them bad."""
    trace = record_badly(seed)
    length = (1, 4, 5, 6, 10, 11, 12, 12)[seed % 8]
    return Trace(header=trace.header, events=trace.events[:length])


def content(folder: Path, table: str) -> pa.Table:
    rows = pq.read_table(folder / table)
    assert isinstance(rows, pa.Table)
    keys = ("trace_id", "chunk", "step") if table == "steps" else ("trace_id",)
    return rows.sort_by([(key, "ascending") for key in keys])
