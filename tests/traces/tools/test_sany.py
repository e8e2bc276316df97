"""Running SANY's exporter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlatrace.errors import SpecError
from tlatrace.tools.sany import export_xml

pytestmark = pytest.mark.java


def _write(folder: Path, name: str, body: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.tla"
    path.write_text(f"---- MODULE {name} ----\n{body}\n====\n")
    return path


def test_modules_are_found_in_every_folder_of_libraries(tmp_path: Path) -> None:
    _write(tmp_path / "one", "One", "A == 1")
    _write(tmp_path / "two", "Two", "B == 2")
    module = _write(tmp_path / "own", "Own", "EXTENDS One, Two\nC == <<A, B>>")
    root = export_xml(module, libraries=[tmp_path / "one", tmp_path / "two"])
    names = {node.text for node in root.iter("uniquename")}
    assert {"A", "B", "C"} <= names


def test_an_error_for_which_the_exporter_exits_with_0_is_an_error(tmp_path: Path) -> None:
    module = _write(tmp_path, "Twice", "VARIABLE x\nInit == x = 0\nNext == x'' = 1")
    with pytest.raises(SpecError, match="refuses the module"):
        export_xml(module)
