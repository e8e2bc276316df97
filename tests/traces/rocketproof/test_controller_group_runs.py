"""Runs with a controller group are held against the text as those with one controller are."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from rocketproof.commands.simulate import command

ARGS = ("--controllers", "3", "--judge")


@pytest.mark.parametrize(("protocol", "seed"), [("replica_group", "2"), ("sync_state_set", "0")])
def test_runs_conform(protocol: str, seed: str) -> None:
    result = CliRunner().invoke(command, [protocol, *ARGS, "--seed", seed])
    assert result.exit_code == 0, result.output
    assert "verdict: conforms" in result.output


def test_an_election_by_what_is_not_agreed_on_is_noticed() -> None:
    result = CliRunner().invoke(command, ["replica_group", *ARGS, "--seed", "0", "--bug", "B36"])
    assert result.exit_code == 1, result.output
    assert "verdict: diverges" in result.output


@pytest.mark.parametrize("protocol", ["dledger", "epoch_truncation"])
def test_a_protocol_without_controllers_refuses_them(protocol: str) -> None:
    result = CliRunner().invoke(command, [protocol, *ARGS, "--seed", "0"])
    assert result.exit_code == 2
    assert f"{protocol} has no group of controllers" in result.output
