"""The kernels that read sorted steps: pair each state with the one before it, and find bad pairs.

Both take and give Arrow batches and know nothing of Spark. They carry the last state of the trace
from row to row and from batch to batch, so where a batch ends makes no difference, and they believe
nothing about the order: a trace must have the steps 0, 1, 2, ... in this order, in one piece. What
is wrong ends the pairing of that trace there, and is told; its rows are still counted.

The fingerprint of a pair is BLAKE2b-128 over (state before, action, params, state after) as
texts: it is computed here and never read from a corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, Literal

import pyarrow as pa

from tlatrace.trace import INIT

__all__ = [
    "FLOW_COLUMNS",
    "FLOW_SCHEMA",
    "LOCATED_COLUMNS",
    "SCANNED",
    "Bad",
    "BadStatus",
    "LocateKernel",
    "ScanKernel",
    "Step",
    "fingerprint",
]

KEY_BYTES: Final = 16

FLOW_COLUMNS: Final = (
    "kind string",
    "key binary",
    "name string",
    "step long",
    "count long",
    "pre string",
    "action string",
    "params string",
    "post string",
    "detail string",
)
"""One stream from the scan to the judge to the driver; `kind` says which fields a row has.

| kind    | key         | name      | step       | count          | detail              |
|---------|-------------|-----------|------------|----------------|---------------------|
| pair    | fingerprint |           |            |                | (pre ... post)      |
| trace   | of its id   | trace id  | of problem | rows           | problem             |
| paired  | 0           |           |            | pairs found    |                     |
| sent    | 0           |           |            | pairs sent     |                     |
| action  | 0           | action    |            | rows           |                     |
| bad     | fingerprint | status    |            |                | why                 |
| judged  |             |           |            | distinct pairs |                     |
| dropped |             |           |            | repeated pairs |                     |
| milliseconds |        |           |            | of the judge   |                     |
| error   |             | class     |            |                | message             |
"""

LOCATED_COLUMNS: Final = (
    "trace_id string",
    "step long",
    "key binary",
    "action string",
    "params string",
    "pre string",
    "post string",
)

_ARROW: Final = {
    "string": pa.string(),
    "long": pa.int64(),
    "binary": pa.binary(),
}


def _schema(columns: Iterable[str]) -> pa.Schema:
    return pa.schema([(name, _ARROW[kind]) for name, kind in map(str.split, columns)])


FLOW_SCHEMA: Final = _schema(FLOW_COLUMNS)
_LOCATED_SCHEMA: Final = _schema(LOCATED_COLUMNS)

SCANNED: Final = ("trace_id", "step", "action", "params", "state")
"""The columns of `steps` that the kernels read."""

_BATCH_ROWS: Final = 2_000
_BATCH_CHARACTERS: Final = 16 << 20
_NO_KEY: Final = bytes(KEY_BYTES)
_SLICE: Final = 512
_MAX_EXAMPLES: Final = 40

BadStatus = Literal["refused", "violated", "failed"]

FlowRow = dict[str, "str | int | bytes | None"]


def fingerprint(pre: str | None, action: str | None, params: str, post: str) -> bytes:
    """Return 16 bytes that are equal for equal pairs (and, but for 2^-64, for those only)."""
    return _fingerprint(None if pre is None else _digest(pre), action, params, _digest(post))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


def _fingerprint(pre: bytes | None, action: str | None, params: str, post: bytes) -> bytes:
    # The digests have one length each, and no canonical text or name holds a control character.
    name = "\1" if action is None else action
    middle = f"\0{name}\0{params}\0".encode("utf-8", "surrogatepass")
    return blake2b((pre or b"") + middle + post, digest_size=KEY_BYTES).digest()


@dataclass(frozen=True, slots=True)
class Step:
    """A row of `steps`, with the row before it."""

    trace_id: str
    step: int
    action: str | None
    params: str
    pre: str | None
    post: str
    key: bytes


@dataclass(slots=True)
class _Carried:
    """The trace that is being read."""

    trace_id: str
    rows: int = 0
    pairs: int = 0
    state: str | None = None
    digest: bytes | None = None
    problem: str | None = None
    problem_step: int = 0

    def refuse(self, step: int, problem: str) -> None:
        self.problem, self.problem_step = problem, step


@dataclass(slots=True)
class _Reader:
    """Reads rows in order; `closed` are the traces that ended since the last look."""

    current: _Carried | None = None
    closed: list[_Carried] = field(default_factory=list)
    actions: Counter[str] = field(default_factory=Counter)

    def steps(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Step]:
        for batch in batches:
            # Short slices: a whole batch as Python objects makes the collector slow.
            for at in range(0, batch.num_rows, _SLICE):
                columns = [batch.column(name)[at : at + _SLICE].to_pylist() for name in SCANNED]
                for row in zip(*columns, strict=True):
                    step = self._row(*row)
                    if step is not None:
                        yield step
        self._close()

    def _close(self) -> None:
        if self.current is not None:
            self.current.state = None
            self.closed.append(self.current)
        self.current = None

    def _row(
        self,
        trace_id: str,
        number: int | None,
        action: str | None,
        params: str | None,
        state: str | None,
    ) -> Step | None:
        trace = self.current
        if trace is None or trace.trace_id != trace_id:
            self._close()
            trace = self.current = _Carried(trace_id)
        expected = trace.rows
        trace.rows += 1
        self.actions["" if action is None else action] += 1
        if trace.problem is not None:
            return None
        problem = _fault(number, expected, action, params, state)
        if problem is not None or params is None or state is None:
            trace.refuse(expected, problem or "a row lacks a field")
            return None
        pre, pre_digest = trace.state, trace.digest
        trace.state, trace.digest = state, _digest(state)
        trace.pairs += 1
        key = _fingerprint(pre_digest, action, params, trace.digest)
        return Step(trace_id, expected, action, params, pre, state, key)


def _fault(
    number: int | None, expected: int, action: str | None, params: str | None, state: str | None
) -> str | None:
    """Say why a row is not the next step of its trace."""
    if number is None or params is None:
        return f"a row after step {expected - 1} lacks a field"
    if number != expected:
        if expected == 0:
            return f"its rows begin with step {number}: the steps before are missing"
        if number == expected - 1:
            return f"step {number} is there twice"
        if number < expected:
            return f"step {number} comes after step {expected - 1}: the rows are out of order"
        return f"step {number} comes after step {expected - 1}: steps are missing"
    if state is None:
        return f"step {number} has not the whole state: a corpus cannot be searched"
    if (number == 0) != (action == INIT):
        return f'step {number} has the action {action}; "{INIT}" is for step 0, and only there'
    return None


@dataclass(frozen=True, slots=True)
class ScanKernel:
    """Steps in; out come the distinct pairs, a row for every trace, and the counts."""

    memo: int = 500_000
    """Fingerprints that a task remembers, so as not to send a pair twice."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader, sent, pairs, size = _Reader(), 0, 0, 0
        seen: set[bytes] = set()
        rows: list[FlowRow] = []
        for step in reader.steps(batches):
            pairs += 1
            if step.key not in seen:
                if len(seen) < self.memo:
                    seen.add(step.key)
                sent += 1
                rows.append(_pair(step))
                size += len(step.pre or "") + len(step.post)
            if len(rows) + len(reader.closed) >= _BATCH_ROWS or size > _BATCH_CHARACTERS:
                yield _flow(rows, reader)
                rows, size = [], 0
        rows += [_count("paired", pairs), _count("sent", sent)]
        rows += [_count("action", count, name) for name, count in reader.actions.items()]
        yield _flow(rows, reader)


