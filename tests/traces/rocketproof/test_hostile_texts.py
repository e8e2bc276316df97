"""File names and values that would paint a terminal, command a build server or break a report."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from rocketproof.cli import main

EVIL: Final = (
    "evil\n::error file=x::pwned\r\n\x1b[2J\x07<script>alert(1)</script>"
    "\u202e\x85::error::x\u2028##[error]y"
)
NAMES: Final = [
    b"line\n::error::break.ndjson",
    b"not-utf-8-\xff\xfe.ndjson",
    b"escape-\x1b[31m\x07.ndjson",
    "turned-\u202e\u2066-\x85\u2028.ndjson".encode(),
    b"<img src=x onerror=alert(1)>|`*_[]().ndjson",
]
SPEC: Final = r"""---- MODULE X ----
VARIABLE x
Init == x = "ok"
A(p) == x' = p
Next == \E p \in {"a"} : A(p)
====
"""
HEADER: Final = {"format": "rocketproof-trace", "version": 1, "spec": "X"}


@dataclass(frozen=True)
class Reports:
    """What `validate` wrote of one file."""

    result: Result
    junit: str
    sarif: str
    summary: str

    def all(self) -> list[str]:
        return [self.result.stdout, self.result.stderr, self.junit, self.sarif, self.summary]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def reports(folder: Path, path: Path, *more: str | Path) -> Reports:
    files = [folder / name for name in ("j.xml", "s.json", "s.md")]
    options = [f"--{kind}={file}" for kind, file in zip(("junit", "sarif", "summary"), files)]  # noqa: B905
    result = run("validate", path, "--github", *options, *more)
    return Reports(result, *[file.read_text("utf-8") for file in files])


def assert_harmless(text: str) -> None:
    for line in text.split("\n"):
        assert line.isprintable() or line.strip("\t\r").isprintable(), repr(line)


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("x")
    (folder / "X.tla").write_text(SPEC)
    (folder / "X.cfg").write_text("INIT Init\nNEXT Next\n")
    return ["--spec", str(folder / "X.tla"), "--config", str(folder / "X.cfg")]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_file_name_is_shown_and_not_obeyed(name: bytes, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(name)
    path.write_bytes(b"no trace")

    found = reports(tmp_path, path)

    assert found.result.exit_code == 2
    for text in found.all():
        assert_harmless(text)
        assert "::error::break" not in [line[:14] for line in text.split("\n")]
    commands = [line for line in found.result.stdout.split("\n") if line.startswith("::")]
    assert len(commands) == 1
    assert ElementTree.fromstring(found.junit)[0][0].get("name")
    uri = json.loads(found.sarif)["runs"][0]["results"][0]["locations"][0]
    assert uri["physicalLocation"]["artifactLocation"]["uri"].isascii()
    assert not re.search(r"(?<!\\)[<`]", found.summary)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.parametrize("command", ["explain", "validate"])
def test_machines_and_other_commands_bear_a_file_name(
    name: bytes, command: str, tmp_path: Path
) -> None:
    path = tmp_path / os.fsdecode(name)
    path.write_bytes(b"")

    answer = run(command, "--json", path)
    shown = run(command, path)

    assert answer.exit_code == shown.exit_code == 3
    told = json.loads(answer.stdout)
    (one,) = told["traces"] if command == "validate" else [told]
    assert one["path"].encode("utf-8")
    if path.name.isascii():
        assert one["path"] == str(path)
    assert_harmless(shown.stdout)
    assert "\n::" not in shown.stdout


@pytest.mark.java
def test_a_value_is_shown_and_not_obeyed(tmp_path: Path, spec: list[str]) -> None:
    path = tmp_path / "t.ndjson"
    events = [
        {"step": 0, "action": "Init", "params": [], "state": {"x": "ok"}},
        {"step": 1, "action": "A", "params": ["a"], "state": {"x": EVIL}, "node": EVIL},
    ]
    path.write_text("\n".join([json.dumps(line) for line in [HEADER, *events]]) + "\n")

    found = reports(tmp_path, path, *spec)
    explained = run("explain", path, *spec)

    assert found.result.exit_code == explained.exit_code == 1
    for text in [*found.all(), explained.stdout]:
        assert_harmless(text)
        assert not any(line.strip().startswith("::error file=x") for line in text.split("\n"))
        assert not any(line.strip().startswith("##[") for line in text.split("\n"))
    assert "\\u202e" in explained.stdout
    assert not re.search(r"(?<!\\)[<`]", found.summary)


@pytest.mark.java
def test_a_corpus_bears_names_and_values(tmp_path: Path, spec: list[str]) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    events = [
        {"step": 0, "action": "Init", "params": [], "state": {"x": "ok"}},
        {"step": 1, "action": "A", "params": ["a"], "state": {"x": EVIL}},
    ]
    text = "\n".join([json.dumps(line) for line in [HEADER, *events]]) + "\n"
    for name in NAMES:
        (traces / os.fsdecode(name)).write_text(text)

    made = run("corpus", "import", traces, "--out", tmp_path / "corpus")
    page = tmp_path / "page.html"
    judged = run("corpus", "validate", tmp_path / "corpus", *spec, "--report", page)

    assert made.exit_code == 0, made.output
    assert judged.exit_code == 1, judged.output
    for shown in (made.output, judged.output, page.read_text("utf-8")):
        assert_harmless(shown)
        assert "\n::error" not in shown
    assert "<img" not in page.read_text("utf-8")


def test_a_number_without_end_in_a_configuration_is_refused(
    tmp_path: Path, spec: list[str]
) -> None:
    config = tmp_path / "big.cfg"
    config.write_text(f"INIT Init\nNEXT Next\nCONSTANT X = {'9' * 5000}\n")
    path = tmp_path / "t.ndjson"
    path.write_text(json.dumps(HEADER) + '\n{"step":0,"action":"Init","params":[]}\n')

    result = run("validate", path, *spec[:2], "--config", config)

    assert result.exit_code == 2
    assert f"{config}:3: a number of more than 1000 digits" in result.stderr
