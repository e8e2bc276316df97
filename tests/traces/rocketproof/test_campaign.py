"""`rocketproof campaign`: many seeds, what failed and how to see it again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketha.histories import Broken, check_history, read_history
from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import NO_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.lock_quorum.workload import LockWorkload
from rocketproof import campaign as campaigns
from rocketproof.campaign import Campaign, Ending, SeedResult, run_seed
from rocketproof.cli import main
from rocketproof.commands.campaign import command, shown_again
from rocketproof.commands.simulate import command as simulate
from rocketproof.commands.simulation_options import repeat_command
from rocketproof.plug import ProtocolPlug

LOSES = 5
"""A seed that loses a message with RocketMQ's defaults."""


def call(*args: str) -> Result:
    return CliRunner().invoke(command, ["replica_group", *args])


def test_a_campaign_that_finds_nothing_says_what_it_did() -> None:
    result = call("--seeds", "2..4", "--workers", "1")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].startswith("3 seeds: ")
    assert lines[1].endswith(" messages that producers were told are safe")
    assert lines[2].startswith("obligations that came due: answers to requests ")
    assert lines[3].startswith("faults: ")
    assert lines[4].endswith(" seeds an hour")


def test_consumers_that_keep_the_order_have_campaigns_too() -> None:
    result = CliRunner().invoke(command, ["lock_quorum", "--seeds", "0..9", "--repeat"])
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == "10 seeds: kept 10"
    assert " messages that consumers have processed in order" in result.output

    result = CliRunner().invoke(command, ["lock_quorum", "--seeds", "0..9", "--config", "rocketmq"])
    assert result.exit_code == 1
    assert "broken (in turn): " in result.output


def test_a_failing_seed_comes_with_the_command_that_repeats_it(tmp_path: Path) -> None:
    result = call("--seeds", f"{LOSES}..{LOSES}", "--config", "rocketmq")
    assert result.exit_code == 1
    what, again = result.output.splitlines()[:2]
    assert what.startswith(f"seed {LOSES}: broken: broken (durable): producer ")

    path = tmp_path / "history.jsonl"
    args = shlex.split(again)[2:]
    repeated = CliRunner().invoke(simulate, [*args, "--history", str(path)])
    assert repeated.exit_code == 1
    assert (
        repeated.output.splitlines()[-1] == f"verdict: diverges: {what.partition(': broken: ')[2]}"
    )
    assert isinstance(check_history(read_history(path)), Broken)


def test_a_broken_promise_comes_with_how_often_it_is_and_the_first_seed() -> None:
    options = ["escape", "--seeds", "0..5", "--config", "rocketmq"]
    result = CliRunner().invoke(command, options)
    figures = json.loads(CliRunner().invoke(command, [*options, "--json"]).stdout)

    assert result.exit_code == 1
    lines = result.output.splitlines()
    at = lines.index("delivered: broken in 2 of 6 seeds, first")
    assert lines[at + 1] == "  rocketproof simulate escape --config rocketmq --judge --seed 0"
    assert figures["broken"]["delivered"] == {"seeds": 2, "first": 0}
    assert set(figures["broken"]) == {"delivered", "done with", "once"}


def test_processes_find_what_one_process_finds() -> None:
    figures = [
        json.loads(call("--seeds", "0..17", "--workers", workers, "--json").stdout)
        for workers in ("1", "2")
    ]
    for one in figures:
        del one["seconds"]
    assert figures[0] == figures[1]
    assert figures[0]["seeds"] == 18


def test_a_seed_that_runs_twice_gives_the_same_bytes() -> None:
    assert call("--seeds", "0..1", "--repeat", "--workers", "1").exit_code == 0


def test_a_run_that_differs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = iter(["one", "two"])
    once = campaigns._run_once

    def differs(protocol: str, seed: int, options: SimOptions) -> tuple[SeedResult, str]:
        return once(protocol, seed, options)[0], next(digests)

    monkeypatch.setattr(campaigns, "_run_once", differs)
    assert (
        run_seed("replica_group", 1, SimOptions(faults=NO_FAULTS), repeat=True).ending
        is Ending.DIFFERS
    )


