"""`--map`: logs of another system wherever a trace is taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from rocketproof.cli import main
from tlatrace.trace.ndjson import read_trace

pytestmark = pytest.mark.java

LOCKS: Final = Path(__file__).parents[3] / "traces" / "samples" / "lock_server"
MAPPED: Final = (
    *("--map", str(LOCKS / "lock_server.toml")),
    *("--spec", str(LOCKS / "LockServer.tla")),
    *("--config", str(LOCKS / "LockServer.cfg")),
)
CLOCK: Final = """---- MODULE Clock ----
EXTENDS Naturals
CONSTANT Hours
VARIABLE hour
Init == hour = 0
Tick(by) == hour' = (hour + by) % Hours
Next == \\E by \\in 1..2 : Tick(by)
Half == [half |-> hour \\div 2]
====
"""
HALVES: Final = """---- MODULE Halves ----
EXTENDS Naturals
VARIABLE half
Init == half = 0
Next == half' \\in 0..5
====
"""
CLOCK_MAP: Final = """format = "rocketproof-mapping"
version = 1
spec = "Clock"
init = "first line"
shows = "state"
constants = {Hours = 12}
action = {field = "do", names = {tick = "Tick"}}
params = {Tick = ["by"]}
[[skip]]
field = "note"
present = true
[[observe]]
variable = "hour"
field = "hour"
"""


def run(*arguments: str) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture(name="clock")
def clock_of(tmp_path: Path) -> Path:
    """Make a specification, a mapping and a folder with two logs of whole states."""
    (tmp_path / "Clock.tla").write_text(CLOCK)
    (tmp_path / "Halves.tla").write_text(HALVES)
    (tmp_path / "clock.toml").write_text(CLOCK_MAP)
    logs = tmp_path / "logs"
    logs.mkdir()
    good = '{"hour":0}\n{"note":1}\n{"do":"tick","by":2,"hour":2}\n{"do":"tick","by":1,"hour":3}\n'
    (logs / "good.jsonl").write_text(good)
    (logs / "late.jsonl").write_text(good + '{"do":"tick","by":1,"hour":5}\n')
    return tmp_path


def test_validate_tells_lines_and_events_beside_the_verdict() -> None:
    result = run("validate", *MAPPED, str(LOCKS / "server.jsonl"), str(LOCKS / "two_holders.jsonl"))

    assert result.exit_code == 1
    first, counts, second, _ = result.stdout.splitlines()
    logged = "; 2 of 3 variables, 3 of 4 actions logged"
    assert first.endswith(f"server.jsonl: conforms, 9 events{logged}")
    assert second.endswith(logged)
    assert counts == "    11 lines, 3 skipped; Grant 3, Release 1, Request 4"
    assert "diverges at step 5 (line 5), Release" in second


def test_validate_tells_lines_and_events_as_json() -> None:
    result = run("validate", "--json", *MAPPED, str(LOCKS / "server.jsonl"))

    (answer,) = json.loads(result.stdout)["traces"]
    assert (answer["lines"], answer["skipped"]) == (11, 3)
    assert answer["actions"] == {"Grant": 3, "Release": 1, "Request": 4}


def test_explain_takes_a_log() -> None:
    result = run("explain", "--json", *MAPPED, str(LOCKS / "two_holders.jsonl"))

    answer = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (answer["verdict"], answer["line"]) == ("diverges", 5)


def test_explain_takes_one_log_only() -> None:
    assert run("explain", *MAPPED, str(LOCKS)).exit_code == 2


def test_view_takes_a_log(clock: Path) -> None:
    result = run(
        *("view", str(clock / "logs" / "good.jsonl"), "--map", str(clock / "clock.toml")),
        *("--spec", str(clock / "Clock.tla"), "--operator", "Half", "--as", "Halves"),
        *("--out", str(clock / "out")),
    )

    assert result.exit_code == 0, result.output
    trace = read_trace(clock / "out" / "good.ndjson")
    assert [event.state for event in trace.events] == [{"half": 0}, {"half": 1}]


def test_a_corpus_is_made_of_logs_or_judged_from_them(clock: Path) -> None:
    mapped = ("--map", str(clock / "clock.toml"))
    spec = ("--spec", str(clock / "Clock.tla"))

    made = run("corpus", "import", str(clock / "logs"), "--out", str(clock / "corpus"), *mapped)
    assert made.exit_code == 0, made.output
    imported = run("corpus", "validate", str(clock / "corpus"), *spec, "--json")
    at_once = run("corpus", "validate", str(clock / "logs"), *mapped, *spec, "--json")

    assert (imported.exit_code, at_once.exit_code) == (1, 1)
    first, second = json.loads(imported.stdout), json.loads(at_once.stdout)
    assert first["diverging"] == second["diverging"]
    assert len(first["diverging"]) == 1
    assert "late" in json.dumps(first["diverging"])


def test_a_corpus_refuses_what_it_could_not_keep(clock: Path) -> None:
    mapping = CLOCK_MAP + '[[change]]\nvariable = "hour"\ndo = "plus"\nwith = "by"\n'
    (clock / "clock.toml").write_text(mapping)

    result = run(
        *("corpus", "import", str(clock / "logs"), "--map", str(clock / "clock.toml")),
        *("--out", str(clock / "corpus"), "--json"),
    )

    assert result.exit_code == 2
    assert "says what a trace file cannot" in result.output


@pytest.mark.parametrize("engine", ["compiled", "tlc"])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Nope", "there is no such operator"),
        ("Grant", "it has parameters"),
        ("Expire", "it has primes"),
        ("Spec", "it is a temporal formula"),
    ],
)
def test_what_is_no_invariant_is_not_blamed_on_the_expressions_of_the_mapping(
    engine: str, name: str, why: str, tmp_path: Path
) -> None:
    mapping = tmp_path / "lock_server.toml"
    text = (LOCKS / "lock_server.toml").read_text("utf-8")
    mapping.write_text(text + '\n[expressions]\nnumber = "token + 1"\n', "utf-8")
    mapped = [str(mapping) if part.endswith(".toml") else part for part in MAPPED]
    log = str(LOCKS / "server.jsonl")

    assert run("validate", *mapped, log).exit_code == 0
    result = run("validate", *mapped, log, "--engine", engine, "--invariant", name)

    told = f"LockServer.tla: --invariant {name} is no state invariant: {why}"
    assert result.exit_code == 2
    assert told in result.stderr
    assert "number" not in result.stderr


@pytest.mark.parametrize("lines", ["INVARIANT Nope", "INIT Nope"])
def test_what_a_configuration_names_is_not_blamed_on_the_expressions_of_the_mapping(
    lines: str, tmp_path: Path
) -> None:
    mapping, config = tmp_path / "lock_server.toml", tmp_path / "other.cfg"
    text = (LOCKS / "lock_server.toml").read_text("utf-8")
    mapping.write_text(text + '\n[expressions]\nnumber = "token + 1"\n', "utf-8")
    config.write_text(f"CONSTANTS Client = {{c1, c2, c3}} Nobody = Nobody\n{lines}\n", "utf-8")
    module = str(LOCKS / "LockServer.tla")
    log = str(LOCKS / "server.jsonl")

    result = run("validate", "--map", str(mapping), "--spec", module, "--config", str(config), log)

    assert result.exit_code == 2
    assert "Nope" in result.stderr
    assert "number" not in result.stderr
