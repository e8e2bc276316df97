"""The project's files, as the tests of its order read them."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE_ROOTS: Final = (
    ROOT / "impl",
    ROOT / "peers" / "dledger",
    ROOT / "peers" / "rocketmq",
    ROOT / "traces",
)

WITHOUT_BUGS: Final = tuple(
    sorted(
        {path.parent.name for path in (ROOT / "impl" / "rocketha").glob("*/__init__.py")}
        - {"known_bugs", "sim"}
    )
)
"""Folders of the implementation that know no bugs: the cores, and all that they stand on."""

_FOLDERS: Final = ("impl", "peers", "traces", "spec", "tests", "model_tests", "benchmarks", ".ci")
_GENERATED: Final = frozenset({"__pycache__", ".hypothesis", "states"})
_TEXTS: Final = frozenset(
    {".py", ".md", ".toml", ".tla", ".cfg", ".html", ".j2", ".java", ".xml", ".lock", ""}
)


def python_files(*folders: Path) -> Iterator[Path]:
    """Give the Python files below some folders."""
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            if not _GENERATED & set(path.parts):
                yield path


def text_files() -> Iterator[Path]:
    """Give the files that people write: below our folders, and those of the root folder."""
    for path in sorted(ROOT.iterdir()):
        if path.is_file() and path.suffix in _TEXTS and path.name != ".git":  # of a work tree
            yield path
    for folder in _FOLDERS:
        for parent, folders, names in os.walk(ROOT / folder):
            folders[:] = sorted(set(folders) - _GENERATED)
            yield from (Path(parent) / n for n in sorted(names) if Path(n).suffix in _TEXTS)


def module_name(path: Path) -> str:
    """Give the dotted name of a file of our packages."""
    root = next(root for root in SOURCE_ROOTS if root in path.parents)
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(tree: ast.Module) -> set[str]:
    """Give the names of all modules that a file imports, at whatever place in it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return names


def parsed(path: Path) -> ast.Module:
    """Parse a Python file."""
    return ast.parse(path.read_text("utf-8"), filename=str(path))
