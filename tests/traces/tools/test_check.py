"""A check passes only with exactly what the manifest expects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.traces.tools.endings import OUTPUTS
from tlatrace.tools.check import CheckRow, Status, compare, exit_code
from tlatrace.tools.manifest import Mutant, TlcModel, Witness
from tlatrace.tools.tlc_run import TlcRun, read_run

MODEL = TlcModel(
    protocol="counter",
    name="small",
    module=Path("Counter.tla"),
    config=Path("small.cfg"),
    ring="push",
    distinct=15,
    depth=6,
    violates=None,
    length=None,
    deadlock=False,
)
FALLS = replace(MODEL, name="default", distinct=None, depth=None, violates="Low", length=3)
WITNESS = Witness(
    protocol="counter",
    name="NotLow",
    module=Path("Counter.tla"),
    config=Path("small.cfg"),
    violates="Low",
    shows="three in all",
    length=3,
)
MUTANT = Mutant(
    protocol="counter",
    name="B05",
    title="counts twice",
    module=Path("Mut.tla"),
    config=Path("small.cfg"),
    overrides=("Inc <- B05Inc",),
    against=None,
    expect="killed",
    killed_by="Low",
    length=3,
    distinct=None,
    reason=None,
    bug=True,
    seeds=None,
)
HARMLESS = replace(
    MUTANT, expect="harmless", killed_by=None, length=None, distinct=15, reason="it is"
)

EXIT_CODES = {"holds": 0, "invariant": 12, "action": 13, "lasso": 13, "badcfg": 151, "broken": 75}
Checkable = TlcModel | Witness | Mutant


def run(name: str) -> TlcRun:
    output = (OUTPUTS / f"{name}.out").read_text("utf-8")
    return read_run(output, exit_code=EXIT_CODES[name], seconds=2.4)


STOPPED = read_run("", exit_code=None, seconds=9.0)


@pytest.mark.parametrize(
    ("entry", "found", "status"),
    [
        (MODEL, run("holds"), "as expected"),
        (replace(MODEL, distinct=14), run("holds"), "not as expected"),
        (replace(MODEL, depth=7), run("holds"), "not as expected"),
        (replace(MODEL, distinct=None), run("holds"), "not as expected"),
        (MODEL, run("invariant"), "not as expected"),
        (MODEL, run("badcfg"), "error"),
        (MODEL, run("broken"), "error"),
        (MODEL, STOPPED, "undecided"),
        (FALLS, run("invariant"), "as expected"),
        (replace(FALLS, violates="Positive"), run("invariant"), "not as expected"),
        (replace(FALLS, length=None), run("invariant"), "not as expected"),
        (FALLS, run("holds"), "not as expected"),
        (FALLS, STOPPED, "undecided"),
        (WITNESS, run("invariant"), "as expected"),
        (replace(WITNESS, violates="Positive"), run("invariant"), "not as expected"),
        (replace(WITNESS, length=4), run("invariant"), "not as expected"),
        (replace(WITNESS, length=None), run("invariant"), "not as expected"),
        (WITNESS, run("holds"), "not as expected"),
        (WITNESS, STOPPED, "undecided"),
        (MUTANT, run("invariant"), "as expected"),
        (MUTANT, run("holds"), "not as expected"),
        (MUTANT, run("broken"), "error"),
        (replace(MUTANT, killed_by="UpOnly", length=6), run("action"), "as expected"),
        # TLC did not name the property, and nobody did for it.
        (replace(MUTANT, killed_by="Stays", length=6), run("lasso"), "not as expected"),
        (HARMLESS, run("holds"), "as expected"),
        (replace(HARMLESS, distinct=16), run("holds"), "not as expected"),
        (HARMLESS, run("invariant"), "not as expected"),
    ],
)
def test_only_the_expected_result_passes(entry: Checkable, found: TlcRun, status: Status) -> None:
    row = compare(entry, found)
    assert row.status == status
    assert row.ok == (row.expected == row.found)
    assert row.ok == (status == "as expected")


def test_a_changed_count_shows_both_numbers() -> None:
    row = compare(replace(MODEL, distinct=13510), run("holds"))
    assert row.expected == "holds, 13,510 states, depth 6"
    assert row.found == "holds, 15 states, depth 6"


def test_with_several_workers_depths_and_lengths_are_not_compared() -> None:
    assert compare(replace(MODEL, depth=7), run("holds"), exact=False).ok
    assert not compare(replace(MODEL, distinct=14), run("holds"), exact=False).ok
    assert compare(replace(WITNESS, length=2), run("invariant"), exact=False).ok


def row_with(status: Status) -> CheckRow:
    return replace(compare(MODEL, run("holds")), status=status)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["as expected"], 0),
        (["as expected", "not as expected", "undecided"], 1),
        (["as expected", "undecided"], 3),
        (["not as expected", "error"], 2),
        ([], 3),
    ],
)
def test_the_worst_row_gives_the_exit_code(statuses: list[Status], code: int) -> None:
    assert exit_code([row_with(status) for status in statuses]) == code
