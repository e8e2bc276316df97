"""Work in processes: all results, in any order, or an error."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tlatrace.corpus.processes import NoResult, peak_kb, quiet_collector, run_apart, run_tasks
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


def sleep_or_say_where(number: int) -> int:
    if number == 2:
        time.sleep(600)
    return die(number) and os.getpid()


def test_tasks_that_run_apart_have_processes_of_their_own_and_may_die_or_last() -> None:
    found = dict(run_apart(range(1, 6), sleep_or_say_where, workers=2, timeout_s=10))

    assert found[2] == NoResult("it did not end in time")
    assert found[3] == NoResult("its process died")
    processes = {found[number] for number in (1, 4, 5)}
    assert len(processes) == 3
    assert os.getpid() not in processes


def test_the_collector_is_as_before() -> None:
    assert gc.isenabled()
    with quiet_collector():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_memory_is_counted_in_kilobytes_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    used = SimpleNamespace(ru_maxrss=50 << 20)
    here = SimpleNamespace(RUSAGE_SELF=0, getrusage=lambda _who: used)
    assert 1_000 < peak_kb() < 100 << 20
    monkeypatch.setitem(sys.modules, "resource", here)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert peak_kb() == 50 << 10
    monkeypatch.setattr(sys, "platform", "linux")
    assert peak_kb() == 50 << 20
    monkeypatch.setitem(sys.modules, "resource", None)  # as on Windows
    assert peak_kb() == 0


def test_work_in_processes_needs_no_module_that_windows_lacks() -> None:
    program = "import sys; sys.modules['resource'] = None; import rocketproof.commands.campaign"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


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


def test_ctrl_c_is_not_told_by_each_worker(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    results = run_tasks(
        [(0.0, tmp_path / "short"), (2.0, tmp_path / "long")], doze, cores=2, label="dozing"
    )
    assert next(iter(results)) == "short"
    workers = multiprocessing.active_children()
    for worker in workers:  # a terminal sends it to all processes of a command
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGINT)

    assert list(results) == ["long"]
    assert len(workers) == 2
    assert capfd.readouterr().err == ""


def interrupt_is_blocked(_number: int) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_worker_that_still_starts_does_not_hear_of_it_either() -> None:
    assert list(run_tasks(range(4), interrupt_is_blocked, cores=2, label="asked")) == [True] * 4
    assert not interrupt_is_blocked(0)
