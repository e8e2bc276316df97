"""The table of what RIP-32 promises names what is there: operators, mutants, models, files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "spec" / "SLAVE_ACTING_MASTER.md"
FOLDERS: Final = ("route", "lock_quorum", "pre_online", "escape")
LEAST: Final = 40
"""So many sentences has the design, and more."""


def rows() -> Iterator[tuple[str, str]]:
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 2 and cells[0] not in ("it says", "---"):
            yield cells[0], cells[1]


@cache
def known_names() -> frozenset[str]:
    """Return operators of the four specifications, mutants and guards of theirs, and models."""
    found: set[str] = set()
    for folder in FOLDERS:
        for module in (ROOT / "spec" / folder).rglob("*.tla"):
            text = module.read_text(encoding="utf-8")
            found.update(re.findall(r"^(\w+)(?:\([^)]*\))? ==", text, flags=re.MULTILINE))
            found.update(re.findall(r"CHECK (\w+)", text))
        checks = tomllib.loads((ROOT / "spec" / folder / "checks.toml").read_text("utf-8"))
        for kind in ("model", "witness", "mutant"):
            found.update(checks[kind])
    return frozenset(found)


@cache
def known_settings() -> frozenset[str]:
    """Return what is said in the other column, in the four specifications, and in `rocketha`."""
    folders = [*(ROOT / "spec" / folder for folder in FOLDERS), ROOT / "impl" / "rocketha"]
    texts = [said for said, _ in rows()]
    for folder in folders:
        files = [*folder.rglob("*.tla"), *folder.rglob("*.py"), *folder.glob("README.md")]
        texts += [file.read_text("utf-8") for file in files]
    return frozenset(re.findall(r"\w+", " ".join(texts)))


@pytest.mark.parametrize(("said", "here"), [*rows()], ids=lambda cell: cell[:40])
def test_what_holds_a_sentence_is_there(said: str, here: str) -> None:
    assert said
    settings = re.compile(r"[a-z]+[A-Z]\w*|rmq_sys_.*|[A-Za-z]+Processor")
    for name in re.findall(r"`([^`]+)`", here):
        if "/" in name:
            assert (ROOT / name).is_file(), name
        elif settings.fullmatch(name):
            assert name in known_settings(), name
        else:
            assert name in known_names(), name


def test_no_sentence_is_without_an_answer() -> None:
    found = list(rows())

    assert len(found) >= LEAST
    assert all(here for _, here in found)
