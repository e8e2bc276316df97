"""The log of a node on its own: it takes a proposal, applies it at once, and tells its node."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from rocketha.errors import DiskError, PowerCutError
from rocketha.replicated_log.replicated_log import (
    EntryApplied,
    LocalLog,
    LogPosition,
    ProposalPerformer,
    Propose,
    Proposed,
)
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
from tests.impl.replicated_log.registers import Entry, Registers, entry_data


class Counted:
    """Registers whose outcome is how many there are."""

    def __init__(self, node: Registers) -> None:
        self.node = node

    def encode(self, entry: Entry) -> bytes:
        return entry_data(entry)

    def on_apply(self, entry: Entry) -> int:
        self.node.machine.on_replay(entry_data(entry))
        return len(self.node.values)


@dataclass
class Busy:
    """A node in the middle of a step: what comes of it waits."""

    is_up: bool = True
    follows: list[object] = field(default_factory=list)

    def take(self, event: object) -> None:
        raise AssertionError(f"a step is under way: {event}")

    def hear(self, event: object) -> None:
        self.follows.append(event)

    def hear_next(self, event: object) -> None:
        self.follows.insert(0, event)


def at(index: int) -> LogPosition:
    return LogPosition(LogIndex(index), Term(0))


def test_where_an_entry_is_comes_before_what_came_of_it() -> None:
    registers, node = Registers(MemoryDisk()), Busy()
    performer = ProposalPerformer(LocalLog(registers.manager, Counted(registers)))
    performer.node = node
    performer.perform(Propose(entry=("a", 1), asker="somebody"), None)
    performer.perform(Propose(entry=("b", 2), asker="another"), None)

    assert node.follows == [
        Proposed(asker="another", position=at(2)),
        Proposed(asker="somebody", position=at(1)),
        EntryApplied(position=at(1), entry=("a", 1), outcome=1),
        EntryApplied(position=at(2), entry=("b", 2), outcome=2),
    ]
    assert registers.values == {"a": 1, "b": 2}


def test_a_snapshot_is_saved_when_it_is_time_and_a_start_tells_nobody() -> None:
    disk, node = MemoryDisk(), Busy()
    registers = Registers(disk)
    log = LocalLog(registers.manager, Counted(registers))
    log.tell(node.hear)
    assert [log.propose(("a", value)) for value in (1, 2, 3)] == [at(1), at(2), at(3)]
    assert disk.names("snapshot") == ("snapshot_2",)
    assert len(node.follows) == 3

    again, later = Registers(disk), Busy()
    second = LocalLog(again.manager, Counted(again))
    second.tell(later.hear)
    assert again.loaded.index == 2
    assert again.values == {"a": 3}
    assert later.follows == []
    assert second.propose(("a", 4)) == at(4)
    with pytest.raises(AssertionError, match="somebody hears"):
        second.tell(node.hear)


def test_a_disk_that_fails_says_nothing_of_the_entry() -> None:
    disk, node = MemoryDisk(), Busy()
    # Three operations make the log, one writes the record, one synchronizes it.
    registers = Registers(CutDisk(disk, cut_before=4))
    performer = ProposalPerformer(LocalLog(registers.manager, Counted(registers)))
    performer.node = node
    with pytest.raises(PowerCutError):
        performer.perform(Propose(entry=("a", 1), asker="somebody"), None)
    with pytest.raises(DiskError):
        performer.perform(Propose(entry=("a", 1), asker="somebody"), None)
    assert node.follows == []
    assert registers.values == {}


def test_a_node_that_is_down_hears_nothing() -> None:
    registers, node = Registers(MemoryDisk()), Busy(is_up=False)
    log = LocalLog(registers.manager, Counted(registers))
    performer = ProposalPerformer(log)
    performer.node = node
    log.propose(("a", 1))
    assert node.follows == []
    assert registers.values == {"a": 1}
