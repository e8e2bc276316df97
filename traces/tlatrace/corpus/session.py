"""One Spark session for a corpus: which Java and Python it runs, and how it is set.

What each setting is for, learnt from a failure without it:

* The workers would be the `python3` on PATH, which lacks our packages: PYSPARK_PYTHON.
* Spark binds to the address of the network card: 127.0.0.1 is said three times.
* A SPARK_HOME or SPARK_CONF_DIR of the user is another Spark: taken away while the JVM starts.
* JAVA_HOME is set only while the JVM starts, because it may be a shim that is for Spark alone.
* ANSI arithmetic is Spark's default and stays on: no sum here may overflow without a word.
* The JVM and its workers write warnings that are for nobody: their standard error is a file, the
  end of which is shown when the session does not start.
* Compressed bytes say little about the work: a split is small, and holds whole row groups, so no
  piece of a trace is cut in two (see `schema`).

`cluster` starts the session at a master that the user names. Nothing but these two and `progress`
knows whether the session is a local one: everything else uses the DataFrame API only, so it would
run over Spark Connect, too.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError  # type: ignore[import-untyped] # py4j ships no types
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PythonException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from tlatrace.errors import ToolError
from tlatrace.tools.java import spark_java_home

__all__ = [
    "DRIVER_MEMORY",
    "SparkSession",
    "environment_with",
    "open_session",
    "path_to_read",
    "path_to_write",
    "session_settings",
    "spark_errors",
]

DRIVER_MEMORY: Final = "1536m"
"""In local mode the tasks run in the driver's JVM; a scan needs less than 1 GB of heap."""

_JVM_OPTIONS: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Halves what the JVM takes from the cores in the first minute, while Python and TLC need them: on
200 runs 19 s of CPU instead of 33."""

_SPLIT_BYTES: Final = 4 << 20
"""Two or three row groups: a few seconds of a kernel's work."""
_REASON_CHARACTERS: Final = 400
_RAISED: Final = re.compile(r"^(?:\w+\.)*\w+(?:Error|Exception): (.+)$", re.MULTILINE)
"""The last line of a traceback of Python."""
_ADDRESS: Final = "127.0.0.1"


@contextmanager
def open_session(
    cores: int | None = None,
    *,
    name: str = "rocketproof",
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """Start a Spark session on this machine and stop it at the end.

    `cores` is the number of tasks at a time, all cores by default. `master` is another than
    `local[cores]`, as Spark spells it; for the user's, see `cluster`. `settings` are Spark's, and
    are above ours. A second session inside the first one is the same session, and is stopped by the
    first.

    Raises:
        ToolError: there is no Java, or Spark does not start.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    with tempfile.TemporaryDirectory(
        prefix="rocketproof-spark-", ignore_cleanup_errors=True
    ) as scratch:
        cores = cores or os.cpu_count() or 1
        wanted = {**session_settings(cores, Path(scratch)), **(settings or {})}
        spark = _start(master or f"local[{cores}]", wanted, name, Path(scratch))
        try:
            yield spark
        finally:
            spark.stop()


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn what Spark raises, which has two roots, into a sentence about the deepest causes.

    Raises:
        ToolError: Spark failed inside the block.
    """
    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        raised = _RAISED.findall(text) if isinstance(error, PythonException) else []
        if raised:  # by code of ours, in a task
            raise ToolError("Spark", raised[-1][:_REASON_CHARACTERS]) from error
        causes = re.findall(r"^Caused by: (?:[\w.$]+: )?(.+)$", text, re.MULTILINE)
        reason = ": ".join(causes[-2:]) or text.strip().split("\n")[0]
        if causes and len(reason) > _REASON_CHARACTERS:
            reason = causes[-1]  # the deepest says what is wrong; paths make the others long
        raise ToolError("Spark", reason[:_REASON_CHARACTERS]) from error


def path_to_write(path: Path) -> str:
    """Name a local folder to a Spark writer: not as a URI, because it would write the escapes."""
    return f"file://{path.resolve().as_posix()}"


def path_to_read(path: Path) -> str:
    """Name a local folder to a Spark reader, which takes it for a pattern."""
    return re.sub(r"([][{}*?\\])", r"\\\1", path_to_write(path))


def _start(master: str, wanted: Mapping[str, str], name: str, scratch: Path) -> SparkSession:
    environment = {
        "JAVA_HOME": str(spark_java_home()),
        "SPARK_LOCAL_IP": _ADDRESS,
        "SPARK_HOME": None,
        "SPARK_CONF_DIR": None,
        "PYSPARK_SUBMIT_ARGS": None,
        "PYSPARK_GATEWAY_PORT": None,
    }
    settings = SparkConf().setMaster(master).setAppName(name)
    settings.setAll(list(wanted.items()))
    # Read at every start of a worker, so it stays.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    log = scratch / "stderr.log"
    try:
        with environment_with(environment), log.open("wb") as errors:
            # A JVM that an earlier session of this process left is used again.
            gateway = SparkContext._gateway or launch_gateway(  # type: ignore[no-untyped-call] # pyspark leaves it untyped
                settings, popen_kwargs={"stderr": errors}
            )
            return SparkSession(SparkContext(gateway=gateway, conf=settings))
    except Exception as error:  # py4j, pyspark and OSError share no root
        lines = log.read_text("utf-8", errors="replace").strip().split("\n")
        raise ToolError("Spark", f"does not start: {error} {' '.join(lines[-3:])}") from error


def session_settings(cores: int, scratch: Path) -> dict[str, str]:
    """Say how a session of our own is set."""
    return {
        "spark.driver.bindAddress": _ADDRESS,
        "spark.driver.host": _ADDRESS,
        "spark.driver.memory": DRIVER_MEMORY,
        "spark.driver.extraJavaOptions": _JVM_OPTIONS,
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.io.compression.codec": "zstd",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.files.maxPartitionBytes": str(_SPLIT_BYTES),
        "spark.sql.files.openCostInBytes": str(_SPLIT_BYTES // 8),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16000",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
        # An executor that is lost is a failure of its tasks, too. (A local session never retries.)
        "spark.task.maxFailures": "4",
        "spark.python.worker.faulthandler.enabled": "true",
    }


@contextmanager
def environment_with(wanted: Mapping[str, str | None]) -> Iterator[None]:
    """Set environment variables, or take them away (None), until the block ends."""
    before = {key: os.environ.get(key) for key in wanted}
    _set(wanted)
    try:
        yield
    finally:
        _set(before)


def _set(wanted: Mapping[str, str | None]) -> None:
    for key, value in wanted.items():
        if value is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = value
