"""Commands of a protocol that has no specification, though its parts have: what works, what not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketha.sim.engine.options import SimOptions
from rocketproof.campaign import Ending, run_seed
from rocketproof.cli import main
from rocketproof.commands.simulation_options import repeat_command
from rocketproof.protocols import PROTOCOLS

PROTOCOL = "acting_master"
FAILS = ("--bug", "Unasked")
FAILING_SEED = 0


def call(*args: str) -> Result:
    return CliRunner().invoke(main, list(args))


def test_its_parts_are_protocols_with_specifications() -> None:
    plug = PROTOCOLS[PROTOCOL]

    assert (plug.spec, plug.has_traces) == ("", False)
    assert plug.held_by == ("route", "pre_online", "escape")
    assert all(PROTOCOLS[name].has_traces and PROTOCOLS[name].spec for name in plug.held_by)
    assert [name for name, one in PROTOCOLS.items() if not one.has_traces] == [PROTOCOL]


def test_a_campaign_says_what_clients_saw_by_kinds() -> None:
    result = call("campaign", PROTOCOL, "--seeds", "0..2", "--workers", "1", "--repeat")

    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[0] == "3 seeds: kept 3"
    (kinds,) = (line for line in result.output.splitlines() if line.startswith("by kinds: "))
    assert " ordered messages, " in kinds
    assert kinds.endswith(", 0 of them smaller by less than a step")
    data = json.loads(call("campaign", PROTOCOL, "--seeds", "1..1", "--json").stdout)
    assert data["parts"]["delayed messages"] > 0


def test_a_run_is_told_by_what_befell_its_nodes() -> None:
    result = call("simulate", PROTOCOL, "--seed", "1")

    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert any(" stops, and is back after " in line for line in lines)
    assert any(line.startswith("seed 1: ") and " actions in " in line for line in lines)
    assert any(line.startswith("history: kept: ") for line in lines)


def test_a_broken_promise_is_an_exit_code_and_a_command_that_works() -> None:
    result = call("campaign", PROTOCOL, "--seeds", f"{FAILING_SEED}..{FAILING_SEED}", *FAILS)

    assert result.exit_code == 1, result.output
    again = next(line for line in result.output.splitlines() if "rocketproof simulate" in line)
    assert again.split() == [
        *("rocketproof", "simulate", PROTOCOL),
        *FAILS,
        *("--seed", str(FAILING_SEED)),
    ]
    shown = call(*again.split()[1:])
    assert shown.exit_code == 1, shown.output
    assert "history: broken (committed): " in shown.output


@pytest.mark.parametrize(
    "args",
    [
        ("simulate", PROTOCOL, "--seed", "1", "--judge"),
        ("simulate", PROTOCOL, "--seed", "1", "--out", "run.ndjson"),
        ("shrink", PROTOCOL, "--seed", "1"),
        ("corpus", "generate", PROTOCOL, "--runs", "2", "--out", "corpus"),
        ("crash-points", PROTOCOL, "--seeds", "1..1"),
        ("mutate-implementation", PROTOCOL, "--sample", "1"),
    ],
)
def test_what_needs_traces_says_where_there_are_some(
    args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(*args)

    assert result.exit_code == 2
    assert "acting_master has no specification of its own" in " ".join(result.output.split())
    assert "route, pre_online and escape" in " ".join(result.output.split())
    assert [*tmp_path.iterdir()] == []


def test_its_nodes_write_no_records(tmp_path: Path) -> None:
    result = call("simulate", PROTOCOL, "--seed", "1", "--records", str(tmp_path / "R"))

    assert result.exit_code == 2
    assert "nodes of acting_master write no records" in " ".join(result.output.split())


def test_only_where_there_are_traces_is_a_run_judged_again() -> None:
    assert "--judge" not in repeat_command(PROTOCOL, SimOptions(), 3)
    assert "--judge" in repeat_command("escape", SimOptions(), 3)


def test_a_seed_is_the_same_run_again() -> None:
    assert run_seed(PROTOCOL, 4, SimOptions(), repeat=True).ending is Ending.KEPT


@pytest.mark.slow
def test_a_failing_run_is_made_small_by_what_clients_saw(tmp_path: Path) -> None:
    out = tmp_path / "small"
    result = call(
        *("shrink", PROTOCOL, "--seed", str(FAILING_SEED), *FAILS),
        *("--clients", "--runs", "20", "--out", str(out)),
    )

    assert result.exit_code == 0, result.output
    assert [one.name for one in out.iterdir()] == ["schedule.json"]
    again = call("simulate", PROTOCOL, "--schedule", str(out / "schedule.json"))
    assert again.exit_code == 1
    assert "history: broken (committed): " in again.output
