"""What the processes of a DLedger group write is held against the specification, in part."""

from __future__ import annotations

import signal
from pathlib import Path

from rocketha.recording.node_log import NodeLog, pull_log
from rocketproof.protocols import PROTOCOLS
from rocketproof.records_judge import judge_records
from tests.impl.process.controller_peers import until
from tests.impl.process.dledger_group import DLedgerGroup
from tlatrace.judgement.verdict import Conforms

KEEPERS = ("n0", "n1")
"""The third one keeps no records."""


def logs_of(folder: Path) -> tuple[NodeLog, ...]:
    logs = []
    for name in KEEPERS:
        data = (folder / f"{name}.records.jsonl").read_bytes()
        lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)
        logs.append(pull_log(lines, name))
    return tuple(logs)


def test_what_two_of_three_processes_write_is_a_behaviour(tmp_path: Path) -> None:
    with DLedgerGroup(tmp_path, legacyPush="true", recordsPeers=",".join(KEEPERS)) as group:
        for name in KEEPERS:
            path = group.nodes[name].configuration
            path.write_bytes(
                path.read_bytes() + f"recordsPath={tmp_path / name}.records.jsonl\n".encode()
            )
        group.start()
        leader = group.leader()
        for at in range(3):
            assert group.append(leader, b"before %d" % at).code == 200
        assert group.nodes[leader].end(signal.SIGKILL) == -signal.SIGKILL
        group.append_acknowledged(b"after")
        group.start([leader])
        until(lambda: group.metadata(leader) is not None, "it serves again")
        group.append_acknowledged(b"all")
    logs, plug = logs_of(tmp_path), PROTOCOLS["dledger"]
    traces = plug.traces_of_records(logs)
    (result,) = judge_records(plug, tmp_path, logs, traces)
    assert isinstance(result.outcome, Conforms), result.summary
    actions = [event.action for event in traces[0].events]
    assert {"Unseen", "ParseVotes", "HandleHeartbeat"} <= set(actions)
    assert sum(log.records[-1].incarnation for log in logs) >= 2
    heard = [one for log in logs for record in log.records for one in record.heard]
    received = [one for log in logs for record in log.records for one in record.received]
    assert heard
    assert received