def test_a_run_that_differs_comes_with_a_command_that_runs_it_twice() -> None:
    options = SimOptions(faults=NO_FAULTS, bugs=frozenset({Bug.B14}))
    result = SeedResult(seed=4, ending=Ending.DIFFERS)

    assert shown_again("replica_group", options, result) == (
        "rocketproof campaign replica_group --bug B14 --faults none --repeat --seeds 4..4"
    )


def test_an_error_of_the_implementation_is_a_failing_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(ProtocolPlug, "observe", fails)
    result = run_seed("replica_group", 1, SimOptions())
    assert (result.ending, result.reason) == (Ending.FAILED, "ZeroDivisionError: a defect")


@pytest.mark.parametrize(
    ("endings", "code"),
    [
        ([Ending.KEPT, Ending.UNDECIDED, Ending.EXCUSED], 0),
        ([Ending.KEPT, Ending.BROKEN], 1),
        ([Ending.KEPT, Ending.STUCK], 3),
        ([Ending.KEPT, Ending.ENDED], 3),
        ([Ending.STUCK, Ending.BROKEN], 1),
        ([Ending.KEPT, Ending.FAILED], 1),
        ([Ending.KEPT, Ending.DIFFERS], 1),
        ([Ending.UNDECIDED, Ending.EXCUSED], 3),
        ([], 3),
    ],
)
def test_the_worst_seed_says_what_a_campaign_is(endings: list[Ending], code: int) -> None:
    campaign = Campaign()
    for seed, ending in enumerate(endings):
        campaign.add(SeedResult(seed=seed, ending=ending))
    assert campaign.exit_code == code


def test_a_command_repeats_all_options() -> None:
    options = SimOptions(
        brokers=5,
        steps=40,
        faults=NO_FAULTS,
        bugs=frozenset({Bug.B14, Bug.B28}),
        rocketmq_defaults=True,
        elect_unclean=True,
    )
    assert repeat_command("replica_group", options, 3) == (
        "rocketproof simulate replica_group --bug B14 --bug B28 --faults none "
        "--brokers 5 --steps 40 --config rocketmq --unclean --judge --seed 3"
    )
    assert repeat_command("replica_group", SimOptions()) == (
        "rocketproof simulate replica_group --judge --seed {seed}"
    )


@pytest.mark.parametrize(
    "args", [["--seeds", "3"], ["--seeds", "5..3"], ["--seeds", "0..1", "--bug", "B23"]]
)
def test_what_cannot_be_run_is_refused(args: list[str]) -> None:
    assert call(*args).exit_code == 2


def test_a_campaign_that_is_interrupted_says_what_it_has_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(protocol: str, seed: int, options: SimOptions, *, repeat: bool) -> SeedResult:
        if seed == 20:
            raise KeyboardInterrupt
        return run_seed(protocol, seed, options, repeat=repeat)

    monkeypatch.setattr(campaigns, "run_seed", interrupted)
    args = ["campaign", "lock_quorum", "--seeds", "0..99", "--workers", "1"]
    result = CliRunner().invoke(main, args)

    assert result.exit_code == 130
    assert "16 seeds: kept 16" in result.output
    assert "interrupted: 84 of 100 seeds have no result" in result.output

    as_json = CliRunner().invoke(main, [*args, "--json"])
    assert as_json.exit_code == 130
    assert json.loads(as_json.stdout)["seeds"] == 16


@pytest.mark.java
def test_a_campaign_of_dead_runs_ends_as_the_command_that_shows_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LockWorkload, "converged", lambda _: False)
    result = CliRunner().invoke(command, ["lock_quorum", "--seeds", "2..3", "--workers", "1"])
    what, again = result.output.splitlines()[:2]

    assert what.endswith(": stuck: did not come back to life when the faults ended")
    repeated = CliRunner().invoke(simulate, shlex.split(again)[2:])
    assert (result.exit_code, repeated.exit_code) == (3, 3)
