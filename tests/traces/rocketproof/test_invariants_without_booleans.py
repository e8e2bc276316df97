"""An invariant that is no boolean in any state is its author's fault, as TLC has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketproof.cli import main

pytestmark = pytest.mark.java

TILL = """---- MODULE Till ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANT Owner
VARIABLE coins
Init == coins = 0
Put == coins < 2 /\\ coins' = coins + 1
Next == Put
Five == 5
More == coins + 1
Text == IF coins = 2 THEN "full" ELSE "free"
Coins == {coin \\in 1..3 : coin <= coins}
Pair == LET two == 2 * coins IN <<two, two>>
Changed == [Pair EXCEPT ![1] = 0]
Named == Owner
Count == Cardinality(Coins)
Late == IF coins = 2 THEN "full" ELSE TRUE
Few == coins <= 2
Some == CHOOSE answer \\in BOOLEAN : answer
====
"""
NEVER = {
    "Five": "an integer",
    "More": "an integer",
    "Text": "a string",
    "Coins": "a set",
    "Pair": "a function",
    "Changed": "a function",
    "Named": "a model value",
    "Count": "an integer",
}
CONFIG = "INIT Init NEXT Next CONSTANT Owner = Owner INVARIANT %s\n"


@pytest.fixture(scope="module")
def till(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("till")
    (folder / "Till.tla").write_text(TILL)
    lines: list[object] = [{"format": "rocketproof-trace", "version": 1, "spec": "Till"}]
    for step in range(3):
        action = "Put" if step else "Init"
        lines.append({"step": step, "action": action, "params": [], "state": {"coins": step}})
    (folder / "run.ndjson").write_text("".join([json.dumps(line) + "\n" for line in lines]))
    return folder / "Till.tla"


def run(till: Path, command: str, engine: str, invariant: str) -> tuple[int, str]:
    config = till.with_name("Till.cfg")
    config.write_text(CONFIG % invariant)
    call = [command, "--engine", engine, str(till), "--no-deadlock"]
    if command == "validate":
        files = ["--config", str(config), str(till.with_name("run.ndjson"))]
        call = [command, "--engine", engine, "--spec", str(till), *files]
    result = CliRunner().invoke(main, call)
    return result.exit_code, result.output


@pytest.mark.parametrize("engine", ["tlc", "compiled"])
@pytest.mark.parametrize(("invariant", "what"), NEVER.items())
def test_validate_says_that_the_invariant_is_none(
    till: Path, engine: str, invariant: str, what: str
) -> None:
    code, text = run(till, "validate", engine, invariant)

    told = f"INVARIANT {invariant} is no state invariant: its value is {what}, and no boolean"
    assert (code, told in text) == (2, True), text


@pytest.mark.parametrize("invariant", ["Five", "Text", "Named"])
def test_check_stops_in_the_first_state_as_tlc_does(till: Path, invariant: str) -> None:
    assert [run(till, "check", engine, invariant)[0] for engine in ("tlc", "compiled")] == [2, 2]


@pytest.mark.parametrize("engine", ["tlc", "compiled"])
@pytest.mark.parametrize(("invariant", "code"), [("Late", 3), ("Few", 0), ("Some", 0)])
def test_what_is_a_boolean_in_some_state_is_asked_in_each(
    till: Path, engine: str, invariant: str, code: int
) -> None:
    found, text = run(till, "validate", engine, invariant)

    assert found == code, text
    assert ("step 2: invariants" in text) == (invariant == "Late")
