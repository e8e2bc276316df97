"""A Spark session at a master that the user names: theirs is the Spark, and its configuration.

Nothing is taken away here, unlike in `session`: SPARK_HOME, SPARK_CONF_DIR, spark-defaults.conf and
PYSPARK_SUBMIT_ARGS are the user's word; the settings of the command line are above them, and what
we would like is below. Our code goes to executors with Spark's own means (see `shipping`), and a
first job asks some of them for their versions before there is any work.

Waiting has an end: for a master that does not answer, and for a cluster without room for a task.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyspark
from py4j.protocol import Py4JError  # type: ignore[import-untyped] # py4j ships no types
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from tlatrace.corpus.session import environment_with, session_settings, spark_errors
from tlatrace.corpus.shipping import VERSIONS_KEY, guarded, versions_here, write_zip
from tlatrace.errors import ToolError
from tlatrace.tools.java import spark_java_home

__all__ = ["WAIT_KEY", "open_cluster"]

WAIT_KEY: Final = "spark.rocketproof.waitSeconds"
"""A setting of ours: for how long a start, and the first job, may take."""

_WAIT_S: Final = 300.0
_CONNECT_S: Final = 5.0
_LIKED: Final = (
    "spark.io.compression.codec",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.openCostInBytes",
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.execution.arrow.maxBytesPerBatch",
    "spark.sql.warehouse.dir",
    "spark.ui.showConsoleProgress",
)
"""What is set as in a session of our own, unless the user says otherwise."""


@contextmanager
def open_cluster(
    master: str,
    settings: Mapping[str, str],
    *,
    packages: Sequence[str],
    name: str = "rocketproof",
) -> Iterator[SparkSession]:
    """Start a session at a master, send it the code of `packages`, and stop it at the end.

    Raises:
        ToolError: the master does not answer, has no room, or another Spark or code; or Spark does
            not start.
    """
    wait_s = _wait_s(settings)
    _check_home(os.environ.get("SPARK_HOME"))
    _reach(master)
    with tempfile.TemporaryDirectory(
        prefix="rocketproof-spark-", ignore_cleanup_errors=True
    ) as scratch:
        spark = _start(master, {"spark.app.name": name, **settings}, Path(scratch), wait_s)
        try:
            _send(spark, packages, Path(scratch))
            _ask_versions(spark, master, wait_s)
            yield spark
        finally:
            with suppress(Py4JError, OSError):  # the JVM may be gone
                spark.stop()


def _wait_s(settings: Mapping[str, str]) -> float:
    try:
        wait_s = float(settings.get(WAIT_KEY, _WAIT_S))
    except ValueError:
        wait_s = 0.0
    if not 0 < wait_s < threading.TIMEOUT_MAX:
        raise ToolError("Spark", f"{WAIT_KEY} is {settings[WAIT_KEY]!r}, not a number of seconds")
    return wait_s


def _check_home(home: str | None) -> None:
    """Refuse a SPARK_HOME that is not of the version that this Python speaks.

    Raises:
        ToolError: it is none, or of another version.
    """
    if not home:
        return
    jars = [path.stem for path in Path(home, "jars").glob("spark-core_*.jar")]
    found = [re.search(r"-(\d+\.\d+\.\d+)", jar) for jar in jars]
    versions = {match[1] for match in found if match is not None}
    if not versions or not Path(home, "bin", "spark-submit").exists():
        raise ToolError("Spark", f"SPARK_HOME={home} holds no Spark")
    if not versions <= {pyspark.__version__}:
        reason = f"SPARK_HOME={home} is Spark {min(versions)}, but pyspark {pyspark.__version__}"
        raise ToolError("Spark", f"{reason} is installed here: they have to be the same")


def _reach(master: str) -> None:
    """Knock at a standalone master: Spark itself would try for a minute, and tell little.

    Raises:
        ToolError: none of the addresses answers.
    """
    if not master.startswith("spark://"):
        return
    reasons = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), _CONNECT_S).close()
        except (OSError, OverflowError) as error:
            reasons.append(f"{address}: {getattr(error, 'strerror', None) or error}")
        else:
            return
    raise ToolError("Spark", f"the master {master} does not answer ({'; '.join(reasons)})")


def _start(master: str, settings: Mapping[str, str], scratch: Path, wait_s: float) -> SparkSession:
    given = SparkConf().setAll(list(settings.items())).setMaster(master)
    log = scratch / "stderr.log"
    over = threading.Event()
    try:
        with environment_with({"JAVA_HOME": str(spark_java_home())}), log.open("wb") as errors:
            gateway = SparkContext._gateway or launch_gateway(  # type: ignore[no-untyped-call] # pyspark leaves it untyped
                given, popen_kwargs={"stderr": errors}
            )
            with _ended_after(wait_s, lambda: _end(gateway), over):
                SparkContext._ensure_initialized(gateway=gateway)
                conf = _with_defaults(given, scratch)
                # Read at every start of a worker, so it stays.
                os.environ["PYSPARK_PYTHON"] = _python(conf)
                return SparkSession(SparkContext(gateway=gateway, conf=conf))
    except Exception as error:  # py4j, pyspark and OSError share no root
        if over.is_set():
            SparkContext._gateway = SparkContext._jvm = None
            raise ToolError(
                "Spark", f"the master {master} has not answered in {wait_s:g} s"
            ) from None
        lines = log.read_text("utf-8", errors="replace").strip().split("\n")
        raise ToolError("Spark", f"does not start: {error} {' '.join(lines[-3:])}") from error


def _with_defaults(given: SparkConf, scratch: Path) -> SparkConf:
    """Put what is given above the user's defaults, which the JVM has read, and ours below them."""
    conf = SparkConf()
    conf.setAll(given.getAll())
    ours = session_settings(1, scratch)
    for key in _LIKED:
        conf.setIfMissing(key, ours[key])
    return conf


def _python(conf: SparkConf) -> str:
    """Choose the Python of executors: the user's, or the path of this one."""
    wish = conf.get("spark.pyspark.python", None) or os.environ.get("PYSPARK_PYTHON")
    return wish or sys.executable


def _send(spark: SparkSession, packages: Sequence[str], scratch: Path) -> None:
    archive, path = write_zip(packages, scratch), list(sys.path)
    spark.sparkContext.addPyFile(str(archive))
    sys.path[:] = path  # Spark adds it here, too
    spark.conf.set(VERSIONS_KEY, versions_here(packages))


def _ask_versions(spark: SparkSession, master: str, wait_s: float) -> None:
    """Run a first job, which has one task for each core that is there now.

    Raises:
        ToolError: an executor has other code, or none was there in time.
    """
    tasks = max(spark.sparkContext.defaultParallelism, 1)
    numbers = spark.range(0, tasks, 1, tasks)
    versions = spark.conf.get(VERSIONS_KEY)
    assert versions is not None, "it has just been set"
    over = threading.Event()
    try:
        with _ended_after(wait_s, spark.sparkContext.cancelAllJobs, over), spark_errors():
            numbers.mapInArrow(guarded(_answer, versions), "id bigint").toArrow()
    except ToolError:
        if not over.is_set():
            raise
        reason = f"{master} has not run a first job in {wait_s:g} s: has it a worker with as much"
        raise ToolError("Spark", f"{reason} memory and as many cores as asked for?") from None


def _answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _end(gateway: Any) -> None:
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.kill()


@contextmanager
def _ended_after(
    seconds: float, end: Callable[[], object], over: threading.Event
) -> Iterator[None]:
    """End what the block waits for after so many seconds, and say so with `over`."""

    def give_up() -> None:
        over.set()
        end()

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
