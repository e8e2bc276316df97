"""What is printed of work: lines as it is done, how far the rest is, and a summary at the end."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import date
from typing import Final

import pytest

from rocketproof.entry_display import EntryDisplay, how_far, row_text, summary
from rocketproof.progress_display import ProgressDisplay
from rocketproof.rings import NOT_RUN, Progress
from tests.traces.tools.test_check import MODEL, MUTANT, WITNESS, run
from tlatrace.tools.check import CheckRow, compare
from tlatrace.tools.manifest import Checkable, key_of, kind_of
from tlatrace.tools.measured import Key, Measured
from tlatrace.tools.measurements import Measurements
from tlatrace.tools.runs import CheckedEntry
from tlatrace.tools.tlc import TlcProgress

NOTHING: Final = Measurements({})


def seen(distinct: int) -> TlcProgress:
    return TlcProgress(depth=3, generated=4 * distinct, distinct=distinct, queue=7)


@pytest.mark.parametrize(
    ("distinct", "total", "seconds", "told"),
    [
        (212_000, 683_088, 60.0, "31 % of 683,088 states, about 2 min left"),
        (341_544, 683_088, 30.0, "50 % of 683,088 states, about 30 s left"),
        (341_544, 683_088, 9000.0, "50 % of 683,088 states, about 2.5 h left"),
        (6_000, 683_088, 3.0, "0 % of 683,088 states"),
        (683_088, 683_088, 3.0, "100 % of 683,088 states, about 0 s left"),
        (683_089, 683_088, 3.0, "683,089 states, 7 to do"),
        (1_200, None, 3.0, "1,200 states, 7 to do"),
    ],
)
def test_a_search_is_told_by_the_states_that_are_recorded(
    distinct: int, total: int | None, seconds: float, told: str
) -> None:
    assert how_far(seen(distinct), total, seconds) == told


def test_before_the_pace_says_anything_the_record_does() -> None:
    early, later = seen(6_000), seen(341_544)

    told = "0 % of 683,088 states, 33 min by what is recorded"
    assert how_far(early, 683_088, 3.0, 2000.0) == told
    assert how_far(later, 683_088, 30.0, 2000.0) == "50 % of 683,088 states, about 30 s left"


def measured(entry: Checkable, found: str, distinct: int) -> tuple[Key, Measured]:
    row = Measured(
        found=found, distinct=distinct, length=3, seconds=2.0, date=date(2024, 2, 28), tlc="2.15"
    )
    return key_of(entry), row


def test_how_many_states_there_are_is_what_was_measured_of_the_entry_as_it_is_now() -> None:
    known = Measurements(dict([measured(WITNESS, f"violates {WITNESS.violates}", 40)]))

    assert known.states(WITNESS) == 40
    assert known.states(MUTANT) is None
    assert Measurements(dict([measured(WITNESS, "violates Nothing", 40)])).states(WITNESS) is None


class Heard:
    """Hears what is said."""

    def __init__(self, *, verbose: bool = False) -> None:
        self.doing, self.lines, self.now = list[str](), list[str](), 0.0
        heard = self

        class Recording(ProgressDisplay):
            def line(self, text: str) -> None:
                heard.lines.append(text)

        display = Recording(self.doing.append, None, quiet=False)
        known = Measurements(dict([measured(MODEL, "holds", 15), measured(WITNESS, "else", 40)]))
        self.shown = EntryDisplay(display, known, verbose=verbose, clock=lambda: self.now)


def checked(entry: Checkable, output: str) -> CheckedEntry:
    found = run(output)
    return CheckedEntry(entry=entry, run=found, row=compare(entry, found), exact=True)


def of(entries: tuple[Checkable, ...]) -> Progress:
    return Progress({(kind_of(e), e.protocol, e.name): 60.0 for e in entries}, jobs=1)


def test_what_runs_is_told_with_how_far_it_is_beside_what_is_done() -> None:
    heard, progress = Heard(), of((MODEL, WITNESS))
    heard.shown.begins(MODEL)
    heard.shown.begins(WITNESS)
    heard.now = 10.0
    heard.shown.seen(MODEL, seen(5))
    done = checked(MODEL, "holds")
    heard.shown.ends(done)
    progress.take(done.row)
    heard.shown.done(done.row, progress)

    witness = "counter NotLow: 2 s by what is recorded"
    assert heard.doing == [
        "counter small: 2 s by what is recorded",
        f"counter small: 2 s by what is recorded; {witness}",
        f"counter small: 33 % of 15 states, about 20 s left; {witness}",
        f"1/2 done; {witness}",
    ]
    (line,) = heard.lines
    assert line.startswith(
        "1/2 counter small: holds, 15 states, depth 6, as expected, 2.4 s; about"
    )


@pytest.mark.parametrize(
    ("entry", "verbose", "told"),
    [
        pytest.param(WITNESS, False, False, id="expected"),
        pytest.param(WITNESS, True, True, id="expected, and asked for"),
        pytest.param(MODEL, False, True, id="a model that must hold"),
        pytest.param(replace(WITNESS, length=9), False, True, id="of another length"),
    ],
)
def test_counterexamples_are_told_where_they_are_not_expected(
    entry: Checkable, verbose: bool, told: bool
) -> None:
    heard, progress = Heard(verbose=verbose), of((entry,))
    found = checked(entry, "invariant")
    progress.take(found.row)
    heard.shown.ends(found)
    heard.shown.done(found.row, progress)

    assert heard.lines[0].startswith(f"1/1 {entry.protocol} {entry.name}: ")
    assert ("    1: initial state" in heard.lines) == told
    assert len(heard.lines) > 3 or not told


def rows() -> list[CheckRow]:
    good = compare(MODEL, run("holds"))
    late = replace(good, name="late", status="undecided", found=NOT_RUN, seconds=0.0, engine=None)
    return [good, compare(replace(MODEL, name="other", distinct=14), run("holds")), late]


def test_a_summary_says_what_is_not_as_expected_and_how_to_see_more() -> None:
    assert summary(rows(), "of the push ring", 200.0, "rocketproof x --verbose").split("\n") == [
        "not as expected: counter other: holds, 15 states, depth 6"
        " (expected: holds, 14 states, depth 6)",
        "3 of the push ring: 1 as expected, 1 not as expected, 1 undecided"
        " (1 not run: the budget is spent); 3 min",
        "more:  rocketproof x --verbose",
    ]
    assert summary(rows()[:1], "of counter", 1.0) == "1 of counter: 1 as expected; 1 s, 2 s of TLC"
    native = replace(rows()[0], engine="native")
    assert row_text(native).endswith(", as expected, 2.4 s of machine code")
    assert summary([native], "of counter", 9.0).endswith("; 9 s, 2 s of machine code")
    assert summary([native, *rows()], "of counter", 9.0).endswith(
        "; 9 s, 2 s of machine code, 5 s of TLC"
    )
    assert summary([], "of counter", 1.0) == "nothing of counter was run: that is no pass"


PROGRAM: Final = """
from rocketproof.progress_display import open_progress_display
with open_progress_display("working", quiet={quiet}) as display:
    display.doing("a [bold] step")
    display.line("done: [bold] " + "x" * 200)
    display.line("done, too")
print("the end")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("quiet", [False, True])
def test_lines_go_where_standard_output_goes_although_a_terminal_shows_what_is_done(
    quiet: bool,
) -> None:
    import pty

    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(quiet=quiet)],
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "CI": ""},
            text=True,
            check=True,
        )
        terminal = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)

    lines = ["done: [bold] " + "x" * 200, "done, too"]
    assert done.stdout.splitlines() == [*([] if quiet else lines), "the end"]
    assert all((line in terminal) == quiet for line in lines)
    assert "a [bold] step" in terminal
