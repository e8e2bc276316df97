"""What judges a corpus for long says so in a log: TLC, and Spark."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest
from pyspark.sql import SparkSession

from tests.traces.corpus.toy import ToyTlc, judge, toy_subject
from tlatrace.corpus import by_tlc, progress, recheck
from tlatrace.corpus.by_tlc import validate_by_tlc
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.on_spark import ScanDriver
from tlatrace.corpus.progress import show_progress
from tlatrace.corpus.validate import TlcRecheck
from tlatrace.heartbeat import heartbeat
from tlatrace.judgement.transition import Judged, Transition


def slow(transitions: Sequence[Transition], /) -> Sequence[Judged]:
    time.sleep(0.2)
    return ToyTlc()(transitions)


def often(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    """Let a module tell every 20 milliseconds."""
    monkeypatch.setattr(module, "heartbeat", partial(heartbeat, every_s=0.02))


def test_a_log_is_told_that_tlc_judges_a_sample(
    good: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    often(monkeypatch, recheck)

    result = judge(good, tlc=TlcRecheck(slow, 30))

    assert result.rechecked is not None
    assert "TLC judges 30 accepted transitions (0 s)" in capsys.readouterr().err


def test_a_log_is_told_that_tlc_judges_alone(
    good: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    often(monkeypatch, by_tlc)

    result = validate_by_tlc(good, toy_subject(), LocalDriver(1), slow)

    told = f"TLC judges {result.figures.distinct} transitions (0 s)"
    assert told in capsys.readouterr().err


@pytest.mark.spark
def test_a_log_is_told_that_spark_judges(
    good: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    often(monkeypatch, progress)

    judge(good, driver=ScanDriver(request.getfixturevalue("spark")))

    assert "judging on Spark" in capsys.readouterr().err


def test_a_log_is_told_how_many_tasks_are_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    often(monkeypatch, progress)
    monkeypatch.setattr(progress, "_POLL_S", 0.01)
    stages = {4: SimpleNamespace(numTasks=3, numCompletedTasks=2)}
    tracker = SimpleNamespace(getActiveStageIds=lambda: list(stages), getStageInfo=stages.get)
    context = SimpleNamespace(statusTracker=lambda: tracker)
    spark = cast("SparkSession", SimpleNamespace(sparkContext=context))

    with show_progress(spark, ["sorting", "judging"]):
        time.sleep(0.3)

    assert "sorting on Spark: 2 of 3 tasks (0 s)" in capsys.readouterr().err
