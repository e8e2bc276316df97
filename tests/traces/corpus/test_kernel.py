"""The kernel: what it judges, what it remembers, and what it sees in rows that are damaged."""

from __future__ import annotations

from collections.abc import Callable, Container

import pytest

from tests.traces.corpus.toy import (
    MAX,
    Rows,
    ToyChecker,
    batches_of,
    event,
    record,
    record_badly,
    rows_of,
)
from tlatrace.corpus.findings import Bad, Findings
from tlatrace.corpus.fingerprint import fingerprint
from tlatrace.corpus.kernel import Kernel, KernelOptions
from tlatrace.trace import Trace

CHUNK = 1 << 16


def judge(
    rows: Rows,
    size: int = 100,
    checker: ToyChecker | None = None,
    known: Container[bytes] = frozenset(),
    options: KernelOptions | None = None,
) -> Findings:
    """Return the findings of a kernel for rows in batches of this size."""
    options = options or KernelOptions(chunk_steps=CHUNK)
    return findings_of(Kernel(checker or ToyChecker(), options, known), rows, size)


def findings_of(kernel: Kernel[object], rows: Rows, size: int = 100) -> Findings:
    findings = Findings()
    for batch in kernel(batches_of(rows, size)):
        findings.add(batch)
    return findings


def counts(findings: Findings) -> dict[str, int]:
    return {name: n for name, n in findings.counts.items() if n}


def two() -> Rows:
    return rows_of("a", record(1)) + rows_of("b", record(2))


def test_every_step_is_judged_with_the_state_before() -> None:
    checker = ToyChecker()

    found = judge(two(), 5, checker)

    assert [(piece.trace_id, piece.steps, piece.step) for piece in found.pieces] == [
        ("a", 12, None),
        ("b", 12, None),
    ]
    assert found.bad == {}
    assert found.counts["rows"] == 24
    assert found.counts["initial"] == 2
    assert found.counts["evaluated"] + found.counts["remembered"] == 22
    assert len(checker.asked) == found.counts["evaluated"] + 1
    assert sum(found.actions.values()) == 24
    assert found.actions["Init"] == 2


def test_a_step_is_judged_once_and_counted_always() -> None:
    checker = ToyChecker()

    found = judge(rows_of("a", record(1)) + rows_of("b", record(1)), checker=checker)

    assert len(checker.asked) == 12
    assert counts(found) == {"rows": 24, "initial": 2, "evaluated": 11, "remembered": 11}
    assert found.distinct().count == 12


def test_a_small_memo_asks_again_and_loses_none() -> None:
    rows = rows_of("a", record(1)) + rows_of("b", record(1))
    checker = ToyChecker()

    found = judge(rows, checker=checker, options=KernelOptions(chunk_steps=CHUNK, memo=3))

    assert len(checker.asked) == 24
    assert counts(found) == {"rows": 24, "initial": 2, "evaluated": 22}
    assert found.distinct().count == 12


def test_what_a_kernel_has_accepted_serves_its_next_stream() -> None:
    kernel = Kernel[object](ToyChecker(), KernelOptions(chunk_steps=CHUNK))

    first = findings_of(kernel, rows_of("a", record(1)))
    accepted = list(kernel.accepted)
    second = findings_of(kernel, rows_of("b", record(1)))

    assert counts(first) == {"rows": 12, "initial": 1, "evaluated": 11}
    assert counts(second) == {"rows": 12, "initial": 1, "remembered": 11}
    assert (len(accepted), kernel.accepted) == (12, [])


def test_a_checker_is_renewed_and_nothing_else_changes() -> None:
    rows = [row for at in range(20) for row in rows_of(str(at), record(at))]
    made: list[ToyChecker] = []

    def renew() -> ToyChecker:
        made.append(ToyChecker())
        return made[-1]

    options = KernelOptions(chunk_steps=CHUNK, renew_after=10)
    kernel = Kernel[object](ToyChecker(), options, renew=renew)

    found = findings_of(kernel, rows)

    assert len(made) == (found.counts["evaluated"] + 1) // 10 > 3
    assert all(len(checker.asked) == 10 for checker in made[:-1])
    assert found.pieces == judge(rows).pieces
    assert found.counts == judge(rows).counts


