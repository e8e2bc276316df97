"""A real executor is killed in the middle of a job, and nothing changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.source_files import ROOT


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="executors are found in /proc")
def test_an_executor_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.traces.corpus.lose_an_executor", str(tmp_path / "work")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert run.returncode == 0, run.stderr[-2000:]
    assert json.loads(run.stdout) == {
        "killed": 1,
        "still_there": False,
        "same_verdicts": True,
        "same_actions": True,
        "same_distinct": True,
        "steps": 3240,
        "accounted": 3240,
        "problems": [],
    }
