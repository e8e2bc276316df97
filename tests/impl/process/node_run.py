"""The process of a node for tests, whatever it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rocketha.formats.properties import push_properties
from tests.source_files import SOURCE_ROOTS

__all__ = ["NodeRun", "until"]

_TIMEOUT_S: Final = 60.0


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds, for a minute: a busy machine starts nothing in 20 s."""
    deadline = time.monotonic() + _TIMEOUT_S
    while not holds():
        assert time.monotonic() < deadline, f"it was never so that {what}"
        time.sleep(0.01)


class NodeRun:
    """A node's process, in a folder; a context manager, which ends it."""

    def __init__(self, module: str, folder: Path, settings: Mapping[str, str]) -> None:
        """Write its file: `settings`, but those without a value."""
        self.folder = folder
        self.output = folder / "out.txt"
        self.configuration = folder / "node.conf"
        given = {name: value for name, value in settings.items() if value}
        self.configuration.write_bytes(push_properties(given))
        self._module = module
        self._popen: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Return the id of its process."""
        assert self._popen is not None
        return self._popen.pid

    def launch(self) -> subprocess.Popen[bytes]:
        """Start it, without waiting."""
        paths = os.pathsep.join(str(path) for path in SOURCE_ROOTS)
        with self.output.open("ab") as file:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", self._module, "-c", str(self.configuration)],
                stdout=file,
                stderr=file,
                env={**os.environ, "PYTHONPATH": paths},
            )
        return self._popen

    def start(self) -> None:
        """Start it, and wait until it serves."""
        self.output.write_bytes(b"")
        popen = self.launch()
        until(lambda: "serves" in self.said() or popen.poll() is not None, "it serves")
        assert popen.poll() is None, self.said()

    def end(self, number: signal.Signals) -> int:
        """End it by a signal; return its exit code."""
        assert self._popen is not None
        self._popen.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait until it has ended; return its exit code."""
        assert self._popen is not None
        return self._popen.wait(_TIMEOUT_S)

    def said(self) -> str:
        """Return what it has printed."""
        return self.output.read_text() if self.output.exists() else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._popen is not None and self._popen.poll() is None:
            self._popen.kill()
            self._popen.wait(_TIMEOUT_S)
