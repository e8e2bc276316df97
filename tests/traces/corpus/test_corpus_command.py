"""`rocketproof corpus` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketha.sim.lock_quorum.workload import LockWorkload
from rocketproof.cli import main
from rocketproof.commands import corpus
from rocketproof.runs import simulate_trace
from tests.traces.corpus.toy import SPEC, record, record_badly
from tlatrace.corpus.manifest import CorpusManifest, begin, finish
from tlatrace.errors import ToolError
from tlatrace.trace.ndjson import write_trace


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["corpus", *map(str, arguments)])


@pytest.mark.parametrize("command", [[], ["generate"], ["import"], ["validate"]])
def test_help_shows_an_example(command: list[str]) -> None:
    result = run(*command, "--help")

    assert result.exit_code == 0
    assert not command or "Example:  rocketproof corpus" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["generate", "nothing", "--runs", "3", "--out", "c"], "nothing"),
        (["generate", "epoch_truncation", "--runs", "0", "--out", "c"], "--runs"),
        (["generate", "epoch_truncation", "--runs", "3"], "--out"),
        (["generate", "epoch_truncation", "--runs", "3", "--out", "c", "--bug", "B00"], "B00"),
        (["generate", "epoch_truncation", "--runs", "3", "--out", "c", "--faults", "fire"], "fire"),
        (["validate"], "DIR"),
        (["validate", "c", "--sample", "some"], "neither a number nor all"),
        (["import", "--out", "c"], "TRACE"),
    ],
    ids=["protocol", "runs", "out", "bug", "fault", "folder", "sample", "trace"],
)
def test_a_wrong_command_line_is_refused(arguments: list[str], reason: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert reason in result.stderr


@pytest.mark.parametrize(
    ("steps", "java", "driver"),
    [
        (1_000_000, True, "local"),
        (1_000_001, True, "spark"),
        (1_000_001, False, "local"),
    ],
)
def test_large_corpora_go_to_spark_where_it_can_run(
    steps: int, java: bool, driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find() -> None:
        if not java:
            raise ToolError("Java", "there is none")

    monkeypatch.setattr(corpus, "find_java", find)

    assert corpus.suited_driver(steps) == driver


def test_an_empty_folder_is_undecided(tmp_path: Path) -> None:
    result = run("validate", tmp_path, "--report", tmp_path.with_suffix(".html"))

    assert result.exit_code == 3
    assert "the folder is empty" in result.stdout
    assert "the folder is empty" in tmp_path.with_suffix(".html").read_text("utf-8")


def test_a_corpus_without_a_step_is_undecided(tmp_path: Path) -> None:
    begin(tmp_path)
    manifest = CorpusManifest(
        spec=None, spec_sha256=None, constants={}, traces=0, steps=0, failed=0
    )
    finish(tmp_path, manifest)

    result = run("validate", tmp_path, "--json")

    assert result.exit_code == 3
    assert json.loads(result.stdout)["verdict"] == "undecided"


def test_what_is_no_finished_corpus_is_refused(tmp_path: Path) -> None:
    begin(tmp_path / "unfinished")

    missing, unfinished = (
        run("validate", tmp_path / "none"),
        run("validate", tmp_path / "unfinished"),
    )

    assert (missing.exit_code, unfinished.exit_code) == (2, 2)
    assert "is no corpus" in missing.stderr
    assert "is unfinished" in unfinished.stderr


@pytest.mark.java
def test_a_corpus_of_the_implementation_conforms(tmp_path: Path) -> None:
    corpus, report = tmp_path / "corpus", tmp_path / "report.html"

    made = run("generate", "epoch_truncation", "--runs", "6", "--out", corpus)
    judged = run("validate", corpus, "--report", report)

    assert (made.exit_code, judged.exit_code) == (0, 0), made.output + judged.output
    steps = sum(len(simulate_trace("epoch_truncation", seed).events) for seed in range(6))
    assert f"6 runs, {steps:,} steps of EpochTruncation" in made.stdout
    assert "6 conform, 0 diverge, 0 undecided" in judged.stdout
    assert f"steps       {steps:,} = 6 initial" in judged.stdout
    assert "\nlogged      12 of 12 variables, 1" in judged.stdout
    assert "EpochTruncation:" in report.read_text("utf-8")


@pytest.mark.java
def test_a_bug_is_caught_and_its_run_can_be_made_again(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    options = ["--runs", "12", "--first-seed", "8", "--bug", "B05"]

    made = run("generate", "epoch_truncation", *options, "--out", corpus)
    judged = run("validate", corpus, "--json", "--limit", "99")

    assert (made.exit_code, judged.exit_code) == (0, 1), made.output + judged.output
    found = json.loads(judged.stdout)
    assert found["diverging"], "no seed of these catches B05 any more: choose others"
    first = found["diverging"][0]
    assert first["command"] == (
        f"rocketproof simulate epoch_truncation --bug B05 --judge --seed {first['seed']}"
    )
    out = tmp_path / "run.ndjson"
    again = CliRunner().invoke(main, [*first["command"].split()[1:], "--out", str(out)])
    verdict = CliRunner().invoke(main, ["validate", str(out), "--json"])
    assert (again.exit_code, verdict.exit_code) == (1, 1)
    assert json.loads(verdict.stdout)["traces"][0]["step"] == first["step"]


@pytest.mark.java
def test_runs_that_stay_dead_are_counted_and_are_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LockWorkload, "converged", lambda _: False)
    made = run("generate", "lock_quorum", "--runs", "7", "--out", tmp_path / "c")
    judged = run("validate", tmp_path / "c", "--json")

    assert (made.exit_code, judged.exit_code) == (0, 3), made.output + judged.output
    found = json.loads(judged.stdout)
    assert found["traces"]["conform"] == 7
    assert found["traces"]["dead"] == len(found["dead"]) > 0
    again = CliRunner().invoke(main, found["dead"][0]["command"].split()[1:])
    assert again.exit_code == 3
    assert again.output.splitlines()[-1].startswith("verdict: undecided: the run did not come back")


@pytest.mark.java
def test_runs_of_another_shape_are_made_and_can_be_made_again(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    options = ["--brokers", "2", "--steps", "15", "--unclean", "--faults", "none"]

    made = run("generate", "replica_group", "--runs", "3", *options, "--out", corpus)
    judged = run("validate", corpus, "--json")

    assert (made.exit_code, judged.exit_code) == (0, 0), made.output + judged.output
    source = json.loads(judged.stdout)["source"]
    assert source["command"] == (
        "rocketproof simulate replica_group --faults none --brokers 2 --steps 15"
        " --unclean --judge --seed {seed}"
    )


@pytest.mark.java
def test_recorded_traces_of_a_specification_of_ones_own(tmp_path: Path) -> None:
    for seed in range(4):
        write_trace(tmp_path / f"run{seed}.ndjson", record_badly(seed))
    write_trace(tmp_path / "run4.ndjson.gz", record(4))
    config = tmp_path / "Toy.cfg"
    config.write_text("CONSTANT Max = 60\nINIT Init\nNEXT Next\nINVARIANT Low\n", "utf-8")

    made = run("import", tmp_path, "--out", tmp_path / "corpus", "--json")
    judged = run("validate", tmp_path / "corpus", "--spec", SPEC, "--config", config)

    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["traces"] == 5
    assert judged.exit_code == 1
    assert "3 conform, 2 diverge, 0 undecided" in judged.stdout
    assert f"{tmp_path}/run0.ndjson" in judged.stdout
    assert "never seen  Never" in judged.stdout
    assert f"5 imported traces of {record(0).header.spec}" in judged.stdout  # type: ignore[union-attr]  # it has one


def test_a_file_that_is_no_trace_is_counted(tmp_path: Path) -> None:
    write_trace(tmp_path / "good.ndjson", record(1))
    (tmp_path / "bad.ndjson").write_text("{}\n", "utf-8")

    made = run("import", tmp_path, "--out", tmp_path / "corpus")

    assert made.exit_code == 2
    assert "bad.ndjson" in made.stderr
    assert "1 of 2 traces failed" in made.stderr
