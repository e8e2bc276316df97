"""Corpora on a cluster: a master and two workers on loopback, one executor of which is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rocketproof.cli import main
from tests.source_files import ROOT
from tests.traces.corpus.standalone import SETTINGS, Cluster, command_of, standalone_cluster
from tlatrace.corpus.manifest import read_manifest
from tlatrace.corpus.on_spark import STEPS_KEY

WAIT_S = 500
GENERATE = ("generate", "epoch_truncation", "--bug", "B05", "--first-seed", "8")
SAME = ("verdict", "traces", "distinct_transitions", "actions", "faults", "diverging", "problems")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["corpus", *map(str, arguments)])


# ---- what is refused before there is a Spark ----


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--master", "spark://nowhere"], "is none of local[N], spark://HOST:PORT"),
        (["--master", "sc://127.0.0.1:15002"], "is none of local[N], spark://HOST:PORT"),
        (["--master", "local[two]"], "is none of local[N], spark://HOST:PORT"),
        (["--master", "local[2]", "--spark-conf", "spark.ui.enabled"], "is not spark.KEY=VALUE"),
        (["--master", "local[2]", "--spark-conf", "ui.enabled=false"], "is not spark.KEY=VALUE"),
        (["--master", "local[2]", "--spark-conf", "spark.master=yarn"], "is said with --master"),
        (
            ["--spark-conf", "spark.a=1", "--spark-conf", "spark.a=2"],
            "spark.a is given twice",
        ),
        (["--master", "local[2]", "--driver", "local"], "--driver is local"),
        (["--spark-conf", "spark.a=1", "--driver", "local"], "--driver is local"),
        (["--master", "local[2]", "--cores", "2"], "spark.cores.max"),
        (
            ["--master", "local[2]", "--spark-conf", "spark.rocketproof.waitSeconds=soon"],
            "'soon', not a number of seconds",
        ),
    ],
)
def test_a_wrong_place_is_refused(arguments: list[str], reason: str, tmp_path: Path) -> None:
    out = tmp_path / "c"

    result = run("generate", "epoch_truncation", "--runs", "3", "--out", out, *arguments)

    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())
    assert not out.exists()


def test_a_master_that_does_not_answer_is_an_error_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    began = time.monotonic()

    master = f"spark://127.0.0.1:{port}"
    result = run("generate", *GENERATE[1:], "--runs", "3", "--out", tmp_path, "--master", master)

    assert result.exit_code == 2
    assert f"the master {master} does not answer (127.0.0.1:{port}: " in result.stderr
    assert time.monotonic() - began < 60


def test_a_spark_home_of_another_version_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    options = ("generate", *GENERATE[1:], "--runs", "3", "--out", tmp_path / "c")

    none = run(*options, "--master", "local[1]")
    for name in ("jars/spark-core_2.12-3.5.1.jar", "bin/spark-submit"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    other = run(*options, "--master", "local[1]")

    assert (none.exit_code, other.exit_code) == (2, 2)
    assert "holds no Spark" in none.stderr
    assert "is Spark 3.5.1, but pyspark " in other.stderr


def test_logs_are_imported_before_they_go_to_a_cluster(tmp_path: Path) -> None:
    result = run("validate", tmp_path, "--map", tmp_path / "map.toml", "--master", "local[1]")

    assert result.exit_code == 2
    assert "import, then use --master" in " ".join(result.stderr.split())


# ---- with a cluster ----


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if not Path("/proc").is_dir():
        pytest.skip("executors are found in /proc")
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started
        pids = (started.master, *started.workers, *started.executors())
    assert not [pid for pid in pids if b"org.apache.spark" in command_of(pid)]


@dataclass(frozen=True, slots=True)
class Job:
    """A command that has run on the cluster, and what its executors went through."""

    code: int
    output: str
    errors: str
    killed: int
    lost_tasks: int
    removed: int


def on_cluster(
    cluster: Cluster,
    arguments: Sequence[str | Path],
    folder: Path,
    *,
    kill: bool = False,
    more: Mapping[str, str] | None = None,
) -> Job:
    """Run `corpus` on the cluster; kill an executor when its work has begun."""
    folder.mkdir()
    settings = {
        **SETTINGS,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        **(more or {}),
    }
    options = [
        text for key, value in settings.items() for text in ("--spark-conf", f"{key}={value}")
    ]
    command = ["corpus", *map(str, arguments), "--master", cluster.url, *options]
    output, errors = folder.with_suffix(".out"), folder.with_suffix(".err")
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "rocketproof", *command], cwd=ROOT, stdout=out, stderr=err
        )
        try:
            killed = _kill_one(cluster, folder, process) if kill else 0
            code = process.wait(WAIT_S)
        finally:
            process.kill()
            process.wait()
    log = events(folder)
    ends = [event["Task End Reason"]["Reason"] for event in log if "Task End Reason" in event]
    removed = [event for event in log if event["Event"] == "SparkListenerExecutorRemoved"]
    return Job(
        code=code,
        output=output.read_text("utf-8"),
        errors=errors.read_text("utf-8"),
        killed=killed,
        lost_tasks=ends.count("ExecutorLostFailure"),
        removed=len(removed),
    )


def _kill_one(cluster: Cluster, folder: Path, process: subprocess.Popen[bytes]) -> int:
    """Kill an executor that runs tasks, after the first job, which asks for versions only."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline and process.poll() is None:
        executors = [pid for pid in cluster.executors() if cluster.pythons(pid)]
        began = [event for event in events(folder) if event["Event"] == "SparkListenerJobStart"]
        if len(executors) >= 2 and len(began) >= 2:
            time.sleep(0.3)
            os.kill(executors[0], signal.SIGKILL)
            return 1
        time.sleep(0.1)
    return 0


