"""The example of README.md does what README.md says."""

from __future__ import annotations

import re
import runpy
import unittest
from pathlib import Path
from typing import Final

import pytest

from tests.source_files import ROOT

pytestmark = pytest.mark.java

_TITLE: Final = "## Test your own system against your spec\n"
_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Return (language, text) of the specification, the test and its output."""
    section = (ROOT / "README.md").read_text("utf-8").split(_TITLE)[1].split("\n## ")[0]
    found: list[tuple[str, str]] = _BLOCK.findall(section)
    assert [language for language, _ in found] == ["tla", "python", ""]
    return found


def run(spec: str, program: str, folder: Path) -> unittest.TestResult:
    (folder / "Lock.tla").write_text(spec)
    (folder / "test_lock.py").write_text(program)
    result = unittest.TestResult()
    runpy.run_path("test_lock.py")["TestLock"]().run(result)
    return result


def test_the_example_fails_as_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (_, spec), (_, program), (_, output) = blocks()

    result = run(spec, program, tmp_path)

    assert result.errors == []
    assert len(result.failures) == 1
    assert output in result.failures[0][1]


def test_the_example_passes_without_its_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (_, spec), (_, program), _ = blocks()
    repaired = program.replace(' if client == "alice" else "alice"', "")
    assert repaired != program

    result = run(spec, repaired, tmp_path)

    assert result.wasSuccessful()
    assert result.testsRun == 1
