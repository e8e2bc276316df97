"""The kernel that asks the judge, and the reader of canonical texts."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from tests.traces.corpus.toy import ToyJudge, record, record_badly, step_rows
from tlatrace.corpus.judging import Judge, JudgeKernel, StateReader
from tlatrace.corpus.scan import FLOW_SCHEMA, ScanKernel
from tlatrace.errors import ToolError, ValueFormatError
from tlatrace.trace import Trace
from tlatrace.validate.transition import Judged, Transition
from tlatrace.values import tla_set


def judged(traces: dict[str, Trace], judge: Judge, batch: int = 100) -> list[dict[str, object]]:
    pairs = ScanKernel(memo=0)(step_rows(traces).to_batches())
    return [row for out in JudgeKernel(judge, batch)(pairs) for row in out.to_pylist()]


def total(rows: list[dict[str, object]], kind: str) -> int:
    counts = [row["count"] for row in rows if row["kind"] == kind]
    return sum([count for count in counts if isinstance(count, int)])


@pytest.mark.parametrize("batch", [1, 5, 100])
def test_distinct_pairs_are_judged_once_and_repeated_ones_counted(batch: int) -> None:
    rows = judged({"a": record(1), "b": record(1), "c": record(2)}, ToyJudge(), batch)

    distinct = total(rows, "judged")
    assert distinct + total(rows, "dropped") == total(rows, "sent") == 36
    assert 12 < distinct < 24
    assert [row for row in rows if row["kind"] == "bad"] == []
    assert [row["name"] for row in rows if row["kind"] == "trace"] == ["a", "b", "c"]


def test_a_refused_step_comes_out_with_its_fingerprint() -> None:
    rows = judged({"a": record_badly(3)}, ToyJudge())

    bad = [row for row in rows if row["kind"] == "bad"]
    assert [row["name"] for row in bad] == ["refused", "refused"]
    assert all(isinstance(row["key"], bytes) for row in bad)


def test_an_invariant_counts_in_a_state_that_was_reached() -> None:
    rows = judged({"a": record(5, steps=80)}, ToyJudge())

    bad = [row for row in rows if row["kind"] == "bad"]
    assert {(row["name"], row["detail"]) for row in bad} == {("violated", "Low")}


def test_a_judge_that_cannot_judge_one_step_fails_that_step() -> None:
    rows = judged({"a": record(1)}, ToyJudge(fails_at=0))

    assert [(row["name"], row["detail"]) for row in rows if row["kind"] == "bad"] == [
        ("failed", "cannot judge this")
    ]


def lose_one(transitions: Sequence[Transition], /) -> Sequence[Judged]:
    return ToyJudge()(transitions)[1:]


def have_no_java(transitions: Sequence[Transition], /) -> Sequence[Judged]:
    raise ToolError("java", f"none for {len(transitions)}")


@pytest.mark.parametrize(
    ("judge", "detail"),
    [(lose_one, "the judge answered 11 of 12 transitions"), (have_no_java, "java: none for 12")],
    ids=["an answer is missing", "no java"],
)
def test_a_judge_that_cannot_judge_at_all_is_an_error(judge: Judge, detail: str) -> None:
    rows = judged({"a": record(1)}, judge)

    assert [row["detail"] for row in rows if row["kind"] == "error"] == [detail]
    assert total(rows, "judged") == 0


def test_a_state_that_is_not_canonical_is_no_evidence() -> None:
    pair = {"kind": "pair", "key": b"k", "params": "[]", "post": '{"x": 1}', "action": "Init"}
    batch = pa.RecordBatch.from_pylist([pair], schema=FLOW_SCHEMA)

    rows = [row for out in JudgeKernel(ToyJudge(), 9)([batch]) for row in out.to_pylist()]

    assert [(row["name"], row["key"]) for row in rows if row["kind"] == "bad"] == [("failed", b"k")]
    assert total(rows, "judged") == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"x": 1}',
        '{"x":1} ',
        '{"x":1,"x":2}',
        '{"y":1,"x":2}',
        '{"x":NaN}',
        '{"x":1.0}',
        '{"x":null}',
        '{"x":{"#set":[2,1]}}',
        '{"x":{"b":1,"a":2}}',
        '{"x":{"a":1,"a":2}}',
        '{"x":01}',
        '{"\\u0078":1}',
        '{"x":"\\ud800"}',
        '{"x":' + "[" * 100 + "]" * 100 + "}",
        '{"x":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
    ids=lambda text: str(text)[:24],
)
def test_only_the_canonical_text_of_a_state_is_read(text: str) -> None:
    with pytest.raises(ValueFormatError):
        StateReader().state(text)


def test_states_and_equal_values_are_read_once() -> None:
    reader = StateReader()

    left = reader.state('{"x":{"#set":[1,2]},"y":"é"}')
    right = reader.state('{"x":{"#set":[1,2]},"y":"z"}')

    assert left == {"x": tla_set([1, 2]), "y": "é"}
    assert left["x"] is right["x"]
    assert reader.state('{"x":{"#set":[1,2]},"y":"é"}') is left
    assert reader.state("{}") == {}


def test_parameters_are_a_tuple() -> None:
    assert StateReader().params('[1,"b"]') == (1, "b")
    with pytest.raises(ValueFormatError):
        StateReader().params('{"a":1}')
