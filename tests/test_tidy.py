"""Style that formatters cannot express."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.commit_areas import (
    Commit,
    NothingToExamineError,
    areas_listed,
    areas_of_folders,
    commits_under_the_rule,
)
from tests.source_files import ROOT, SOURCE_ROOTS, parsed, python_files, text_files

MAX_MODULE_LINES: Final = 500
MAX_FUNCTION_LINES: Final = 70
BANNED_MODULES: Final = frozenset(
    {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc", "base"}
)

# Written in pieces, so that this file does not hold what it forbids.
MARKERS: Final = re.compile(r"\b(?:" + "|".join(("FIX" + "ME", "TO" + "DO", "X" + "XX")) + r")\b")
MACHINE_PATHS: Final = re.compile(
    r"(?<![\w.])/(?:" + "|".join(("wo" + "rk", "ro" + "ot", "ho" + "me", "Us" + "ers")) + r")/\w"
)
REGISTRIES: Final = re.compile("pypi" + r"\.org|python" + r"hosted|index" + "-url", re.IGNORECASE)
PYTHON_FILES: Final = tuple(
    python_files(*SOURCE_ROOTS, ROOT / "tests", ROOT / "model_tests", ROOT / "benchmarks")
)


def long_functions(tree: ast.Module) -> Iterator[str]:
    """Name the functions that are too long, without their decorators."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield f"{node.name} has {lines} lines"


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_modules_are_short() -> None:
    lengths = {shown(p): len(p.read_text("utf-8").splitlines()) for p in PYTHON_FILES}
    assert len(lengths) > 20
    assert {name: n for name, n in lengths.items() if n > MAX_MODULE_LINES} == {}


def test_functions_are_short() -> None:
    found = [f"{shown(p)}: {what}" for p in PYTHON_FILES for what in long_functions(parsed(p))]
    assert found == []


def test_a_long_function_is_seen() -> None:
    body = "    pass\n" * MAX_FUNCTION_LINES
    assert list(long_functions(ast.parse(f"def f():\n{body}"))) == ["f has 71 lines"]


def test_modules_are_named_after_something() -> None:
    assert [shown(p) for p in PYTHON_FILES if p.stem.lower() in BANNED_MODULES] == []


def test_modules_have_a_docstring_and_modern_annotations() -> None:
    for path in PYTHON_FILES:
        tree = parsed(path)
        assert ast.get_docstring(tree) or not tree.body, shown(path)
        if any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body):
            assert "from __future__ import annotations" in path.read_text("utf-8"), shown(path)


@pytest.mark.parametrize(
    ("pattern", "example"),
    [
        (MARKERS, "# FIX" + "ME later"),
        (MACHINE_PATHS, "see /wo" + "rk/main"),
        (REGISTRIES, "--index" + "-url x"),
    ],
    ids=["leftover markers", "paths of a machine", "registries"],
)
def test_no_text_holds_what_belongs_elsewhere(pattern: re.Pattern[str], example: str) -> None:
    assert pattern.search(example)
    files = tuple(text_files())
    assert len(files) > 40
    found = {
        f"{shown(path)}: {match[0]}"
        for path in files
        if path.name != "LICENSE"
        for match in pattern.finditer(path.read_text("utf-8", errors="replace"))
        if shown(path) != "Makefile" or pattern is not REGISTRIES
    }
    assert found == set()


def test_the_lock_has_hashes_and_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert "://" not in lock
    pinned = [line for line in lock.splitlines() if line and not line.startswith((" ", "#"))]
    assert len(pinned) > 20
    assert all(re.match(r"[a-z0-9_.-]+==[^ ]+ .*\\$", line) for line in pinned)
    assert lock.count("--hash=sha256:") >= len(pinned)


# ---- Areas of commits ----

AREAS: Final = areas_listed((ROOT / "CONTRIBUTING.md").read_text("utf-8"))


def test_the_areas_of_commits_are_the_folders() -> None:
    assert sorted(AREAS) == areas_of_folders(), "CONTRIBUTING.md lists them"
    assert {"project", "rocketha/sim", "tlatrace/corpus", "spec/lock_quorum"} < AREAS


def test_commits_name_their_area() -> None:
    try:
        commits = commits_under_the_rule()
    except NothingToExamineError as reason:
        pytest.skip(str(reason))
    assert len(commits) > 0
    wrong = [commit.subject for commit in commits if not commit.names_its_area]
    assert wrong == [], "CONTRIBUTING.md lists the areas"


def test_a_commit_without_an_area_is_seen() -> None:
    good = ["spec/lock_quorum: name a request", "project: release"]
    bad = ["impl/rocketha/sim: draw", "Mend a test", "spec/locks: add", "spec :add", "spec:add"]
    assert [one for one in [*good, *bad] if Commit(one, AREAS).names_its_area] == good


def test_what_tools_leave_behind_is_no_area(tmp_path: Path) -> None:
    for name in ("impl/p/core", "impl/p/old/__pycache__", "traces/p2", "traces/samples", ".hidden"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file.py").touch()
    for package in ("impl/p", "traces/p2"):
        (tmp_path / package / "__init__.py").touch()
    expected = ["p", "p/core", "p2", "project", "traces", "traces/samples"]
    assert areas_of_folders(tmp_path) == expected


def test_only_commits_under_the_rule_are_read_and_by_the_list_of_their_time(tmp_path: Path) -> None:
    with pytest.raises(NothingToExamineError, match="without history"):
        commits_under_the_rule(tmp_path)
    whole = tmp_path / "whole"

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=tests", "-c", "user.email=tests@localhost")
        subprocess.run(["git", *who, *arguments], check=True, capture_output=True)

    def commit(subject: str, areas: str) -> None:
        text = f"# Title\n\n## Areas of commits\n\nWhy.\n\n```text\n{areas}\n```\n"
        (whole / "CONTRIBUTING.md").write_text(text)
        git("-C", str(whole), "add", ".")
        git("-C", str(whole), "commit", "--allow-empty", "-m", subject)

    git("init", str(whole))
    commit("Before the rule", "tests")
    with pytest.raises(NothingToExamineError, match="in none yet"):
        commits_under_the_rule(whole)
    (whole / "tests").mkdir()
    (whole / "tests" / "commit_areas.py").touch()
    subjects = ["tests: bring the rule", "spec/a: add", "spec/a: drop", "spec/a: late", "spec: yes"]
    for subject, areas in zip(subjects, ("tests", "spec: a", "spec", "spec", "spec"), strict=True):
        commit(subject, areas)
    found = {one.subject: one.names_its_area for one in commits_under_the_rule(whole)}
    assert found == dict.fromkeys(subjects, True) | {"spec/a: late": False}
    git("clone", "--depth", "1", whole.as_uri(), str(tmp_path / "shallow"))
    with pytest.raises(NothingToExamineError, match="shallow"):
        commits_under_the_rule(tmp_path / "shallow")
