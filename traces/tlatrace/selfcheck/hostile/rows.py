"""Changed rows of corpora: the kernel against a plain loop.

A piece that the kernel accepts is one whose rows are in order, and whose steps the plain reading
and the model allow, and the other way round; there are no other errors than ours.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from random import Random
from typing import Final

import pyarrow as pa

from tlatrace.corpus.findings import MACHINE_CODE
from tlatrace.corpus.kernel import Kernel, KernelOptions
from tlatrace.corpus.schema import SCANNED, STATE, STEPS_SCHEMA, column_of, first_row
from tlatrace.errors import TlatraceError
from tlatrace.judgement.transition import Allowed
from tlatrace.oracle import Model, ModelState
from tlatrace.oracle.checker import Checker
from tlatrace.oracle.rows import RowJudge
from tlatrace.selfcheck.agreement import Agreement, Disagreement
from tlatrace.selfcheck.hostile.changes import change_text
from tlatrace.selfcheck.hostile.material import draw_state
from tlatrace.selfcheck.hostile.texts import plain_judgement
from tlatrace.trace import INIT
from tlatrace.trace.canonical_text import read_canonical_state
from tlatrace.values import State, canonical, canonical_state

__all__ = ["check_rows"]

_CHUNK: Final = 4
_OPTIONS: Final = KernelOptions(chunk_steps=_CHUNK)
_RENEW: Final = 40
"""Corpora that one kernel judges."""
_MOST: Final = 5
_BY_MACHINE: Final = f"accepted by {MACHINE_CODE}"
_NEARLY_LARGE: Final = 985
"""The invariant holds below 1000."""
_VARIABLES: Final = ("count", "left", "mark", "right")
_ACTIONS: Final = (None, INIT, "Swap", "Count", "Mark", "Never", "", "\x01", "Small")


@dataclass(frozen=True, slots=True)
class _Row:
    trace_id: str | None
    chunk: int | None
    step: int | None
    action: str | None
    params: str | None
    parts: tuple[str | None, ...]
    """Texts of the variables, where the state is in columns."""
    whole: str | None = None
    """Text of the state, where it is not."""

    @property
    def state(self) -> str | None:
        if self.whole is not None:
            return self.whole
        if not self.parts or None in self.parts:
            return None
        fields = [f'"{name}":{part}' for name, part in zip(_VARIABLES, self.parts, strict=True)]
        return f"{{{','.join(fields)}}}"


def check_rows(
    model: Model,
    cases: int,
    seed: int,
    tell: Callable[[str], None],
    machine: Callable[[], RowJudge] | None = None,
) -> Agreement:
    """Judge corpora of `cases` rows in which some are changed; by machine code first, if given."""
    began = time.monotonic()
    draw = Random(f"rows {seed}")
    counts: Counter[str] = Counter()
    found: list[Disagreement] = []

    def fresh() -> Kernel[ModelState]:
        return Kernel(Checker(model), _OPTIONS, rows=None if machine is None else machine())

    kernel = fresh()
    corpora = 0
    while counts["rows"] < cases and len(found) < _MOST:
        corpora += 1
        if corpora % _RENEW == 0:
            kernel = fresh()
            tell(f"{counts['rows']:,} of {cases:,} rows")
        rows = _changed(draw, _some_traces(draw))
        plain = _plain(model, rows)
        fast = _by_kernel(kernel, rows, counts)
        counts["rows"] += len(rows)
        counts["pieces accepted"] += sum(plain)
        counts["pieces rejected"] += len(plain) - sum(plain)
        if fast not in (None, plain):
            found.append(_finding(model, rows, fresh))
            kernel = fresh()
    return Agreement(
        part="hostile",
        subject="rows" if machine is None else "rows for machine code",
        examined=counts.pop("rows") if machine is None or counts[_BY_MACHINE] else 0,
        facts=dict(counts),
        disagreements=tuple(found),
        seconds=time.monotonic() - began,
    )


def _some_traces(draw: Random) -> list[_Row]:
    """Draw traces, of which some are the first one again, which then is remembered."""
    first = _trace(draw, "t1")
    rows = first
    for number in range(2, 2 + draw.randrange(1, 4)):
        name = f"t{number}"
        again = draw.random() < 0.5
        rows = rows + (
            [replace(row, trace_id=name) for row in first] if again else _trace(draw, name)
        )
    return rows


def _trace(draw: Random, name: str) -> list[_Row]:
    """Draw the rows of a trace that conforms, the carried ones included.

    Or later pieces of one, which are judged for themselves, and may not keep the invariant.
    """
    is_late = draw.random() < 0.3
    state: State = draw_state(draw, 0)
    if draw.random() < 0.5:  # met again and again, and by machine code
        state = {**state, "left": draw.randrange(3), "right": draw.randrange(3)}
    if is_late:
        state = {**state, "count": _NEARLY_LARGE}
    rows = [_Row(name, 0, 0, INIT, "[]", *_written(draw, state))]
    for step in range(1, draw.randrange(1, 3 * _CHUNK)):
        chunk = step // _CHUNK
        if chunk != rows[-1].chunk:
            rows.append(replace(rows[-1], chunk=chunk))
        count = state["count"]
        assert isinstance(count, int)
        if draw.random() < 0.3:
            action, params = "Swap", "[]"
            state = {**state, "left": state["right"], "right": state["left"]}
        elif draw.random() < 0.3:
            mark = draw.choice(["", "n3", "a"])
            action, params = "Mark", f'["{mark}"]'
            state = {**state, "mark": mark}
        else:
            k = draw.randrange(1, 10)
            action, params = "Count", f"[{k}]"
            state = {**state, "count": count + k}
        named = draw.random() < 0.75
        if not named:
            rows.append(_Row(name, chunk, step, None, "[]", *_written(draw, state)))
        else:
            rows.append(_Row(name, chunk, step, action, params, *_written(draw, state)))
    return [row for row in rows if row.chunk] if is_late and rows[-1].chunk else rows


def _written(draw: Random, state: State) -> tuple[tuple[str, ...], str | None]:
    """Write a state in columns, or whole."""
    if draw.random() < 0.3:
        return (), canonical_state(state)
    return tuple([canonical(state[name]) for name in _VARIABLES]), None


def _changed_state(draw: Random, row: _Row) -> _Row:
    if not row.parts or row.whole is not None or draw.random() < 0.2:
        return replace(row, whole=change_text(draw, row.state or ""))
    at = draw.randrange(len(row.parts))
    part = change_text(draw, row.parts[at] or "")
    return replace(row, parts=(*row.parts[:at], part, *row.parts[at + 1 :]))


def _without_state(draw: Random, row: _Row) -> _Row:
    at = draw.randrange(len(row.parts) + 1)
    return replace(
        row, parts=(*row.parts[:at], None, *row.parts[at + 1 :])[: len(row.parts)], whole=None
    )


def _changed(draw: Random, rows: list[_Row]) -> list[_Row]:
    """Change up to three rows."""
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(rows))
        row = rows[at]
        match draw.randrange(14):
            case 0 | 1 | 2 | 3:
                rows[at] = _changed_state(draw, row)
            case 4 | 5:
                rows[at] = replace(row, params=change_text(draw, row.params or ""))
            case 6:
                rows[at] = replace(row, action=draw.choice(_ACTIONS))
            case 7:
                number = draw.choice([None, -1, 0, 1, (row.step or 0) + 1, 2**40])
                rows[at] = replace(row, step=number)
            case 8:
                rows[at] = replace(row, chunk=draw.choice([None, -1, 0, 1, 2**31 - 1]))
            case 9:
                name = draw.choice([None, "t1", "t2", "", "\x00"])
                rows[at] = replace(row, trace_id=name)
            case 10 | 11:
                params = draw.choice(["[]", f"[{draw.randrange(1, 10)}]", '["a"]'])
                action = (
                    draw.choice(["Swap", "Count", "Mark"]) if draw.random() < 0.5 else row.action
                )
                rows[at] = replace(row, action=action, params=params)
            case 12:
                is_state = draw.random() < 0.5
                rows[at] = _without_state(draw, row) if is_state else replace(row, params=None)
            case _:
                other = rows.pop(at)
                for _ in range(draw.randrange(3)):
                    rows.insert(draw.randrange(len(rows) + 1), other)
                if not rows:
                    return [other]
    return rows


# ---- the plain loop ----


def _plain(model: Model, rows: Sequence[_Row]) -> list[bool]:
    """Tell of each piece, in order, whether it is accepted to its end."""
    pieces = groupby(rows, key=lambda row: (row.trace_id, row.chunk))
    return [_accepted(model, key, list(piece)) for key, piece in pieces]


def _accepted(model: Model, key: tuple[str | None, int | None], rows: Sequence[_Row]) -> bool:
    name, chunk = key
    if name is None or chunk is None or chunk < 0:
        return False
    before: str | None = None
    for expected, row in enumerate(rows, start=first_row(chunk, _CHUNK)):
        if row.step != expected or row.params is None or row.state is None:
            return False
        if (row.action == INIT) is not (expected == 0):
            return False
        is_carried = before is None and expected > 0
        if not is_carried and not _allowed(model, before, row):
            return False
        before = row.state
    return True


def _allowed(model: Model, before: str | None, row: _Row) -> bool:
    assert row.params is not None and row.state is not None, "it has been looked at"  # noqa: PT018 # both
    try:
        pre = None if before is None else model.adopt(read_canonical_state(before))
        post = model.adopt(read_canonical_state(row.state))
        judged = plain_judgement(model, pre, row.action, row.params, post)
        return isinstance(judged, Allowed) and not model.violated(post)
    except TlatraceError:
        return False


# ---- the kernel ----


def _by_kernel(
    kernel: Kernel[ModelState], rows: Sequence[_Row], counts: Counter[str]
) -> list[bool] | str | None:
    """Tell of each piece whether the kernel accepts it, or with what error it broke.

    None: it has refused everything, because a text is not UTF-8.
    """
    try:
        found = [row for batch in kernel([_batch(rows)]) for row in batch.to_pylist()]
    except TlatraceError as error:
        return f"{type(error).__name__}: {error}" if _all_utf8(rows) else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    for row in found:
        if row["kind"] == "count" and row["detail"] == MACHINE_CODE:
            counts[_BY_MACHINE] += row["count"]
    return [row["status"] is None for row in found if row["kind"] == "piece"]


def _batch(rows: Sequence[_Row]) -> pa.RecordBatch:
    """Write rows as Parquet would give them, strings that are not UTF-8 included."""
    arrays = {}
    for name in SCANNED:
        values = [row.whole if name == STATE else getattr(row, name) for row in rows]
        kind = STEPS_SCHEMA.field(name).type
        arrays[name] = _strings_of(values) if kind == pa.string() else pa.array(values, kind)
    for at, name in enumerate(_VARIABLES):
        parts = _strings_of([row.parts[at] if row.parts else None for row in rows])
        arrays[column_of(name)] = parts.dictionary_encode()
    return pa.RecordBatch.from_pydict(arrays)


def _strings_of(values: Sequence[str | None]) -> pa.StringArray:
    raw = [None if value is None else value.encode("utf-8", "surrogatepass") for value in values]
    strings: pa.StringArray = pa.array(raw, pa.binary()).view(pa.string())
    return strings


def _all_utf8(rows: Sequence[_Row]) -> bool:
    try:
        "".join([text or "" for row in rows for text in _strings(row)]).encode()
    except UnicodeEncodeError:
        return False
    return True


def _strings(row: _Row) -> tuple[str | None, ...]:
    return row.trace_id, row.action, row.params, row.state


def _finding(
    model: Model, rows: list[_Row], fresh: Callable[[], Kernel[ModelState]]
) -> Disagreement:
    """Drop rows while the answers differ."""

    def both(some: Sequence[_Row]) -> tuple[list[bool], list[bool] | str | None]:
        return _plain(model, some), _by_kernel(fresh(), some, Counter())

    at = 0
    while at < len(rows):
        rest = [*rows[:at], *rows[at + 1 :]]
        plain, fast = both(rest)
        if rest and fast not in (None, plain):
            rows = rest
        else:
            at += 1
    plain, fast = both(rows)
    return Disagreement(
        question="; ".join([ascii(row) for row in rows]),
        tlc=f"plain: {plain}",
        model=f"kernel: {fast}",
    )
