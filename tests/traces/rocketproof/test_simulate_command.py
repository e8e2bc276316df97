"""`rocketproof simulate`: a timeline for people, a trace for machines."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketha.histories import Kept, check_history, read_history
from rocketproof.commands.simulate import command
from rocketproof.runs import simulate_trace
from rocketproof.timeline import timeline
from tlatrace.trace.ndjson import read_trace


def call(*args: str) -> Result:
    return CliRunner().invoke(command, list(args))


def test_the_timeline_has_a_line_for_each_action() -> None:
    trace = simulate_trace("epoch_truncation", 7)

    result = call("epoch_truncation", "--seed", "7")

    lines = result.output.splitlines()
    assert result.exit_code == 0
    assert lines[: len(trace.events) + 1] == list(timeline(trace))
    assert lines[1].split() == ["0", "controller", "Init", "the", "initial", "state"]
    assert lines[-3].startswith(f"seed 7: {len(trace.events)} events in ")
    assert lines[-2].startswith("faults: ")
    assert lines[-1].startswith("history: ")


@pytest.mark.parametrize(
    "part",
    [
        r"ctl: b1 is master of epoch 1",
        r"b\d: Slave -> Master, known 0 -> \d, epochs \[\d@0-\], epochsDisk \[\d@0\]",
        r"b\d: link to b\d, \+handshake\(end \d, epochs \[\d@0",
        r"\+batch\((\d)@0, from 0: \1",
        r"b\d: log \[\d\], .*-batch\(\d@0, from 0: \d\), reported 0 -> 1",
        r"link to b1 is dead",
    ],
)
def test_the_timeline_says_what_changed(part: str) -> None:
    text = "\n".join(
        line for seed in range(10) for line in timeline(simulate_trace("epoch_truncation", seed))
    )

    assert re.search(part, text)


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.ndjson", "b.ndjson", "c.ndjson.gz")]
    for path in paths:
        assert call("epoch_truncation", "--seed", "7", "--out", str(path)).exit_code == 0

    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert gzip.decompress(paths[2].read_bytes()) == paths[0].read_bytes()
    assert read_trace(paths[0]).events == simulate_trace("epoch_truncation", 7).events


def test_a_written_trace_is_shown_only_when_asked_for(tmp_path: Path) -> None:
    quiet = call("epoch_truncation", "--seed", "1", "--out", str(tmp_path / "a.ndjson"))
    shown = call(
        "epoch_truncation", "--seed", "1", "--timeline", "--out", str(tmp_path / "b.ndjson")
    )

    assert len(quiet.output.splitlines()) == 4
    assert "PutMessage" in shown.output


def test_options_reach_the_run() -> None:
    options = "--faults reset,delay --bug B05 --bug B01 --brokers 2 --steps 12 --json"
    result = call("epoch_truncation", "--seed", "3", *options.split())

    figures = json.loads(result.stdout)
    assert result.exit_code == 0
    assert figures["seed"] == 3
    assert set(figures["faults"]) <= {"reset", "delay"}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("raft", "--seed", "1"), "epoch_truncation"),
        (("epoch_truncation",), "--seed"),
        (("epoch_truncation", "--seed", "1", "--bug", "B99"), "rocketproof bugs"),
        (("epoch_truncation", "--seed", "1", "--bug", "B5"), "did you mean 'B05'"),
        (("epoch_trunkation", "--seed", "1"), "did you mean 'epoch_truncation'"),
        (("epoch_truncation", "--seed", "1", "--faults", "resets"), "did you mean 'reset'"),
        (("epoch_truncation", "--seed", "1", "--bug", "B52"), "has no bug B52"),
        (("epoch_truncation", "--seed", "1", "--faults", "fire"), "torn-write"),
        (("epoch_truncation", "--seed", "1", "--out", "a.txt"), ".ndjson.gz"),
        (("epoch_truncation", "--seed", "1", "--brokers", "10"), "1<=x<=9"),
    ],
)
def test_a_wrong_option_is_named_with_the_choices(args: tuple[str, ...], said: str) -> None:
    result = call(*args)

    assert result.exit_code == 2
    assert said in result.output


def test_faults_may_be_left_out() -> None:
    figures = json.loads(
        call("epoch_truncation", "--seed", "3", "--faults", "none", "--json").output
    )

    assert figures["faults"] == {}
    assert figures["converged"] is True


@pytest.mark.parametrize(
    "part",
    [
        r"ElectMaster\(b\d\) +controller: master b\d of epoch 1, set \{b\d\} v1",
        r"BecomeMaster\(b\d\) +b\d: Slave -> Master, known 0 -> 1, epochs \[1@0-\]",
        r"PutMessage\(b\d\) +b\d: log \[1\]",
        r"Acknowledge\(b\d\) +b\d: confirm 0 -> \d; acked: \[1",
        r"Consume\(b\d\) +seen: \[1",
        r"MaybeExpand\(b\d, b\d\) +b\d: proposes \{b\d b\d\}",
        r"AlterSyncStateSet\(b\d\) +controller: set \{b\d b\d\} v\d",
        r"LearnSyncStateSet\(b\d\) +b\d: local \{b\d b\d\} v\d, no proposal",
        r"Handshake\(b\d, b\d\) +b\d: link none -> b\d; b\d: b\d reported 0, ack -1",
        r"EvictBroker\(b\d, \d\) +controller: alive \{b\d b\d\}",
        r"Restart\(b\d\) +controller: .*inc b1:\d b2:\d b3:\d",
        r"controller: .*unfit \{b\d\}",
        r"CloseConnection\(b\d, b\d\) +b\d: b\d closed",
    ],
)
def test_the_timeline_of_a_group_says_what_changed(part: str) -> None:
    assert re.search(part, group_timelines())


@cache
def group_timelines() -> str:
    return "\n".join(
        line for seed in range(8) for line in timeline(simulate_trace("replica_group", seed))
    )


def test_what_clients_of_a_group_saw_is_judged_and_written(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"

    result = call("replica_group", "--seed", "4", "--history", str(path))

    assert result.exit_code == 0
    assert result.output.splitlines()[-2].startswith("history: kept: ")
    assert result.output.splitlines()[-1] == f"written to {path}"
    assert isinstance(check_history(read_history(path)), Kept)
    figures = json.loads(call("replica_group", "--seed", "4", "--json").stdout)
    assert figures["history"].startswith("kept: ")


def test_a_broken_promise_is_an_exit_code() -> None:
    assert call("replica_group", "--seed", "5", "--config", "rocketmq", "--json").exit_code == 1


@pytest.mark.java
def test_copies_on_any_two_brokers_do_not_survive_an_election() -> None:
    """The set may have three, and elects of them who lacks what two of them have."""
    result = call("replica_group", "--seed", "3", "--in-sync-replicas", "2", "--judge")

    assert result.exit_code == 1
    assert "observed a state that violates AckedInSSS" in result.output


def test_more_copies_than_brokers_are_refused() -> None:
    result = call("replica_group", "--seed", "3", "--in-sync-replicas", "4")

    assert result.exit_code == 2
    assert "--in-sync-replicas: there are 3 brokers" in result.output


def test_a_protocol_without_clients_has_no_history(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"

    result = call("epoch_truncation", "--seed", "4", "--history", str(path))

    assert result.exit_code == 2
    assert not path.exists()


def test_a_judged_run_ends_as_its_verdict_says(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    run = ("epoch_truncation", "--bug", "B05", "--seed", "0", "--judge")

    good = call("epoch_truncation", "--seed", "0", "--judge")
    bad = call(*run)
    written = call(*run, "--out", str(path))
    data = json.loads(call(*run, "--json").stdout)

    assert (good.exit_code, bad.exit_code, written.exit_code) == (0, 1, 1)
    logged = r"12 of 12 variables, \d+ of 22 actions logged"
    assert re.match(rf"verdict: conforms, \d+ events; {logged}$", good.output.splitlines()[-1])
    *_, step, told, verdict = bad.output.splitlines()
    assert "Transfer(b1, b2, 1)" in step
    assert re.match(r".*EpochTruncation\.tla:\d+:\d+: seed 0: diverges at step 28, Transfer", told)
    assert verdict == "verdict: diverges"
    assert f"\n{path}:30: diverges at step 28 (line 30), Transfer" in written.output
    assert (data["verdict"], data["traces"][0]["step"]) == ("diverges", 28)


def test_a_run_without_a_trace_is_no_pass() -> None:
    result = call("sync_state_set", "--seed", "3", "--brokers", "1", "--judge")

    assert result.exit_code == 3
    assert result.output.splitlines()[-1] == "verdict: undecided: nothing was examined"


@pytest.mark.parametrize("judge", [(), ("--judge",)])
@pytest.mark.parametrize(
    ("bug", "code", "why"),
    [("B54", 1, "broken (snapshots taken)"), ("B56", 3, "ended early: MissingFileError")],
)
def test_a_run_that_stays_dead_is_no_pass(
    bug: str, code: int, why: str, judge: tuple[str, ...]
) -> None:
    if bug == "B56" and judge:
        code = 1  # what the text says of a run outranks its end
    seed = {"B54": "2", "B56": "4"}[bug]
    result = call("snapshot_loading", "--bug", bug, "--seed", seed, *judge)

    assert result.exit_code == code
    assert why in result.output
