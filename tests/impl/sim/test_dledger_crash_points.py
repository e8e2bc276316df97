"""Members of a DLedger group that end before an operation of a disk, in an effect or a start."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

import pytest

from rocketha.dledger import store
from rocketha.dledger.snapshots import SnapshotStore
from rocketha.sim.dledger.cluster import NullDLedgerObserver
from rocketha.sim.dledger.simulation import SIMULATION
from rocketha.sim.engine.crash_points import (
    DISCARD,
    ENDS,
    START,
    STOP,
    CrashPoint,
    CrashPoints,
    DiskUse,
)
from rocketha.sim.engine.faults import ALL_FAULTS, Fault
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.storage.disk import Disk, parent
from rocketproof.crash_points import judge_crash_point
from rocketproof.failing import RunJudge
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled
from rocketproof.shrinking import How
from rocketproof.trace_inputs import SpecChoice

SEED: Final = 0
"""Its run saves and installs snapshots, and members come back."""
OPTIONS: Final = SimOptions(faults=ALL_FAULTS - {Fault.CUT_IN_STEP})


SAVE: Final = "SaveSnapshot"


def run_of(point: CrashPoint | None = None) -> SimulatedRun:
    schedule = replace(UNRESTRICTED, crash_point=point)
    return simulate(SIMULATION, SEED, OPTIONS, NullDLedgerObserver(), schedule)


def test_effects_and_starts_are_counted_together_and_what_each_does() -> None:
    points = CrashPoints()
    assert not points.begins("b1", START)
    assert points.operates("b1", "fsync data/0") is None
    points.begins("b1", "SendRequest")
    points.begins("b1", "SyncLedger")
    points.operates("b1", "fsync data/0")
    points.operates("b1", "write index/0")

    assert points.disk_use == {
        "b1": [
            DiskUse(number=1, what=START, operations=["fsync data/0"]),
            DiskUse(number=3, what="SyncLedger", operations=["fsync data/0", "write index/0"]),
        ]
    }


def test_a_node_ends_before_the_operation_that_is_chosen_and_no_other() -> None:
    chosen = CrashPoint(node="b1", effect=2, operation=2, end=Fault.POWER_CUT)
    points = CrashPoints(chosen)
    for number, begins in ((1, False), (2, True), (3, False)):
        assert points.begins("b1", "SyncLedger") is begins
        assert points.begins("b2", "SyncLedger") is False
        found = [points.operates("b1", "fsync data/0") for _ in range(3)]
        assert [end is not None for end in found] == [False, number == 2, False]
    assert str(chosen) == "b1 before disk operation 2 of effect 2 by power-cut"


def test_a_member_ends_in_each_kind_of_effect_and_while_it_starts() -> None:
    as_it_is = run_of()
    uses = {use.what: (node, use) for node, some in as_it_is.disk_use.items() for use in some}
    assert {START, "KeepTermAndVote", "SyncLedger", "SaveSnapshot", "InstallSnapshot"} <= {*uses}
    struck: Counter[Fault] = Counter()
    for node, use in uses.values():
        for end in ENDS:
            at = (1 + len(use.operations)) // 2
            point = CrashPoint(node=node, effect=use.number, operation=at, end=end)
            run = run_of(point)
            assert run.report.lives, point
            struck[end] += run.report.faults.get(Fault.CUT_IN_STEP, 0) > 0
    assert struck == dict.fromkeys(ENDS, len(uses))


def test_a_vote_that_is_written_in_place_is_noticed_where_that_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plug = PROTOCOLS["dledger"]
    options = plug.configured(SEED)
    uses = plug.observe(SEED, options).disk_use["b1"]
    keeps = [use for use in uses if use.what == "KeepTermAndVote"]
    point = CrashPoint(node="b1", effect=keeps[3].number, operation=1, end=Fault.PROCESS_CRASH)

    def failure(chosen: CrashPoint | None) -> object:
        schedule = replace(UNRESTRICTED, crash_point=chosen)
        run = plug.run_scheduled(
            Scheduled(protocol="dledger", seed=SEED, options=options, schedule=schedule),
            errors_are_failures=True,
        )
        assert chosen is None or run.report.faults[Fault.CUT_IN_STEP] >= 1
        return run.report.failure or RunJudge(SpecChoice()).failure(run)

    def in_place(disk: Disk, path: str, data: bytes) -> None:
        disk.write(path, 0, data)
        disk.truncate(path, len(data))
        disk.fsync(path)
        disk.fsync_dir(parent(path))

    assert failure(point) is None
    monkeypatch.setattr(store, "replace_file", in_place)
    assert failure(None) is None
    assert str(failure(point)).startswith("TermFileError: ")


@pytest.mark.parametrize("operation", range(1, 5))
def test_a_member_that_had_written_nothing_is_as_if_it_had_not_been_there(operation: int) -> None:
    plug = PROTOCOLS["dledger"]
    seed = 3
    options = plug.configured(seed)
    point = CrashPoint(node="b3", effect=2, operation=operation, end=Fault.POWER_CUT)
    scheduled = Scheduled(
        protocol="dledger",
        seed=seed,
        options=options,
        schedule=replace(UNRESTRICTED, crash_point=point),
    )
    first = next(use for use in plug.observe(seed, options).disk_use["b3"] if use.number == 2)
    assert (first.what, len(first.operations)) == ("KeepTermAndVote", 4)

    found = judge_crash_point(scheduled, RunJudge(SpecChoice()))

    assert (found.struck, found.how) == (True, None)


@pytest.mark.parametrize("end", ENDS)
def test_a_member_that_ends_in_order_may_end_before_its_log_is_durable(end: Fault) -> None:
    plug, seed = PROTOCOLS["dledger"], 4
    options = plug.configured(seed)
    node, use = next(
        (node, use)
        for node, some in plug.observe(seed, options).disk_use.items()
        for use in some
        if use.what == STOP
    )
    assert use.operations[0].startswith("fsync ")
    point = CrashPoint(node=node, effect=use.number, operation=1, end=end)
    scheduled = Scheduled(
        protocol="dledger",
        seed=seed,
        options=options,
        schedule=replace(UNRESTRICTED, crash_point=point),
    )

    found = judge_crash_point(scheduled, RunJudge(SpecChoice()))

    assert (found.struck, found.how) == (True, None)


def test_a_start_that_does_not_make_durable_what_it_has_read_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The process ends before a new snapshot is durable, and power goes off behind the start."""
    plug, seed = PROTOCOLS["dledger"], 2
    options = plug.configured(seed)
    use = next(use for use in plug.observe(seed, options).disk_use["b1"] if use.what == SAVE)
    assert use.operations[-1].startswith("fsync_dir ")
    point = CrashPoint(
        node="b1", effect=use.number, operation=len(use.operations), end=Fault.PROCESS_CRASH
    )
    schedule = replace(UNRESTRICTED, crash_point=point)
    scheduled = Scheduled(protocol="dledger", seed=seed, options=options, schedule=schedule)
    judge = RunJudge(SpecChoice())

    as_it_is = judge_crash_point(scheduled, judge)
    monkeypatch.setattr(SnapshotStore, "recover", SnapshotStore.newest)
    changed = judge_crash_point(scheduled, judge)

    assert (as_it_is.struck, as_it_is.how) == (True, None)
    assert (changed.struck, changed.how) == (True, How.REJECTED)


