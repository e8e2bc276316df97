"""Damaged corpora: what every driver sees in one that is damaged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.traces.corpus.corpora import CHUNK, HERE, RUNS, content, seal
from tests.traces.corpus.toy import (
    Row,
    judge,
    record,
    rows_in,
)
from tlatrace.corpus.generate import generate_corpus
from tlatrace.corpus.manifest import finish, read_manifest
from tlatrace.corpus.on_spark import SortDriver
from tlatrace.corpus.validate import Driver
from tlatrace.errors import CorpusError, ToolError
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, exit_code


def rewrite(folder: Path, table: str, change: Callable[[list[Row]], object]) -> None:
    """Change the rows of the first file of a table."""
    file = sorted((folder / table).glob("*.parquet"))[0]
    old = pq.read_table(file)
    rows = old.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=old.schema), file, compression="zstd")
    seal(folder)


def put(at: int, column: str, value: str | int | None) -> Callable[[list[Row]], object]:
    return lambda rows: rows[at].__setitem__(column, value)


FIRST = "seed-0000000100"


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (put(3, "state", '{"last":"up","x":-3}'), Diverges),
        (put(3, "action", "Never"), Diverges),
        (put(3, "params", "[99]"), Diverges),
        (put(3, "state", '{"last":"up", "x":1}'), Undecided),
        (put(3, "state_x", None), Undecided),
        (put(3, "step", 40), Undecided),
        (put(3, "trace_id", "another"), Undecided),
        (lambda rows: rows.pop(3), Undecided),
        (lambda rows: rows.insert(3, rows[3]), Undecided),
        (lambda rows: rows.pop(13), Undecided),
    ],
    ids=[
        *["state", "action", "params", "spelling", "no state", "number", "name"],
        *["dropped", "doubled", "last step dropped"],
    ],
)
def test_one_damaged_row_among_all_is_found_by_every_driver(
    copied: Path,
    driver: Driver,
    change: Callable[[list[Row]], object],
    verdict: type,
) -> None:
    rewrite(copied, "steps", change)

    result = judge(copied, driver=driver)

    verdicts = {item.trace_id: item.verdict for item in result.verdicts}
    damaged = verdicts.pop(FIRST)
    assert isinstance(damaged, verdict)
    verdicts.pop("another", None)
    assert all(isinstance(other, Conforms) for other in verdicts.values())
    assert len(verdicts) == RUNS - 1
    assert exit_code(result.verdict) != 0


def test_two_rows_that_are_swapped_are_found_unless_the_driver_sorts(
    copied: Path, driver: Driver
) -> None:
    rewrite(copied, "steps", lambda rows: rows.insert(2, rows.pop(3)))

    result = judge(copied, driver=driver)

    troubled = [item.trace_id for item in result.of_kind("undecided")]
    assert troubled == ([] if isinstance(driver, SortDriver) else [FIRST])


def test_a_carried_row_that_is_no_copy_is_found_unless_the_driver_carries(
    copied: Path, driver: Driver
) -> None:
    # The step after it fits to the false state: only the comparison shows it.
    def lie(rows: list[Row]) -> None:
        rows[5]["state"] = '{"last":"up","x":50}'
        rows[6] |= {"action": "Up", "params": "[]", "state": '{"last":"up","x":51}'}
        for at, row in enumerate(rows[7:11], start=52):
            row |= {"action": "Up", "params": "[]", "state": f'{{"last":"up","x":{at}}}'}
        rows[11] |= {"state": rows[10]["state"], "action": "Up", "params": "[]"}
        rows[12] |= {"action": "Up", "params": "[]", "state": '{"last":"up","x":56}'}
        rows[13] |= {"action": "Up", "params": "[]", "state": '{"last":"up","x":57}'}

    rewrite(copied, "steps", lie)

    result = judge(copied, driver=driver)

    verdict = next(item.verdict for item in result.verdicts if item.trace_id == FIRST)
    if isinstance(driver, SortDriver):
        assert isinstance(verdict, Diverges)
        assert verdict.step == 5
    else:
        assert verdict == Undecided("step 4 is not the same in both of its rows")


def test_a_lost_row_is_told_of_the_corpus_too(copied: Path) -> None:
    rewrite(copied, "steps", lambda rows: rows.pop(11))

    result = judge(copied)

    assert result.problems == () or "its manifest says" in result.problems[0]
    rewrite(copied, "steps", lambda rows: rows.pop(2))
    assert judge(copied).problems == (
        f"it has {RUNS * 12 - 1} steps; its manifest says {RUNS * 12}",
    )


def test_a_lost_file_leaves_its_traces_undecided(copied: Path, driver: Driver) -> None:
    file = sorted((copied / "steps").glob("*.parquet"))[0]
    names = {row["trace_id"] for row in rows_in(file)}
    file.unlink()

    result = judge(copied, driver=driver)

    assert {item.trace_id for item in result.of_kind("undecided")} == names
    assert len(result.verdicts) == RUNS
    assert f"steps/{file.name} is missing" in result.problems


def test_a_lost_row_of_the_table_of_traces_is_told(copied: Path) -> None:
    rewrite(copied, "traces", lambda rows: rows.pop(0))

    result = judge(copied)

    assert [item.trace_id for item in result.of_kind("undecided")] == [FIRST]
    assert result.problems == (f"it has {RUNS - 1} traces; its manifest says {RUNS}",)


@pytest.mark.parametrize("damage", ["cut", "no parquet"])
def test_a_file_that_cannot_be_read_is_an_error(copied: Path, driver: Driver, damage: str) -> None:
    file = sorted((copied / "steps").glob("*.parquet"))[0]
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2] if damage == "cut" else b"PAR1 no, not really")
    seal(copied)

    with pytest.raises(
        (ToolError, CorpusError), match=r"is not a Parquet file|cannot be read|reading file"
    ):
        judge(copied, driver=driver)


@pytest.mark.parametrize("table", ["steps", "traces"])
def test_a_single_flipped_bit_is_an_error_for_every_driver(
    copied: Path, driver: Driver, table: str
) -> None:
    file = sorted((copied / table).glob("*.parquet"))[0]
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 4
    file.write_bytes(data)

    with pytest.raises(CorpusError, match=rf"{file.name}: is damaged"):
        judge(copied, driver=driver)


def test_a_file_that_the_manifest_does_not_name_is_an_error(copied: Path) -> None:
    shutil.copyfile(copied / "steps" / "part-000000.parquet", copied / "steps" / "more")

    with pytest.raises(CorpusError, match=r"more: is none of the files"):
        judge(copied)


def test_a_corpus_without_checksums_is_judged_and_that_is_said(copied: Path) -> None:
    finish(copied, replace(read_manifest(copied), files=None))

    result = judge(copied)

    assert result.verdict == Conforms(RUNS * 12)
    assert any("has no checksums" in note for note in result.notes)


def test_a_file_of_other_columns_is_an_error(copied: Path) -> None:
    file = sorted((copied / "steps").glob("*.parquet"))[0]
    pq.write_table(pq.read_table(file).drop_columns(["params"]), file)
    seal(copied)

    with pytest.raises(CorpusError, match="has no column params"):
        judge(copied)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda table: table.drop_columns(["events"]), "cannot be read"),
        (lambda table: replaced(table, "seed", ["7"]), "has no column seed of int64"),
        (lambda table: replaced(table, "trace_id", [None]), "a row without a trace_id"),
        (lambda table: replaced(table, "error", [b"\xff"]), "cannot be read"),
    ],
    ids=["column", "type", "null", "bytes"],
)
def test_a_table_of_traces_that_is_another_one_is_an_error(
    copied: Path, damage: Callable[[pa.Table], pa.Table], reason: str
) -> None:
    file = sorted((copied / "traces").glob("*.parquet"))[0]
    pq.write_table(damage(pq.read_table(file)), file)
    seal(copied)

    with pytest.raises(CorpusError, match=reason):
        judge(copied)


def replaced(table: pa.Table, name: str, values: list[object]) -> pa.Table:
    """Give a column other values, the same in all rows; bytes are no UTF-8 in a column of text."""
    column = pa.array(values * table.num_rows)
    if column.type == pa.binary():
        column = column.view(pa.string())
    if column.type == pa.null():
        column = column.cast(pa.string())
    return table.set_column(table.column_names.index(name), name, column)


def test_a_text_of_steps_that_is_not_utf_8_is_an_error(copied: Path) -> None:
    file = sorted((copied / "steps").glob("*.parquet"))[0]
    pq.write_table(replaced(pq.read_table(file), "params", [b"[\xff]"]), file)
    seal(copied)

    with pytest.raises(CorpusError, match="not UTF-8"):
        judge(copied)


def test_steps_in_any_order_are_for_the_driver_that_sorts(copied: Path, driver: Driver) -> None:
    steps = content(copied, "steps")
    own = steps.filter(
        pa.array([row["step"] // CHUNK == row["chunk"] for row in steps.to_pylist()])
    )
    shuffled = own.sort_by([("clock", "ascending"), ("state", "ascending"), ("step", "descending")])
    for file in (copied / "steps").iterdir():
        file.unlink()
    pq.write_table(shuffled, copied / "steps" / "part-0.parquet", row_group_size=50)
    seal(copied)

    result = judge(copied, driver=driver)

    assert (result.count("conforms") == RUNS) is isinstance(driver, SortDriver)
    assert result.figures.steps == RUNS * 12


def test_an_unfinished_corpus_is_refused(copied: Path) -> None:
    (copied / "corpus.json").rename(copied / "_unfinished")

    with pytest.raises(CorpusError, match="unfinished"):
        judge(copied)


def test_a_corpus_is_not_written_over_another_one(copied: Path) -> None:
    with pytest.raises(CorpusError, match="--force"):
        generate_corpus(HERE, copied, record, first_seed=0, runs=3, source={})
    assert read_manifest(copied).traces == RUNS

    generate_corpus(HERE, copied, record, first_seed=0, runs=3, source={}, force=True)
    assert read_manifest(copied).traces == 3
    assert content(copied, "steps").num_rows == 36
