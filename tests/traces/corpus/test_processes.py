"""Work in processes: all results, in any order, or an error."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tlatrace.corpus.processes import peak_kb, quiet_collector, run_tasks
from tlatrace.errors import CorpusError, ToolError


def square(number: int) -> int:
    return number * number


def die(number: int) -> int:
    if number == 3:
        os._exit(9)
    return number


def refuse(number: int) -> int:
    raise CorpusError("c", f"no {number}")


@pytest.mark.parametrize("cores", [1, 2])
def test_every_task_has_its_result(cores: int) -> None:
    found = list(run_tasks(range(30), square, cores=cores, label="squares"))

    assert sorted(found) == [number * number for number in range(30)]


def test_no_tasks_are_no_results() -> None:
    assert list(run_tasks([], square, cores=2, label="none")) == []


def test_a_worker_that_dies_is_an_error() -> None:
    with pytest.raises(ToolError, match="a worker process died"):
        list(run_tasks(range(6), die, cores=2, label="dying"))


@pytest.mark.parametrize("cores", [1, 2])
def test_an_error_of_a_task_is_the_error_of_all(cores: int) -> None:
    with pytest.raises(CorpusError, match="c: no"):
        list(run_tasks(range(6), refuse, cores=cores, label="refusing"))


def test_the_collector_is_as_before() -> None:
    assert gc.isenabled()
    with quiet_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert peak_kb() > 1_000


_INTERRUPTED = """
import time
from tlatrace.corpus.processes import run_tasks
try:
    for _ in run_tasks([0.0, 60.0], time.sleep, cores=2, label="sleeping"):
        print("one is done", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_is_not_told_by_each_worker() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of its own, as a terminal gives to a command
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "one is done\n"
        os.killpg(process.pid, signal.SIGINT)
        printed, noise = process.communicate(timeout=30)

    assert (printed, noise) == ("interrupted\n", "")


def doze(told: tuple[float, Path]) -> str:
    seconds, done = told
    time.sleep(seconds)
    done.touch()
    return done.name


def test_nobody_waits_for_tasks_whose_results_are_not_wanted(tmp_path: Path) -> None:
    tasks = [(0.0, tmp_path / "short"), (45.0, tmp_path / "long")]
    results = run_tasks(tasks, doze, cores=2, label="dozing")

    assert next(iter(results)) == "short"
    assert isinstance(results, Generator)
    results.close()

    assert not (tmp_path / "long").exists()
