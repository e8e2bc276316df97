"""A check passes only with exactly what the manifest expects."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.traces.tools.endings import OUTPUTS
from tlatrace.tools.check import CheckRow, Status, compare, exit_code
from tlatrace.tools.manifest import Manifest, Mutant, TlcModel, Witness
from tlatrace.tools.record import record
from tlatrace.tools.runs import CheckedEntry
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
    seconds=None,
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


def checked(entry: Checkable, found: TlcRun, *, exact: bool = True) -> CheckedEntry:
    return CheckedEntry(entry=entry, run=found, row=compare(entry, found, exact=exact), exact=exact)


TABLES = """\
# kept
[[model]] # and this
protocol = "counter"
name = "small"
distinct = 1 # old

[[model]]
protocol = "counter"
name = "default"

[[witness]]
protocol = "counter"
name = "NotLow"
length = 9

[[mutant]]
protocol = "counter"
name = "B05"
"""


def recorded(tmp_path: Path, *results: CheckedEntry) -> tuple[tuple[str, ...], str]:
    path = tmp_path / "manifest.toml"
    path.write_text(TABLES, "utf-8")
    manifest = Manifest(path=path, models=(), witnesses=(), mutants=(), theorems=(), shared={})
    return record(manifest, results), path.read_text("utf-8")


def test_counts_are_recorded_and_comments_kept(tmp_path: Path) -> None:
    names, text = recorded(
        tmp_path,
        checked(MODEL, run("holds")),
        checked(FALLS, run("invariant")),
        checked(WITNESS, run("invariant")),
        checked(MUTANT, run("invariant")),
    )
    assert names == ("counter/small", "counter/default", "counter/NotLow", "counter/B05")
    assert text.startswith("# kept\n[[model]] # and this\n")
    tables = tomllib.loads(text)
    assert tables["model"][0] | {"distinct": 15, "depth": 6, "seconds": 2} == tables["model"][0]
    assert tables["model"][1] == {"protocol": "counter", "name": "default", "length": 3}
    assert tables["witness"][0]["length"] == 3
    assert tables["mutant"][0]["length"] == 3


def test_counts_are_recorded_where_the_entries_stand(tmp_path: Path) -> None:
    own = tmp_path / "counter" / "manifest.toml"
    own.parent.mkdir()
    own.write_text(TABLES, "utf-8")
    names, text = recorded(tmp_path, checked(WITNESS, run("invariant")))
    assert (names, text) == (("counter/NotLow",), TABLES)
    assert tomllib.loads(own.read_text("utf-8"))["witness"][0]["length"] == 3


def test_an_unexpected_result_is_not_recorded(tmp_path: Path) -> None:
    names, text = recorded(
        tmp_path,
        checked(MODEL, run("invariant")),
        checked(replace(WITNESS, violates="Positive"), run("invariant")),
        checked(MUTANT, run("holds")),
        checked(WITNESS, run("invariant"), exact=False),
        checked(MODEL, STOPPED),
    )
    assert (names, text) == ((), TABLES)
