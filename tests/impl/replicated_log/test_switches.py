"""Each switch of snapshots is told apart from the real thing."""

from __future__ import annotations

import pytest

from rocketha.errors import SnapshotGapError
from rocketha.known_bugs import Bug
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
from tests.impl.replicated_log.registers import (
    HISTORY,
    STATES,
    Liar,
    Registers,
    entry_data,
    flip,
    install,
    leaders,
    run,
)


def test_b53_brings_back_what_was_removed() -> None:
    for bugs, expected in ((frozenset[Bug](), STATES[6]), (frozenset({Bug.B53}), None)):
        node = Registers(MemoryDisk(), bugs=bugs)
        node.put(HISTORY[0])
        install(node, leaders(6))
        assert (node.values == STATES[6]) == (expected is not None)


def follower(disk: MemoryDisk, *bugs: Bug) -> Registers:
    """Make a node with three entries, the last two of which are not known to be agreed on."""
    node = Registers(disk, bugs=frozenset(bugs))
    node.put(HISTORY[0], Term(1))
    for index in (2, 3):
        node.manager.append(LogIndex(index), entry_data(HISTORY[index - 1]), Term(1))
    return node


def test_b54_takes_no_snapshot() -> None:
    node = Registers(MemoryDisk(), bugs=frozenset({Bug.B54}))
    assert not install(node, leaders(3))
    assert node.applied == 0


def test_b55_cuts_what_the_newest_snapshot_has_not() -> None:
    disk = MemoryDisk()
    run(disk, HISTORY[:3], bugs=frozenset({Bug.B55}))
    with pytest.raises(SnapshotGapError, match="begins with entry 4, the snapshots end at 2"):
        Registers(disk)


def test_b56_installs_once() -> None:
    node = Registers(MemoryDisk(), bugs=frozenset({Bug.B56}))
    assert install(node, leaders(3))
    assert not install(node, leaders(5))
    for entry in HISTORY[3:6]:
        node.put(entry)
    assert node.files.indexes == (3,)


def test_b57_goes_on_with_a_gap() -> None:
    disk = MemoryDisk()
    node = run(disk, HISTORY[:2])
    install(node, leaders(6))
    node.put(HISTORY[6])
    flip(disk, "snapshot/snapshot_6")
    assert Registers(disk, bugs=frozenset({Bug.B57})).values not in STATES


def test_b58_leaves_the_commit_index_behind() -> None:
    node = Registers(MemoryDisk(), bugs=frozenset({Bug.B58}))
    install(node, leaders(6))
    assert node.caller.commit < node.applied


def test_b68_cuts_what_no_snapshot_has() -> None:
    disk = MemoryDisk()
    run(disk, HISTORY[:1], bugs=frozenset({Bug.B68}))
    with pytest.raises(SnapshotGapError):
        Registers(disk)


def test_older_snapshots_that_are_deleted_early_cannot_serve() -> None:
    disk = Liar(2)
    run(disk, HISTORY[:4], bugs=frozenset({Bug.EXPIRED}))
    assert Registers(disk).files.indexes == ()


def test_a_load_that_fails_leaves_a_part() -> None:
    disk = MemoryDisk()
    run(disk, HISTORY[:3])
    at = disk.read("snapshot/snapshot_2").rindex(b'b":2}')
    flip(disk, "snapshot/snapshot_2", at)
    again = Registers(disk, bugs=frozenset({Bug.FRESH_OBJECT}))
    assert (again.applied, again.values) == (3, {"b": 2, "c": 2})
    assert STATES[3] == {"b": 2}


def test_a_snapshot_may_come_that_is_behind_what_is_known() -> None:
    node = run(MemoryDisk(), HISTORY[:3], bugs=frozenset({Bug.INSTALL_FRESH}))
    assert install(node, leaders(2))
    assert not install(node, leaders(1))


def test_a_start_behind_a_gap_lacks_what_was_before() -> None:
    disk = MemoryDisk()
    run(disk, HISTORY[:4])
    for index in (2, 4):
        flip(disk, f"snapshot/snapshot_{index}")
    assert Registers(disk, bugs=frozenset({Bug.REFUSE_GAP})).values not in STATES


def test_a_snapshot_may_say_more_than_it_has() -> None:
    disk = MemoryDisk()
    node = follower(disk, Bug.SNAP_AT_APPLIED)
    node.caller.learn_commit(LogIndex(3))
    node.manager.apply_next()
    node.manager.save_if_due()
    assert node.files.indexes == (3,)
    assert Registers(disk).values == STATES[2]


def test_a_load_may_drop_the_log_that_goes_on() -> None:
    node = follower(MemoryDisk(), Bug.SUFFIX_KEPT)
    assert install(node, leaders(2, term=1))
    assert node.log.end_index == 2


def test_a_load_may_leave_a_log_of_another_leader() -> None:
    node = follower(MemoryDisk(), Bug.SUFFIX_DROPPED)
    assert install(node, leaders(2, term=3))
    assert (node.log.end_index, node.log.term_of(LogIndex(2))) == (3, 1)


def test_a_snapshot_may_be_loaded_that_is_passed() -> None:
    for bugs, expected in (((), 3), ((Bug.VALIDITY,), 2)):
        node = follower(MemoryDisk(), *bugs)
        node.manager.receive(leaders(2, term=1))
        node.caller.learn_commit(LogIndex(3))
        while node.manager.apply_next():
            pass
        node.manager.load_received()
        assert (node.applied, node.values) == (expected, STATES[expected])


def test_without_a_checksum_another_state_is_loaded() -> None:
    disk = MemoryDisk()
    bugs = frozenset({Bug.CRC})
    run(disk, HISTORY[:5], bugs=bugs)
    at = disk.read("snapshot/snapshot_4").rindex(b"4}")
    flip(disk, "snapshot/snapshot_4", at)
    assert Registers(disk, bugs=bugs).values not in STATES


def test_a_log_cut_at_the_newest_snapshot_leaves_no_way_back() -> None:
    disk = MemoryDisk()
    run(disk, HISTORY[:5], bugs=frozenset({Bug.CUT_AT_OLDEST}))
    flip(disk, "snapshot/snapshot_4")
    with pytest.raises(SnapshotGapError, match="begins with entry 5, the snapshots end at 2"):
        Registers(disk)


def test_what_nobody_has_read_back_cannot_be_read_later() -> None:
    disk = Liar(1, 2)
    run(disk, HISTORY[:5], bugs=frozenset({Bug.READ_BACK}))
    with pytest.raises(SnapshotGapError):
        Registers(disk)
