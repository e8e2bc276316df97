"""Programs that are run, started, paused and ended; they are lines of shell and Python."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

from rocketmq_peer.errors import ProcessError
from rocketmq_peer.processes import Process, run_program
from tests.free_ports import free_port

_LISTENS = "import socket, sys; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); s.accept(); sys.stdin.read()"  # noqa: E501


def sleeping(folder: Path, *, script: str = "exec sleep 60") -> Process:
    return Process("b1", ["sh", "-c", script], folder=folder, output=folder / "out.txt")


def state_of(process: Process) -> str:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2][0]


def test_a_program_runs_to_its_end(tmp_path: Path) -> None:
    heard: list[str] = []
    script = "echo one; echo two >&2; pwd; exit 3"
    ended = run_program(["sh", "-c", script], folder=tmp_path, timeout_s=20, heard=heard.append)
    assert ended.code == 3
    assert heard == ["one", "two", str(tmp_path.resolve())]
    assert ended.output.splitlines() == heard


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(ProcessError, match="sh did not end in 0 s"):
        run_program(["sh", "-c", "sleep 60; true"], folder=tmp_path, timeout_s=0.2)
    assert time.monotonic() - began < 30


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="does not start"):
        run_program([tmp_path / "none"], folder=tmp_path, timeout_s=1)
    with pytest.raises(ProcessError, match="b1 does not start"):
        Process("b1", [tmp_path / "none"], folder=tmp_path, output=tmp_path / "out")


def test_a_process_is_killed_by_its_id(tmp_path: Path) -> None:
    process = sleeping(tmp_path)
    assert process.ended is None
    assert process.kill() == -signal.SIGKILL
    assert process.kill() == process.ended == -signal.SIGKILL


def test_a_process_may_end_in_order_even_if_it_is_paused(tmp_path: Path) -> None:
    process = sleeping(tmp_path, script="trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done")
    process.wait_until(lambda: process.output.read_bytes() == b"up\n", "say that it is up", 20)
    process.pause()
    assert process.terminate() == 7


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_a_paused_process_goes_on(tmp_path: Path) -> None:
    process = sleeping(tmp_path)
    try:
        process.pause()
        process.wait_until(lambda: state_of(process) == "T", "stop", 20)
        process.resume()
        process.wait_until(lambda: state_of(process) != "T", "go on", 20)
        assert process.resident_bytes() > 0
    finally:
        process.kill()


def test_a_port_is_waited_for(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-c", _LISTENS, str(port)]
    process = Process("c1", command, folder=tmp_path, output=tmp_path / "out.txt", talks=True)
    try:
        assert process.wait_for_port(port, 30) < 30
    finally:
        process.kill()


def test_who_waits_hears_that_the_process_ended_and_what_it_said(tmp_path: Path) -> None:
    process = sleeping(tmp_path, script="echo no such host; exit 4")
    with pytest.raises(ProcessError, match=r"b1 ended with 4, and said last: no such host \("):
        process.wait_for_port(free_port(), 30)
    quiet = Process("b2", ["true"], folder=tmp_path, output=tmp_path / "quiet.txt")
    with pytest.raises(ProcessError, match="b2 ended with 0, and said nothing"):
        quiet.wait_for_port(free_port(), 30)


def test_who_waits_too_long_is_told(tmp_path: Path) -> None:
    process = sleeping(tmp_path)
    try:
        with pytest.raises(ProcessError, match=r"b1 did not accept connections at port \d+ in 0 s"):
            process.wait_for_port(free_port(), 0.1)
    finally:
        process.kill()


def test_what_a_process_prints_is_appended(tmp_path: Path) -> None:
    for text in ("a", "b"):
        process = sleeping(tmp_path, script=f"echo {text}")
        assert process.wait(20) == 0
    assert (tmp_path / "out.txt").read_text() == "a\nb\n"
