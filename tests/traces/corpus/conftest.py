"""Corpora for each module, and every driver."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.traces.corpus.corpora import make, record_mixed
from tests.traces.corpus.toy import record
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.on_spark import ScanDriver, SortDriver
from tlatrace.corpus.validate import Driver


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "good [1] {2}%20?*\\"
    make(folder, record)
    return folder


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "mixed"
    make(folder, record_mixed)
    return folder


@pytest.fixture
def copied(good: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(good, folder)
    return folder


@pytest.fixture(
    params=[
        "here",
        pytest.param("scan", marks=pytest.mark.spark),
        pytest.param("sort", marks=pytest.mark.spark),
    ]
)
def driver(request: pytest.FixtureRequest) -> Driver:
    match request.param:
        case "here":
            return LocalDriver(1)
        case "scan":
            return ScanDriver(request.getfixturevalue("spark"))
        case _:
            return SortDriver(request.getfixturevalue("spark"), 1_000_000)