def test_what_was_accepted_before_is_recalled() -> None:
    kernel = Kernel[object](ToyChecker(), KernelOptions(chunk_steps=CHUNK))
    findings_of(kernel, rows_of("a", record(1)))
    checker = ToyChecker()

    found = judge(rows_of("b", record(1)), checker=checker, known=frozenset(kernel.accepted))

    assert checker.asked == []
    assert counts(found) == {"rows": 12, "initial": 1, "recalled": 11}
    assert found.distinct().count == 12


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_refused_step_ends_its_piece_and_is_told_once(size: int) -> None:
    bad = record_badly(3)
    found = judge(rows_of("a", bad) + rows_of("b", record(1)) + rows_of("c", bad), size)

    assert [(p.trace_id, p.steps, p.step, p.bad) for p in found.pieces] == [
        ("a", 12, 5, Bad("refused", "")),
        ("b", 12, None, None),
        ("c", 12, 5, Bad("refused", "")),
    ]
    assert {piece.key for piece in found.pieces} == {None, *found.bad}
    (why, texts), *others = found.bad.values()
    assert others == []
    assert why == Bad("refused", "")
    assert (texts.action, texts.params, texts.post) == ("Up", "[]", '{"last":"up","x":-7}')
    assert found.counts["skipped"] == 12
    assert sum(found.counts[name] for name in KINDS) == found.counts["rows"] == 36


KINDS = ("initial", "evaluated", "remembered", "recalled", "skipped", "carried")


def test_an_invariant_counts_in_a_state_that_was_reached() -> None:
    trace = record(5, steps=80)
    numbers = [e.state["x"] for e in trace.events if e.state is not None]
    high = next(at for at, x in enumerate(numbers) if isinstance(x, int) and x > MAX)

    found = judge(rows_of("a", trace))

    assert found.pieces[0].bad == Bad("violated", "Low")
    assert found.pieces[0].step == high


def test_a_step_that_has_no_answer_is_undecided() -> None:
    found = judge(rows_of("a", record(1)), checker=ToyChecker(fails_at=0))

    assert found.pieces[0].bad == Bad("failed", "cannot judge this")


def test_a_state_that_is_not_canonical_is_no_evidence() -> None:
    rows = rows_of("a", record(1))
    rows[4]["state"] = '{"last":"up", "x":1}'

    found = judge(rows)

    assert found.pieces[0].bad == Bad("failed", "a state is not written canonically")
    assert found.pieces[0].step == 4