def test_a_log_that_is_thrown_away_in_another_order_is_noticed_where_that_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plug = PROTOCOLS["dledger"]
    options = plug.configured(SEED)
    (found,) = [
        (node, use)
        for node, some in plug.observe(SEED, options).disk_use.items()
        for use in some
        if use.what == DISCARD
    ]
    node, use = found
    judge = RunJudge(SpecChoice())

    def how(operation: str) -> How | None:
        at = next(n for n, one in enumerate(use.operations, 1) if one.startswith(operation))
        point = CrashPoint(node=node, effect=use.number, operation=at, end=Fault.POWER_CUT)
        schedule = replace(UNRESTRICTED, crash_point=point)
        scheduled = Scheduled(protocol="dledger", seed=SEED, options=options, schedule=schedule)
        crashed = judge_crash_point(scheduled, judge)
        assert crashed.struck
        return crashed.how

    assert [how("unlink data/"), how("unlink index/")] == [None, None]
    remove = store.DLedgerStore.discard

    def term_last(disk: Disk, options: store.StoreOptions) -> None:
        for folder in map(options.path, ("data", "index")):
            for name in disk.names(folder):
                disk.unlink(f"{folder}/{name}")
            disk.fsync_dir(folder)
        remove(disk, options)

    monkeypatch.setattr(store.DLedgerStore, "discard", staticmethod(term_last))
    assert how("unlink data/") is How.REJECTED
