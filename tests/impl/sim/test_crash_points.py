"""Nodes that end between two effects of a step: what a run counts, and what a trace says of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.runtime.effects import (
    AppendLog,
    CloseConnection,
    FlushLog,
    SendPacket,
    StoreEpochs,
    TruncateLog,
)
from rocketha.runtime.ports import StepUnderWay
from rocketha.sim.engine.crash_points import ENDS, CrashPoint
from rocketha.sim.engine.cut_step import Shown, shown_of
from rocketha.sim.engine.faults import ALL_FAULTS, Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketha.sim.engine.simulation import Simulation, simulate
from rocketha.sim.epoch_truncation.simulation import SIMULATION as EPOCHS
from rocketha.sim.legacy_replication.simulation import SIMULATION as LEGACY
from rocketha.sim.lock_quorum.simulation import SIMULATION as LOCKS
from rocketha.sim.replica_group.cut_steps import is_one_for_the_group
from rocketha.sim.replica_group.simulation import SIMULATION as GROUP
from rocketha.types import ConnectionId, Offset

SIMULATIONS: Final[dict[str, Simulation[Any, Any]]] = {
    one.name: one for one in (EPOCHS, LEGACY, LOCKS, GROUP)
}
SEND = SendPacket(conn=ConnectionId(1), data=b"")
STORE = StoreEpochs(entries=())
CUT = TruncateLog(offset=Offset(0))
APPEND = AppendLog(offset=Offset(0), data=b"x")
CLOSE = CloseConnection(conn=ConnectionId(1), reason="why not")


@pytest.mark.parametrize(
    ("done", "shown"),
    [
        ((), Shown.NOTHING),
        ((CLOSE, FlushLog()), Shown.NOTHING),
        ((CLOSE, CUT, FlushLog()), Shown.CUT_LOG),
        ((CUT, FlushLog(), STORE), Shown.WHOLE),
        ((APPEND,), Shown.WHOLE),
        ((APPEND, SEND), Shown.AS_IT_STANDS),
        ((SEND,), Shown.AS_IT_STANDS),
    ],
)
def test_what_is_told_of_a_step_depends_on_what_was_done(
    done: tuple[object, ...], shown: Shown
) -> None:
    assert shown_of(StepUnderWay(event=None, action=None, done=done, rest=(SEND,))) is shown


@pytest.mark.parametrize("protocol", SIMULATIONS)
def test_a_run_without_the_fault_is_the_same_as_before_it_was_there(protocol: str) -> None:
    simulation = SIMULATIONS[protocol]
    without = SimOptions(faults=ALL_FAULTS - {Fault.CUT_IN_STEP})
    for seed in range(6):
        reports = [
            simulate(simulation, seed, options, simulation.unobserved()).report
            for options in (SimOptions(), without)
        ]
        if not reports[0].faults.get(Fault.CUT_IN_STEP):
            assert reports[0] == reports[1]


@pytest.mark.parametrize("protocol", SIMULATIONS)
def test_a_node_ends_at_the_point_that_a_schedule_names(protocol: str) -> None:
    simulation = SIMULATIONS[protocol]
    options = SimOptions(faults=ALL_FAULTS - {Fault.CUT_IN_STEP})
    seams = simulate(simulation, 1, options, simulation.unobserved()).seams
    assert sum(seams.values()) >= 5
    struck: Counter[Fault] = Counter()
    for node, passed in seams.items():
        for end in ENDS:
            point = CrashPoint(node=node, seam=passed, end=end)
            schedule = replace(UNRESTRICTED, crash_point=point)
            run = simulate(simulation, 1, options, simulation.unobserved(), schedule)
            assert run.seams[node] >= passed
            assert run.report.lives
            struck[end] += run.report.faults.get(Fault.CUT_IN_STEP, 0)
    spared = 1 if simulation is GROUP else 0
    assert all(struck[end] >= len(seams) - spared for end in ENDS), struck


@pytest.mark.parametrize(
    ("done", "rest", "one"),
    [
        ((STORE,), (APPEND, SEND), True),
        ((STORE, APPEND), (SEND,), False),
        ((CUT, FlushLog()), (STORE, SEND), True),
        ((CUT, FlushLog(), STORE), (SEND,), False),
        ((CLOSE,), (STORE,), False),
    ],
)
def test_a_group_takes_the_files_of_a_slave_for_one(
    done: tuple[object, ...], rest: tuple[object, ...], *, one: bool
) -> None:
    assert is_one_for_the_group(StepUnderWay(event=None, action=None, done=done, rest=rest)) is one
