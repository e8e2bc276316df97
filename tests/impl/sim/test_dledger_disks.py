"""Disks that fail, are full, slow, or damage a log: what is left, and what a member makes of it."""

from __future__ import annotations

import copy
from dataclasses import replace
from random import Random
from typing import Any, Final

import pytest

from rocketha.dledger.performers import DLedgerFiles
from rocketha.dledger.push_state import SyncLedger, TruncateLedger
from rocketha.dledger.register import RegisterService, write_entry
from rocketha.dledger.state import KeepTermAndVote
from rocketha.dledger.store_options import StoreOptions
from rocketha.errors import DiskError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.sim.dledger.cluster import DLedgerCluster
from rocketha.sim.dledger.disk_faults import DiskFaults
from rocketha.sim.dledger.failing_disk import (
    DiskFailure,
    FailingDisk,
    copied_files,
    is_done_on,
)
from rocketha.sim.dledger.member import STORE
from rocketha.sim.dledger.workload import DLedgerWorkload
from rocketha.sim.engine.crash_points import ENDS, Ending
from rocketha.sim.engine.failure import CoreFailure
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.random_source import Injection, InjectionPoint, PerPurposeStreams
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
from tests.impl.sim.test_dledger_simulate import go_on, group_of

ENTRIES: Final = 90
"""So many are in two files."""


def failure(operations: int, fault: Fault = Fault.DISK_ERROR) -> DiskFailure:
    ending = Ending(end=Fault.PROCESS_CRASH, rng=Random(0))
    return DiskFailure(fault=fault, operations=operations, ending=ending)


def test_a_file_whose_fsync_has_failed_looks_whole_and_the_power_takes_it() -> None:
    memory = MemoryDisk()
    device = FailingDisk(memory)
    device.write("a", 0, b"known")
    device.fsync("a")
    device.fsync_dir("")
    device.write("a", 0, b"taken")
    device.fail(failure(0))
    with pytest.raises(DiskError, match="Input/output error"):
        device.fsync("a")
    device.fail(None)
    device.fsync("a")
    assert device.read("a") == b"taken"

    memory.lose_unsynced()

    assert device.read("a") == b"known"


def test_of_a_write_that_fails_a_half_is_there() -> None:
    device = FailingDisk(MemoryDisk())
    device.fail(failure(1))
    device.write("a", 0, b"whole")
    with pytest.raises(DiskError):
        device.write("b", 0, b"halves")
    assert (device.read("a"), device.read("b")) == (b"whole", b"hal")


def test_a_full_disk_refuses_what_needs_room() -> None:
    device = FailingDisk(MemoryDisk())
    device.write("a", 0, b"there")
    device.fail(failure(0, Fault.DISK_FULL))
    device.fsync("a")
    device.rename("a", "b")
    device.unlink("b")
    with pytest.raises(DiskError, match="No space left"):
        device.write("c", 0, b"x")


def files_of(entries: int) -> tuple[MemoryDisk, FailingDisk, DLedgerFiles]:
    memory = MemoryDisk()
    device = FailingDisk(memory)
    files = DLedgerFiles.open(device, STORE, RegisterService())
    files.store.keep(TermAndVote(curr_term=Term(1), vote_leader="b1"))
    for number in range(entries):
        files.store.append(DLedgerEntryType.NORMAL, Term(1), write_entry("r", number))
    files.store.sync()
    return memory, device, files


def test_a_cut_that_fails_is_done_or_not_and_never_half() -> None:
    found = []
    written = files_of(ENTRIES)
    assert len(written[0].names("data")) > 1
    for operations in range(40):
        memory, device, files = copy.deepcopy(written)
        before = copied_files(files, device)
        device.fail(failure(operations))
        try:
            files.store.truncate(LogIndex(5))
        except DiskError:
            done = is_done_on(
                memory, TruncateLedger(index=LogIndex(5)), before, STORE, RegisterService
            )
            end = DLedgerFiles.open(memory, STORE, RegisterService()).store.end_index
            assert end == (4 if done else ENTRIES - 1), operations
            found.append(done)
        else:
            break

    assert found == sorted(found)
    assert set(found) == {False, True}


