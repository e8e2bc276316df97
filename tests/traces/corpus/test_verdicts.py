"""From what is known of a trace to its verdict: nothing is dropped, and silence is no pass."""

from __future__ import annotations

import pytest

from tests.traces.corpus.toy import toy_spec
from tlatrace.corpus.scan import Bad
from tlatrace.corpus.verdicts import Listed, Located, Scanned, verdicts_of
from tlatrace.verdict import Conforms, Diverges, Undecided, Verdict

REFUSED, VIOLATED, FAILED = b"r" * 16, b"v" * 16, b"f" * 16
BAD = {
    REFUSED: Bad("refused", ""),
    VIOLATED: Bad("violated", "Low, High"),
    FAILED: Bad("failed", "TLC gave no answer in 600 s"),
}
LISTED = Listed("t", 7, 10, None)


def whole(rows: int = 10) -> Scanned:
    return Scanned("t", rows, None, None)


def at(step: int, key: bytes, action: str = "Jump", params: str = "[3]") -> Located:
    return Located("t", step, key, action, params, None, None)


CASES = [
    ("all steps were allowed", [LISTED], [whole()], [], Conforms(10)),
    (
        "a step was refused",
        [LISTED],
        [whole()],
        [at(4, REFUSED)],
        Diverges(4, "Jump", "a step of Toy that is Jump(3)", "another state"),
    ),
    (
        "the initial state was refused",
        [LISTED],
        [whole()],
        [at(0, REFUSED, "Init", "[]")],
        Diverges(0, "Init", "a state that Init of Toy allows", "another state"),
    ),
    (
        "a state violates invariants",
        [LISTED],
        [whole()],
        [at(4, VIOLATED)],
        Diverges(
            4, "Jump", "a state in which Low and High holds", "a state that violates Low, High"
        ),
    ),
    (
        "a step could not be judged",
        [LISTED],
        [whole()],
        [at(4, FAILED)],
        Undecided("step 4: TLC gave no answer in 600 s"),
    ),
    (
        "a step could not be judged, a later one was refused",
        [LISTED],
        [whole()],
        [at(6, REFUSED), at(4, FAILED)],
        Undecided("step 4: TLC gave no answer in 600 s"),
    ),
    (
        "a step was refused before the rows go wrong",
        [LISTED],
        [Scanned("t", 10, 6, "steps are missing")],
        [at(4, REFUSED)],
        Diverges(4, "Jump", "a step of Toy that is Jump(3)", "another state"),
    ),
    (
        "the rows go wrong",
        [LISTED],
        [Scanned("t", 10, 6, "steps are missing")],
        [],
        Undecided("steps are missing"),
    ),
    ("the end is missing", [LISTED], [whole(9)], [], Undecided("9 of its 10 steps are there")),
    ("no step is there", [LISTED], [], [], Undecided("none of its 10 steps is there")),
    (
        "it is in two places",
        [LISTED],
        [whole(5), Scanned("t", 5, 0, "the steps before are missing")],
        [],
        Undecided("its steps are in 2 places of the corpus"),
    ),
    (
        "it is not listed",
        [],
        [whole()],
        [],
        Undecided("it has steps, but it is not in the table of traces"),
    ),
    (
        "it is listed twice",
        [LISTED, LISTED],
        [whole()],
        [],
        Undecided("it is 2 times in the table of traces"),
    ),
    (
        "it was never made",
        [Listed("t", 7, 0, "RuntimeError: boom")],
        [],
        [],
        Undecided("there is no trace: RuntimeError: boom"),
    ),
    (
        "it has no events",
        [Listed("t", 7, 0, None)],
        [],
        [],
        Undecided("the trace has a header, but no events"),
    ),
]


@pytest.mark.parametrize(
    ("listed", "scanned", "located", "expected"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_a_trace_has_the_verdict_of_its_first_trouble(
    listed: list[Listed], scanned: list[Scanned], located: list[Located], expected: Verdict
) -> None:
    verdicts = verdicts_of(toy_spec(), listed, scanned, located, BAD)

    assert [item.verdict for item in verdicts] == [expected]
    assert [item.trace_id for item in verdicts] == ["t"]


def test_every_trace_has_one_verdict_in_the_order_of_the_names() -> None:
    listed = [Listed(name, None, 2, None) for name in ("c", "a", "b")]
    scanned = [Scanned(name, 2, None, None) for name in ("d", "b", "a")]

    verdicts = verdicts_of(toy_spec(), listed, scanned, [], {})

    assert [item.trace_id for item in verdicts] == ["a", "b", "c", "d"]
    assert [type(item.verdict) for item in verdicts] == [Conforms, Conforms, Undecided, Undecided]
