"""Counts are written where they were found as declared, and expected from then on."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tests.traces.tools.test_check import FALLS, HARMLESS, MODEL, MUTANT, STOPPED, WITNESS, run
from tlatrace.errors import SpecError
from tlatrace.tools.check import compare
from tlatrace.tools.manifest import Checkable, Manifest, Mutant, TlcModel, Witness, key_of
from tlatrace.tools.measured import Key, Measured, read_measured
from tlatrace.tools.measurements import Measurements, when_run
from tlatrace.tools.runs import CheckedEntry
from tlatrace.tools.tlc_run import TlcRun

EARLY, LATE = date(2024, 2, 28), date(2024, 3, 6)
TLC = "2.15 (d5b5a7f)"
KEPT = replace(HARMLESS, name="Idle")
ALL = (MODEL, FALLS, WITNESS, MUTANT, KEPT)

TEXT = """\
# What TLC found of each entry of checks.toml when it last ran; `rocketproof check --record` and
# `rocketproof rings` write this file.  Where the counts are not found again, a check fails.

[model]
default = { found = "violates Low", LOW, seconds = 2.4, date = 2024-02-28, tlc = "2.15 (d5b5a7f)" }
small = { found = "holds", 15, depth = 6, seconds = 2.4, date = 2024-02-28, tlc = "2.15 (d5b5a7f)" }

[witness]
NotLow = { found = "violates Low", LOW, seconds = 2.4, date = 2024-02-28, tlc = "2.15 (d5b5a7f)" }

