"""ASSUME, AXIOM and THEOREM, and what they name: as TLC has it, by both engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketproof.cli import main

pytestmark = pytest.mark.java

SHOP = """---- MODULE Shop ----
EXTENDS Naturals, Street
CONSTANT N
VARIABLE sold
ASSUME Some == N > 0
ASSUME Some
ASSUME Both == Some /\\ Open
AXIOM Three == N = 3
THEOREM More == N > 1
THEOREM More
ASSUME More
ASSUME Three
Init == sold = 0 /\\ Both
Sell(k) == sold + k <= N /\\ sold' = sold + k
Next == \\E k \\in {1, 2} : LET Allowed == More IN Allowed /\\ Sell(k)
====
"""
STREET = """---- MODULE Street ----
EXTENDS Naturals
ASSUME Open == 1 < 2
\tAXIOM Closed == 1 = 2
AXIOM 2 = 3
====
"""
BAKERY = """---- MODULE Bakery ----
EXTENDS Naturals
CONSTANT M
VARIABLE bread
ASSUME Pos == M > 0
ASSUME M > 5
THEOREM Big == M > 2
THEOREM Enough == bread <= M
Op == Pos /\\ Big
====
"""
SHELVES = """---- MODULE Shelves ----
EXTENDS Naturals
VARIABLE bread
Small == INSTANCE Bakery WITH M <- 1
INSTANCE Bakery WITH M <- 3
ASSUME Small!Pos /\\ ~Small!Big /\\ ~Small!Op ASSUME Here == Pos /\\ Big /\\ Op
  \t AXIOM Never == FALSE
Init == bread = 0 /\\ Here
Bake == bread' = bread + 1 /\\ (Enough)' /\\ Small!Pos
Next == Bake
Fits == Enough
FitsSmall == Small!Enough
====
"""
PARAMETERS = """---- MODULE Parameters ----
EXTENDS Naturals
VARIABLE bread
Of(n) == INSTANCE Bakery WITH M <- n
ASSUME Of(1)!Pos /\\ ~Of(0)!Pos
Init == bread = 0
Next == bread < 2 /\\ bread' = bread + 1
====
"""
STEPS = """---- MODULE Steps ----
EXTENDS Naturals
VARIABLE x
THEOREM Up == x' = x + 1
Init == x = 0
Next == x < 2 /\\ Up
====
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    modules = {
        "Shop": SHOP,
        "Street": STREET,
        "Bakery": BAKERY,
        "Shelves": SHELVES,
        "Parameters": PARAMETERS,
        "Steps": STEPS,
    }
    for name, text in modules.items():
        (tmp_path / f"{name}.tla").write_text(text)
    return tmp_path


def check(module: Path, config: str, engine: str) -> tuple[int, dict[str, object]]:
    module.with_suffix(".cfg").write_text(f"INIT Init NEXT Next {config}")
    call = ["check", str(module), "--no-deadlock", "--json", "--engine", engine]
    result = CliRunner().invoke(main, call)
    return result.exit_code, json.loads(result.stdout) if result.stdout else {"e": result.stderr}


@pytest.mark.parametrize(
    ("number", "code", "outcome", "line"),
    [
        (0, 1, "assumption false", 5),
        (1, 1, "assumption false", 11),
        (2, 1, "assumption false", 12),
        (3, 0, "success", None),
    ],
)
def test_an_assumption_that_names_another_formula_is_evaluated(
    folder: Path, number: int, code: int, outcome: str, line: int | None
) -> None:
    """Line 8 is an AXIOM, and 9 and 10 are THEOREMs: they are FALSE, too, and not evaluated."""
    distinct: list[object] = []
    for engine, place in (("tlc", f"line {line}, col"), ("compiled", f"Shop.tla:{line}:")):
        found_code, found = check(folder / "Shop.tla", f"CONSTANT N = {number}", engine)

        assert (found_code, found["outcome"], found["unchecked"]) == (code, outcome, [])
        assert str(found["violated"]).startswith(place) or line is None
        distinct.append(found["distinct"])
    assert line is not None or distinct == [4, 4]


@pytest.mark.parametrize(
    ("invariant", "outcome"), [("Fits", "success"), ("FitsSmall", "invariant violated")]
)
def test_what_an_instance_names_is_evaluated_with_its_substitution(
    folder: Path, invariant: str, outcome: str
) -> None:
    for engine in ("tlc", "compiled"):
        code, found = check(folder / "Shelves.tla", f"INVARIANT {invariant}", engine)

        assert (code, found["outcome"]) == (int(outcome != "success"), outcome), found
        assert found["unchecked"] == []
        assert outcome != "success" or found["distinct"] == 4


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("Named == N", "TLC expected a boolean value, but did not find one."),
        ('N = "a"', "Attempted to check equality of integer 2 with non-integer"),
    ],
)
def test_an_assumption_without_a_value_is_an_error_of_evaluation(
    tmp_path: Path, formula: str, reason: str
) -> None:
    module = tmp_path / "Sums.tla"
    module.write_text(
        f"---- MODULE Sums ----\nEXTENDS Naturals\nCONSTANT N\nVARIABLE x\nASSUME {formula}\n"
        "Init == x = 0\nNext == x < 2 /\\ x' = x + 1\n====\n"
    )

    (code, told), (_, computed) = [check(module, "CONSTANT N = 2", e) for e in ("tlc", "compiled")]

    assert (code, told["outcome"], computed["outcome"]) == (2, *["evaluation error"] * 2)
    assert reason in str(told["message"])
    assert str(computed["message"]).startswith("an ASSUME: ")


def test_a_name_with_arguments_is_said_to_be_unchecked(folder: Path) -> None:
    assert check(folder / "Parameters.tla", "", "tlc")[0] == 0

    code, found = check(folder / "Parameters.tla", "", "compiled")

    assert (code, found["outcome"]) == (3, "success")
    assert "the ASSUME at Parameters.tla:5:1" in str(found["unchecked"])


def test_a_step_by_the_name_of_a_theorem_is_refused_by_the_compiler_only(folder: Path) -> None:
    code, found = check(folder / "Steps.tla", "", "tlc")
    assert (code, found["distinct"]) == (0, 3)

    code, found = check(folder / "Steps.tla", "", "compiled")

    assert code == 2
    assert "Steps.tla:6:18: Up is not evaluated" in str(found["e"])


@pytest.mark.parametrize("engine", ["tlc", "compiled"])
@pytest.mark.parametrize(
    ("module", "config", "steps", "code"),
    [
        ("Shop", "CONSTANT N = 3", [("sold", 0), ("sold", 2), ("sold", 3)], 0),
        ("Shop", "CONSTANT N = 3", [("sold", 0), ("sold", 2), ("sold", 4)], 1),
        ("Shelves", "INVARIANT Fits", [("bread", at) for at in range(4)], 0),
        ("Shelves", "INVARIANT Fits", [("bread", at) for at in range(5)], 1),
        ("Shelves", "INVARIANT FitsSmall", [("bread", at) for at in range(3)], 1),
    ],
)
def test_traces_are_judged_by_what_is_named(
    folder: Path, engine: str, module: str, config: str, steps: list[tuple[str, int]], code: int
) -> None:
    lines: list[object] = [{"format": "rocketproof-trace", "version": 1, "spec": module}]
    before = 0
    for step, (variable, value) in enumerate(steps):
        action: dict[str, object] = {"action": "Init", "params": []}
        if step:
            is_sale = module == "Shop"
            action = {
                "action": "Sell" if is_sale else "Bake",
                "params": [value - before] if is_sale else [],
            }
        lines.append({"step": step, **action, "state": {variable: value}})
        before = value
    trace = folder / "run.ndjson"
    trace.write_text("".join([json.dumps(line) + "\n" for line in lines]))
    (folder / "run.cfg").write_text(f"INIT Init NEXT Next {config}")
    options = ["--spec", str(folder / f"{module}.tla"), "--config", str(folder / "run.cfg")]

    result = CliRunner().invoke(main, ["validate", "--engine", engine, *options, str(trace)])

    assert result.exit_code == code, result.output
