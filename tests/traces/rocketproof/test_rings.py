"""A ring passes only when everything in it was run and is as recorded."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from rocketproof.rings import NOT_RUN, Progress, run_ring
from tests.traces.rocketproof import counter
from tests.traces.tools.test_check import HARMLESS, MODEL, MUTANT, WITNESS, run
from tlatrace.errors import ToolError
from tlatrace.tools.check import CheckRow, compare, exit_code
from tlatrace.tools.manifest import Checkable, key_of
from tlatrace.tools.measured import Key, Measured, read_measured
from tlatrace.tools.measurements import Measurements
from tlatrace.tools.tlc import Stop

LARGE = replace(MODEL, name="large")
SMALL = MODEL
ENTRIES = (SMALL, LARGE, WITNESS, MUTANT)


def took(entry: Checkable, seconds: float) -> tuple[Key, Measured]:
    row = Measured(found="holds", seconds=seconds, date=date(2024, 2, 28), tlc="2")
    return key_of(entry), row


MEASURED = Measurements(dict([took(LARGE, 100.0), took(SMALL, 2.0)]))


class Clock:
    """Time that passes only when something is checked."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def ring(
    *entries: Checkable, budget_s: float = 1000.0, takes_s: float = 0.0
) -> tuple[list[CheckRow], list[str], list[float]]:
    """Run a ring whose TLC is a recorded output; return rows, the order, and what was left."""
    clock, order, left = Clock(), list[str](), list[float]()

    def check(entry: Checkable, *, timeout_s: float, stop: Stop) -> CheckRow:
        assert isinstance(stop, Stop)
        assert 0 < timeout_s <= min(500.0, budget_s)
        order.append(entry.name)
        clock.now += takes_s
        return compare(entry, run("holds" if entry.name in ("small", "large") else "invariant"))

    rows = run_ring(
        entries,
        check,
        MEASURED,
        jobs=1,
        budget_s=budget_s,
        timeout_s=500.0,
        on_done=lambda _row, progress: left.append(progress.left_s),
        clock=clock,
    )
    return rows, order, left


def test_all_are_run_the_longest_first_and_told_in_the_order_of_the_manifest() -> None:
    rows, order, left = ring(*ENTRIES)
    assert [row.name for row in rows] == ["small", "large", "NotLow", "B05"]
    assert order == ["large", "NotLow", "B05", "small"]
    assert exit_code(rows) == 0
    assert left[-1] == 0
    assert left == sorted(left, reverse=True)


def test_where_not_all_fits_the_shortest_are_first_and_the_rest_is_undecided() -> None:
    rows, order, _ = ring(*ENTRIES, budget_s=10.0, takes_s=6.0)
    assert order == ["small", "NotLow"]
    assert [row.found == NOT_RUN for row in rows] == [False, True, False, True]
    assert {row.status for row in rows if row.found == NOT_RUN} == {"undecided"}
    assert exit_code(rows) == 3


def test_nothing_to_run_is_no_pass() -> None:
    rows, _, _ = ring()
    assert rows == []
    assert exit_code(rows) == 3


def test_one_wrong_count_fails_a_ring_that_was_not_finished() -> None:
    rows, _, _ = ring(replace(SMALL, distinct=14), LARGE, budget_s=5.0, takes_s=6.0)
    assert [row.status for row in rows] == ["not as expected", "undecided"]
    assert exit_code(rows) == 1


def test_a_mutant_that_is_not_caught_fails() -> None:
    escaped = replace(MUTANT, name="small")  # TLC finds nothing
    rows, _, _ = ring(SMALL, replace(HARMLESS, name="large"), escaped)
    assert [row.status for row in rows] == ["as expected", "as expected", "not as expected"]
    assert exit_code(rows) == 1


def test_what_is_left_is_told_by_what_the_machine_needed_so_far() -> None:
    key = ("model", "counter", "small")
    progress = Progress({key: 2.0, ("model", "counter", "large"): 100.0}, jobs=2)
    assert progress.left_s == 100.0
    row = compare(SMALL, run("holds"))
    progress.take(replace(row, seconds=6.0))
    assert (progress.done, progress.total, progress.left_s) == (1, 2, 300.0)


