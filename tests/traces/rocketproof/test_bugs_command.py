"""`rocketproof bugs`, and names that are misspelt."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import Fault
from rocketproof.cli import main
from rocketproof.names import did_you_mean
from rocketproof.protocols import PROTOCOLS


def call(*args: str) -> Result:
    return CliRunner().invoke(main, list(args))


def test_every_switch_and_fault_has_a_line() -> None:
    data = json.loads(call("bugs", "--json").stdout)

    assert [one["name"] for one in data["bugs"]] == [bug.value for bug in Bug]
    assert [one["name"] for one in data["faults"]] == [fault.value for fault in Fault]
    for one in [*data["bugs"], *data["faults"]]:
        assert one["line"], one
        assert "\n" not in one["line"], one
        assert not one["line"].endswith("."), one
        assert one["protocols"], one


def test_the_list_of_a_protocol_is_its_own_and_ends_with_the_counts() -> None:
    result = call("bugs", "lock_quorum")

    own = PROTOCOLS["lock_quorum"]
    lines = result.output.splitlines()
    assert result.exit_code == 0
    assert any(" ".join(line.split()).startswith("B77 A broker that cannot be") for line in lines)
    assert not any(line.strip().startswith("B05 ") for line in lines)
    assert lines[-1] == f"{len(own.bugs)} bugs and {len(own.faults)} faults of lock_quorum"


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (("simulat",), "'simulate'"),
        (("bugs", "lock-quorum"), "'lock_quorum'"),
        (("simulate", "epoch_truncation", "--seed", "1", "--bug", "b5"), "'B05'"),
        (("simulate", "epoch_truncation", "--seed", "1", "--bug", "B52"), ""),
        (("check", "lock_quorm"), "'lock_quorum'"),
        (("check", "lock_quorum", "--model", "smal"), "'small'"),
        (("mutants", "lock_quorm"), "'lock_quorum'"),
        (("mutants", "--bug", "B5"), "'B05'"),
    ],
)
def test_who_misspells_a_name_is_told_which_it_may_be(args: tuple[str, ...], meant: str) -> None:
    result = call(*args)

    assert result.exit_code == 2
    assert f"did you mean {meant}" in result.output or not meant


def test_nothing_like_it_is_no_question() -> None:
    assert did_you_mean("raft", ["lock_quorum", "sync_state_set"]) == ""
    assert did_you_mean("Smal", ["small", "smaller"]) == "; did you mean 'small' or 'smaller'?"


def test_an_implementation_may_have_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketproof.commands.bugs.bug_switches", lambda: ())

    result = call("bugs", "lock_quorum")

    assert result.exit_code == 0
    assert result.output.splitlines()[-1].startswith("0 bugs and ")
