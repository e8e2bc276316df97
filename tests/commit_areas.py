"""The areas that subjects of commits begin with: which there are, and what the last commits have.

The rule is as old as this file: what was committed before it is not looked at.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.source_files import ROOT

OF_THE_ROOT: Final = "project"
"""The area of the files that are in no folder."""

_RULE: Final = "tests/commit_areas.py"
_SUBJECT: Final = re.compile(r"(\S+): \S")
_PACKAGES: Final = ("impl", "traces")
_GENERATED: Final = frozenset({"__pycache__", "build", "dist", "out", "states"})


class NothingToExamineError(Exception):
    """There is no history here, or only its end."""


def areas_listed(block: str) -> list[str]:
    """Read a list of areas: lines such as `spec: lock_quorum replica_group`."""
    found: list[str] = []
    for line in block.splitlines():
        area, _, inside = line.partition(":")
        found += [area, *(f"{area}/{folder}" for folder in inside.split())]
    return found


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


def subjects_under_the_rule(root: Path = ROOT) -> list[str]:
    """Give the subjects of the commits since the one that brought the rule, the last one first.

    Raises:
        NothingToExamineError: this is no clone, not a whole one, or the rule is not committed yet.
    """
    if shutil.which("git") is None or not (root / ".git").exists():
        raise NothingToExamineError("no commit was examined: this is a source tree without history")
    if _git(root, "rev-parse", "--is-shallow-repository") != ["false"]:
        raise NothingToExamineError("no commit was examined: the clone is shallow")
    brought = _git(root, "log", "--diff-filter=A", "--format=%H", "--", _RULE)
    if not brought:
        raise NothingToExamineError(f"no commit was examined: {_RULE} is in none yet")
    since = _git(root, "log", "--no-merges", "--format=%s", f"{brought[-1]}..HEAD")
    return since + _git(root, "log", "-1", "--format=%s", brought[-1])


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(  # as the user: his git, his clone
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def without_area(subjects: Iterable[str], areas: Iterable[str]) -> list[str]:
    """Give the subjects that do not begin with an area."""
    known = set(areas)
    matches = [(subject, _SUBJECT.match(subject)) for subject in subjects]
    return [subject for subject, match in matches if match is None or match[1] not in known]
