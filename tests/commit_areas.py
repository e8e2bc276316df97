"""The areas that subjects of commits begin with: which there are, and what the last commits have.

The rule is as old as this file: what was committed before it is not looked at. A commit is held
against the list of its time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.source_files import ROOT

OF_THE_ROOT: Final = "project"
"""The area of the files that are in no folder."""

_RULE: Final = "tests/commit_areas.py"
_LIST: Final = "CONTRIBUTING.md"
_BLOCK: Final = re.compile(
    r"^## Areas of commits\n.*?^```text\n(.*?)^```", re.MULTILINE | re.DOTALL
)
_SUBJECT: Final = re.compile(r"(\S+): \S")
_PACKAGES: Final = ("impl", "traces")
_GENERATED: Final = frozenset({"__pycache__", "build", "dist", "out", "states"})


class NothingToExamineError(Exception):
    """There is no history here, or only its end."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit under the rule."""

    subject: str
    areas: frozenset[str]
    """The areas that were listed then, and those that the commit took from the list."""

    @property
    def names_its_area(self) -> bool:
        """Whether the subject begins with an area."""
        match = _SUBJECT.match(self.subject)
        return match is not None and match[1] in self.areas


def areas_listed(document: str) -> frozenset[str]:
    """Read the list of areas in a text of CONTRIBUTING.md."""
    block = _BLOCK.search(document)
    found: set[str] = set()
    for line in block[1].splitlines() if block else ():
        area, _, inside = line.partition(":")
        found |= {area, *(f"{area}/{folder}" for folder in inside.split())}
    return frozenset(found)


def areas_of_folders(root: Path = ROOT) -> list[str]:
    """Give the folders of a source tree, two deep; packages are their own, not their roots'."""
    found = [OF_THE_ROOT]
    for folder in _folders(root):
        inside = list(_folders(folder))
        if folder.name not in _PACKAGES:
            found += [folder.name, *(f"{folder.name}/{each.name}" for each in inside)]
            continue
        packages = [each for each in inside if (each / "__init__.py").is_file()]
        if len(packages) < len(inside):  # others are areas of the root
            others = [each for each in inside if each not in packages]
            found += [folder.name, *(f"{folder.name}/{each.name}" for each in others)]
        for package in packages:
            found += [package.name, *(f"{package.name}/{each.name}" for each in _folders(package))]
    return sorted(found)


def _folders(parent: Path) -> Iterator[Path]:
    """Give the folders in one that hold a file which somebody wrote."""
    for folder in sorted(parent.iterdir()):
        name = folder.name
        hidden = name.startswith(".") and name != ".ci"
        if folder.is_dir() and name not in _GENERATED and not hidden and _is_written(folder):
            yield folder


def _is_written(folder: Path) -> bool:
    """Tell whether a folder has a file, besides what tools leave behind."""
    return any(
        names and not _GENERATED & set(Path(parent).relative_to(folder).parts)
        for parent, _, names in os.walk(folder)
    )


def commits_under_the_rule(root: Path = ROOT) -> list[Commit]:
    """Give the commits since the one that brought the rule, the last one first.

    Raises:
        NothingToExamineError: this is no clone, not a whole one, or the rule is not committed yet.
    """
    if shutil.which("git") is None or not (root / ".git").exists():
        raise NothingToExamineError("no commit was examined: this is a source tree without history")
    if _git(root, "rev-parse", "--is-shallow-repository") != "false\n":
        raise NothingToExamineError("no commit was examined: the clone is shallow")
    brought = _git(root, "log", "--diff-filter=A", "--format=%H", "--", _RULE).split()
    if not brought:
        raise NothingToExamineError(f"no commit was examined: {_RULE} is in none yet")
    told = _git(root, "log", "--no-merges", "--format=%H %s", f"{brought[-1]}..HEAD")
    told += _git(root, "log", "-1", "--format=%H %s", brought[-1])
    commits = [line.split(" ", 1) for line in told.splitlines()]
    asked = [f"{commit}{of}:{_LIST}\n" for commit, _ in commits for of in ("", "^")]
    blobs = _git(root, "cat-file", "--batch-check=%(objectname)", given="".join(asked)).splitlines()
    listed = {
        blob: frozenset[str]() if " " in blob else areas_listed(_git(root, "cat-file", "-p", blob))
        for blob in set(blobs)  # "... missing" has a space
    }
    return [
        Commit(subject, listed[now] | listed[before])
        for (_, subject), now, before in zip(commits, blobs[::2], blobs[1::2], strict=True)
    ]


def _git(root: Path, *arguments: str, given: str = "") -> str:
    done = subprocess.run(  # as the user: his git, his clone
        ["git", "-C", str(root), *arguments],
        input=given,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout
