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


def test_the_same_text_in_another_folder_is_not_asked_about_again(tmp_path: Path) -> None:
    first = export_xml(_write(tmp_path / "one", "Own", "A == 1"))
    assert export_xml(_write(tmp_path / "two", "Own", "A == 1")) is first


def test_a_changed_text_is_asked_about_again(tmp_path: Path) -> None:
    """Also one of the same length, in a module of a library, or in a folder that comes first."""
    library, before = tmp_path / "library", tmp_path / "before"
    module = _write(tmp_path / "own", "Own", "EXTENDS Other\nC == A")
    before.mkdir()
    found = []
    for folder, number in ((library, 1), (library, 2), (before, 3)):
        _write(folder, "Other", f"A == {number}")
        root = export_xml(module, libraries=[before, library])
        found.append([node.text for node in root.iter("IntValue")])
    assert found == [["1"], ["2"], ["3"]]


def test_an_error_for_which_the_exporter_exits_with_0_is_an_error(tmp_path: Path) -> None:
    module = _write(tmp_path, "Twice", "VARIABLE x\nInit == x = 0\nNext == x'' = 1")
    with pytest.raises(SpecError, match="refuses the module"):
        export_xml(module)


def test_a_syntax_error_has_its_place(tmp_path: Path) -> None:
    module = _write(tmp_path, "Torn", "VARIABLE x\nInit == x = 0\nNext == x' = x +\n  /\\")
    with pytest.raises(SpecError, match=r'Encountered "====" at line 6') as caught:
        export_xml(module)
    assert (caught.value.path, caught.value.line, caught.value.column) == (module, 6, 1)


def test_a_syntax_error_in_a_module_of_a_library_names_its_file(tmp_path: Path) -> None:
    torn = _write(tmp_path / "library", "Torn", "VARIABLE x\nInit == x == 0")
    module = _write(tmp_path / "own", "Own", "EXTENDS Torn")
    with pytest.raises(SpecError, match='Was expecting "Expression or Instance"') as caught:
        export_xml(module, libraries=[tmp_path / "library"])
    assert (caught.value.path, caught.value.line, caught.value.column) == (torn, 3, 9)


def test_a_character_that_tla_does_not_have_has_its_place(tmp_path: Path) -> None:
    module = _write(tmp_path, "Odd", "VARIABLE x\nInit == x = `0")
    with pytest.raises(SpecError, match="Lexical error") as caught:
        export_xml(module)
    assert (caught.value.line, caught.value.column) == (3, 13)


def test_an_unknown_operator_has_its_place_and_no_trace_of_java(tmp_path: Path) -> None:
    module = _write(tmp_path, "Unknown", "VARIABLE x\nInit == x = y")
    with pytest.raises(SpecError, match="Unknown operator: `y'") as caught:
        export_xml(module)
    assert (caught.value.line, caught.value.column) == (3, 13)
    assert "java" not in str(caught.value)


def test_what_has_no_place_is_told_without(tmp_path: Path) -> None:
    module = _write(tmp_path, "Extends", "EXTENDS Nowhere")
    with pytest.raises(SpecError, match="Cannot find source file for module Nowhere") as caught:
        export_xml(module)
    assert caught.value.line is None
