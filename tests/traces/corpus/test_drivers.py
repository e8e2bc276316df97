"""A corpus from end to end: made, damaged, and judged by every driver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.traces.corpus import toy
from tests.traces.corpus.corpora import CHUNK, HERE, RUNS, content, make
from tests.traces.corpus.toy import (
    ToyChecker,
    ToySource,
    judge,
    record,
    record_badly,
    rows_in,
)
from tlatrace.corpus.examples import Allowed
from tlatrace.corpus.generate import generate_corpus, import_corpus, make_here
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.manifest import read_manifest
from tlatrace.corpus.on_spark import STEPS_KEY, ScanDriver, SparkParts
from tlatrace.corpus.result import CorpusResult, FaultCount
from tlatrace.corpus.validate import Driver
from tlatrace.errors import CorpusError, ToolError
from tlatrace.judgement.transition import Transition
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, exit_code, kind
from tlatrace.trace import Event, Silent, Trace
from tlatrace.trace.ndjson import write_trace

# ---- what is on disk ----


def test_a_corpus_holds_every_step_of_every_seed(good: Path) -> None:
    manifest = read_manifest(good)
    traces, steps = content(good, "traces"), content(good, "steps")

    assert (manifest.traces, manifest.steps, manifest.failed) == (RUNS, RUNS * 12, 0)
    assert (manifest.spec, manifest.constants) == ("Toy", {"Max": 60})
    assert manifest.chunk_steps == CHUNK
    assert traces.column("seed").to_pylist() == list(range(100, 100 + RUNS))
    assert steps.num_rows == RUNS * 14
    row = steps.slice(15, 1).to_pylist()[0]
    event = record(101).events[1]
    assert (row["trace_id"], row["seed"], row["step"]) == ("seed-0000000101", 101, 1)
    assert (row["action"], row["node"], row["chunk"]) == (event.action, "n1", 0)
    assert event.state is not None
    assert row["state"] is None
    assert row["state_last"] == f'"{event.state["last"]}"'
    assert row["state_x"] == f"{event.state['x']}"


def test_a_piece_begins_with_the_row_before_it(good: Path) -> None:
    rows = content(good, "steps").slice(0, 14).to_pylist()

    assert [(row["chunk"], row["step"]) for row in rows] == [
        *[(0, step) for step in range(5)],
        *[(1, step) for step in range(4, 10)],
        *[(2, step) for step in range(9, 12)],
    ]
    assert {**rows[4], "chunk": 1} == rows[5]


def test_pieces_are_whole_and_in_order(good: Path) -> None:
    seen: set[tuple[str, int]] = set()
    files = sorted((good / "steps").glob("*.parquet"))
    assert len(files) > 1
    for file in files:
        parquet = pq.ParquetFile(file)
        assert parquet.metadata.row_group(0).column(0).compression == "ZSTD"
        rows = parquet.read(["trace_id", "chunk", "step"]).to_pylist()
        keys = [(row["trace_id"], row["chunk"], row["step"]) for row in rows]
        assert keys == sorted(keys)
        pieces = {key[:2] for key in keys}
        assert not pieces & seen
        seen |= pieces
    assert len(seen) == 3 * RUNS


def test_the_same_seeds_give_the_same_bytes_whoever_makes_them(good: Path, tmp_path: Path) -> None:
    generate_corpus(
        make_here(2), tmp_path / "c", record, first_seed=100, runs=RUNS, source={}, chunk_steps=5
    )

    for table in ("steps", "traces"):
        files = sorted((good / table).iterdir())
        assert [file.name for file in files] == sorted(
            file.name for file in (tmp_path / "c" / table).iterdir()
        )
        for file in files:
            assert file.read_bytes() == (tmp_path / "c" / table / file.name).read_bytes()


@pytest.mark.spark
def test_spark_makes_the_same_corpus(
    request: pytest.FixtureRequest, good: Path, tmp_path: Path
) -> None:
    parts = SparkParts(request.getfixturevalue("spark"))
    generate_corpus(
        parts, tmp_path / "c", record, first_seed=100, runs=RUNS, source={}, chunk_steps=5
    )

    for table in ("steps", "traces"):
        assert content(tmp_path / "c", table).equals(content(good, table))
    assert read_manifest(tmp_path / "c").steps == read_manifest(good).steps


# ---- every driver ----


def naive(folder: Path) -> dict[str, tuple[str, int | None]]:
    """Judge with a plain loop over all rows; trace id -> (kind, step of a divergence)."""
    checker = ToyChecker()
    found: dict[str, tuple[str, int | None]] = {}
    pre: object = None
    rows = [row for file in sorted((folder / "steps").iterdir()) for row in rows_in(file)]
    for row in sorted(rows, key=lambda row: (str(row["trace_id"]), int(str(row["step"])))):
        if int(str(row["step"])) // CHUNK != row["chunk"]:
            continue
        name, step = str(row["trace_id"]), int(str(row["step"]))
        post = checker.state(f'{{"last":{row["state_last"]},"x":{row["state_x"]}}}')
        claim = (None if row["action"] is None else str(row["action"]), str(row["params"]))
        verdict = str(checker.step(pre if step else None, *claim, post))
        good_so_far = found.setdefault(name, ("conforms", None))[0] == "conforms"
        if good_so_far and ("Refused" in verdict or checker.invariants(post)[0]):
            found[name] = ("diverges", step)
        pre = post
    return found


def summary(result: CorpusResult) -> dict[str, tuple[str, int | None]]:
    return {
        item.trace_id: (
            kind(item.verdict),
            item.verdict.step if isinstance(item.verdict, Diverges) else None,
        )
        for item in result.verdicts
    }


def test_every_driver_agrees_with_a_plain_loop(mixed: Path, driver: Driver) -> None:
    result = judge(mixed, driver=driver)

    expected = naive(mixed)
    made = {name: answer for name, answer in summary(result).items() if answer[0] != "undecided"}
    assert made == expected
    assert {"conforms", "diverges"} == {answer[0] for answer in expected.values()}
    assert result.count("undecided") == read_manifest(mixed).failed > 0
    assert result.verdicts == judge(mixed).verdicts
    figures = result.figures
    assert figures.steps == figures.accounted == read_manifest(mixed).steps
    assert figures.distinct == judge(mixed).figures.distinct
    assert result.actions == judge(mixed).actions
    assert result.examples == judge(mixed).examples


def test_processes_agree_with_this_process(mixed: Path) -> None:
    alone, many = judge(mixed), judge(mixed, driver=LocalDriver(2, here_rows=0))

    assert many.verdicts == alone.verdicts
    assert many.actions == alone.actions
    assert many.examples == alone.examples
    assert many.figures.distinct == alone.figures.distinct


def test_all_traces_of_a_good_corpus_conform(good: Path, driver: Driver) -> None:
    result = judge(good, driver=driver)

    assert result.verdict == Conforms(RUNS * 12)
    assert result.count("conforms") == RUNS
    figures = result.figures
    assert (figures.steps, figures.initial, figures.skipped) == (RUNS * 12, RUNS, 0)
    assert figures.accounted == figures.steps
    assert 12 < figures.distinct < RUNS * 12
    assert figures.distinct_is_exact
    assert sum(result.actions.values()) == RUNS * 12
    assert result.unseen == ("Never",)
    assert result.logged is not None
    assert result.logged.text() == "2 of 2 variables, 2 of 3 actions logged"
    assert result.logged.steps == figures.steps - RUNS == result.logged.variables["x"]
    steps = {name: count for name, count in result.actions.items() if name != "Init"}
    assert result.logged.actions == {"Never": 0, **steps}
    assert result.faults["jump"].strikes == result.actions["Jump"]
    assert result.examples == ()
    assert result.problems == ()
    assert figures.cpu_seconds > 0
    assert figures.worker_peak_mb > 1


def test_bad_runs_diverge_at_their_step_and_failed_ones_are_undecided(tmp_path: Path) -> None:
    make(tmp_path / "c", record_badly, first_seed=0)
    assert read_manifest(tmp_path / "c").failed == 6

    result = judge(tmp_path / "c", make_example=say_no)

    assert [result.count(k) for k in ("conforms", "diverges", "undecided")] == [36, 18, 6]
    diverging = result.of_kind("diverges")
    assert [item.seed for item in diverging][:4] == [0, 3, 6, 12]
    assert {
        (v.verdict.step, v.verdict.action) for v in diverging if isinstance(v.verdict, Diverges)
    } == {(5, "Up")}
    failed = {item.seed: item.verdict for item in result.of_kind("undecided")}
    assert sorted(key for key in failed if key is not None) == [9, 19, 29, 39, 49, 59]
    assert "RuntimeError: seed 9 went wrong (toy.py:" in str(failed[9])
    assert result.command_for(3) == "simulate toy --seed 3"
    example = result.examples[0]
    assert (example.step, example.call, example.traces) == (5, "Up", 18)
    assert example.allowed == ("x: not this",)
    assert any(line.startswith("x: ") and line.endswith("-> -7") for line in example.changes)


def say_no(transition: Transition, /) -> Allowed:
    assert transition.pre is not None
    return Allowed(("x: not this",))


def test_an_invariant_ends_a_trace(tmp_path: Path) -> None:
    make(tmp_path / "c", run_far)

    result = judge(tmp_path / "c")

    for item in result.verdicts:
        states = [e.state["x"] for e in run_far(item.seed or 0).events if e.state is not None]
        first_high = next(at for at, x in enumerate(states) if isinstance(x, int) and x > toy.MAX)
        assert isinstance(item.verdict, Diverges)
        assert item.verdict.step == first_high
        assert "Low" in item.verdict.observed


def run_far(seed: int) -> Trace:
    return record(seed, steps=90)


def test_a_step_that_cannot_be_judged_leaves_its_traces_undecided(good: Path) -> None:
    result = judge(good, ToySource(fails_at=7))

    through_7 = {
        seed
        for seed in range(100, 100 + RUNS)
        if any(e.state is not None and e.state["x"] == 7 for e in record(seed).events)
    }
    assert {item.seed for item in result.of_kind("undecided")} == through_7
    assert result.count("conforms") == RUNS - len(through_7) > 0
    assert exit_code(result.verdict) == 3


# ---- recorded traces ----


def test_recorded_files_become_a_corpus(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("b.ndjson", "a.ndjson", "partial.ndjson", "bad.ndjson")]
    write_trace(files[0], record(1))
    write_trace(files[1], record(2))
    partial = Event(step=1, action="Up", observed={"x": 1})
    write_trace(files[2], Trace(header=record(3).header, events=(record(3).events[0], partial)))
    files[3].write_text("this is no trace\n")

    made = import_corpus(HERE, tmp_path / "c", files)
    result = judge(tmp_path / "c")

    assert made.manifest.failed == 1
    assert "bad.ndjson:1" in made.failures[0][1]
    verdicts = {Path(item.trace_id).name: item.verdict for item in result.verdicts}
    assert list(verdicts) == ["a.ndjson", "b.ndjson", "bad.ndjson", "partial.ndjson"]
    assert verdicts["a.ndjson"] == verdicts["b.ndjson"] == Conforms(12)
    assert isinstance(verdicts["bad.ndjson"], Undecided)
    assert "step 1 has not the whole state" in str(verdicts["partial.ndjson"])
    jumps = [event.action == "Jump" for seed in (1, 2, 3) for event in record(seed).events]
    assert result.faults == {"jump": FaultCount(strikes=sum(jumps), traces=3)}


def test_a_trace_with_silent_steps_is_not_taken_for_one_without(tmp_path: Path) -> None:
    trace = record(1)
    assert trace.header is not None
    header = replace(trace.header, silent=Silent(actions=("Up",)))
    write_trace(tmp_path / "a.ndjson", Trace(header=header, events=trace.events))

    made = import_corpus(HERE, tmp_path / "c", [tmp_path / "a.ndjson"])

    assert "a corpus is not searched" in made.failures[0][1]


def test_a_file_given_twice_is_refused(tmp_path: Path) -> None:
    write_trace(tmp_path / "a.ndjson", record(1))

    with pytest.raises(CorpusError, match="twice"):
        import_corpus(HERE, tmp_path / "c", [tmp_path / "a.ndjson"] * 2)


@pytest.mark.spark
def test_how_many_steps_a_task_of_a_scan_has_makes_no_difference(
    mixed: Path, spark: SparkSession
) -> None:
    spark.conf.set(STEPS_KEY, "40")
    try:
        result = judge(mixed, driver=ScanDriver(spark))
        spark.conf.set(STEPS_KEY, "few")
        with pytest.raises(ToolError, match="'few', not a number of steps"):
            judge(mixed, driver=ScanDriver(spark))
    finally:
        spark.conf.unset(STEPS_KEY)

    expected = judge(mixed)
    assert result.verdicts == expected.verdicts
    assert result.figures.distinct == expected.figures.distinct
    assert result.figures.accounted == expected.figures.accounted
    assert result.figures.remembered < expected.figures.remembered, "tasks remember nothing"
