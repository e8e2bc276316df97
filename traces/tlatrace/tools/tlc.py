"""Run TLC on a module and a configuration, and type what it answers.

What this runner knows of TLC, each learnt from a wrong result:

* TLC ignores TLA-Library when the module comes with a directory: the working directory is the
  module's folder, and the name is bare.
* Two runs started in the same second share a state folder: each gets a `-metadir` of its own. SANY
  unpacks its standard modules into the JVM's temporary folder: each gets one of its own, too.
* More than one worker may find a longer counterexample and report another depth: one worker where
  such a number is compared.
* TLC before 1.8 does not know `-noGenerateSpecTE`, and later ones write files into the module's
  folder without it: the jar is asked.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from tlatrace.errors import SpecError, ToolError
from tlatrace.tools.class_archive import archive_options
from tlatrace.tools.jar import TlcJar, find_jar
from tlatrace.tools.java import JavaHome, find_java
from tlatrace.tools.module_folders import library_folders
from tlatrace.tools.tlc_config import for_older_tlc, postconditions_of, properties_of
from tlatrace.tools.tlc_output import Outcome, TlcProgress, TlcState, progress
from tlatrace.tools.tlc_run import TlcRun, read_run

__all__ = [
    "JVM_ARGS",
    "QUICK_JVM_ARGS",
    "Outcome",
    "Stop",
    "TlcJar",
    "TlcProgress",
    "TlcRun",
    "TlcState",
    "all_workers",
    "find_jar",
    "run_tlc",
]

JVM_ARGS: Final = ("-XX:+UseParallelGC", "-Xmx4g", "-Xss64m")
"""The heap limit is a limit, not a demand; deep recursion in a specification needs the stack."""

QUICK_JVM_ARGS: Final = (*JVM_ARGS, "-XX:TieredStopAtLevel=1")
"""For runs of a few seconds: measured 40 % less CPU in 5 s of work, but 25 % more in 30 s."""

_FINGERPRINT: Final = ("-fp", "1", "-seed", "1")


def all_workers() -> int:
    """Return the number of workers that this machine can keep busy."""
    return os.cpu_count() or 1


class Stop:
    """Ends the runs of TLC that other threads wait for: what they find then is a timeout."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []
        self._asked = False

    def now(self) -> None:
        """End all that run, and all that will be started."""
        with self._lock:
            self._asked = True
            for end in self._ends:
                end()

    @contextmanager
    def ends(self, end: Callable[[], None]) -> Iterator[None]:
        """Have `end` called when all is to end; at once, when it was before."""
        with self._lock:
            self._ends.append(end)
            if self._asked:
                end()
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)


def run_tlc(
    module: Path,
    config: Path,
    *,
    workers: int = 1,
    timeout_s: float = 600.0,
    check_deadlock: bool = False,
    libraries: Sequence[Path] = (),
    extra_args: Sequence[str] = (),
    jvm_args: Sequence[str] = JVM_ARGS,
    on_progress: Callable[[TlcProgress], None] | None = None,
    jar: TlcJar | None = None,
    java: JavaHome | None = None,
    stop: Stop | None = None,
) -> TlcRun:
    """Run TLC breadth-first and return what it found.

    `libraries` are folders of modules besides the module's own; `tlatrace.tools.module_folders`
    adds those that are known. `extra_args` go to TLC before the module's name. A run that takes
    longer than `timeout_s` is ended, with all processes that it started, and so is one that `stop`
    ends. With one worker the same input gives the same counterexample and depth.

    Raises: SpecError when the module or the configuration is not a file, or it has a POSTCONDITION
    that the jar does not know; ToolError without a Java or a jar.
    """
    for path in (module, config):
        if not path.is_file():
            raise SpecError(path, "there is no such file")
    jar, java = jar or find_jar(), java or find_java()
    module, config = module.resolve(), config.resolve()
    with tempfile.TemporaryDirectory(prefix="rocketproof-tlc-", ignore_cleanup_errors=True) as own:
        command = [str(java.java), *jvm_args, *archive_options(java, jar)]
        command.append(f"-Djava.io.tmpdir={own}")
        folders = [str(folder.resolve()) for folder in library_folders(module, libraries)]
        command.append(f"-DTLA-Library={os.pathsep.join(folders)}")
        command += ["-cp", str(jar.path), "tlc2.TLC", "-tool", "-workers", str(workers)]
        known = _known_config(config, jar, Path(own))
        command += [*_FINGERPRINT, "-metadir", str(Path(own) / "states"), "-config", str(known)]
        if not check_deadlock:
            command.append("-deadlock")  # which means: do not check it
        if "-noGenerateSpecTE" in jar.features:
            command.append("-noGenerateSpecTE")
        command += [*extra_args, module.name]
        run = _run(command, module.parent, timeout_s, on_progress, stop or Stop())
    return _named(run, config)


def _known_config(config: Path, jar: TlcJar, folder: Path) -> Path:
    """Return a configuration that the jar understands: the same file wherever it does."""
    text = config.read_text("utf-8", errors="replace")
    if "CHECK_DEADLOCK" in jar.features:
        return config
    for name in postconditions_of(text):
        reason = (
            f"TLC {jar.version} knows no POSTCONDITION ({name}): TLA2TOOLS_JAR names a newer TLC"
        )
        raise SpecError(config, reason)
    older = for_older_tlc(text)
    if older == text:
        return config
    path = folder / config.name
    path.write_text(older, "utf-8")
    return path


def _named(run: TlcRun, config: Path) -> TlcRun:
    """Name the violated property where TLC does not, but only one can be meant.

    TLC names no temporal property, and calls a part of a refinement by its place in the text.
    """
    unnamed = (Outcome.TEMPORAL, Outcome.ACTION_PROPERTY)
    if run.outcome not in unnamed or run.violated is not None:
        return run
    properties = properties_of(config.read_text("utf-8", errors="replace"))
    return replace(run, violated=properties[0]) if len(properties) == 1 else run


def _run(
    command: list[str],
    folder: Path,
    timeout_s: float,
    on_progress: Callable[[TlcProgress], None] | None,
    stop: Stop,
) -> TlcRun:
    started = time.monotonic()
    timed_out = threading.Event()
    processes: list[subprocess.Popen[bytes] | OSError] = []
    # Started in a thread: a signal that ends us cannot come between its start and our knowing it.
    starter = threading.Thread(target=lambda: processes.append(_start(command, folder)))

    def end() -> None:
        timed_out.set()
        _kill(process)

    watchdog = threading.Timer(timeout_s, end)
    watchdog.daemon = True
    lines: list[str] = []
    try:
        starter.start()
        starter.join()
        (found,) = processes
        if isinstance(found, OSError):
            reason = f"{command[0]} does not start ({found.strerror})"
            raise ToolError("TLC", reason) from found
        process = found
        watchdog.start()
        assert process.stdout is not None
        with stop.ends(end):
            for raw in process.stdout:
                line = raw.decode("utf-8", errors="replace")
                lines.append(line)
                if on_progress is not None and (seen := progress(line)) is not None:
                    on_progress(seen)
            exit_code = process.wait()
    finally:
        watchdog.cancel()
        starter.join()
        for one in processes:
            if not isinstance(one, OSError):
                _kill(one)
                one.wait()
    return read_run(
        "".join(lines),
        exit_code=None if timed_out.is_set() else exit_code,
        seconds=time.monotonic() - started,
    )


def _start(command: list[str], folder: Path) -> subprocess.Popen[bytes] | OSError:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return error


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process of ours, and those that it started, unless it has ended."""
    if process.poll() is not None:
        return
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
