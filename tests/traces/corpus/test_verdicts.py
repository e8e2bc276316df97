"""From what is known of a trace to its verdict: nothing is dropped, and silence is no pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tlatrace.corpus.findings import Bad, Piece
from tlatrace.corpus.verdicts import Listed, verdicts_of
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict

LISTED = Listed("t", 7, 10, None)
WHOLE = Piece(
    trace_id="t",
    chunk=0,
    steps=10,
    head=None,
    tail=b"9",
    step=None,
    bad=None,
    problem=None,
    key=None,
    action=None,
    params=None,
)
FIRST = replace(WHOLE, steps=4, tail=b"3")
SECOND = replace(WHOLE, chunk=1, steps=4, head=b"3", tail=b"7")
THIRD = replace(WHOLE, chunk=2, steps=2, head=b"7", tail=b"9")


def bad(piece: Piece, step: int, status: str, detail: str = "", action: str = "Jump") -> Piece:
    params = "[]" if action == "Init" else "[3]"
    why = Bad(status, detail)  # type: ignore[arg-type]  # one of the three
    return replace(piece, step=step, bad=why, key=b"k", action=action, params=params, tail=None)


def wrong(piece: Piece, step: int) -> Piece:
    return replace(piece, step=step, problem="steps are missing")


REFUSED_AT_4 = Diverges(4, "Jump", "a step of Toy that is Jump(3)", "another state")
TIMEOUT = "no answer in 600 s"
CASES: list[tuple[str, list[Listed], list[Piece], Verdict]] = [
    ("all steps were allowed", [LISTED], [WHOLE], Conforms(10)),
    ("a step was refused", [LISTED], [bad(WHOLE, 4, "refused")], REFUSED_AT_4),
    (
        "the initial state was refused",
        [LISTED],
        [bad(WHOLE, 0, "refused", action="Init")],
        Diverges(0, "Init", "an initial state of Toy", "another state"),
    ),
    (
        "a state violates invariants",
        [LISTED],
        [bad(WHOLE, 4, "violated", "Low, High")],
        Diverges(
            4, "Jump", "a state in which Low and High holds", "a state that violates Low, High"
        ),
    ),
    (
        "a step could not be judged",
        [LISTED],
        [bad(WHOLE, 4, "failed", TIMEOUT)],
        Undecided(f"step 4: {TIMEOUT}"),
    ),
    ("the rows go wrong", [LISTED], [wrong(WHOLE, 6)], Undecided("steps are missing")),
    (
        "the end is missing",
        [LISTED],
        [replace(WHOLE, steps=9)],
        Undecided("9 of its 10 steps are there"),
    ),
    ("no step is there", [LISTED], [], Undecided("none of its 10 steps is there")),
    (
        "it is in two places",
        [LISTED],
        [WHOLE, wrong(WHOLE, 0)],
        Undecided("its steps are in 2 places of the corpus"),
    ),
    (
        "it is not listed",
        [],
        [WHOLE],
        Undecided("it has steps, but it is not in the table of traces"),
    ),
    (
        "it is listed twice",
        [LISTED, LISTED],
        [WHOLE],
        Undecided("it is 2 times in the table of traces"),
    ),
    (
        "it was never made",
        [Listed("t", 7, 0, "RuntimeError: boom")],
        [],
        Undecided("there is no trace: RuntimeError: boom"),
    ),
    (
        "it has no events",
        [Listed("t", 7, 0, None)],
        [],
        Undecided("the trace has a header, but no events"),
    ),
    ("all pieces were allowed", [LISTED], [THIRD, FIRST, SECOND], Conforms(10)),
    (
        "the last piece is full, and the next one has no step",
        [Listed("t", 7, 8, None)],
        [FIRST, SECOND, replace(THIRD, steps=0, tail=b"7")],
        Conforms(8),
    ),
    (
        "the first piece is missing",
        [LISTED],
        [SECOND, THIRD],
        Undecided("the steps from 0 to 3 are missing"),
    ),
    (
        "a piece is missing",
        [LISTED],
        [FIRST, THIRD],
        Undecided("the steps from 4 to 7 are missing"),
    ),
    (
        "a piece has lost its end",
        [LISTED],
        [FIRST, replace(SECOND, steps=3), THIRD],
        Undecided("the steps from 7 to 7 are missing"),
    ),
    (
        "a piece begins with another state than the one before ends with",
        [LISTED],
        [FIRST, replace(SECOND, head=b"x"), THIRD],
        Undecided("step 3 is not the same in both of its rows"),
    ),
    (
        "a step of a later piece was refused",
        [LISTED],
        [FIRST, bad(SECOND, 4, "refused"), bad(THIRD, 8, "failed", TIMEOUT)],
        REFUSED_AT_4,
    ),
    (
        "a step was refused behind a gap",
        [LISTED],
        [wrong(FIRST, 2), bad(SECOND, 4, "refused"), THIRD],
        Undecided("steps are missing"),
    ),
    (
        "a step was refused before a gap",
        [LISTED],
        [bad(FIRST, 4, "refused"), THIRD],
        REFUSED_AT_4,
    ),
]


@pytest.mark.parametrize(
    ("listed", "pieces", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_trace_has_the_verdict_of_its_first_trouble(
    listed: list[Listed], pieces: list[Piece], expected: Verdict
) -> None:
    verdicts = verdicts_of("Toy", 4 if len(pieces) > 1 else 100, listed, pieces)

    assert [item.verdict for item in verdicts] == [expected]
    assert [item.trace_id for item in verdicts] == ["t"]


def test_every_trace_has_one_verdict_in_the_order_of_the_names() -> None:
    listed = [Listed(name, None, 2, None) for name in ("c", "a", "b")]
    pieces = [replace(WHOLE, trace_id=name, steps=2) for name in ("d", "b", "a")]

    verdicts = verdicts_of("Toy", 100, listed, pieces)

    assert [item.trace_id for item in verdicts] == ["a", "b", "c", "d"]
    assert [type(item.verdict) for item in verdicts] == [Conforms, Conforms, Undecided, Undecided]