[mutant]
B05 = { found = "violates Low", LOW, seconds = 2.4, date = 2024-02-28, tlc = "2.15 (d5b5a7f)" }
Idle = { found = "holds", 15, seconds = 2.4, date = 2024-02-28, tlc = "2.15 (d5b5a7f)" }
"""
TEXT = TEXT.replace(" LOW,", " distinct = 4, length = 3,").replace(" 15,", " distinct = 15,")


def manifest_of(root: Path, *entries: Checkable) -> Manifest:
    (root / "counter").mkdir(exist_ok=True)
    return Manifest(
        root=root,
        models=tuple(entry for entry in entries if isinstance(entry, TlcModel)),
        witnesses=tuple(entry for entry in entries if isinstance(entry, Witness)),
        mutants=tuple(entry for entry in entries if isinstance(entry, Mutant)),
        theorems=(),
        shared={},
        measured=read_measured(root / "counter"),
    )


def output_of(entry: Checkable) -> TlcRun:
    return run("holds" if entry in (MODEL, KEPT) else "invariant")


def checked(entry: Checkable, found: TlcRun, *, exact: bool = True) -> CheckedEntry:
    return CheckedEntry(entry=entry, run=found, row=compare(entry, found, exact=exact), exact=exact)


def measured(*entries: Checkable) -> Measurements:
    measurements = Measurements({})
    for entry in entries:
        assert measurements.record(checked(entry, output_of(entry)), on=EARLY, tlc=TLC)
    return measurements


def written(root: Path, measurements: Measurements, *entries: Checkable) -> dict[Key, Measured]:
    measurements.write(manifest_of(root, *entries), ["counter"])
    return read_measured(root / "counter")


def test_what_is_recorded_is_a_line_for_each_entry_by_name(tmp_path: Path) -> None:
    again = written(tmp_path, measured(*reversed(ALL)), *ALL)
    assert (tmp_path / "counter" / "measured.toml").read_text("utf-8") == TEXT
    assert [path.name for path in (tmp_path / "counter").iterdir()] == ["measured.toml"]
    assert again[key_of(MODEL)] == Measured(
        found="holds", distinct=15, depth=6, seconds=2.4, date=EARLY, tlc=TLC
    )
    assert again[key_of(MUTANT)].length == 3


def test_only_rows_with_new_counts_change(tmp_path: Path) -> None:
    old = measured(*ALL)
    measurements = Measurements(written(tmp_path, old, *ALL))
    results = [checked(entry, output_of(entry)) for entry in ALL]
    assert not any(measurements.record(one, on=LATE, tlc="3") for one in results)
    fewer = replace(run("holds"), distinct=14)
    assert measurements.record(checked(MODEL, fewer), on=LATE, tlc="3")
    written(tmp_path, measurements, *ALL)
    before = TEXT.splitlines()
    after = (tmp_path / "counter" / "measured.toml").read_text("utf-8").splitlines()
    (changed,) = (now for was, now in zip(before, after, strict=True) if was != now)
    assert changed.startswith('small = { found = "holds", distinct = 14, depth = 6, ')
    assert changed.endswith('date = 2024-03-06, tlc = "3" }')


def test_what_did_not_end_as_declared_is_not_recorded() -> None:
    measurements = measured(WITNESS)
    for one in (
        checked(MODEL, run("invariant")),
        checked(MODEL, STOPPED),
        checked(MUTANT, run("holds")),
        checked(MUTANT, run("broken")),
        checked(replace(WITNESS, violates="Positive"), run("invariant")),
        checked(FALLS, run("invariant"), exact=False),
    ):
        assert not measurements.record(one, on=LATE, tlc=TLC)
    row = measurements.current(WITNESS)
    assert row is not None
    assert row.date == EARLY


def test_with_several_workers_a_depth_is_not_recorded_and_the_old_one_kept_if_it_is_true() -> None:
    measurements = measured(MODEL)
    assert not measurements.record(checked(MODEL, run("holds"), exact=False), on=LATE, tlc=TLC)
    fewer = replace(run("holds"), distinct=14)
    assert measurements.record(checked(MODEL, fewer, exact=False), on=LATE, tlc=TLC)
    row = measurements.current(MODEL)
    assert row is not None
    assert (row.distinct, row.depth) == (14, None)


def test_when_a_temporal_violation_is_found_is_no_news() -> None:
    stays = replace(MUTANT, killed_by="Stays")
    lasso = replace(run("lasso"), violated="Stays")
    measurements = Measurements({})
    assert measurements.record(checked(stays, lasso), on=EARLY, tlc=TLC)
    later = replace(lasso, states=(*lasso.states, lasso.states[-1]))
    assert not measurements.record(checked(stays, later), on=LATE, tlc=TLC)


def test_a_run_that_was_as_expected_renews_the_date_and_another_one_nothing() -> None:
    measurements = measured(MODEL, WITNESS)
    slow = replace(run("holds"), seconds=7.04)
    measurements.renew(MODEL, compare(MODEL, slow), on=LATE, tlc="3")
    wrong = replace(WITNESS, length=4)
    measurements.renew(wrong, compare(wrong, run("invariant")), on=LATE, tlc="3")
    measurements.renew(KEPT, compare(KEPT, run("holds")), on=LATE, tlc="3")
    model, witness = measurements.current(MODEL), measurements.current(WITNESS)
    assert model is not None
    assert (model.distinct, model.depth, model.seconds) == (15, 6, 7.0)
    assert (model.date, model.tlc) == (LATE, "3")
    assert witness is not None
    assert (witness.length, witness.date) == (3, EARLY)
    assert measurements.current(KEPT) is None


@pytest.mark.parametrize(
    "changed",
    [
        replace(MODEL, violates="Low"),
        replace(WITNESS, violates="Positive"),
        replace(MUTANT, killed_by="Positive"),
        replace(KEPT, killed_by="Positive"),
    ],
)
def test_a_row_of_an_entry_that_is_declared_otherwise_now_does_not_count(
    changed: Checkable,
) -> None:
    measurements = measured(*ALL)
    assert measurements.current(changed) is None
    assert measurements.states(changed) is None
    assert measurements.seconds(changed) == 2.4


def test_rows_of_entries_that_are_gone_are_dropped(tmp_path: Path) -> None:
    assert set(written(tmp_path, measured(MODEL, MUTANT), MODEL)) == {key_of(MODEL)}


def test_a_sentence_says_when_a_ring_was_run(tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path, MODEL, WITNESS, MUTANT, replace(KEPT, ring="weekly"))
    what = "of the 3 models, witnesses and mutants of the push ring"
    assert when_run(manifest, "push", Measurements({})) == f"None {what} has been run."
    measurements = measured(MODEL, WITNESS)
    assert when_run(manifest, "push", measurements) == (
        f"2 {what} were run on 2024-02-28 by TLC {TLC}; not yet as they are now: counter B05."
    )
    assert measurements.record(checked(MUTANT, output_of(MUTANT)), on=LATE, tlc=TLC)
    assert when_run(manifest, "push", measurements) == (
        f"All {what} were run between 2024-02-28 and 2024-03-06 by TLC {TLC}."
    )
    assert when_run(manifest, "weekly", measurements).startswith("None of the 1 models")


def test_of_many_that_are_missing_six_are_named(tmp_path: Path) -> None:
    others = [replace(MUTANT, name=f"B{number:02}") for number in range(20, 30)]
    said = when_run(manifest_of(tmp_path, MODEL, *others), "push", measured(MODEL))
    assert said.endswith("counter B24, counter B25 and 4 more.")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("date = 2024-02-28", 'date = "yesterday"', r"measured\.toml: .*date"),
        ("[model]", "[modell]", r"measured\.toml: Invalid enum value 'modell'"),
        ("small = {", "default = {", r"measured\.toml: .*line 6"),
        ("distinct = 15", 'distinct = "15"', r"Expected `int \| null`"),
        ("distinct = 15", "distinct = -1", r">= 0"),
        ("found =", "fuond =", r"fuond|found"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in TEXT
    (tmp_path / "measured.toml").write_text(TEXT.replace(old, new, 1), "utf-8")
    with pytest.raises(SpecError, match=complaint):
        read_measured(tmp_path)


def test_where_no_file_is_nothing_was_measured(tmp_path: Path) -> None:
    assert read_measured(tmp_path) == {}
