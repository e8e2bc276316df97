"""Programs of the machine: run to their end, or started, paused and ended by their ids.

This is the only module here that starts any. Each is the leader of a group of processes of its own,
so that Ctrl-C in a terminal does not reach it before whoever started it decides.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from rocketmq_peer.errors import ProcessError

__all__ = ["Ended", "Process", "run_program"]

_PACE_S: Final = 0.05
"""A port is tried so often, unless the process ends before."""
_CONNECT_TIMEOUT_S: Final = 1.0
_END_TIMEOUT_S: Final = 20.0
_LINES_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that ran to its end."""

    code: int
    """Exit code; negative: the signal that ended it."""
    output: str
    """What it printed, on both streams."""


def run_program(
    command: Sequence[str | Path],
    *,
    folder: Path,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    heard: Callable[[str], None] | None = None,
) -> Ended:
    """Run a program in a folder, without input; `heard` gets each line as it comes.

    Raises: ProcessError if it does not start, or is still there after `timeout_s` seconds.
    """
    words = [str(word) for word in command]
    try:
        started = subprocess.Popen(
            words,
            cwd=folder,
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise ProcessError(f"{words[0]} does not start: {error.strerror}") from error
    late = threading.Event()

    def end_it() -> None:
        late.set()
        _signal_group(started.pid, signal.SIGKILL)

    timer = threading.Timer(timeout_s, end_it)
    timer.start()
    lines = []
    try:
        assert started.stdout is not None
        with started.stdout:
            for line in started.stdout:
                lines.append(line)
                if heard is not None:
                    heard(line.rstrip("\n"))
        code = started.wait()
    finally:
        timer.cancel()
        if started.poll() is None:
            _signal_group(started.pid, signal.SIGKILL)
            started.wait()
    if late.is_set():
        raise ProcessError(f"{words[0]} did not end in {timeout_s:.0f} s")
    return Ended(code, "".join(lines))


class Process:
    """A program that runs beside us; what it prints goes to a file."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        folder: Path,
        output: Path,
        environment: Mapping[str, str] | None = None,
        talks: bool = False,
    ) -> None:
        """Start it in `folder`, appending to `output`.

        One that `talks` has its standard input and output as `input` and `answers`; the rest of
        what it prints goes to the file.

        Raises: ProcessError
        """
        self.name = name
        self.output = output
        pipe = subprocess.PIPE if talks else None
        with output.open("ab") as file:
            try:
                self._popen = subprocess.Popen(
                    [str(word) for word in command],
                    cwd=folder,
                    env=None if environment is None else dict(environment),
                    stdin=pipe or subprocess.DEVNULL,
                    stdout=pipe or file,
                    stderr=file,
                    start_new_session=True,
                )
            except OSError as error:
                raise ProcessError(f"{name} does not start: {error.strerror}") from error

    @property
    def pid(self) -> int:
        """Its id."""
        return self._popen.pid

    @property
    def input(self) -> IO[bytes]:
        """Where a process that talks is told something."""
        assert self._popen.stdin is not None
        return self._popen.stdin

    @property
    def answers(self) -> IO[bytes]:
        """Where a process that talks answers."""
        assert self._popen.stdout is not None
        return self._popen.stdout

    @property
    def ended(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._popen.poll()

    def kill(self) -> int:
        """End it at once, as a crash would; return its exit code, of one that has ended, too."""
        return self._end(signal.SIGKILL)

    def terminate(self) -> int:
        """Ask it to end, and end it if it has not in 20 s; return its exit code."""
        return self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Let it do nothing, while its connections stay."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end; return the exit code, or None if it still runs."""
        try:
            return self._popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def wait_for_port(self, port: int, timeout_s: float) -> float:
        """Wait until it accepts connections; return the seconds that took.

        Raises: ProcessError if it ends before, or does not accept in time.
        """
        began = time.monotonic()
        self.wait_until(lambda: _accepts(port), f"accept connections at port {port}", timeout_s)
        return time.monotonic() - began

    def wait_until(self, holds: Callable[[], bool], what: str, timeout_s: float) -> None:
        """Wait until something holds of a process that runs; `what` it is to do.

        Raises: ProcessError if it ends before, or the time is over.
        """
        deadline = time.monotonic() + timeout_s
        while not holds():
            code = self.wait(_PACE_S)
            if code is not None:
                raise ProcessError(f"{self.name} ended with {code}, {self._said()}")
            if time.monotonic() > deadline:
                raise ProcessError(f"{self.name} did not {what} in {timeout_s:.0f} s")

    def resident_bytes(self) -> int:
        """Return how much memory it has; 0 where the machine has no /proc."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def _said(self) -> str:
        try:
            lines = self.output.read_text("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        last = " / ".join(line.strip() for line in lines[-_LINES_SHOWN:] if line.strip())
        return f"and said last: {last} ({self.output})" if last else "and said nothing"

    def _end(self, how: signal.Signals) -> int:
        if self.ended is None:
            self._signal(how)
            self._signal(signal.SIGCONT)  # one that is paused hears only then
            if self.wait(_END_TIMEOUT_S) is None:
                self._signal(signal.SIGKILL)
        code = self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return code

    def _signal(self, number: signal.Signals) -> None:
        if self.ended is None:
            self._popen.send_signal(number)


def _accepts(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_TIMEOUT_S):
            return True
    except OSError:
        return False


def _signal_group(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that leads its group, and to its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)
