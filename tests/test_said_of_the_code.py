"""What documents say of the code, where the code can be asked."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from typing import Any, Final

import z3

from rocketproof.theorems.lock_state import time_constants
from rocketproof.theorems.lock_steps import Rules
from tests.source_files import ROOT
from tlatrace.corpus.result import Figures

_ARCHITECTURE: Final = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
_NUMBERS: Final = {"four": 4, "five": 5, "six": 6, "seven": 7}


def test_the_kinds_of_steps_are_those_that_are_counted() -> None:
    found = re.search(r"one of (\w+) kinds \(([^)]*)\)", _ARCHITECTURE)
    assert found is not None
    kinds = re.split(r",\s+", found[2])
    names = [field.name for field in fields(Figures)]
    assert len(kinds) == _NUMBERS[found[1]]
    assert set(kinds) <= set(names)
    one_each: dict[str, Any] = dict.fromkeys(kinds, 1)
    assert Figures(**one_each).accounted == len(kinds)


def test_every_dependency_has_its_why() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project.get("optional-dependencies", {}).values()
    wanted = [*project["dependencies"], *[one for extra in extras for one in extra]]
    names = {re.split(r"[\[<>=~! ;]", one)[0] for one in wanted} - {"rocketproof"}
    table = _ARCHITECTURE.partition("## Dependencies")[2]
    rows = re.findall(r"^\| ([\w, -]+) \|", table, re.M)
    said = {name for row in rows for name in row.split(", ")}
    assert len(names) >= 4
    assert sorted(names - said) == []


def test_actions_are_where_architecture_says() -> None:
    row = next(line for line in _ARCHITECTURE.splitlines() if "code of one TLA+ action" in line)
    above = re.search(r"\(((?:`\w+`(?:, )?)+)\) is in `([^`]*)`", row)
    assert above is not None, row
    folder = "\n".join(path.read_text("utf-8") for path in (ROOT / above[2]).glob("*.py"))
    ha = "\n".join(path.read_text("utf-8") for path in (ROOT / "impl/rocketha/ha").glob("*.py"))
    for action in re.findall(r"`(\w+)`", above[1]):
        link = re.compile(rf"EpochTruncation!{action}\b")
        assert link.search(folder)
        assert not link.search(ha)


def test_make_check_does_what_contributing_says() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ncheck:")[2].partition("\n\n")[0]
    assert "says what is not formatted" in text
    assert "ruff format --check" in recipe


def test_clocks_may_be_as_wrong_as_the_story_of_locks_says() -> None:
    story = (ROOT / "spec/lock_quorum/README.md").read_text("utf-8")
    times = r"\((\d+) s, (\d+) s, an answer within (\d+) s\)"
    said = re.search(times + r".*?wrong by up\s+to ([\d.]+) %", story, re.S)
    assert said is not None
    vote, lease, patience = (int(number) for number in said.groups()[:3])
    assert _fits(vote, lease, patience, rho=float(said[4]) / 100)
    assert not _fits(vote, lease, patience, rho=float(said[4]) / 100 + 0.001)


def _fits(vote: int, lease: int, patience: int, *, rho: float) -> bool:
    """Ask the theorem's own formula whether times fit."""
    times = time_constants()
    solver = z3.Solver()
    solver.add(times.possible, Rules().times_fit(times))
    solver.add(times.vote == vote, times.lease == lease, times.patience == patience)
    solver.add(times.rho == z3.RealVal(str(rho)))
    return bool(solver.check() == z3.sat)


def test_the_action_that_contributing_follows_is_where_it_says() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = text.partition("## Follow one action")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and "→" in line]
    assert len(rows) >= 4
    assert all(row.count("→") <= 5 for row in rows)
    places = re.findall(r"`(\w+)` in `([\w/.]+)`", table)
    assert len(places) >= 6
    for name, path in places:
        assert re.search(rf"\b{name}\b", (ROOT / path).read_text("utf-8")), (name, path)
    tag = re.search(r"grep -rn '([^']*)' impl", table)
    assert tag is not None
    core = (ROOT / "impl/rocketha/controller/sync_state_set.py").read_text("utf-8")
    assert tag[1] in core
