"""Controllers that are members of a DLedger group owe each other what any members do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.dledger import heartbeats
from rocketha.dledger.state import Beat, ElectorState, ElectorStepped
from rocketha.obligations.obligation import ObligationFindings
from rocketha.recording.dledger_members import STOOD_STILL, is_member
from rocketha.recording.node_log import NodeLines
from rocketha.sim.dledger.member import StoodStill
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketha.sim.replica_group.simulation import SIMULATION
from rocketha.types import TimestampMs

OWED = "what members of a log owe"


def found(seed: int, controllers: int = 3) -> ObligationFindings:
    options = SimOptions(controllers=controllers, steps=60)
    return simulate(SIMULATION, seed, options, SIMULATION.unobserved()).obligations


@pytest.mark.parametrize("seed", range(4))
def test_members_owe_something_and_do_it(seed: int) -> None:
    findings = found(seed)

    assert findings.counted[OWED] > 500
    assert findings.missed == ()


def test_what_stands_still_is_told_by_its_name() -> None:
    assert StoodStill.__name__ == STOOD_STILL


def test_a_controller_that_is_alone_owes_nobody() -> None:
    assert found(0, controllers=1).counted[OWED] == 0


def test_a_leader_whom_too_few_follow_yet_must_not_wait_an_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge = heartbeats._judge

    def waits(state: ElectorState, beat: Beat, *, now_ms: TimestampMs) -> ElectorStepped:
        stepped = judge(state, beat, now_ms=now_ms)
        sent_ms = state.last_send_heart_beat_ms
        return replace(stepped, state=replace(stepped.state, last_send_heart_beat_ms=sent_ms))

    monkeypatch.setattr(heartbeats, "_judge", waits)

    assert "send heartbeats again" in {one.due.what for one in found(0).missed}


def test_what_a_cut_step_would_have_sent_would_have_gone_to_a_member() -> None:
    lines = NodeLines()
    options = SimOptions(controllers=3)
    simulate(SIMULATION, 1, options, SIMULATION.unobserved(), write=lines.write)

    logs = [log for log in lines.logs() if is_member(log.header)]
    unsent = [
        message
        for log in logs
        for record in log.records
        for message in record.sent
        if ":unsent:" in message.id
    ]
    assert unsent
    assert {message.to for message in unsent} <= {log.header.node for log in logs}
