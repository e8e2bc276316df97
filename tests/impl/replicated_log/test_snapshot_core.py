"""What a node with snapshots asks for, step by step; a test performs it, or does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.errors import SnapshotError
from rocketha.replicated_log.snapshot_core import (
    ApplyDue,
    CleanUpDue,
    CommitLearned,
    EntryReceived,
    LoadDue,
    LoadNewestDue,
    SaveDue,
    SnapshotCore,
    SnapshotEvent,
    SnapshotReceived,
    SnapshotState,
    SnapshotStepped,
)
from rocketha.replicated_log.snapshot_effects import (
    AppendEntry,
    ApplyEntry,
    CutLog,
    DeleteSnapshot,
    DropDamaged,
    LoadState,
    OverwriteEntries,
    WriteSnapshot,
)
from rocketha.replicated_log.snapshot_files import SnapshotWriter
from rocketha.replicated_log.snapshot_performer import SnapshotPerformer, SnapshotView
from rocketha.runtime.effects import Then
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term, TimestampMs
from tests.impl.replicated_log.registers import HISTORY, OPTIONS, Registers, flip, leaders, meta

NEVER = replace(OPTIONS, snapshot_threshold=100)


class Node:
    """A node whose core is stepped by hand; it has the first entries, and no snapshot."""

    def __init__(self, entries: int) -> None:
        self.disk = MemoryDisk()
        self.registers = Registers(self.disk, options=NEVER)
        for entry in HISTORY[:entries]:
            self.registers.put(entry)
        parts = self.registers.files, self.registers.log, self.registers.caller
        self.view = SnapshotView(*parts)
        self.performer = SnapshotPerformer(*parts)
        self.core = SnapshotCore(OPTIONS)
        self.state = SnapshotState()

    def step(self, event: SnapshotEvent) -> SnapshotStepped:
        """Take an event, and perform nothing."""
        stepped = self.core.step(self.state, event, now_ms=TimestampMs(0), log=self.view)
        self.state = stepped.state
        return stepped

    def do(self, event: SnapshotEvent) -> list[object]:
        """Take an event and what follows, perform all of it, and return what was performed."""
        done: list[object] = []
        events: list[SnapshotEvent] = [event]
        while events:
            for effect in self.step(events.pop(0)).effects:
                if isinstance(effect, Then):
                    events.append(effect.event)
                else:
                    self.performer.perform(effect, None)
                    done.append(effect)
        return done


def index(number: int) -> LogIndex:
    return LogIndex(number)


def test_an_entry_goes_behind_the_log_or_in_the_place_of_others() -> None:
    node = Node(2)
    received = EntryReceived(index(3), b"e", Term(4))
    assert node.step(received).effects == (AppendEntry(b"e", Term(4)),)
    again = EntryReceived(index(2), b"e", Term(4))
    assert node.step(again).effects == (OverwriteEntries(index(2), b"e", Term(4)),)
    assert node.registers.log.end_index == 2  # a step changes nothing


def test_an_entry_is_applied_if_it_was_agreed_on_and_is_there() -> None:
    node = Node(0)
    assert node.step(ApplyDue()).effects == ()
    node.do(EntryReceived(index(1), b'{"key":"a","value":1}', Term(4)))
    assert node.step(ApplyDue()).effects == ()
    node.do(CommitLearned(index(2)))
    assert node.step(ApplyDue()).effects == (ApplyEntry(b'{"key":"a","value":1}', Term(4)),)
    assert node.registers.applied == 0


def test_nothing_is_deleted_before_a_snapshot_was_read_back() -> None:
    node = Node(2)
    [written, then] = node.step(SaveDue()).effects
    assert isinstance(written, WriteSnapshot)
    assert isinstance(then, Then)
    assert (written.index, node.state.last, node.disk.names("snapshot")) == (2, 0, ())
    assert node.step(SaveDue()).effects == ()  # it was tried

    node = Node(2)
    done: list[object] = []
    for count in (3, 4, 5, 6, 7):
        done = node.do(SaveDue())
        assert [type(effect) for effect in done][:1] in ([], [WriteSnapshot])
        node.registers.put(HISTORY[count - 1])
    assert node.disk.names("snapshot") == ("snapshot_4", "snapshot_6")
    assert done == [
        WriteSnapshot(index(6), node.disk.read("snapshot/snapshot_6")),
        DeleteSnapshot(index(2)),
        CutLog(index(4)),
    ]
    assert (node.registers.log.first_index, node.state.last) == (5, 6)


def test_a_snapshot_that_the_disk_has_damaged_goes_and_does_not_count() -> None:
    node = Node(2)
    [written, then] = node.step(SaveDue()).effects
    assert isinstance(written, WriteSnapshot)
    assert isinstance(then, Then)
    node.performer.perform(written, None)
    flip(node.disk, "snapshot/snapshot_2")
    assert node.do(then.event) == [DeleteSnapshot(index(2))]
    assert isinstance(node.state.failure, SnapshotError)
    assert node.state.last == 0
    assert node.disk.names("snapshot") == ()


def test_one_snapshot_of_a_leader_is_on_its_way_at_a_time_and_only_one_that_is_ahead() -> None:
    node = Node(3)
    assert node.step(SnapshotReceived(leaders(3))).effects == ()
    assert node.do(SnapshotReceived(leaders(5))) == [WriteSnapshot(index(5), leaders(5))]
    assert node.step(SnapshotReceived(leaders(6))).effects == ()
    assert node.step(SaveDue()).effects == ()  # nor is one saved
    with pytest.raises(SnapshotError):
        node.step(SnapshotReceived(b"none"))
    assert node.state.receiving == (5, leaders(5))


def test_a_leaders_snapshot_is_loaded_unless_it_is_passed() -> None:
    node = Node(2)
    node.do(SnapshotReceived(leaders(4)))
    [then] = node.step(LoadDue()).effects
    assert isinstance(then, Then)
    [load] = node.step(then.event).effects
    assert isinstance(load, LoadState)
    assert load.snapshot.meta.last_included_index == 4

    late = Node(2)
    late.do(SnapshotReceived(leaders(4)))
    for entry in HISTORY[2:6]:
        late.registers.put(entry)
    assert late.do(LoadDue()) == []
    assert (late.state.last, late.registers.applied) == (4, 6)


def test_a_clean_up_counts_only_what_was_read() -> None:
    node = Node(6)
    for number in (1, 3, 5):
        node.registers.files.write(index(number), leaders(number))
    node.state = SnapshotState(last=index(3))
    assert node.step(CleanUpDue()).effects == (CutLog(index(1)),)
    node.state = SnapshotState(last=index(5))
    assert node.step(CleanUpDue()).effects == (DeleteSnapshot(index(1)), CutLog(index(3)))


@pytest.mark.parametrize("entries", [2, 6])
def test_a_leaders_snapshot_without_registers_goes_even_if_the_node_has_passed_it(
    entries: int,
) -> None:
    node = Node(2)
    node.do(SnapshotReceived(SnapshotWriter(meta(4)).encoded()))
    for entry in HISTORY[2:entries]:
        node.registers.put(entry)
    before = node.registers.values

    assert node.do(LoadDue()) == [DeleteSnapshot(index(4))]

    assert isinstance(node.state.failure, SnapshotError)
    assert (node.state.last, node.state.receiving) == (0, None)
    assert node.disk.names("snapshot") == ()
    assert (node.registers.applied, node.registers.values) == (entries, before)


def test_a_start_passes_over_a_snapshot_without_registers() -> None:
    node = Node(2)
    node.registers.files.write(index(1), leaders(1))
    node.registers.files.write(index(2), SnapshotWriter(meta(2)).encoded())

    dropped, then = node.step(LoadNewestDue()).effects

    assert dropped == DropDamaged(index(2))
    assert then == Then(event=LoadNewestDue())
    assert len(node.state.damaged) == 1