def _pair(step: Step) -> FlowRow:
    return {
        "kind": "pair",
        "key": step.key,
        "pre": step.pre,
        "action": step.action,
        "params": step.params,
        "post": step.post,
    }


def _count(kind: str, count: int, name: str | None = None) -> FlowRow:
    return {"kind": kind, "key": _NO_KEY, "count": count, "name": name}


def _flow(rows: list[FlowRow], reader: _Reader) -> pa.RecordBatch:
    """Make a batch of the rows and of the traces that ended."""
    traces: list[FlowRow] = [
        {
            "kind": "trace",
            "key": _digest(trace.trace_id),
            "name": trace.trace_id,
            "step": trace.problem_step if trace.problem else None,
            "count": trace.rows,
            "detail": trace.problem,
        }
        for trace in reader.closed
    ]
    reader.closed.clear()
    return pa.RecordBatch.from_pylist([*rows, *traces], schema=FLOW_SCHEMA)


@dataclass(frozen=True, slots=True)
class Bad:
    """Why a pair ends the accepted path of a trace."""

    status: BadStatus
    detail: str
    """The violated invariants, or why there is no evidence."""


@dataclass(frozen=True, slots=True)
class LocateKernel:
    """Steps and the bad pairs in; out comes the first bad step of each trace.

    The states come with the first trace (by its id) of each action and cause only.
    """

    bad: Mapping[bytes, Bad]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = _Reader()
        examples: dict[tuple[str | None, Bad], Step] = {}
        found: str | None = None
        rows: list[FlowRow] = []
        for step in reader.steps(batches):
            reader.closed.clear()
            bad = self.bad.get(step.key)
            if bad is None or step.trace_id == found:
                continue
            found = step.trace_id
            known = examples.get((step.action, bad))
            if known is None and len(examples) < _MAX_EXAMPLES:
                examples[step.action, bad] = step
                continue
            if known is not None and step.trace_id < known.trace_id:
                examples[step.action, bad], step = step, known
            rows.append(_located(step, with_states=False))
            if len(rows) >= _BATCH_ROWS:
                yield pa.RecordBatch.from_pylist(rows, schema=_LOCATED_SCHEMA)
                rows = []
        rows += [_located(step, with_states=True) for step in examples.values()]
        yield pa.RecordBatch.from_pylist(rows, schema=_LOCATED_SCHEMA)


def _located(step: Step, *, with_states: bool) -> FlowRow:
    return {
        "trace_id": step.trace_id,
        "step": step.step,
        "key": step.key,
        "action": step.action,
        "params": step.params,
        "pre": step.pre if with_states else None,
        "post": step.post if with_states else None,
    }
