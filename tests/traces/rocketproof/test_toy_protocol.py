"""A seventh protocol is a folder in spec/, the cores, sim/ and rocketproof; nothing else changes.

A test adds the protocol in `toy` to a copy of the sources, runs commands there, and removes it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from rocketproof.protocols import PROTOCOLS
from tests.source_files import ROOT

pytestmark = pytest.mark.xdist_group("toy")

TOY: Final = Path(__file__).parent / "toy"
FOLDERS: Final = (
    "spec/toy",
    "impl/rocketha/toy",
    "impl/rocketha/sim/toy",
    "traces/rocketproof/protocols/toy",
)
_CODE: Final = FOLDERS[1:]
_IGNORED: Final = shutil.ignore_patterns("__pycache__", "states", "samples")


@dataclass(frozen=True, slots=True)
class Tree:
    """A copy of the sources, and a place to run commands."""

    root: Path

    def run(self, *words: object, module: str = "rocketproof") -> subprocess.CompletedProcess[str]:
        """Run a Python module on the copy."""
        paths = os.pathsep.join(str(self.root / name) for name in ("impl", "traces"))
        environment = {n: v for n, v in os.environ.items() if n != "ROCKETPROOF_SPEC_ROOT"}
        return subprocess.run(
            [sys.executable, "-m", module, *map(str, words)],
            cwd=self.root,
            env={**environment, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def files(self) -> dict[str, bytes]:
        """Return everything that is in it."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file()
        }

    def add(self) -> None:
        """Add the folders of the protocol; none of them is there."""
        for folder in FOLDERS:
            shutil.copytree(TOY / folder, self.root / folder, ignore=_IGNORED)

    def remove(self) -> None:
        """Remove them."""
        for folder in FOLDERS:
            shutil.rmtree(self.root / folder)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Tree]:
    """Return what copies the sources."""

    def copy() -> Tree:
        root = tmp_path_factory.mktemp("tree")
        for name in ("impl", "traces", "spec"):
            shutil.copytree(ROOT / name, root / name, ignore=_IGNORED)
        shutil.copy(ROOT / "pyproject.toml", root)
        return Tree(root)

    return copy


@pytest.fixture(scope="module")
def tree(copied: Callable[[], Tree]) -> Tree:
    """Make a copy of the sources with the protocol."""
    tree = copied()
    tree.add()
    return tree


def test_the_protocol_is_these_folders_alone() -> None:
    files = [
        p.relative_to(TOY).as_posix() for p in TOY.rglob("*.*") if "__pycache__" not in p.parts
    ]

    assert {next(f for f in FOLDERS if name.startswith(f"{f}/")) for name in files} == {*FOLDERS}
    assert not [folder for folder in FOLDERS if (ROOT / folder).exists()]


def test_it_is_there_with_its_folders_and_gone_without_them(copied: Callable[[], Tree]) -> None:
    tree = copied()
    before = tree.files()
    tree.add()
    there = tree.run("simulate", "toy", "--seed", 7)
    listed = tree.run("bugs", "toy")
    added = tree.files()
    tree.remove()
    gone = tree.run("simulate", "toy", "--seed", 7)

    assert (there.returncode, there.stderr) == (0, "")
    assert "Receive(b2, 1)            copy b2: [1]" in there.stdout
    assert listed.stdout.splitlines()[-1] == "1 bugs and 2 faults of toy"
    assert added.items() >= before.items()
    assert tree.files() == before
    assert gone.returncode == 2
    assert all(name in gone.stderr for name in PROTOCOLS), gone.stderr
    assert gone.stderr.count("toy") == 1, "what was asked for is named, and not offered"


def test_the_same_seed_writes_the_same_bytes(tree: Tree) -> None:
    written = []
    for name in ("a.ndjson", "b.ndjson"):
        assert tree.run("simulate", "toy", "--seed", 7, "--out", name).returncode == 0
        written.append((tree.root / name).read_bytes())

    assert written[0] == written[1]
    assert written[0].count(b'"Receive"') > 10


def test_a_campaign_checks_what_its_clients_saw(tree: Tree) -> None:
    sound = tree.run("campaign", "toy", "--seeds", "0..9", "--repeat", "--json")
    wrong = tree.run("campaign", "toy", "--seeds", "0..9", "--bug", "OffsetContinues", "--json")

    assert (sound.returncode, json.loads(sound.stdout)["endings"]) == (0, {"kept": 10})
    assert (wrong.returncode, json.loads(wrong.stdout)["endings"]) == (1, {"broken": 10})


def test_its_types_are_right(tree: Tree, tmp_path: Path) -> None:
    checked = tree.run("--cache-dir", tmp_path, *_CODE, module="mypy")

    assert checked.returncode == 0, checked.stdout
    assert "no issues found in 12 source files" in checked.stdout


@pytest.mark.java
def test_its_runs_are_judged(tree: Tree) -> None:
    sound = tree.run("simulate", "toy", "--seed", 7, "--judge")
    wrong = tree.run("simulate", "toy", "--seed", 7, "--bug", "OffsetContinues", "--judge")

    assert sound.returncode == 0, sound.stderr
    assert "verdict: conforms" in sound.stdout
    assert "3 of 3 variables, 3 of 3 actions logged" in sound.stdout
    assert wrong.returncode == 1, wrong.stderr
    assert "false is " in wrong.stdout
    assert "IF Continues(s, n)" in wrong.stdout


@pytest.mark.java
def test_a_run_that_fails_is_made_small(tree: Tree) -> None:
    words = ("shrink", "toy", "--seed", 7, "--bug", "OffsetContinues", "--out", "small", "--json")
    shrunk = tree.run(*words)
    again = tree.run("simulate", "toy", "--judge", "--schedule", "small/schedule.json")

    assert shrunk.returncode == 0, shrunk.stderr
    figures = json.loads(shrunk.stdout)
    assert figures["what"] == "Receive"
    assert figures["after"]["steps"] < figures["before"]["steps"]
    assert again.returncode == 1, again.stderr


@pytest.mark.java
def test_tlc_checks_its_model_and_finds_its_bug(tree: Tree) -> None:
    checked = tree.run("check", "toy", "--all", "--json")
    mutants = tree.run("mutants", "toy", "--json")

    assert [row["ok"] for row in json.loads(checked.stdout)["rows"]] == [True, True], checked.stderr
    assert mutants.returncode == 0, mutants.stdout
