"""What the processes of a DLedger group write is held against the specification, in part."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.impl.process.dledger_group import DLedgerGroup
from tests.impl.process.member_records import actions_that_conform, logs_of, records_of
from tests.impl.process.node_run import until

KEEPERS = ("n0", "n1")
"""The third one keeps no records."""


def test_what_two_of_three_processes_write_is_a_behaviour(tmp_path: Path) -> None:
    with DLedgerGroup(tmp_path, legacyPush="true", recordsPeers=",".join(KEEPERS)) as group:
        for name in KEEPERS:
            path = group.nodes[name].configuration
            path.write_bytes(
                path.read_bytes() + f"recordsPath={records_of(tmp_path, name)}\n".encode()
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
    logs = logs_of(tmp_path, KEEPERS)
    assert {"Unseen", "ParseVotes", "HandleHeartbeat"} <= actions_that_conform(tmp_path, logs)
    assert sum(log.records[-1].incarnation for log in logs) >= 2
    heard = [one for log in logs for record in log.records for one in record.heard]
    received = [one for log in logs for record in log.records for one in record.received]
    assert heard
    assert received
