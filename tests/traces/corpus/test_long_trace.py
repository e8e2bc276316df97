"""One long trace: judged in pieces, by many workers, in memory that does not grow with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.corpus.long_trace import write_long
from tests.traces.corpus.toy import ToySource, judge
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.result import CorpusResult
from tlatrace.corpus.splits import splits_of
from tlatrace.corpus.validate import Driver
from tlatrace.judgement.verdict import Conforms, Diverges

ALL = ToySource(max=1 << 40)
CHUNK = 4_000


def in_processes(folder: Path) -> CorpusResult:
    return judge(folder, ALL, LocalDriver(2, here_rows=0), memo=5_000)


@pytest.mark.parametrize("steps", [8_000, 8_001, 9_999])
def test_a_long_trace_is_judged_in_pieces(tmp_path: Path, driver: Driver, steps: int) -> None:
    write_long(tmp_path / "c", steps, 1_000)

    result = judge(tmp_path / "c", ALL, driver)

    assert result.verdict == Conforms(steps)
    assert result.figures.evaluated == steps - 1
    assert len(splits_of(tmp_path / "c")) == -(-steps // 1_000)


@pytest.mark.parametrize("bad", [1, 999, 1_000, 1_001, 4_500])
def test_the_first_bad_step_is_found_wherever_it_is(
    tmp_path: Path, driver: Driver, bad: int
) -> None:
    write_long(tmp_path / "c", 5_000, 1_000, bad_step=bad)

    verdict = judge(tmp_path / "c", ALL, driver).verdict

    assert isinstance(verdict, Diverges)
    assert verdict.step == bad


def test_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    write_long(tmp_path / "short", 10 * CHUNK, CHUNK)
    write_long(tmp_path / "long", 40 * CHUNK, CHUNK)

    short, long = in_processes(tmp_path / "short"), in_processes(tmp_path / "long")

    assert long.verdict == Conforms(40 * CHUNK)
    assert long.figures.worker_peak_mb < short.figures.worker_peak_mb + 25
