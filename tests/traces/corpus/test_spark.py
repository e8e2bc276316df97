"""A corpus from end to end in one Spark session: made, damaged, judged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.traces.corpus import toy
from tests.traces.corpus.toy import ToyJudge, real_spec, record, record_badly, toy_spec
from tlatrace.corpus.examples import Allowed, NearestSuccessor
from tlatrace.corpus.generate import generate_corpus, import_corpus
from tlatrace.corpus.manifest import read_manifest
from tlatrace.corpus.result import CorpusResult, FaultCount
from tlatrace.corpus.session import SparkSession
from tlatrace.corpus.tlc_judge import tlc_judge
from tlatrace.corpus.validate import validate_corpus
from tlatrace.errors import CorpusError, ToolError
from tlatrace.trace import Event, Header, Trace
from tlatrace.trace.ndjson import write_trace
from tlatrace.validate.transition import Transition
from tlatrace.verdict import Conforms, Diverges, Undecided, exit_code

pytestmark = pytest.mark.spark

RUNS = 60


@pytest.fixture(scope="module")
def good(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "good [1] {2}%20?*\\"
    generate_corpus(spark, folder, record, first_seed=100, runs=RUNS, source={"kind": "toy"})
    return folder


@pytest.fixture
def copied(good: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(good, folder)
    return folder


def judge(spark: SparkSession, folder: Path, judge: ToyJudge | None = None) -> CorpusResult:
    return validate_corpus(spark, folder, toy_spec(), judge or ToyJudge(), make_example=say_no)


def say_no(transition: Transition, /) -> Allowed:
    assert transition.pre is not None
    return Allowed(("x: not this",))


def content(folder: Path, table: str) -> pa.Table:
    rows = pq.read_table(folder / table)
    assert isinstance(rows, pa.Table)
    return rows.sort_by(
        [("trace_id", "ascending"), *([("step", "ascending")] * (table == "steps"))]
    )


def test_a_corpus_holds_every_step_of_every_seed(good: Path) -> None:
    manifest = read_manifest(good)
    traces, steps = content(good, "traces"), content(good, "steps")

    assert (manifest.traces, manifest.steps, manifest.failed) == (RUNS, RUNS * 12, 0)
    assert (manifest.spec, manifest.constants) == ("Toy", {"Max": 60})
    assert traces.column("seed").to_pylist() == list(range(100, 100 + RUNS))
    assert steps.num_rows == RUNS * 12
    row = steps.slice(13, 1).to_pylist()[0]
    event = record(101).events[1]
    assert (row["trace_id"], row["seed"], row["step"]) == ("seed-0000000101", 101, 1)
    assert (row["action"], row["node"], row["chunk"]) == (event.action, "n1", 0)
    assert row["state"] == f'{{"last":"{event.state["last"]}","x":{event.state["x"]}}}'  # type: ignore[index]  # it has a state


def test_whole_traces_are_in_one_file_and_in_order(good: Path) -> None:
    seen: set[str] = set()
    files = sorted((good / "steps").glob("*.parquet"))
    assert len(files) > 1
    for file in files:
        parquet = pq.ParquetFile(file)
        assert parquet.metadata.num_row_groups == 1
        assert parquet.metadata.row_group(0).column(0).compression == "ZSTD"
        rows = parquet.read(["trace_id", "step"]).to_pylist()
        keys = [(row["trace_id"], row["step"]) for row in rows]
        assert keys == sorted(keys)
        names = {name for name, _ in keys}
        assert not names & seen
        assert len(keys) == 12 * len(names)
        seen |= names


def test_all_traces_of_a_good_corpus_conform(spark: SparkSession, good: Path) -> None:
    result = judge(spark, good)

    assert result.verdict == Conforms(RUNS * 12)
    assert result.count("conforms") == RUNS
    figures = result.figures
    assert (figures.steps, figures.initial, figures.skipped) == (RUNS * 12, RUNS, 0)
    assert figures.initial + figures.evaluated == RUNS * 12
    assert 12 < figures.distinct < RUNS * 12
    assert sum(result.actions.values()) == RUNS * 12
    assert result.unseen == ("Never",)
    jumps = result.actions["Jump"]
    assert result.faults["jump"].strikes == jumps
    assert result.examples == ()
    assert result.problems == ()


def test_bad_runs_diverge_at_their_step_and_failed_ones_are_undecided(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = generate_corpus(
        spark,
        tmp_path / "c",
        record_badly,
        first_seed=0,
        runs=30,
        source={},
        reproduce="simulate toy --seed {seed}",
    )
    assert made.manifest.failed == 3
    assert made.failures[0][0] == "seed-0000000009"
    assert "RuntimeError: seed 9 went wrong (toy.py:" in made.failures[0][1]

    result = judge(spark, tmp_path / "c")

    counts = [result.count(kind) for kind in ("conforms", "diverges", "undecided")]
    assert counts == [18, 9, 3]
    diverging = result.of_kind("diverges")
    assert [item.seed for item in diverging] == [0, 3, 6, 12, 15, 18, 21, 24, 27]
    assert {
        (v.verdict.step, v.verdict.action) for v in diverging if isinstance(v.verdict, Diverges)
    } == {(5, "Up")}
    failed = {item.seed: item.verdict for item in result.of_kind("undecided")}
    assert failed.keys() == {9, 19, 29}
    assert "seed 9 went wrong" in str(failed[9])
    assert exit_code(result.verdict) == 1
    assert result.command_for(diverging[0].seed) == "simulate toy --seed 0"
    example = result.examples[0]
    assert (example.trace_id, example.step, example.traces) == ("seed-0000000000", 5, 9)
    assert any(change.endswith("-> -7") for change in example.changes)
    assert example.allowed == ("x: not this",)


def test_an_invariant_fails_on_the_accepted_path_only(spark: SparkSession, tmp_path: Path) -> None:
    generate_corpus(spark, tmp_path / "c", run_far, first_seed=0, runs=4, source={})

    result = judge(spark, tmp_path / "c")

    for item in result.verdicts:
        states = [e.state["x"] for e in run_far(item.seed or 0).events if e.state is not None]
        first_high = next(at for at, x in enumerate(states) if isinstance(x, int) and x > toy.MAX)
        assert isinstance(item.verdict, Diverges)
        assert item.verdict.step == first_high
        assert "Low" in item.verdict.observed


def run_far(seed: int) -> Trace:
    return record(seed, steps=90)


def test_a_step_that_cannot_be_judged_leaves_its_traces_undecided(
    spark: SparkSession, good: Path
) -> None:
    result = judge(spark, good, ToyJudge(fails_at=7))

    through_7 = {
        seed
        for seed in range(100, 100 + RUNS)
        if any(e.state is not None and e.state["x"] == 7 for e in record(seed).events)
    }
    assert {item.seed for item in result.of_kind("undecided")} == through_7
    assert result.count("conforms") == RUNS - len(through_7) > 0
    assert exit_code(result.verdict) == 3


# ---- the same answer on every machine ----


def test_the_same_seeds_give_the_same_rows_whatever_the_partitions(
    spark: SparkSession, good: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    generate_corpus(spark, again, record, first_seed=100, runs=RUNS, source={"kind": "toy"})
    parts = [tmp_path / "first", tmp_path / "rest"]
    generate_corpus(spark, parts[0], record, first_seed=100, runs=7, source={})
    generate_corpus(spark, parts[1], record, first_seed=107, runs=RUNS - 7, source={})

    for table in ("steps", "traces"):
        assert content(again, table).equals(content(good, table))
        joined = pa.concat_tables([content(part, table) for part in parts])
        assert joined.equals(content(good, table))


@pytest.mark.parametrize("tasks", [1, 3, 8])
def test_the_verdicts_do_not_depend_on_the_tasks(
    spark: SparkSession, good: Path, tasks: int
) -> None:
    expected = judge(spark, good, ToyJudge(fails_at=7))
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(2 * tasks))
    spark.conf.set("spark.sql.files.minPartitionNum", str(tasks))
    try:
        found = validate_corpus(spark, good, toy_spec(), ToyJudge(fails_at=7), batch_size=tasks * 5)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))
        spark.conf.unset("spark.sql.files.minPartitionNum")

    assert found.verdicts == expected.verdicts
    assert found.figures == expected.figures


# ---- damaged corpora ----


def rewrite(folder: Path, table: str, change: Callable[[list[dict[str, object]]], object]) -> None:
    """Change the rows of the first file of a table."""
    file = sorted((folder / table).glob("*.parquet"))[0]
    old = pq.read_table(file)
    rows = old.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=old.schema), file, compression="zstd")
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)


def put(at: int, column: str, value: object) -> Callable[[list[dict[str, object]]], object]:
    return lambda rows: rows[at].__setitem__(column, value)


def first_name(folder: Path) -> str:
    file = sorted((folder / "steps").glob("*.parquet"))[0]
    return str(pq.read_table(file).column("trace_id")[0])


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (put(4, "state", '{"last":"up","x":-3}'), Diverges),
        (put(4, "action", "Never"), Diverges),
        (put(4, "params", "[99]"), Diverges),
        (put(4, "state", '{"last":"up", "x":1}'), Undecided),
        (put(4, "state", None), Undecided),
        (put(4, "step", 40), Undecided),
        (put(4, "trace_id", "another"), Undecided),
    ],
    ids=["state", "action", "params", "spelling", "no state", "number", "name"],
)
def test_one_damaged_row_among_all_is_found(
    spark: SparkSession,
    copied: Path,
    change: Callable[[list[dict[str, object]]], object],
    verdict: type,
) -> None:
    rewrite(copied, "steps", change)

    result = judge(spark, copied)

    verdicts = {item.trace_id: item.verdict for item in result.verdicts}
    damaged = verdicts.pop(first_name(copied))
    assert isinstance(damaged, verdict)
    assert any(word in str(damaged) for word in ("step=4", "step 4", "2 places", "canonically"))
    verdicts.pop("another", None)
    assert all(isinstance(other, Conforms) for other in verdicts.values())
    assert len(verdicts) == RUNS - 1


def test_a_row_that_is_lost_or_doubled_is_told_twice(spark: SparkSession, copied: Path) -> None:
    rewrite(copied, "steps", lambda rows: rows.pop(11))
    result = judge(spark, copied)

    name = first_name(copied)
    assert [i.trace_id for i in result.of_kind("undecided")] == [name]
    assert result.problems == (f"it has {RUNS * 12 - 1} steps; its manifest says {RUNS * 12}",)
    assert exit_code(result.verdict) == 3


def test_a_lost_file_leaves_its_traces_undecided(spark: SparkSession, copied: Path) -> None:
    file = sorted((copied / "steps").glob("*.parquet"))[0]
    names = set(pq.read_table(file).column("trace_id").to_pylist())
    file.unlink()

    result = judge(spark, copied)

    assert {item.trace_id for item in result.of_kind("undecided")} == names
    assert len(result.verdicts) == RUNS


def test_a_lost_row_of_the_table_of_traces_is_told(spark: SparkSession, copied: Path) -> None:
    rewrite(copied, "traces", lambda rows: rows.pop(0))

    result = judge(spark, copied)

    assert [item.trace_id for item in result.of_kind("undecided")] == ["seed-0000000100"]
    assert result.problems == (f"it has {RUNS - 1} traces; its manifest says {RUNS}",)


def test_a_file_that_is_no_parquet_is_a_tool_error(spark: SparkSession, copied: Path) -> None:
    file = sorted((copied / "steps").glob("*.parquet"))[0]
    file.write_bytes(b"PAR1 no, not really")
    (file.parent / f".{file.name}.crc").unlink()

    with pytest.raises(ToolError, match="is not a Parquet file"):
        judge(spark, copied)


def test_a_corpus_of_other_constants_is_refused(spark: SparkSession, good: Path) -> None:
    spec = toy_spec()
    other = type(spec)(**{f: getattr(spec, f) for f in spec.__slots__} | {"values": {"Max": 5}})

    with pytest.raises(CorpusError, match="another value of the constant Max"):
        validate_corpus(spark, good, other, ToyJudge())


def test_an_unfinished_corpus_is_refused(spark: SparkSession, copied: Path) -> None:
    (copied / "corpus.json").rename(copied / "_unfinished")

    with pytest.raises(CorpusError, match="unfinished"):
        judge(spark, copied)


def test_a_corpus_is_not_written_over_another_one(spark: SparkSession, copied: Path) -> None:
    with pytest.raises(CorpusError, match="--force"):
        generate_corpus(spark, copied, record, first_seed=0, runs=3, source={})
    assert read_manifest(copied).traces == RUNS

    generate_corpus(spark, copied, record, first_seed=0, runs=3, source={}, force=True)
    assert read_manifest(copied).traces == 3
    assert content(copied, "steps").num_rows == 36


def test_traces_of_different_constants_are_no_corpus(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="different specifications or constants"):
        generate_corpus(spark, tmp_path / "c", record_mixed, first_seed=0, runs=4, source={})

    with pytest.raises(CorpusError, match="unfinished"):
        read_manifest(tmp_path / "c")


def record_mixed(seed: int) -> Trace:
    return Trace(header=Header(spec="Toy", constants={"Max": seed}), events=record(seed).events)


# ---- recorded traces ----


def test_recorded_files_become_a_corpus(spark: SparkSession, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("b.ndjson", "a.ndjson", "partial.ndjson", "bad.ndjson")]
    write_trace(files[0], record(1))
    write_trace(files[1], record(2))
    partial = Event(step=1, action="Up", observed={"x": 1})
    write_trace(files[2], Trace(header=record(3).header, events=(record(3).events[0], partial)))
    files[3].write_text("this is no trace\n")

    made = import_corpus(spark, tmp_path / "c", files)
    result = judge(spark, tmp_path / "c")

    assert made.manifest.failed == 1
    assert "bad.ndjson:1" in made.failures[0][1]
    verdicts = {Path(item.trace_id).name: item.verdict for item in result.verdicts}
    assert list(verdicts) == ["a.ndjson", "b.ndjson", "bad.ndjson", "partial.ndjson"]
    assert verdicts["a.ndjson"] == verdicts["b.ndjson"] == Conforms(12)
    assert isinstance(verdicts["bad.ndjson"], Undecided)
    assert "step 1 has not the whole state" in str(verdicts["partial.ndjson"])
    jumps = [event.action == "Jump" for seed in (1, 2, 3) for event in record(seed).events]
    assert result.faults == {"jump": FaultCount(strikes=sum(jumps), traces=3)}


def test_a_file_given_twice_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write_trace(tmp_path / "a.ndjson", record(1))

    with pytest.raises(CorpusError, match="twice"):
        import_corpus(spark, tmp_path / "c", [tmp_path / "a.ndjson"] * 2)


# ---- TLC itself ----


def test_tlc_and_the_judge_in_python_agree(spark: SparkSession, tmp_path: Path) -> None:
    generate_corpus(spark, tmp_path / "c", record_badly, first_seed=0, runs=16, source={})
    spec = real_spec()

    by_tlc = validate_corpus(
        spark, tmp_path / "c", spec, tlc_judge(spec), make_example=NearestSuccessor(spec)
    )
    by_toy = judge(spark, tmp_path / "c")

    assert by_tlc.verdicts == by_toy.verdicts
    assert by_tlc.figures == by_toy.figures
    assert by_tlc.count("diverges") == 5
    assert by_tlc.unseen == ("Never",)
    assert by_tlc.examples[0].allowed is not None
    assert any(
        "x: " in line and "but the trace has -7" in line for line in by_tlc.examples[0].allowed
    )


def test_a_broken_specification_is_told(spark: SparkSession, good: Path, tmp_path: Path) -> None:
    broken = tmp_path / "Toy.tla"
    spec = real_spec()
    broken.write_text("---- MODULE Toy ----\nEXTENDS Nothing\n====\n")
    moved = type(spec)(**{f: getattr(spec, f) for f in spec.__slots__} | {"module": broken})

    with pytest.raises(ToolError, match="TLC"):
        validate_corpus(spark, good, moved, tlc_judge(moved))
