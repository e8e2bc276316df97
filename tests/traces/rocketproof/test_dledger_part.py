"""Records of DLedger members, of which a process may have died before it wrote its last one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec
import pytest

from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import STARTED, STOPPED, NodeRecord
from rocketha.sim.engine.faults import ALL_FAULTS, Fault, Faults
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import judged, recorded
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict

PLUG: Final = PROTOCOLS["dledger"]
Logs = tuple[NodeLog, ...]


def in_part(seed: int, faults: Faults = ALL_FAULTS) -> Logs:
    """Return what all members wrote, as processes do: nothing of clients, and who keeps records."""
    logs = recorded("dledger", seed, faults=faults).logs
    keepers = [log.header.node for log in logs]
    return tuple(
        replace(
            log,
            header=msgspec.structs.replace(
                log.header, settings={**log.header.settings, "recorded_peers": keepers}
            ),
            records=tuple([msgspec.structs.replace(one, heard=()) for one in log.records]),
        )
        for log in logs
    )


def with_records(
    logs: Logs, node: str, change: Callable[[list[NodeRecord]], list[NodeRecord]]
) -> Logs:
    return tuple(
        replace(log, records=tuple(change(list(log.records)))) if log.header.node == node else log
        for log in logs
    )


def verdict_of(logs: Logs) -> Verdict:
    (verdict,) = judged(PLUG.traces_of_records(logs))
    return verdict


@pytest.mark.parametrize("seed", [0, 1, 23])
def test_all_members_may_be_looked_at(seed: int) -> None:
    assert isinstance(verdict_of(in_part(seed)), Conforms)


@pytest.mark.parametrize(
    ("seed", "node", "incarnation", "action"),
    [
        (9, "b1", 8, "SaveSnapshot"),
        (23, "b1", 3, "CutLog"),
        (4, "b2", 8, "InstallSnapshot"),
    ],
)
def test_the_disk_may_have_a_snapshot_more_than_was_written_down(
    seed: int, node: str, incarnation: int, action: str
) -> None:
    logs = in_part(seed, ALL_FAULTS - {Fault.DAMAGED_FILE})

    def without_last(records: list[NodeRecord]) -> list[NodeRecord]:
        last = [one for one in records if one.incarnation == incarnation and one.event != STOPPED]
        assert last[-1].action == action
        assert not last[-1].sent
        later = [one for one in records if one.incarnation > incarnation]
        return [one for one in records if one.incarnation < incarnation] + last[:-1] + later

    def with_one_more(records: list[NodeRecord]) -> list[NodeRecord]:
        at = next(n for n, r in enumerate(records) if is_next_start(r))
        begins = records[at]
        snapshot = begins.state["snapshot"]
        assert isinstance(snapshot, int)
        state = {**begins.state, "snapshot": snapshot + 1}
        records[at] = msgspec.structs.replace(begins, state=state)
        return records

    def is_next_start(record: NodeRecord) -> bool:
        return record.incarnation == incarnation + 1 and record.event == STARTED

    cut = with_records(logs, node, without_last)
    assert isinstance(verdict_of(cut), Conforms)
    assert isinstance(verdict_of(with_records(cut, node, with_one_more)), Diverges)
