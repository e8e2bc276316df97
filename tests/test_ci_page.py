"""The workflow of traces/CI.md does what the page says, and so does its table."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import yaml
from click.testing import CliRunner

from rocketproof.cli import main
from tests.documents import fenced
from tests.source_files import ROOT

PAGE: Final = "traces/CI.md"
INSTALLS: Final = "python -m pip install 'rocketproof[java]'"
"""The step that needs the network; the test stands for it."""

_HEADER: Final = '{"format":"rocketproof-trace","version":1,"spec":"Lock","constants":{}}\n'
_INIT: Final = '{"step":0,"action":"Init","params":[],"state":{"holder":"nobody"}}\n'
_STEP: Final = '{{"step":1,"action":"Acquire","params":["bob"],"state":{{"holder":"{}"}}}}\n'
TRACES: Final = {
    "conforms": _HEADER + _INIT + _STEP.format("bob"),
    "diverges": _HEADER + _INIT + _STEP.format("alice"),
    "is undecided": _HEADER,
    "is no trace": "garbage\n",
}
"""What the first column of the table says -> such a trace."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the workflow that runs something."""

    run: str
    condition: str


def steps() -> list[Step]:
    workflow = yaml.safe_load(fenced(PAGE, "## A workflow"))
    found = workflow["jobs"]["traces"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in found)
    return [Step(step["run"], step.get("if", "success()")) for step in found if "run" in step]


def project(folder: Path, *kinds: str) -> Path:
    """Make the project of the page, whose tests record traces of these kinds."""
    (folder / "spec").mkdir()
    (folder / "spec" / "Lock.tla").write_text(fenced("README.md", "A spec, `Lock.tla`"))
    (folder / "spec" / "Lock.cfg").write_text("INIT Init\nNEXT Next\n")
    lines = ["#!/bin/sh", 'mkdir -p "$1"']
    for kind in kinds:
        name = kind.replace(" ", "-")
        (folder / f"{name}.recorded").write_text(TRACES[kind])
        lines.append(f'cp {name}.recorded "$1"/{name}.ndjson')
    script = folder / "record_traces.sh"
    script.write_text("\n".join(lines) + "\n")
    script.chmod(0o755)
    return folder


def typed(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub Actions does without `shell`."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    program = programs / "rocketproof"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rocketproof "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    return subprocess.run(
        ["bash", "-e", "-c", text],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def workflow(folder: Path) -> list[tuple[Step, subprocess.CompletedProcess[str]]]:
    """Run the steps of the page by their conditions."""
    ran: list[tuple[Step, subprocess.CompletedProcess[str]]] = []
    for step in steps():
        failed = any(done.returncode for _, done in ran)
        wanted = {"success()": not failed, "failure()": failed, "always()": True}[step.condition]
        if wanted and step.run.strip() != INSTALLS:
            ran.append((step, typed(step.run, folder)))
    return ran


def test_the_page_is_linked_and_its_installation_is_the_only_step_left_out() -> None:
    assert "](traces/CI.md)" in (ROOT / "README.md").read_text("utf-8")
    runs = [step.run.strip() for step in steps()]
    assert runs.count(INSTALLS) == 1
    assert len(runs) == 5


@pytest.mark.java
def test_the_workflow_passes_where_all_traces_conform(tmp_path: Path) -> None:
    ran = workflow(project(tmp_path, "conforms"))

    assert [done.returncode for _, done in ran] == [0, 0, 0], ran
    assert "::" not in ran[-1][1].stdout
    assert "1 trace: 1 conforms" in (tmp_path / "summary.md").read_text("utf-8")
    assert json.loads((tmp_path / "build" / "traces.sarif").read_text())["runs"][0]["results"] == []
    suite = ElementTree.parse(tmp_path / "build" / "traces.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")


@pytest.mark.java
def test_the_workflow_fails_with_reports_and_an_explanation(tmp_path: Path) -> None:
    ran = workflow(project(tmp_path, "conforms", "diverges"))

    assert [done.returncode for _, done in ran] == [0, 0, 1, 0], ran
    assert re.search(
        r"^::error file=build/traces/diverges\.ndjson,line=3::", ran[2][1].stdout, re.M
    )
    assert "::notice file=" in ran[2][1].stdout
    assert "diverges at step 1" in ran[3][1].stdout
    (result,) = json.loads((tmp_path / "build" / "traces.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "build/traces/diverges.ndjson"
    assert place["region"]["startLine"] == 3
    assert "2 traces: 1 diverges, 1 conforms" in (tmp_path / "summary.md").read_text("utf-8")


def rows() -> dict[str, list[str]]:
    """Give the page's table: the first cell of each row -> the others."""
    text = (ROOT / PAGE).read_text("utf-8").partition("## What is written for a trace")[2]
    table = [line for line in text.splitlines() if line.startswith("| ")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return {first: rest for first, *rest in cells}


def test_the_table_has_every_kind_of_outcome() -> None:
    assert list(rows()) == list(TRACES)


@pytest.mark.java
@pytest.mark.parametrize("kind", TRACES)
def test_what_is_written_is_what_the_table_says(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, junit, sarif, annotation, summary = rows()[kind]
    monkeypatch.chdir(project(tmp_path, kind))
    trace = "trace.ndjson"
    Path(trace).write_text(TRACES[kind])
    reports = ["--junit", "j.xml", "--sarif", "s.sarif", "--summary", "s.md", "--github"]
    spec = ["--spec", "spec/Lock.tla", "--config", "spec/Lock.cfg"]

    result = CliRunner().invoke(main, ["validate", trace, *spec, *reports])

    assert str(result.exit_code) == code, result.output
    children = [child.tag for child in ElementTree.parse("j.xml").getroot()[0][0]]
    verdict = [child for child in children if child != "system-out"]
    assert verdict == ([] if junit == "a passed test case" else [junit.strip("`")])
    found = json.loads(Path("s.sarif").read_text())["runs"][0]["results"]
    assert [one["level"] for one in found] == ([] if sarif == "nothing" else [sarif.strip("`")])
    told = [line for line in result.stdout.splitlines() if re.match("::(?!notice)", line)]
    assert len(told) == (annotation != "nothing")
    assert all(line.startswith(f"::{annotation.strip('`')} file={trace},") for line in told)
    assert f"1 trace: {summary.strip('`')}" in Path("s.md").read_text()


@pytest.mark.java
@pytest.mark.parametrize(("kind", "code"), [("is undecided", 0), ("diverges", 1)])
def test_a_step_may_take_undecided_for_a_pass_and_nothing_else(
    kind: str, code: int, tmp_path: Path
) -> None:
    folder = project(tmp_path, kind)
    typed("./record_traces.sh build/traces", folder)

    done = typed(fenced(PAGE, "## Undecided"), folder)

    assert done.returncode == code, done.stderr
