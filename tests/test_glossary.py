"""The glossary of spec/README.md: each action and variable of each specification, and no other."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.source_files import ROOT

SPEC: Final = ROOT / "spec"
PAGE: Final = (SPEC / "README.md").read_text("utf-8").partition("## Glossary")[2]

_SHORT: Final = re.compile(r"\b([A-Z]{2,3}) (?:is )?([A-Z]\w+)")
_ROW: Final = re.compile(r"^\| `(\w+)` \| ([A-Z, ]+) \| (.+) \|$", re.MULTILINE)
_COMMENT: Final = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
_VARIABLES: Final = re.compile(r"^VARIABLES((?:\s*\w+\s*,)*\s*\w+)", re.MULTILINE)
_NEXT: Final = re.compile(r"^Next ==(.*?)\n\n", re.MULTILINE | re.DOTALL)
_CALLED: Final = re.compile(r"(?:^|:|\\/)\s*([A-Z]\w*)(?:\([^)]*\))?\s*(?=\\/|$)", re.MULTILINE)

KINDS: Final = ("Variables", "Actions")

Terms = Counter[tuple[str, str]]
"""(specification, name) -> how often."""


def specifications() -> dict[str, str]:
    """Give the specifications by their short names."""
    return dict(_SHORT.findall(PAGE.partition("###")[0]))


def explained(kind: str) -> Terms:
    """Give what the rows of a table are of."""
    table = PAGE.partition(f"### {kind}")[2].partition("###")[0]
    named = specifications()
    return Counter(
        (named[of], name) for name, ofs, _ in _ROW.findall(table) for of in ofs.split(", ")
    )


def declared(text: str, kind: str) -> set[str]:
    """Give the variables of a module, or the actions that its Next calls."""
    bare = _COMMENT.sub("", text)
    found = (_VARIABLES if kind == "Variables" else _NEXT).search(bare)
    if found is None:
        return set()
    return set(re.findall(r"\w+", found[1]) if kind == "Variables" else _CALLED.findall(found[1]))


def whole(module: Path) -> str:
    """Give the text of a module behind that of the one that has its state, if it has one."""
    state = module.with_name(f"{module.stem}State.tla")
    before = state.read_text("utf-8") if state.exists() else ""
    return before + module.read_text("utf-8")


def test_every_specification_with_variables_has_a_short_name() -> None:
    modules = [
        path
        for path in SPEC.glob("*/*.tla")
        if declared(path.read_text("utf-8"), "Variables") or whole(path) != path.read_text("utf-8")
    ]
    stems = {path.stem.removesuffix("State") for path in modules}
    assert sorted(specifications().values()) == sorted(stems)
    assert len(stems) > 6


@pytest.mark.parametrize("kind", KINDS)
def test_each_name_has_one_meaning_in_each_specification(kind: str) -> None:
    needed: Terms = Counter()
    for module in specifications().values():
        (path,) = SPEC.glob(f"*/{module}.tla")
        names = declared(whole(path), kind)
        assert len(names) > 1, module
        needed.update((module, name) for name in names)
    assert explained(kind) == needed


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_sorted_and_say_something(kind: str) -> None:
    rows = _ROW.findall(PAGE.partition(f"### {kind}")[2].partition("###")[0])
    names = [name for name, _, _ in rows]
    assert names == sorted(names)
    meanings = Counter((name, meaning) for name, _, meaning in rows)
    assert [row for row, times in meanings.items() if times > 1] == []


def test_a_name_that_is_missing_or_too_many_is_seen() -> None:
    steps = "Next ==\n  \\/ \\E b \\in B : Go(b, 1)\n  \\/ Stop\n\n"
    text = f"VARIABLES\n  x,   \\* one, y\n  z\n\n{steps}"
    assert declared(text, "Variables") == {"x", "z"}
    assert declared(text, "Actions") == {"Go", "Stop"}
    assert declared("Next == One \\/ Two\n\n", "Actions") == {"One", "Two"}
    assert declared("EXTENDS X\nTypeOK == TRUE\n", "Variables") == set()
