"""The kernels that pair states: what they see in rows that somebody has damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa
import pytest

from tests.traces.corpus.toy import record, step_rows
from tlatrace.corpus.scan import Bad, LocateKernel, ScanKernel, fingerprint
from tlatrace.trace import Trace

Row = dict[str, "str | int | None"]
Rows = list[Row]


def batches_of(rows: Rows, size: int) -> list[pa.RecordBatch]:
    schema = step_rows({}).schema
    return [
        pa.RecordBatch.from_pylist(rows[at : at + size], schema=schema)
        for at in range(0, len(rows), size)
    ]


def scan(batches: Iterable[pa.RecordBatch], memo: int = 1_000) -> list[dict[str, object]]:
    return [row for batch in ScanKernel(memo)(batches) for row in batch.to_pylist()]


def rows_of_two() -> Rows:
    rows: Rows = step_rows({"a": record(1), "b": record(2)}).to_pylist()
    return rows


def traces_in(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    return [(r["name"], r["count"], r["step"], r["detail"]) for r in rows if r["kind"] == "trace"]


def count_of(rows: list[dict[str, object]], kind: str) -> int:
    counts = [row["count"] for row in rows if row["kind"] == kind]
    return sum([count for count in counts if isinstance(count, int)])


def test_each_state_is_paired_with_the_one_before() -> None:
    rows = rows_of_two()

    pairs = [row for row in scan(batches_of(rows, 5), memo=0) if row["kind"] == "pair"]

    assert [pair["post"] for pair in pairs] == [row["state"] for row in rows]
    assert pairs[0]["pre"] is None
    assert pairs[12]["pre"] is None
    assert [pair["pre"] for pair in pairs[1:12]] == [row["state"] for row in rows[:11]]


def test_a_pair_is_sent_once_and_counted_always() -> None:
    rows: Rows = step_rows({"a": record(1), "b": record(1)}).to_pylist()

    found = scan(batches_of(rows, 100))

    assert count_of(found, "paired") == 24
    assert count_of(found, "sent") == len([row for row in found if row["kind"] == "pair"]) == 12
    assert count_of(found, "action") == 24


def test_a_full_memo_sends_pairs_again_and_loses_none() -> None:
    rows: Rows = step_rows({"a": record(1), "b": record(1)}).to_pylist()

    found = scan(batches_of(rows, 100), memo=4)

    assert count_of(found, "paired") == 24
    assert count_of(found, "sent") == len([row for row in found if row["kind"] == "pair"]) == 20


def drop(at: int) -> Callable[[Rows], Rows]:
    return lambda rows: rows[:at] + rows[at + 1 :]


def repeat(at: int) -> Callable[[Rows], Rows]:
    return lambda rows: [*rows[: at + 1], *rows[at:]]


def swap(at: int) -> Callable[[Rows], Rows]:
    return lambda rows: [*rows[:at], rows[at + 1], rows[at], *rows[at + 2 :]]


def put(at: int, column: str, value: str | int | None) -> Callable[[Rows], Rows]:
    return lambda rows: [*rows[:at], {**rows[at], column: value}, *rows[at + 1 :]]


DAMAGES = [
    ("the first step is missing", drop(0), 0, "the steps before are missing"),
    ("a step is missing", drop(4), 4, "step 5 comes after step 3: steps are missing"),
    ("a step is there twice", repeat(4), 5, "step 4 is there twice"),
    ("two steps are swapped", swap(4), 4, "step 5 comes after step 3"),
    ("a step has no number", put(4, "step", None), 4, "lacks a field"),
    ("a step has a negative number", put(4, "step", -1), 4, "out of order"),
    ("a step has no parameters", put(4, "params", None), 4, "lacks a field"),
    ("a step shows no whole state", put(4, "state", None), 4, "has not the whole state"),
    ("a later step is Init", put(4, "action", "Init"), 4, 'has the action Init; "Init" is for'),
    ("the first step is not Init", put(0, "action", "Up"), 0, "has the action Up"),
]


@pytest.mark.parametrize(
    ("damage", "step", "problem"), [d[1:] for d in DAMAGES], ids=[d[0] for d in DAMAGES]
)
def test_a_fault_in_the_rows_ends_the_pairing_and_is_told(
    damage: Callable[[Rows], Rows], step: int, problem: str
) -> None:
    rows = damage(rows_of_two()[:12]) + rows_of_two()[12:]

    found = scan(batches_of(rows, 7), memo=0)

    damaged, whole = traces_in(found)
    assert whole == ("b", 12, None, None)
    assert damaged[0] == "a"
    assert damaged[1] == len(rows) - 12
    assert damaged[2] == step
    assert problem in str(damaged[3])
    assert count_of(found, "paired") == step + 12
    assert count_of(found, "action") == len(rows)


@pytest.mark.parametrize("damage", [d[1] for d in DAMAGES], ids=[d[0] for d in DAMAGES])
def test_where_a_batch_ends_makes_no_difference(damage: Callable[[Rows], Rows]) -> None:
    rows = damage(rows_of_two())

    def answer(size: int) -> list[str]:
        return sorted(map(repr, scan(batches_of(rows, size))))

    whole = answer(len(rows))

    assert all(answer(size) == whole for size in range(1, len(rows)))


def test_a_trace_in_two_pieces_is_told_twice() -> None:
    rows = rows_of_two()

    found = scan(batches_of([*rows[:6], *rows[12:], *rows[6:12]], 100))

    assert [trace[:3] for trace in traces_in(found)] == [
        ("a", 6, None),
        ("b", 12, None),
        ("a", 6, 0),
    ]


def test_no_rows_are_no_traces() -> None:
    found = scan([])

    assert traces_in(found) == []
    assert count_of(found, "paired") == 0


def test_fingerprints_tell_all_parts_apart() -> None:
    pairs = [
        ("{}", "A", "[]", "{}"),
        (None, "A", "[]", "{}"),
        ("{}", None, "[]", "{}"),
        ("{}", "", "[]", "{}"),
        ("{}", "A", "[1]", "{}"),
        ("{}", "A[", "]", "{}"),
        ("{}", "A", "[]", '{"x":1}'),
        ('{"x":1}', "A", "[]", "{}"),
    ]

    assert len({fingerprint(*pair) for pair in pairs}) == len(pairs)
    assert all(len(fingerprint(*pair)) == 16 for pair in pairs)


def locate(rows: Rows, bad: dict[bytes, Bad], size: int) -> list[dict[str, object]]:
    kernel = LocateKernel(bad)
    return [row for batch in kernel(batches_of(rows, size)) for row in batch.to_pylist()]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_first_bad_step_of_each_trace_is_found(size: int) -> None:
    short = Trace(header=None, events=record(2).events[:1])
    rows: Rows = step_rows({"c": record(1), "b": short, "a": record(1)}).to_pylist()
    keys = [row["key"] for row in scan(batches_of(rows[:12], 100)) if row["kind"] == "pair"]
    bad = {key: Bad("refused", "") for key in keys[4:8] if isinstance(key, bytes)}

    found = locate(rows, bad, size)

    assert sorted((str(row["trace_id"]), row["step"]) for row in found) == [("a", 4), ("c", 4)]
    assert {row["trace_id"]: row["post"] for row in found} == {"a": rows[17]["state"], "c": None}


def test_nothing_is_located_behind_a_fault_in_the_rows() -> None:
    rows: Rows = step_rows({"a": record(1)}).to_pylist()
    keys = [row["key"] for row in scan(batches_of(rows, 100)) if row["kind"] == "pair"]
    bad = {key: Bad("refused", "") for key in keys[6:] if isinstance(key, bytes)}

    assert locate(drop(3)(rows), bad, 5) == []