def events(folder: Path) -> list[dict[str, Any]]:
    """Read what Spark has written of its events, without a line that it has not finished."""
    texts = [path.read_text("utf-8") for path in folder.iterdir()]
    return [json.loads(line) for text in texts for line in text.split("\n")[:-1]]


def hold_against_this_process(cluster: Cluster, runs: int, folder: Path) -> dict[str, float]:
    """Make and judge a corpus on the cluster, whose executors are killed, and here; compare."""
    here, there = folder / "here", folder / "there"
    began = time.monotonic()
    arguments = (*GENERATE, "--runs", str(runs), "--out", there)
    made = on_cluster(cluster, arguments, folder / "generate", kill=True)
    generated = time.monotonic()
    validate = ("validate", there, "--json", "--engine", "compiled")
    few = {STEPS_KEY: "250"}  # so that each executor has work when one is killed
    judged = on_cluster(cluster, validate, folder / "validate", kill=True, more=few)
    ended = time.monotonic()

    assert (made.code, judged.code) == (0, 1), made.errors + judged.errors
    for job in (made, judged):
        assert job.killed == 1
        assert job.removed >= 1
        assert job.lost_tasks >= 1
    assert run(*GENERATE, "--runs", str(runs), "--out", here).exit_code == 0
    assert read_manifest(there) == read_manifest(here)  # with the checksums of all files
    local = ("validate", here, "--json", "--engine", "compiled", "--driver", "local")
    expected = json.loads(run(*local).stdout)
    found = json.loads(judged.output)
    assert {key: found[key] for key in SAME} == {key: expected[key] for key in SAME}
    assert found["steps"]["total"] == expected["steps"]["total"]
    assert found["traces"]["total"] == runs
    assert found["traces"]["diverge"] > 0
    return {"generate": generated - began, "validate": ended - generated}


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.spark
def test_a_killed_executor_changes_nothing_and_nothing_is_counted_twice(
    cluster: Cluster, tmp_path: Path
) -> None:
    seconds = hold_against_this_process(cluster, 60, tmp_path)

    assert seconds["validate"] > 0


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.spark
def test_two_thousand_runs_survive_killed_executors(cluster: Cluster, tmp_path: Path) -> None:
    seconds = hold_against_this_process(cluster, 2_000, tmp_path)

    print(seconds)


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.spark
def test_a_cluster_without_room_is_an_error(cluster: Cluster, tmp_path: Path) -> None:
    more = {"spark.executor.memory": "8g", "spark.rocketproof.waitSeconds": "60"}
    arguments = (*GENERATE, "--runs", "3", "--out", tmp_path / "c")

    job = on_cluster(cluster, arguments, tmp_path / "log", more=more)

    assert job.code == 2
    assert f"{cluster.url} has not run a first job in 60 s" in job.errors
    assert not (tmp_path / "c").exists()


@pytest.mark.java
@pytest.mark.spark
def test_an_executor_with_other_code_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "old" / "tlatrace").mkdir(parents=True)
    (tmp_path / "old" / "tlatrace" / "__init__.py").write_text('__version__ = "0.0"\n', "utf-8")
    # It has been imported before Spark puts our code first.
    (tmp_path / "old" / "sitecustomize.py").write_text("import tlatrace\n", "utf-8")
    more = {"spark.executorEnv.PYTHONPATH": str(tmp_path / "old")}
    arguments = (*GENERATE, "--runs", "3", "--out", tmp_path / "c")

    job = on_cluster(cluster, arguments, tmp_path / "log", more=more)

    assert job.code == 2
    assert "Spark: the executor on " in job.errors
    assert " has tlatrace code " in job.errors
    assert " instead of code " in job.errors
    assert not (tmp_path / "c").exists()