# ---- chunks ----


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("chunk_steps", [2, 5, 11, 12])
def test_the_pieces_of_a_trace_are_judged_apart(chunk_steps: int, size: int) -> None:
    rows = rows_of("a", record(1), chunk_steps)
    pieces = -(-12 // chunk_steps)

    found = judge(rows, size, options=KernelOptions(chunk_steps=chunk_steps))

    assert [piece.chunk for piece in found.pieces] == list(range(pieces))
    assert sum(piece.steps for piece in found.pieces) == 12
    assert found.counts["carried"] == pieces - 1
    assert found.counts["evaluated"] == 11
    assert sum(found.actions.values()) == 12
    tails = [piece.tail for piece in found.pieces]
    assert [piece.head for piece in found.pieces] == [None, *tails[:-1]]


def test_the_state_before_a_piece_is_believed_by_nobody() -> None:
    rows = rows_of("a", record(1), 5)
    carried = next(row for row in rows if row["chunk"] == 1)
    carried["state"] = '{"last":"up","x":50}'

    found = judge(rows, options=KernelOptions(chunk_steps=5))

    assert found.pieces[0].tail != found.pieces[1].head


# ---- damaged rows ----

Change = Callable[[Rows], Rows]


def drop(at: int) -> Change:
    return lambda rows: rows[:at] + rows[at + 1 :]


def repeat(at: int) -> Change:
    return lambda rows: [*rows[: at + 1], *rows[at:]]


def swap(at: int) -> Change:
    return lambda rows: [*rows[:at], rows[at + 1], rows[at], *rows[at + 2 :]]


def put(at: int, column: str, value: str | int | None) -> Change:
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
def test_a_fault_in_the_rows_ends_the_judging_and_is_told(
    damage: Change, step: int, problem: str
) -> None:
    rows = damage(two()[:12]) + two()[12:]

    found = judge(rows, 7)

    damaged, whole = found.pieces
    assert (whole.trace_id, whole.steps, whole.problem) == ("b", 12, None)
    assert damaged.trace_id == "a"
    assert damaged.steps == len(rows) - 12
    assert damaged.step == step
    assert problem in str(damaged.problem)
    assert found.counts["skipped"] == len(rows) - 12 - step
    assert sum(found.actions.values()) == len(rows)


@pytest.mark.parametrize("damage", [d[1] for d in DAMAGES], ids=[d[0] for d in DAMAGES])
def test_where_a_batch_ends_makes_no_difference(damage: Change) -> None:
    rows = damage(two())
    whole = judge(rows, len(rows))

    for size in range(1, len(rows)):
        found = judge(rows, size)
        assert found.pieces == whole.pieces
        assert found.counts == whole.counts
        assert found.bad == whole.bad


def test_a_trace_in_two_places_is_told_twice() -> None:
    rows = two()

    found = judge([*rows[:6], *rows[12:], *rows[6:12]])

    assert [(piece.trace_id, piece.steps, piece.step) for piece in found.pieces] == [
        ("a", 6, None),
        ("b", 12, None),
        ("a", 6, 0),
    ]


@pytest.mark.parametrize("column", ["trace_id", "chunk"])
def test_a_row_of_no_trace_is_told(column: str) -> None:
    found = judge(put(5, column, None)(two()))

    assert "a row has no trace or no chunk" in [piece.problem for piece in found.pieces]
    assert sum(piece.steps for piece in found.pieces) == 24


def test_no_rows_are_no_traces() -> None:
    found = judge([])

    assert found.pieces == []
    assert found.distinct().count == 0


# ---- samples ----


def test_a_sample_does_not_depend_on_who_reads_what() -> None:
    options = KernelOptions(chunk_steps=CHUNK, sample=5, seed=3)
    traces = [rows_of(str(at), record(at)) for at in range(20)]

    whole = judge([row for rows in traces for row in rows], options=options).chosen(5)
    parts = Findings()
    for rows in reversed(traces):
        for batch in Kernel(ToyChecker(), options)(batches_of(rows, 3)):
            parts.add(batch)

    assert len(whole) == 5
    assert parts.chosen(5) == whole
    other = KernelOptions(chunk_steps=CHUNK, sample=5, seed=4)
    assert judge([row for rows in traces for row in rows], options=other).chosen(5) != whole


def test_fingerprints_tell_all_parts_apart() -> None:
    one, other = b"1" * 16, b"2" * 16
    keys = [
        (one, "A", "[]", one),
        (None, "A", "[]", one),
        (one, None, "[]", one),
        (one, "", "[]", one),
        (one, "A", "[1]", one),
        (one, "A[", "]", one),
        (one, "A", "[]", other),
        (other, "A", "[]", one),
    ]

    assert len({fingerprint(key) for key in keys}) == len(keys)
    assert all(len(fingerprint(key)) == 16 for key in keys)


def test_a_trace_of_one_event_is_an_initial_state() -> None:
    found = judge(rows_of("a", Trace(header=None, events=(event(0, "Init", 0, "none"),))))

    assert counts(found) == {"rows": 1, "initial": 1}
