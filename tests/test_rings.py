"""Who runs the rings of the manifest: CI the push ring; the README says when the weekly was."""

from __future__ import annotations

import re
from collections import Counter

from tests.source_files import ROOT
from tlatrace.tools.manifest import RINGS, kind_of, read_manifest
from tlatrace.tools.measurements import Measurements, when_run

MANIFEST = read_manifest(ROOT / "spec")
MEASURED = Measurements(MANIFEST.measured)


def test_the_push_ring_has_models_witnesses_and_mutants_of_every_protocol() -> None:
    kinds = Counter((entry.protocol, kind_of(entry)) for entry in MANIFEST.ring("push"))
    expected = {(p, kind) for p in MANIFEST.protocols for kind in ("model", "witness", "mutant")}
    assert set(kinds) == expected


def test_every_entry_is_of_a_ring() -> None:
    assert sum(len(MANIFEST.ring(ring)) for ring in RINGS) == len(MANIFEST.checkable)
    assert MANIFEST.ring("weekly") != ()


def test_ci_runs_the_push_ring_within_a_budget() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (recipe,) = re.findall(r"^rings:.*\n\t(.*)$", makefile, re.MULTILINE)
    assert re.fullmatch(r"\$\(BIN\)/rocketproof rings --push --budget \d+", recipe)
    commands = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert commands[-1] == "exec make rings"
    assert "make test" in commands


def test_the_readme_says_when_the_weekly_ring_was_run() -> None:
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    said = when_run(MANIFEST, "weekly", MEASURED)
    assert said in readme, f"README.md must say: {said}"


def test_most_of_what_tlc_checks_was_measured_as_it_is_now() -> None:
    current = [MEASURED.current(entry) for entry in MANIFEST.checkable]
    assert sum(row is not None for row in current) >= 200