def test_an_error_ends_what_runs() -> None:
    running = threading.Event()

    def check(entry: Checkable, *, timeout_s: float, stop: Stop) -> CheckRow:
        assert timeout_s == 60.0
        if entry is WITNESS:
            running.wait(30)
            raise ToolError("TLC", "is gone")
        ended = threading.Event()
        with stop.ends(ended.set):
            running.set()
            assert ended.wait(30)
        return compare(entry, run("holds"))

    with pytest.raises(ToolError, match="is gone"):
        run_ring(
            (LARGE, WITNESS),
            check,
            MEASURED,
            jobs=2,
            budget_s=60.0,
            timeout_s=90.0,
            on_done=lambda _row, _progress: None,
            clock=lambda: 0.0,
        )
    assert running.is_set()


CHECKS = f"""\
mutants_module = "MutCounter.tla"
{counter.CHECKS}
[mutant.B05]
title = "counts twice"
override = "Inc <- B05Inc"
killed_by = "TypeOK"
ring = "weekly"
"""
FOUND = f"""\
{counter.MEASURED}
[mutant]
B05 = {{ found = "violates TypeOK", length = 3, seconds = 1, date = 2024-01-31, tlc = "2" }}
"""
MUTANTS = """\
---- MODULE MutCounter ----
EXTENDS Counter
B05Inc(p) == count[p] < Max /\\ count' = [count EXCEPT ![p] = 2 * @ + 1] /\\ UNCHANGED last
Right(p) == count[p] < Max /\\ count' = [count EXCEPT ![p] = @ + 1] /\\ UNCHANGED last
====
"""
ENDLESS = """\
---- MODULE Endless ----
EXTENDS Naturals
VARIABLE x
Spec == x = 0 /\\ [][x' = x + 1]_x
====
"""


@pytest.fixture
def spec_root(tmp_path: Path) -> Path:
    """Make a folder of specifications with a push ring of two and a weekly ring of one."""
    folder = counter.write_counter(tmp_path, CHECKS, FOUND)
    (folder / "MutCounter.tla").write_text(MUTANTS, "utf-8")
    (folder / "Endless.tla").write_text(ENDLESS, "utf-8")
    (folder / "Endless.cfg").write_text("SPECIFICATION Spec\n", "utf-8")
    return tmp_path


def rings(spec_root: Path, *arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["rings", "--spec-root", str(spec_root), *arguments])
    return result.exit_code, result.stdout, result.stderr


def change(spec_root: Path, old: str, new: str) -> None:
    assert (old in CHECKS) + (old in FOUND) == 1
    folder = spec_root / "counter"
    (folder / "checks.toml").write_text(CHECKS.replace(old, new), "utf-8")
    (folder / "measured.toml").write_text(FOUND.replace(old, new), "utf-8")


@pytest.mark.java
def test_the_push_ring_is_run_and_writes_nothing(spec_root: Path) -> None:
    code, out, err = rings(spec_root)
    assert code == 0, out + err
    assert "2 of the push ring: 2 as expected" in out
    assert "\n2/2 counter " in out
    assert out.splitlines()[-1].startswith("2 of the push ring: 2 as expected; ")
    assert "━" not in out
    assert err == ""
    assert (
        "All of the 2 models, witnesses and mutants of the push ring were run on 2024-01-31" in out
    )
    assert (spec_root / "counter" / "measured.toml").read_text("utf-8") == FOUND


@pytest.mark.java
def test_mutants_are_told_in_the_same_shape(spec_root: Path) -> None:
    words = ["mutants", "counter", "--no-runs", "--spec-root", str(spec_root)]
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.stderr) == (0, "")
    line, told, more = result.stdout.splitlines()
    assert line.startswith("1/1 counter B05: violates TypeOK in 3 states; TLC only; closed, ")
    assert told.startswith("1 rows, 0 open, 1 by TLC only; ")
    assert more == f"more:  rocketproof {' '.join(words)} --verbose"

    result = CliRunner().invoke(main, [*words, "--verbose"])
    assert result.exit_code == 0
    assert "\n    1: initial state\n" in result.stdout
    assert "━" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("1 rows, 0 open, 1 by TLC only; ")

    change(spec_root, 'killed_by = "TypeOK"', 'harmless = "nothing is counted"')
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert "\n    1: initial state\n" in result.stdout
    *_, wrong, again, told, _ = result.stdout.splitlines()
    assert again == f"  rocketproof mutants counter --bug B05 {' '.join(words[2:])}"
    assert wrong.startswith(
        "open: counter B05: invariant violated: TypeOK (expected: holds, a recorded"
    )
    assert told.startswith("1 rows, 1 open, ")


