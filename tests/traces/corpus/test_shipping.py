"""Our code on its way to executors: the same zip, and no task where the code is another."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.serializers import CloudPickleSerializer

from tlatrace.corpus.shipping import guarded, versions_here, write_zip
from tlatrace.errors import ToolError

PACKAGES = ("tlatrace", "rocketha", "rocketproof")
RUN = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from pyspark.serializers import CloudPickleSerializer
task = CloudPickleSerializer().loads(Path(sys.argv[1]).read_bytes())
assert not [name for name in sys.modules if name.startswith("tlatrace")], "the guard is by value"
print(len(list(task([]))), sys.modules["tlatrace"].__file__)
"""


def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from tlatrace.corpus.schema import STEPS_SCHEMA

    yield from batches
    yield pa.RecordBatch.from_pylist([], schema=STEPS_SCHEMA)


def run_elsewhere(folder: Path, versions: str, *first: Path) -> subprocess.CompletedProcess[str]:
    """Run a guarded task in another process, which looks at some places first."""
    answer.__module__ = "__main__"  # by value: the process has no tests
    serializer: Any = CloudPickleSerializer
    task = folder / "task"
    task.write_bytes(serializer().dumps(guarded(answer, versions)))
    return subprocess.run(
        [sys.executable, "-c", RUN, str(task), *map(str, first)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
    )


def test_the_zip_holds_all_modules_and_is_named_by_them(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    first, second = write_zip(PACKAGES, tmp_path), write_zip(PACKAGES, tmp_path / "again")

    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    names = set(zipfile.ZipFile(first).namelist())
    assert {
        "tlatrace/__init__.py",
        "rocketha/known_bugs/bug.py",
        "rocketproof/corpus_runs.py",
    } <= names
    assert all(name.endswith(".py") for name in names)


def test_a_package_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="nowhere_at_all is not in a folder"):
        write_zip(["nowhere_at_all"], tmp_path)


def test_code_from_the_zip_is_the_same_code(tmp_path: Path) -> None:
    archive = write_zip(PACKAGES, tmp_path)

    run = run_elsewhere(tmp_path, versions_here(PACKAGES), archive)

    assert run.returncode == 0, run.stderr
    count, place = run.stdout.split(maxsplit=1)
    assert count == "1"
    assert place.startswith(str(archive))


def test_code_that_differs_in_one_byte_is_refused(tmp_path: Path) -> None:
    archive, other = write_zip(PACKAGES, tmp_path), tmp_path / "other.zip"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            more = b"\n" if name == "tlatrace/corpus/kernel.py" else b""
            new.writestr(name, old.read(name) + more)
    wanted = json.loads(versions_here(PACKAGES))["tlatrace"]

    run = run_elsewhere(tmp_path, versions_here(PACKAGES), other)

    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert "RuntimeError: the executor on " in last
    assert f" instead of {wanted}" in last
    assert "rocketha" not in last


def test_a_library_that_differs_or_lacks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("__version__ = '0.0.1'\n", "utf-8")
    (tmp_path / "rich.py").write_text("raise ImportError\n", "utf-8")
    here = json.loads(versions_here(PACKAGES))

    run = run_elsewhere(tmp_path, json.dumps(here), tmp_path)

    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert f"msgspec 0.0.1 instead of {here['msgspec']}" in last
    assert f"rich missing instead of {here['rich']}" in last