def test_a_vote_whose_writing_fails_was_given_or_not() -> None:
    found = []
    written = files_of(3)
    vote = TermAndVote(curr_term=Term(2), vote_leader="b2")
    for operations in range(9):
        memory, device, files = copy.deepcopy(written)
        before = copied_files(files, device)
        device.fail(failure(operations))
        try:
            files.store.keep(vote)
        except DiskError:
            found.append(
                is_done_on(memory, KeepTermAndVote(kept=vote), before, STORE, RegisterService)
            )
            kept = DLedgerFiles.open(memory, STORE, RegisterService()).store.kept
            assert (kept == vote) == found[-1], operations
            assert not is_done_on(memory, SyncLedger(), before, STORE, RegisterService)
        else:
            break

    assert found == sorted(found)
    assert set(found) == {False, True}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("fault", [Fault.DISK_ERROR, Fault.DISK_FULL])
def test_a_leader_whose_disk_fails_ends_and_comes_back(fault: Fault, end: Fault) -> None:
    for operations in (0, 3, 7):
        cluster, plan, streams, _ = group_of(3, seed=operations)
        DLedgerWorkload(cluster, plan, streams).begin()
        go_on(cluster, 1_500)
        leader = cluster.leader()
        assert leader is not None
        ending = Ending(end=end, rng=Random(0))
        chosen = DiskFailure(fault=fault, operations=operations, ending=ending)
        leader.machine.device.fail(chosen)
        started = leader.machine.incarnation

        go_on(cluster, 3_000)

        assert cluster.counts.by_name() == {fault.value: 1}
        assert leader.machine.incarnation == started + 1
        assert leader.machine.device.failure is None
        ends = {one.files().store.end_index for one in cluster.members.values()}
        assert max(ends) - min(ends) < 3
        assert all(one.host.is_up for one in cluster.members.values())


def test_a_member_with_a_slow_disk_takes_fewer_steps() -> None:
    cluster, plan, streams, observer = group_of(3)
    DLedgerWorkload(cluster, plan, streams).begin()
    go_on(cluster, 1_500)
    leader = cluster.leader()
    assert leader is not None

    def taken() -> int:
        before = len(observer.steps)
        go_on(cluster, 1_000)
        return sum(step.member == leader.id for step in observer.steps[before:])

    usual = taken()
    leader.slow_down(1_000)
    slow = taken()

    assert 0 < slow < 2 * usual / 3


def test_a_member_that_starts_on_a_damaged_log_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster, plan, streams, _ = group_of(3)
    DLedgerWorkload(cluster, plan, streams).begin()
    go_on(cluster, 1_500)
    whole = DLedgerFiles.open

    def started_anyway(disk: Any, options: StoreOptions, machine: RegisterService) -> DLedgerFiles:
        return whole(disk, replace(options, discard_damaged_log=True), machine)

    monkeypatch.setattr(DLedgerFiles, "open", started_anyway)

    def strike() -> None:
        for number in range(1, 6):
            damage(cluster, streams, number)
            go_on(cluster, 2_000)

    with pytest.raises(CoreFailure, match="its log is damaged"):
        strike()


def damage(cluster: DLedgerCluster, streams: PerPurposeStreams, number: int) -> None:
    point = InjectionPoint(Fault.DAMAGED_FILE, "", number)
    DiskFaults(cluster).handlers()[Fault.DAMAGED_FILE](Injection(streams, point))


@pytest.mark.parametrize("seed", range(6))
def test_a_member_throws_a_damaged_log_away_and_votes_when_it_has_it_again(seed: int) -> None:
    cluster, plan, streams, _ = group_of(3, seed=seed)
    DLedgerWorkload(cluster, plan, streams).begin()
    go_on(cluster, 1_500)
    number = 1
    damage(cluster, streams, number)
    while not cluster.counts.by_name():  # its log had no entries behind its snapshot
        number += 1
        go_on(cluster, 2_000)
        damage(cluster, streams, number)
    assert cluster.counts.by_name() == {Fault.DAMAGED_FILE.value: 1}
    (struck,) = [one for one in cluster.members.values() if not one.host.is_up]
    before = struck.files().store
    assert struck.machine.is_damaged
    assert before.kept is not None

    while not struck.host.is_up:
        assert cluster.scheduler.run_next(cluster.now_ms + 2_000)
    lost = struck.files()
    assert not struck.machine.is_damaged
    assert lost.store.end_index == lost.snapshot_index < before.end_index
    member = struck.state.elector.member
    assert member.refill_term == before.kept.curr_term + 1 > member.ledger_end_term
    damage(cluster, streams, number + 1)
    assert cluster.counts.by_name() == {Fault.DAMAGED_FILE.value: 1}, "no two at once"

    go_on(cluster, 4_000)
    member = struck.state.elector.member
    assert member.ledger_end_term >= member.refill_term
    assert struck.files().store.end_index >= before.end_index
    leader = cluster.leader()
    assert leader is not None
    assert leader.state.elector.member.curr_term >= member.refill_term
