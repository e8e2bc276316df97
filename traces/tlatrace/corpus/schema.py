"""The two tables of a corpus, versions 2 to 4, as Parquet (zstd).

`steps/`, one row an event, sorted by trace, chunk and step. The rows of a trace with one chunk are
a piece: they are in one row group, one after the other. The pieces of a long trace are judged
apart, so each piece but the first begins with a copy of the row before it, with the chunk of the
piece: the carried row. It is no step, and whoever reads it checks that it is a copy.

| column   | type    | meaning                                                             |
|----------|---------|---------------------------------------------------------------------|
| trace_id | string  | names the trace in its corpus                                       |
| seed     | int64?  | the seed of the run                                                 |
| chunk    | int32   | step div the manifest's chunk_steps; of a carried row one more      |
| step     | int64   | 0, 1, 2, ... in each trace                                          |
| action   | string? | TLA+ operator, "Init" at step 0, null if unknown                    |
| params   | string  | canonical JSON array                                                |
| node     | string? | for people                                                          |
| clock    | int64?  | for people                                                          |
| state    | string? | canonical JSON object of the whole state; null where the variables |
|          |         | have columns, and if not all was seen                              |
| state_x  | string? | canonical JSON value of the variable x; one for each variable       |

Version 4 has the columns of variables, the older ones have all states whole. A row with all of
these columns has the state that they say, written together, unless it has a whole one.

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
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from tlatrace.trace import INIT, Header
from tlatrace.trace.ndjson import header_line
from tlatrace.values import Json, canonical_state

__all__ = [
    "CHUNK_BOUNDS",
    "CHUNK_STEPS",
    "NO_NAME",
    "SCANNED",
    "STATE",
    "STEPS_COLUMNS",
    "STEPS_SCHEMA",
    "TRACES_COLUMNS",
    "TRACES_SCHEMA",
    "UNREADABLE",
    "TraceRow",
    "column_of",
    "fault_counts",
    "fault_in_row",
    "first_row",
    "says_dead",
    "steps_schema",
    "trace_row",
    "variable_columns",
    "variables_with_columns",
]

CHUNK_STEPS: Final = 1 << 16
"""Steps in a piece of a corpus that is written today."""

CHUNK_BOUNDS: Final = (4, 1 << 20)
"""Least and most steps in a piece: each has a row of its own, and all are in one row group."""

UNREADABLE: Final = (OSError, UnicodeDecodeError, pa.ArrowException)
"""What Arrow raises where a file cannot be read."""

STATE: Final = "state"
"""The column of whole states."""

SCANNED: Final = ("trace_id", "chunk", "step", "action", "params", STATE)
"""The columns of `steps` that a verdict depends on, beside those of variables."""

_OF_VARIABLE: Final = "state_"
_WITH_COLUMN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}", re.ASCII)

NO_NAME: Final = "(no name)"
"""Names the trace of rows that have no trace id."""

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

_NOT_CONVERGED: Final = re.compile(r'"converged"\s*:\s*false')
"""Few headers are read, and nobody waits for the others."""

_ARROW: Final = {"string": pa.string(), "long": pa.int64(), "int": pa.int32()}


def _schema(columns: Sequence[str]) -> pa.Schema:
    return pa.schema([(name, _ARROW[kind]) for name, kind in map(str.split, columns)])


STEPS_SCHEMA: Final = _schema(STEPS_COLUMNS)
TRACES_SCHEMA: Final = _schema(TRACES_COLUMNS)


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


def variables_with_columns(names: Iterable[str]) -> tuple[str, ...]:
    """Return variables in order; none, where a column of one would be taken for that of another.

    Engines of queries do not tell large letters from small ones.
    """
    variables = sorted(names)
    if not all(_WITH_COLUMN.fullmatch(name) for name in variables):
        return ()
    if len({name.lower() for name in variables}) < len(variables):
        return ()
    return tuple(variables)


def column_of(variable: str) -> str:
    """Return the name of the column of a variable."""
    return _OF_VARIABLE + variable


def variable_columns(names: Iterable[str]) -> dict[str, str]:
    """Return the columns of variables among some columns, by the names of these variables."""
    columns = sorted(name for name in names if name.startswith(_OF_VARIABLE))
    return {name.removeprefix(_OF_VARIABLE): name for name in columns}


def steps_schema(variables: Iterable[str]) -> pa.Schema:
    """Return the schema of `steps` with the columns of some variables."""
    own = [pa.field(column_of(name), pa.string()) for name in variables]
    return pa.schema([*STEPS_SCHEMA, *own])


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


def says_dead(header: str | None) -> bool:
    """Tell whether a header's meta says that the run did not converge, though it could."""
    if header is None or _NOT_CONVERGED.search(header) is None:
        return False
    try:
        data = json.loads(header)
    except (ValueError, RecursionError):
        return False  # whoever reads the trace says so
    meta = data.get("meta") if isinstance(data, dict) else None
    return (
        isinstance(meta, dict)
        and meta.get("converged") is False
        and "unavailable_because" not in meta
    )


def first_row(chunk: int, chunk_steps: int) -> int:
    """Return the step of a piece's first row: the carried one, or step 0."""
    return chunk * chunk_steps - 1 if chunk else 0


def fault_in_row(step: object, expected: int, action: object, params: object, state: object) -> str:
    """Say why a row is not the next one of its piece."""
    if not isinstance(step, int) or not isinstance(params, str):
        return f"a row after step {expected - 1} lacks a field"
    if step != expected:
        if expected == 0:
            return f"its rows begin with step {step}: the steps before are missing"
        if step == expected - 1:
            return f"step {step} is there twice"
        if step < expected:
            return f"step {step} comes after step {expected - 1}: the rows are out of order"
        return f"step {step} comes after step {expected - 1}: steps are missing"
    if state is None:
        return f"step {step} has not the whole state: a corpus cannot be searched"
    return f'step {step} has the action {action}; "{INIT}" is for step 0, and only there'
