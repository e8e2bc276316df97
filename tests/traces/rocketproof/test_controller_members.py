"""What the DLedger nodes of a simulated controller group wrote, as behaviours of DLedger."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import msgspec
import pytest

from rocketha.recording.node_log import NodeLines, NodeLog
from rocketha.recording.record import NodeRecord, RecordError
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import changed, judged
from tlatrace.judgement.verdict import Diverges, kind

DLEDGER: Final = PROTOCOLS["dledger"]
GROUP: Final = PROTOCOLS["replica_group"]


@cache
def group_logs(seed: int, controllers: int = 3) -> tuple[NodeLog, ...]:
    lines, options = NodeLines(), SimOptions(controllers=controllers, steps=40)
    unobserved = GROUP.simulation.unobserved()
    simulate(GROUP.simulation, seed, options, unobserved, write=lines.write)
    return lines.logs()


def members(seed: int) -> Sequence[NodeLog]:
    return DLEDGER.own_logs(group_logs(seed))


def has_committed(record: NodeRecord) -> bool:
    return bool(record.sequence) and "committed" in record.state


def with_one_more_committed(record: NodeRecord) -> NodeRecord:
    state = {**record.state, "committed": record.state["committed"] + 1}
    return msgspec.structs.replace(record, state=state)


@pytest.mark.parametrize("seed", [5, 10])
def test_members_do_what_dledger_allows(seed: int) -> None:
    logs = members(seed)
    assert {log.header.node for log in logs} == {"c1", "c2", "c3"}
    forged = changed(logs, has_committed, with_one_more_committed, 3)
    traces = [DLEDGER.trace_of_records(logs), DLEDGER.trace_of_records(forged)]
    actions = {event.action for event in traces[0].events}
    assert {"Crash", "AppendAsLeader", "SendHeartbeat"} <= actions

    right, wrong = judged(traces)

    assert kind(right) == "conforms"
    assert isinstance(wrong, Diverges)
    assert wrong.action in ("CommitEntry", "LearnCommit")


def test_a_controller_that_is_alone_is_no_member() -> None:
    assert not DLEDGER.own_logs(group_logs(5, controllers=1))


def test_the_group_itself_is_not_judged_by_records() -> None:
    with pytest.raises(RecordError, match="--protocol dledger"):
        GROUP.trace_of_records(group_logs(5))
