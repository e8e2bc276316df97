"""The two tables of a corpus, version 1, as Parquet (zstd).

`steps/`, one row an event, whole traces in one file with one row group, sorted by trace and step:

| column   | type    | meaning                                                             |
|----------|---------|---------------------------------------------------------------------|
| trace_id | string  | names the trace in its corpus                                       |
| seed     | int64?  | the seed of the run                                                 |
| chunk    | int32   | step div 65536                                                      |
| step     | int64   | 0, 1, 2, ... in each trace                                          |
| action   | string? | TLA+ operator, "Init" at step 0, null if unknown                    |
| params   | string  | canonical JSON array                                                |
| node     | string? | for people                                                          |
| clock    | int64?  | for people                                                          |
| state    | string? | canonical JSON object of the whole state; null if not all was seen  |

`traces/`, one row a trace, sorted by trace:

| column      | type    | meaning                                                          |
|-------------|---------|------------------------------------------------------------------|
| trace_id    | string  |                                                                  |
| seed        | int64?  |                                                                  |
| spec        | string? | TLA+ module; null if there is no trace                           |
| spec_sha256 | string? | of the module's bytes                                            |
| constants   | string? | canonical JSON object                                            |
| events      | int64   | rows of this trace in `steps`                                    |
| header      | string? | the header line of the trace format                              |
| faults      | string  | JSON object: kind of fault -> how often it struck                |
| error       | string? | why there is no trace                                            |

The chunk keeps room for traces that are too long for one task; nothing cuts them today.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from tlatrace.trace import Event, Header, Trace
from tlatrace.trace.ndjson import header_line
from tlatrace.values import Json, canonical, canonical_state

__all__ = [
    "CHUNK_STEPS",
    "ROW_COLUMNS",
    "ROW_SCHEMA",
    "STEPS_COLUMNS",
    "TRACES_COLUMNS",
    "TraceRow",
    "failure_rows",
    "fault_counts",
    "rows_of",
    "trace_row",
]

CHUNK_STEPS: Final = 1 << 16

STEPS_COLUMNS: Final = (
    "trace_id string",
    "seed long",
    "chunk int",
    "step long",
    "action string",
    "params string",
    "node string",
    "clock long",
    "state string",
)
"""As Spark spells them."""

TRACES_COLUMNS: Final = (
    "trace_id string",
    "seed long",
    "spec string",
    "spec_sha256 string",
    "constants string",
    "events long",
    "header string",
    "faults string",
    "error string",
)

ROW_COLUMNS: Final = tuple(dict.fromkeys([*STEPS_COLUMNS, *TRACES_COLUMNS]))
"""Both tables in one stream, so that a trace is made once: a row with a step is a step."""

_ARROW: Final = {"string": pa.string(), "long": pa.int64(), "int": pa.int32()}
ROW_SCHEMA: Final = pa.schema([(name, _ARROW[kind]) for name, kind in map(str.split, ROW_COLUMNS)])


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """A row of `traces`."""

    trace_id: str
    seed: int | None
    events: int
    header: Header | None
    error: str | None


def trace_row(row: TraceRow) -> dict[str, str | int | None]:
    """Spell a row of `traces` for Arrow."""
    header = row.header
    return {
        "trace_id": row.trace_id,
        "seed": row.seed,
        "spec": header.spec if header else None,
        "spec_sha256": header.spec_sha256 if header else None,
        "constants": canonical_state(header.constants) if header else None,
        "events": row.events,
        "header": header_line(header) if header else None,
        "faults": json.dumps(fault_counts(header.meta.get("faults") if header else None)),
        "error": row.error,
    }


def fault_counts(faults: Json) -> dict[str, int]:
    """Read the faults in a header's meta: an object of counts, or a list of kinds."""
    match faults:
        case dict():
            return {name: n for name, n in faults.items() if isinstance(n, int) and n > 0}
        case list():
            names = [name for name in faults if isinstance(name, str)]
            return {name: names.count(name) for name in dict.fromkeys(names)}
        case _:
            return {}


def rows_of(trace_id: str, seed: int | None, trace: Trace, batch: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a trace, its row of `traces` last, in Arrow batches of at most `batch`.

    Raises:
        ValueFormatError: a value that has no canonical text.
    """
    rows: list[dict[str, str | int | None]] = []
    for event in trace.events:
        rows.append(_step_row(trace_id, seed, event))
        if len(rows) == batch:
            yield _batch(rows)
            rows = []
    if trace.header is not None and trace.header.seed is not None:
        seed = trace.header.seed
    row = TraceRow(
        trace_id=trace_id, seed=seed, events=len(trace.events), header=trace.header, error=None
    )
    yield _batch([*rows, trace_row(row)])


def failure_rows(trace_id: str, seed: int | None, reason: str) -> pa.RecordBatch:
    """Make the one row of a trace that could not be made or read."""
    row = TraceRow(trace_id=trace_id, seed=seed, events=0, header=None, error=reason)
    return _batch([trace_row(row)])


def _step_row(trace_id: str, seed: int | None, event: Event) -> dict[str, str | int | None]:
    return {
        "trace_id": trace_id,
        "seed": seed,
        "chunk": event.step // CHUNK_STEPS,
        "step": event.step,
        "action": event.action,
        "params": canonical(event.params),
        "node": event.node,
        "clock": event.clock,
        "state": None if event.state is None else canonical_state(event.state),
    }


def _batch(rows: Sequence[dict[str, str | int | None]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=ROW_SCHEMA)
