"""Compiled models that are kept: what is not the user's own, or not whole, is not read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tlatrace.compiler.cache import cache_folder, keep, recall
from tlatrace.compiler.model_source import InstanceSource
from tlatrace.oracle import Model, ModelSource
from tlatrace.readings import Types

KEY = "a" * 64
SOURCE = ModelSource(
    module="Toy",
    fingerprint=KEY,
    variables=("x",),
    actions=(("Step", 1),),
    invariants=("Small",),
    init="Init",
    next="Next",
    python="def f(s, t):\n    return s == (L0,)\n",
    literals=(("L0", "7"),),
    names=(("initial", "f"),),
    conjuncts=(),
    instances=(InstanceSource("initial", ("7",), ((0, None), (0, '"b1"'))),),
    assumptions=(),
    values=(),
    types=Types.of_names(["n1"]),
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = tmp_path / "models"
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(own))
    return own


def test_a_model_comes_back_as_it_was_kept(folder: Path) -> None:
    keep(KEY, SOURCE)

    assert cache_folder() == folder
    assert recall(KEY) == SOURCE
    assert [path.name for path in folder.iterdir()] == [f"{KEY}.json"]


def test_a_model_that_comes_back_can_be_opened() -> None:
    keep(KEY, SOURCE)
    source = recall(KEY)

    assert source is not None
    model = Model(source)
    assert model.is_initial((7,))
    assert not model.is_initial((8,))


def _codes(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.o"))


def test_its_code_is_kept_once_in_each_form(folder: Path) -> None:
    for _ in range(2):
        model = Model(SOURCE)
        assert (model.is_initial((7,)), model.in_order("initial")((7,), None)) == (True, True)

    assert len(_codes(folder)) == 2
    Model(SOURCE, kept=False).in_order("initial")
    assert len(_codes(folder)) == 2


def test_kept_code_is_what_is_executed(folder: Path) -> None:
    Model(SOURCE)
    Model(replace(SOURCE, python=SOURCE.python.replace("==", "!=")))
    (one, other), contents = _codes(folder), [path.read_bytes() for path in _codes(folder)]
    one.write_bytes(contents[1])
    other.write_bytes(contents[0])

    assert not Model(SOURCE).is_initial((7,))


@pytest.mark.parametrize("harm", ["a bit", "its end", "who may write it"])
def test_damaged_code_is_not_executed(folder: Path, harm: str) -> None:
    Model(SOURCE)
    (path,) = _codes(folder)
    kept = path.read_bytes()
    content = bytearray(kept)
    if harm == "a bit":
        content[-9] ^= 4
    path.write_bytes(content[:-5] if harm == "its end" else content)
    if harm == "who may write it":
        path.chmod(0o666)

    assert Model(SOURCE).is_initial((7,))
    assert (path.read_bytes(), path.stat().st_mode & 0o022) == (kept, 0), "it is made anew"


def test_nothing_is_kept_under_another_key() -> None:
    keep(KEY, SOURCE)

    assert recall("b" * 64) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"module": 1}', '"x"'])
def test_a_damaged_file_is_no_model(folder: Path, text: str) -> None:
    keep(KEY, SOURCE)
    (folder / f"{KEY}.json").write_text(text)

    assert recall(KEY) is None


def test_a_model_of_another_key_in_its_place_is_not_read(folder: Path) -> None:
    keep(KEY, SOURCE)
    (folder / f"{KEY}.json").rename(folder / f"{'b' * 64}.json")

    assert recall("b" * 64) is None


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_others_can_write_is_not_executed(folder: Path, what: str) -> None:
    keep(KEY, SOURCE)
    path = folder / f"{KEY}.json" if what == "file" else folder
    path.chmod(path.stat().st_mode | 0o002)

    assert recall(KEY) is None


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(blocked / "models"))

    keep(KEY, SOURCE)

    assert recall(KEY) is None