@pytest.mark.java
def test_the_weekly_ring_writes_what_it_measured(spec_root: Path) -> None:
    code, out, err = rings(spec_root, "--weekly", "--date", "2024-02-28")
    assert code == 0, out + err
    assert "were run on 2024-02-28 by TLC 2.15" in out
    line = (spec_root / "counter" / "measured.toml").read_text("utf-8").splitlines()[-1]
    assert line.startswith('B05 = { found = "violates TypeOK", distinct = ')
    assert " length = 3, " in line
    assert " date = 2024-02-28, " in line
    code, out, _ = rings(spec_root, "--weekly", "--not-since", "2024-02-28")
    assert (code, "nothing of the weekly ring was run: that is no pass" in out) == (3, True)
    code, out, _ = rings(spec_root, "--weekly", "--not-since", "2024-02-29", "--json")
    assert code == 0
    assert [row["ok"] for row in json.loads(out)["rows"]] == [True]
    rows = read_measured(spec_root / "counter")
    later = {key for key, row in rows.items() if row.date > date(2024, 2, 28)}
    assert later == {("mutant", "counter", "B05")}
    assert len(rows) == 3


@pytest.mark.java
def test_first_counts_are_written_and_others_are_not_changed(spec_root: Path) -> None:
    path = spec_root / "counter" / "measured.toml"
    was = path.read_text("utf-8")
    lines = [line for line in was.splitlines() if not line.startswith("B05")]
    path.write_text("\n".join(lines).replace("distinct = 15", "distinct = 14"))
    code, _, _ = rings(spec_root, "--weekly", "--record", "--date", "2024-02-28")
    assert code == 1, "nobody had said how many states it has"
    assert rings(spec_root, "--weekly", "--record")[0] == 0
    assert rings(spec_root, "--push", "--record")[0] == 1
    now = path.read_text("utf-8")
    assert "\nB05 = { found = " in now
    assert "distinct = 14" in now


@pytest.mark.java
@pytest.mark.parametrize(
    ("old", "new", "arguments", "code", "says"),
    [
        ("distinct = 15", "distinct = 14", ["--push"], 1, "holds, 14 states, depth 6"),
        ("depth = 6", "depth = 7", ["--push"], 1, "not as expected"),
        (
            ', length = 3, seconds = 1, date = 2024-01-31, tlc = "2" }\n\n',
            ', length = 4, seconds = 1, date = 2024-01-31, tlc = "2" }\n\n',
            ["--push"],
            1,
            "not as expected",
        ),
        (
            ' = { found = "violates Low',
            ' = { found = "violates Lw',
            ["--push"],
            1,
            "recorded number",
        ),
        ("Inc <- B05Inc", "Inc <- Right", ["--weekly"], 1, "(expected: violates TypeOK in 3"),
        ("Inc <- B05Inc", "Inc <- Nothing", ["--weekly"], 2, "1 error"),
        (
            'config = "holds.cfg"',
            'module = "Endless.tla", config = "Endless.cfg"',
            ["--timeout", "2", "--only", "counter/small"],
            3,
            "timeout",
        ),
        ("Inc <-", "Inc <-", ["--budget", "0"], 3, "2 not run: the budget is spent"),
        ('ring = "weekly"', 'ring = "push"', ["--weekly"], 3, "that is no pass"),
    ],
)
def test_what_is_not_as_recorded_or_not_known_fails(
    spec_root: Path, old: str, new: str, arguments: list[str], code: int, says: str
) -> None:
    change(spec_root, old, new)
    found, out, err = rings(spec_root, *arguments)
    assert found == code, out + err
    assert says in " ".join(out.split())


def test_a_file_that_cannot_be_written_is_known_before_anything_is_run(spec_root: Path) -> None:
    (spec_root / "counter" / "measured.toml.new").mkdir()
    code, out, err = rings(spec_root, "--weekly")
    assert (code, out) == (2, "")
    assert "measured.toml: cannot be written" in err
    assert "1/1" not in err


@pytest.mark.java
def test_a_name_that_is_not_in_the_ring_is_a_usage_error(spec_root: Path) -> None:
    code, out, err = rings(spec_root, "--only", "counter/B05")
    assert (code, out) == (2, "")
    assert "there is no 'counter/B05' in the push ring (its protocols: counter)" in err
