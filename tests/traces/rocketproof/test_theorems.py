"""The theorems of the manifest are those that `rocketproof prove` knows."""

from __future__ import annotations

import importlib

from rocketproof.theorems import THEOREMS
from tests.source_files import ROOT
from tlatrace.tools.manifest import read_manifest


def test_the_manifest_names_what_is_proved_and_where() -> None:
    listed = read_manifest(ROOT / "spec").theorems
    assert sorted(theorem.name for theorem in listed) == sorted(THEOREMS)
    for theorem in listed:
        assert theorem.name == importlib.import_module(theorem.module).NAME
        assert theorem.module == f"rocketproof.theorems.{theorem.module.rpartition('.')[2]}"
