"""A standalone Spark cluster of PySpark's own classes on loopback: a master and its workers.

All processes are children of this one, are known by their ids, and are gone when the block ends:
first they are asked to, and what is left of them and of their executors is killed. If this process
is killed itself, `timeout` ends them after a while.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyspark

from tlatrace.tools.java import spark_java_home

HOME: Final = Path(pyspark.__file__).parent
EXECUTOR: Final = b"CoarseGrainedExecutorBackend"
SETTINGS: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""What a driver on loopback needs; for people with little memory."""

_LIFETIME_S: Final = 1_800
_START_S: Final = 90.0
_STOP_S: Final = 10.0
_MASTER: Final = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that runs."""

    url: str
    master: int
    """A process id."""
    workers: tuple[int, ...]

    def executors(self) -> list[int]:
        """Return the processes of executors of these workers."""
        return executors_of(*self.workers)

    def pythons(self, executor: int) -> list[int]:
        """Return the Python processes that run tasks of an executor; its daemon is none of them."""
        table = processes()
        daemons = [pid for pid, parent in table.items() if parent == executor]
        return sorted(pid for pid, parent in table.items() if parent in daemons)


def processes() -> dict[int, int]:
    """Return all processes with their parents."""
    found: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                stat = (entry / "stat").read_text()
                found[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def ancestors(pid: int, parents: dict[int, int]) -> set[int]:
    """Return a process, its parent, and so on."""
    seen: set[int] = set()
    while pid in parents and pid not in seen:
        seen.add(pid)
        pid = parents[pid]
    return seen | {pid}


def command_of(pid: int) -> bytes:
    """Return the command line of a process; nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def executors_of(*started: int) -> list[int]:
    """Return the processes of executors that descend from one of these."""
    table = processes()
    ours = [pid for pid in table if set(started) & ancestors(pid, table)]
    return sorted(pid for pid in ours if EXECUTOR in command_of(pid))


@contextmanager
def standalone_cluster(
    folder: Path, *, workers: int = 2, memory: str = "768m"
) -> Iterator[Cluster]:
    """Start a master and workers of one core each, and stop them at the end.

    Raises:
        TimeoutError: one of them has not started.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        log = folder / "master.log"
        master = stack.enter_context(_daemon("master.Master", folder, log, "--webui-port", "0"))
        url = _found(_MASTER, log, master, 1)[0]
        started = []
        for number in range(workers):
            options = ("--webui-port", "0", "-c", "1", "-m", memory, "-d", str(folder / "workers"))
            own = folder / f"worker{number}.log"
            worker = _daemon("worker.Worker", folder, own, *options, url)
            started.append(stack.enter_context(worker))
        _found(re.compile(r"(Registering worker) 127"), log, master, workers)
        yield Cluster(url, master.pid, tuple([worker.pid for worker in started]))


@contextmanager
def _daemon(
    name: str, folder: Path, log: Path, *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK"))
    }
    environment |= {
        "JAVA_HOME": str(spark_java_home()),
        "SPARK_HOME": str(HOME),
        "SPARK_CONF_DIR": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "192m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    bounded = [timeout, str(_LIFETIME_S)] if (timeout := shutil.which("timeout")) else []
    command = [*bounded, str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", "0", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    table = processes()
    family = [pid for pid in table if process.pid in ancestors(pid, table)]
    process.terminate()
    deadline = time.monotonic() + _STOP_S
    while time.monotonic() < deadline and set(family) & processes().keys() - {process.pid}:
        process.poll()
        time.sleep(0.1)
    for pid in family:
        if pid != process.pid and ancestors(pid, table) & set(family) and pid in processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _found(
    pattern: re.Pattern[str], log: Path, process: subprocess.Popen[bytes], count: int
) -> list[str]:
    """Wait until a log has as many lines of a pattern."""
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        found = pattern.findall(log.read_text("utf-8", errors="replace"))
        if len(found) >= count:
            return [str(text) for text in found]
        time.sleep(0.1)
    text = log.read_text("utf-8", errors="replace")
    raise TimeoutError(f"{pattern.pattern} is not in {log}: {text[-2000:]}")
