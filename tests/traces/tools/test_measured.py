"""What was measured counts as long as the manifest says the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tests.traces.tools.test_check import FALLS, HARMLESS, MODEL, MUTANT, STOPPED, WITNESS, run
from tlatrace.errors import SpecError
from tlatrace.tools.check import CheckRow, compare
from tlatrace.tools.manifest import Checkable, Manifest, Mutant, TlcModel, Witness
from tlatrace.tools.measured import Measurements, read_measured, told_of

EARLY, LATE = date(2024, 2, 28), date(2024, 3, 6)
TLC = "2.15 (d5b5a7f)"
KEPT = replace(HARMLESS, name="Idle")


def manifest_of(*entries: Checkable) -> Manifest:
    return Manifest(
        path=Path("spec") / "manifest.toml",
        models=tuple(entry for entry in entries if isinstance(entry, TlcModel)),
        witnesses=tuple(entry for entry in entries if isinstance(entry, Witness)),
        mutants=tuple(entry for entry in entries if isinstance(entry, Mutant)),
        theorems=(),
        shared={},
    )


def found(entry: Checkable) -> CheckRow:
    return compare(entry, run("holds" if entry in (MODEL, KEPT) else "invariant"))


def measured(*entries: Checkable, on: date = EARLY) -> Measurements:
    measurements = Measurements(())
    for entry in entries:
        measurements.add(found(entry), on=on, tlc=TLC)
    return measurements


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path, entries = tmp_path / "measured.json", (MODEL, FALLS, WITNESS, MUTANT, KEPT)
    manifest = manifest_of(*entries)
    measured(*reversed(entries)).write(manifest, path)
    again = read_measured(path)
    lines = path.read_text("utf-8").splitlines()
    assert [line[:1] for line in lines] == ["[", *"{" * 5, "]"]
    assert '"small"' in lines[1]
    assert '"2024-02-28"' in lines[1]
    for entry in entries:
        row = again.current(entry)
        assert row is not None, entry.name
        assert (row.date, row.tlc, row.seconds) == (EARLY, TLC, 2.4)
        assert again.seconds(entry) == 2.4
    row = again.current(MODEL)
    assert row is not None
    assert (row.distinct, row.depth, row.length) == (15, 6, None)
    assert [path.name for path in tmp_path.iterdir()] == ["measured.json"]


@pytest.mark.parametrize(
    "changed",
    [
        replace(MODEL, distinct=16),
        replace(MODEL, depth=7),
        replace(MODEL, distinct=None, depth=None, violates="Low", length=3),
        replace(WITNESS, length=4),
        replace(WITNESS, violates="Positive"),
        replace(MUTANT, killed_by="Positive"),
        replace(KEPT, distinct=16),
    ],
)
def test_a_measurement_of_an_entry_that_was_changed_does_not_count(changed: Checkable) -> None:
    measurements = measured(MODEL, WITNESS, MUTANT, KEPT)
    assert measurements.of(changed) is not None
    assert measurements.current(changed) is None


def test_what_tlc_did_not_judge_is_not_measured() -> None:
    measurements = measured(MODEL)
    measurements.add(compare(MODEL, STOPPED), on=LATE, tlc=TLC)
    measurements.add(compare(WITNESS, run("broken")), on=LATE, tlc=TLC)
    row = measurements.current(MODEL)
    assert row is not None
    assert row.date == EARLY
    assert measurements.of(WITNESS) is None


def test_what_was_not_as_expected_is_measured_and_does_not_count() -> None:
    wrong = replace(MODEL, distinct=14)
    measurements = Measurements(())
    measurements.add(compare(wrong, run("holds")), on=EARLY, tlc=TLC)
    row = measurements.of(wrong)
    assert row is not None
    assert row.distinct == 15
    assert measurements.current(wrong) is None


def test_rows_of_entries_that_are_gone_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    measured(MODEL, MUTANT).write(manifest_of(MODEL), path)
    assert read_measured(path).of(MODEL) is not None
    assert read_measured(path).of(MUTANT) is None


def test_a_sentence_says_when_a_ring_was_run() -> None:
    manifest = manifest_of(MODEL, WITNESS, MUTANT, replace(KEPT, ring="weekly"))
    what = "of the 3 models, witnesses and mutants of the push ring"
    assert told_of(manifest, "push", Measurements(())) == f"None {what} has been run."
    measurements = measured(MODEL, WITNESS)
    assert told_of(manifest, "push", measurements) == (
        f"2 {what} were run on 2024-02-28 by TLC {TLC}; not yet as they are now: counter B05."
    )
    measurements.add(found(MUTANT), on=LATE, tlc=TLC)
    assert told_of(manifest, "push", measurements) == (
        f"All {what} were run between 2024-02-28 and 2024-03-06 by TLC {TLC}."
    )
    assert told_of(manifest, "weekly", measurements).startswith("None of the 1 models")


def test_of_many_that_are_missing_six_are_named() -> None:
    others = [replace(MUTANT, name=f"B{number:02}") for number in range(20, 30)]
    told = told_of(manifest_of(MODEL, *others), "push", measured(MODEL))
    assert told.endswith("counter B24, counter B25 and 4 more.")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('"2024-02-28"', '"yesterday"'), r"measured\.json: .*date"),
        (("[", ""), r"measured\.json: Expected `array`"),
        (('"distinct": 15', '"distinct": "15"'), r"Expected `int \| null`"),
        (('"distinct": 15', '"distinct": -1'), r">= 0"),
        (('"found"', '"fuond"'), r"fuond|found"),
    ],
)
def test_a_file_that_is_none_is_refused(
    tmp_path: Path, change: tuple[str, str], complaint: str
) -> None:
    path = tmp_path / "measured.json"
    measured(MODEL).write(manifest_of(MODEL), path)
    text = path.read_text("utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change, 1), "utf-8")
    with pytest.raises(SpecError, match=complaint):
        read_measured(path)


def test_two_rows_of_one_entry_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    measured(MODEL).write(manifest_of(MODEL), path)
    line = path.read_text("utf-8").splitlines()[1]
    path.write_text(f"[{line},{line}]", "utf-8")
    with pytest.raises(SpecError, match="model counter small: twice"):
        read_measured(path)
