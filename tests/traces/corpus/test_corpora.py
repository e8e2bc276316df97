"""Traces of different constants: a corpus of each set, made and judged in one go."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketproof.cli import main
from tests.traces.corpus.corpora import HERE, content
from tests.traces.corpus.toy import SPEC, record
from tlatrace.corpus import finished
from tlatrace.corpus.corpora import corpora_in
from tlatrace.corpus.generate import generate_corpus
from tlatrace.corpus.manifest import begin, finish, read_manifest
from tlatrace.errors import CorpusError
from tlatrace.trace import Header, Trace
from tlatrace.trace.ndjson import write_trace

RUNS = 40


def of_three(seed: int) -> Trace:
    """Record a run; one of four goes wrong, and the others have three different constants."""
    if seed % 4 == 0:
        raise RuntimeError(f"seed {seed} went wrong")
    trace = record(seed)
    return Trace(header=Header(spec="Toy", constants={"Max": 90 + seed % 4}), events=trace.events)


def made(folder: Path, make: Callable[[int], Trace], runs: int = RUNS) -> Path:
    generate_corpus(HERE, folder, make, first_seed=0, runs=runs, source={"kind": "toy"})
    return folder


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("corpora") / "c", of_three)


def validate(folder: Path, *options: str | Path) -> Result:
    given = ["corpus", "validate", folder, "--spec", SPEC, *options]
    return CliRunner().invoke(main, list(map(str, given)))


def test_each_set_of_constants_is_a_corpus_and_each_run_is_in_one(three: Path) -> None:
    corpora = corpora_in(three)

    assert sorted(str(read_manifest(one).constants) for one in corpora) == [
        "{'Max': 91}",
        "{'Max': 92}",
        "{'Max': 93}",
    ]
    ids = [name for one in corpora for name in content(one, "traces")["trace_id"].to_pylist()]
    assert sorted(ids) == [f"seed-{seed:010d}" for seed in range(RUNS)]
    assert sum(read_manifest(one).failed for one in corpora) == RUNS // 4
    assert sum(content(one, "steps").num_rows for one in corpora) == 12 * RUNS * 3 // 4
    with pytest.raises(CorpusError, match="is no corpus"):
        read_manifest(three)


def test_the_same_seeds_give_the_same_bytes(three: Path, tmp_path: Path) -> None:
    again = made(tmp_path / "again", of_three)

    files = sorted(path.relative_to(three) for path in three.rglob("*") if path.is_file())
    assert len(files) >= 3 * 3 + 1
    for name in files:
        assert (again / name).read_bytes() == (three / name).read_bytes()


def test_one_set_of_constants_is_a_corpus_as_ever(tmp_path: Path) -> None:
    folder = made(tmp_path / "c", record, 9)

    assert corpora_in(folder) == (folder,)
    assert sorted(path.name for path in folder.iterdir()) == ["corpus.json", "steps", "traces"]


def test_runs_that_all_failed_are_a_corpus_of_failures(tmp_path: Path) -> None:
    def none(seed: int) -> Trace:
        raise RuntimeError(f"seed {seed} went wrong")

    manifest = read_manifest(made(tmp_path / "c", none, 9))

    assert (manifest.traces, manifest.failed, manifest.steps) == (9, 9, 0)


def test_all_are_judged_and_counted_together(three: Path) -> None:
    result = validate(three, "--json")

    assert result.exit_code == 3  # runs that failed
    found = json.loads(result.stdout)
    assert found["traces"] == {
        "total": RUNS,
        "conform": RUNS * 3 // 4,
        "diverge": 0,
        "undecided": RUNS // 4,
        "dead": 0,
    }
    assert found["steps"]["total"] == 12 * RUNS * 3 // 4
    assert found["steps"]["initial"] == RUNS * 3 // 4
    assert "judged as 3 corpora, of one set of constants each" in found["notes"]
    assert (found["corpus"], found["spec"]) == (str(three), "Toy")


def test_a_wrong_step_in_one_of_them_is_found(tmp_path: Path) -> None:
    def wrong(seed: int) -> Trace:
        trace = of_three(4 * seed + 1 + seed % 3)
        if seed != 7:
            return trace
        bad = replace(trace.events[5], state={"x": -7, "last": "up"})
        return replace(trace, events=(*trace.events[:5], bad, *trace.events[6:]))

    folder = made(tmp_path / "c", wrong)
    page = tmp_path / "page.html"
    result = validate(folder, "--report", page)

    assert result.exit_code == 1
    assert f"{RUNS - 1} conform, 1 diverge, 0 undecided" in result.stdout
    assert "seed-0000000007" in result.stdout
    assert "seed-0000000007" in page.read_text("utf-8")
    alone = [validate(one).exit_code for one in corpora_in(folder)]
    assert sorted(alone) == [0, 0, 1]


def test_recorded_traces_of_different_constants_are_imported_and_judged(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        write_trace(tmp_path / f"{seed}.ndjson", of_three(seed))
    given = ["corpus", "import", tmp_path, "--out", tmp_path / "c", "--json"]
    made_of = CliRunner().invoke(main, list(map(str, given)))

    assert (made_of.exit_code, json.loads(made_of.stdout)["corpora"]) == (0, 3)
    assert validate(tmp_path / "c").exit_code == 0


def test_a_corpus_that_is_missing_or_another_one_is_noticed(tmp_path: Path) -> None:
    folder = made(tmp_path / "c", of_three)
    one = corpora_in(folder)[1]

    finish(one, replace(read_manifest(one), traces=1))
    result = validate(folder)
    assert (result.exit_code, "is not the corpus that corpora.json names" in result.stderr) == (
        2,
        True,
    )

    (one / "corpus.json").unlink()
    assert "cannot be read" in validate(folder).stderr


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"version": 1', '"version": 2', "has version 2"),
        ('"version": 1', '"version": true', "has version True"),
        ("rocketproof-corpora", "rocketproof-corpus", "is not of the format"),
        ("constants-", "constants/", "is damaged"),
    ],
)
def test_a_damaged_list_of_corpora_is_refused(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    path = made(tmp_path / "c", of_three) / "corpora.json"
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")

    result = validate(tmp_path / "c")

    assert result.exit_code == 2
    assert reason in result.stderr


def test_it_is_replaced_only_by_force_and_never_with_something_else_in_it(tmp_path: Path) -> None:
    folder = made(tmp_path / "c", of_three)

    with pytest.raises(CorpusError, match="--force"):
        begin(folder)
    begin(folder, force=True)
    assert [path.name for path in folder.iterdir()] == ["_unfinished"]

    (folder / "constants-of-nature").mkdir()
    with pytest.raises(CorpusError, match="holds more than a corpus: constants-of-nature"):
        begin(folder, force=True)


def test_traces_of_different_specifications_are_refused(tmp_path: Path) -> None:
    def others(seed: int) -> Trace:
        header = Header(spec=f"Toy{seed}", constants={"Max": 60})
        return Trace(header=header, events=record(seed).events)

    with pytest.raises(CorpusError, match="different specifications"):
        made(tmp_path / "c", others, 4)

    with pytest.raises(CorpusError, match="unfinished"):
        read_manifest(tmp_path / "c")


def test_a_trace_without_a_header_is_a_failure_beside_the_others(tmp_path: Path) -> None:
    def some(seed: int) -> Trace:
        trace = of_three(4 * seed + 1)
        return replace(trace, header=None) if seed == 3 else trace

    manifest = read_manifest(made(tmp_path / "c", some, 9))

    assert (manifest.traces, manifest.failed, manifest.steps) == (9, 1, 8 * 12)


def test_too_many_sets_of_constants_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished, "MAX_CORPORA", 2)

    with pytest.raises(CorpusError, match="have more than 2 sets of constants"):
        made(tmp_path / "c", of_three)
