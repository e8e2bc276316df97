"""`validate` with the compiled model and with TLC, and with logs of another system."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from rocketha.known_bugs import EPOCH_BUGS, Bug
from rocketproof.cli import main
from rocketproof.runs import simulate_trace
from tlatrace.trace.ndjson import write_trace

SAMPLES: Final = Path(__file__).parents[3] / "traces" / "samples"
LOCK_SERVER: Final = SAMPLES / "lock_server"
OUTSIDE: Final = """---- MODULE Outside ----
EXTENDS Naturals, TLC
VARIABLE x
Init == x = 0
Step == x < 3 /\\ TLCGet("level") > 0 /\\ x' = x + 1
Next == Step
====
"""

pytestmark = pytest.mark.java


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["validate", *[str(argument) for argument in arguments]])


def verdicts(result: Result) -> list[dict[str, object]]:
    """Return the answers without the failing conjunct, which TLC does not name."""
    answers: list[dict[str, object]] = json.loads(result.stdout)["traces"]
    return [{key: answer[key] for key in answer if key != "conjunct"} for answer in answers]


def test_both_engines_say_the_same_in_the_same_words(tmp_path: Path) -> None:
    samples = tomllib.loads((SAMPLES / "samples.toml").read_text("utf-8"))["sample"]
    paths = [SAMPLES / one["file"] for one in samples if "partial" not in one["file"]]
    for seed, bug in enumerate(bug for bug in Bug if bug in EPOCH_BUGS):
        path = tmp_path / f"{bug.value}.ndjson"
        write_trace(path, simulate_trace("epoch_truncation", seed, bugs=(bug.value,)))
        paths.append(path)

    compiled = run("--json", "--engine", "compiled", *paths)
    by_tlc = run("--json", "--engine", "tlc", *paths)

    assert verdicts(compiled) == verdicts(by_tlc)
    kinds = [answer["verdict"] for answer in verdicts(compiled)]
    assert min(kinds.count(kind) for kind in ("conforms", "diverges", "undecided")) > 2


def test_a_log_of_another_system_is_validated_with_a_mapping() -> None:
    spec = ("--spec", LOCK_SERVER / "LockServer.tla", "--config", LOCK_SERVER / "LockServer.cfg")
    log, two = LOCK_SERVER / "server.jsonl", LOCK_SERVER / "two_holders.jsonl"

    result = run("--map", LOCK_SERVER / "lock_server.toml", *spec, log, two)

    assert result.exit_code == 1, result.output
    assert "server.jsonl: conforms, 9 events" in result.stdout
    assert "two_holders.jsonl:5: diverges at step 5 (line 5), Release" in result.stdout


def test_a_mapping_or_a_log_that_is_wrong_is_an_error_with_its_line(tmp_path: Path) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text((LOCK_SERVER / "lock_server.toml").read_text() + "\nwrong = 1\n")
    log = tmp_path / "log.jsonl"
    log.write_text('{"level":"info"}\n')

    wrong_map = run("--map", mapping, log)
    wrong_log = run("--map", LOCK_SERVER / "lock_server.toml", log)

    assert (wrong_map.exit_code, wrong_log.exit_code) == (2, 2)
    assert "map.toml:47: " in wrong_map.stderr
    assert "log.jsonl:1: the line has no field msg" in wrong_log.stderr


def test_a_step_without_an_action_is_looked_at_again_where_next_asks_for_all_of_nat(
    tmp_path: Path,
) -> None:
    lines = (SAMPLES / "epoch_truncation" / "seed_7.ndjson").read_text("utf-8").splitlines()
    event = json.loads(lines[10])
    path = tmp_path / "t.ndjson"
    lines[10] = json.dumps({**event, "action": None, "params": []})
    path.write_text("\n".join(lines) + "\n")

    compiled, auto = run("--engine", "compiled", path), run(path)

    assert "undecided: step 9: Nat cannot be enumerated" in compiled.stdout
    assert "conforms, 19 events" in auto.stdout


def test_where_the_specification_does_not_compile_tlc_judges_and_that_is_said(
    tmp_path: Path,
) -> None:
    (tmp_path / "Outside.tla").write_text(OUTSIDE)
    trace = tmp_path / "t.ndjson"
    trace.write_text(
        '{"format":"rocketproof-trace","version":1,"spec":"Outside"}\n'
        '{"step":0,"action":"Init","params":[],"state":{"x":0}}\n'
        '{"step":1,"action":"Step","params":[],"state":{"x":1}}\n'
    )

    auto = run("--spec", tmp_path / "Outside.tla", trace)
    compiled = run("--engine", "compiled", "--spec", tmp_path / "Outside.tla", trace)

    assert auto.exit_code == 0, auto.output
    assert "TLC judges instead of the compiled model" in auto.stderr
    assert compiled.exit_code == 2
    assert "TLCGet" in compiled.stderr
    assert "--engine tlc" in compiled.stderr


@pytest.mark.parametrize("engine", ["compiled", "tlc"])
def test_modules_are_looked_for_in_libraries(tmp_path: Path, engine: str) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "Steps.tla").write_text(
        "---- MODULE Steps ----\nEXTENDS Naturals\nMore(n) == n + 1\n====\n"
    )
    counter = tmp_path / "Counter.tla"
    counter.write_text(
        "---- MODULE Counter ----\nEXTENDS Steps\nVARIABLE x\nInit == x = 0\n"
        "Step == x' = More(x)\nNext == Step\n====\n"
    )
    good, bad = tmp_path / "good.ndjson", tmp_path / "bad.ndjson"
    for path, after in ((good, 1), (bad, 2)):
        path.write_text(
            '{"format":"rocketproof-trace","version":1,"spec":"Counter"}\n'
            '{"step":0,"action":"Init","params":[],"state":{"x":0}}\n'
            f'{{"step":1,"action":"Step","params":[],"state":{{"x":{after}}}}}\n'
        )
    command = ("--engine", engine, "--spec", counter)

    without = run(*command, good)
    found = run(*command, "--library", library, good, bad)

    assert without.exit_code == 2
    assert "Steps" in without.stderr
    assert found.exit_code == 1, found.output
    assert "good.ndjson: conforms" in found.stdout
    assert "bad.ndjson:3: diverges at step 1" in found.stdout
