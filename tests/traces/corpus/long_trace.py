"""One trace of any length, all of whose steps are different, written piece by piece."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tlatrace.corpus.manifest import CorpusManifest, begin, finish
from tlatrace.corpus.schema import STEPS_SCHEMA, TRACES_SCHEMA, TraceRow, trace_row
from tlatrace.trace import Header

__all__ = ["write_long"]

NAME = "long"


def write_long(folder: Path, steps: int, chunk_steps: int, bad_step: int | None = None) -> None:
    """Write a corpus of one trace of the toy that counts; `bad_step` counts two."""
    begin(folder)
    for table in ("steps", "traces"):
        (folder / table).mkdir()
    path = folder / "steps" / "part-000000.parquet"
    with pq.ParquetWriter(path, STEPS_SCHEMA, compression="zstd") as writer:
        for begin_step in range(0, steps, chunk_steps):
            first = max(begin_step - 1, 0)
            numbers = range(first, min(begin_step + chunk_steps, steps))
            writer.write_table(_piece(numbers, begin_step // chunk_steps, bad_step))
    header = Header(spec="Toy", constants={"Max": steps})
    row = TraceRow(trace_id=NAME, seed=None, events=steps, header=header, error=None)
    listed = pa.Table.from_pylist([trace_row(row)], schema=TRACES_SCHEMA)
    pq.write_table(listed, folder / "traces" / "part-000000.parquet")
    manifest = CorpusManifest(
        spec="Toy",
        spec_sha256=None,
        constants={"Max": steps},
        traces=1,
        steps=steps,
        failed=0,
        chunk_steps=chunk_steps,
    )
    finish(folder, manifest)


def _piece(numbers: range, chunk: int, bad_step: int | None) -> pa.Table:
    # From the bad step on, all numbers are one too large: the step before it is not.
    values = [at + (bad_step is not None and at >= bad_step) for at in numbers]
    states = [
        f'{{"last":"{"up" if at else "none"}","x":{x}}}'
        for at, x in zip(numbers, values, strict=True)
    ]
    columns = {
        "trace_id": [NAME] * len(numbers),
        "seed": [None] * len(numbers),
        "chunk": [chunk] * len(numbers),
        "step": list(numbers),
        "action": ["Up" if at else "Init" for at in numbers],
        "params": ["[]"] * len(numbers),
        "node": [None] * len(numbers),
        "clock": [None] * len(numbers),
        "state": states,
    }
    return pa.Table.from_pydict(columns, schema=STEPS_SCHEMA)
