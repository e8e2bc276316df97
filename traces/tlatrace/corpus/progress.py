"""Show how far Spark's tasks are: on a terminal as bars, in a log by a line now and then.

Display only: it asks the local session's status tracker; over a connection that has none, a log is
told that Spark works, and a terminal nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from pyspark import StatusTracker
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tlatrace.heartbeat import heartbeat

__all__ = ["show_progress"]

_POLL_S: Final = 0.25


@contextmanager
def show_progress(
    spark: SparkSession, labels: Sequence[str], console: Console | None = None
) -> Iterator[None]:
    """Tell of each stage that runs inside the block, named by `labels` in their order."""
    console = console or Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    over = threading.Event()
    with (
        heartbeat(f"{labels[0]} on Spark") as tell,
        Progress(
            *columns,
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        ) as bars,
    ):
        poller = threading.Thread(target=_poll, args=(spark, labels, bars, tell, over), daemon=True)
        poller.start()
        try:
            yield
        finally:
            over.set()
            poller.join()


def _poll(
    spark: SparkSession,
    labels: Sequence[str],
    bars: Progress,
    tell: Callable[[str], None],
    over: threading.Event,
) -> None:
    bar_of: dict[int, int] = {}
    try:
        tracker = spark.sparkContext.statusTracker()
        # Ids grow: what is older than the first stage of this block belongs to somebody else.
        while not over.wait(_POLL_S):
            for stage in sorted(tracker.getActiveStageIds()):
                _update(tracker, stage, bar_of, labels, bars, tell)
    except (PySparkException, AttributeError, OSError):
        return  # without a tracker, or while the session ends, there is nothing to show


def _update(
    tracker: StatusTracker,
    stage: int,
    bar_of: dict[int, int],
    labels: Sequence[str],
    bars: Progress,
    tell: Callable[[str], None],
) -> None:
    info = tracker.getStageInfo(stage)
    if info is None:
        return
    if stage not in bar_of:
        label = labels[min(len(bar_of), len(labels) - 1)]
        bar_of[stage] = bars.add_task(label, total=info.numTasks)
    for other, bar in bar_of.items():
        if other < stage:
            bars.update(bars.tasks[bar].id, completed=bars.tasks[bar].total)
    shown = bars.tasks[bar_of[stage]]
    bars.update(shown.id, completed=info.numCompletedTasks)
    tell(f"{shown.description} on Spark: {info.numCompletedTasks} of {info.numTasks} tasks")
