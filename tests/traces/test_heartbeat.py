"""Signs of life of long work."""

from __future__ import annotations

import sys
import threading
import time
from functools import partial

import pytest
from rich.console import Console

from tlatrace import heartbeat as beats
from tlatrace.corpus import processes
from tlatrace.corpus.processes import run_tasks
from tlatrace.heartbeat import heartbeat, left_text


def test_a_log_gets_a_line_now_and_then_and_none_afterwards() -> None:
    lines: list[str] = []
    twice = threading.Event()

    def write(line: str) -> None:
        lines.append(line)
        if len(lines) >= 2:
            twice.set()

    with heartbeat("searching", every_s=0.01, write=write) as tell:
        tell("1/2 counter small")
        assert twice.wait(10)
    count = len(lines)
    time.sleep(0.05)

    assert lines[-1] == "1/2 counter small (0 s)"
    assert len(lines) == count


@pytest.mark.parametrize(("ci", "told"), [("", False), ("true", True)])
def test_a_terminal_gets_none_unless_it_is_a_build(
    ci: str, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(beats, "_to_standard_error", lines.append)

    with heartbeat("searching", every_s=0.005):
        time.sleep(0.2)

    assert bool(lines) == told


def test_tasks_tell_how_many_are_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(task: int) -> int:
        time.sleep(0.05)
        return task

    monkeypatch.setattr(processes, "heartbeat", partial(heartbeat, every_s=0.02))
    done = list(run_tasks([1, 2, 3], slow, cores=1, label="seeds", console=Console(stderr=True)))

    assert done == [1, 2, 3]
    assert "seeds: 1 of 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("done", "total", "seconds", "text"),
    [
        (25, 100, 10.0, "about 30 s left"),
        (10, 100, 100.0, "about 15 min left"),
        (1, 100, 10.0, ""),
        (101, 100, 10.0, ""),
        (50, None, 10.0, ""),
    ],
)
def test_the_rest_is_told_by_the_pace_so_far(
    done: int, total: int | None, seconds: float, text: str
) -> None:
    assert left_text(done, total, seconds) == text
