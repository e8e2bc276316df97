"""A crash at every operation of the disk, and a second one at every operation of the recovery."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pytest

from rocketha.dledger.store import DLedgerStore
from rocketha.errors import PowerCutError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk
from tests.impl.dledger.store_model import (
    OPTIONS,
    Append,
    DeleteBefore,
    Keep,
    Life,
    Log,
    Operation,
    Reset,
    Sync,
    Truncate,
    appends,
    seen,
)

DRAWS: Final = 3
"""Ways that are drawn for each place, besides some that are the same for each."""

AFTERWARDS: Final[tuple[Operation, ...]] = (Keep(90, "n2"), *appends(900, 4, term=90), Sync())

EIGHT: Final[tuple[Operation, ...]] = (Keep(1, "n0"), *appends(0, 8), Sync())
SCENARIOS: Final[dict[str, tuple[tuple[Operation, ...], tuple[Operation, ...]]]] = {
    "a first append": (
        (Keep(1, "n0"),),
        (*appends(0, 1), Sync()),
    ),
    "appends over several files": (
        (Keep(1, "n0"), *appends(0, 2), Sync()),
        (*appends(2, 5), Sync(), *appends(7, 1, follower=True), Sync(), *appends(8, 4)),
    ),
    "entries without a body, and one that fills a file": (
        (Keep(1, "n0"),),
        (
            Append(1, b"", DLedgerEntryType.NOOP),
            Append(1, bytes(100)),
            Append(1, bytes(256 - 48 - 8)),
            Append(1, b"", DLedgerEntryType.NOOP),
            Sync(),
            Append(1, b"", DLedgerEntryType.NOOP),
        ),
    ),
    "a first vote": ((), (Keep(0, "n1"),)),
    "votes": ((Keep(1, "n0"), Keep(2)), (Keep(2, "n1"), Keep(3), Keep(30, "a-longer-name"))),
    "a truncation in the last file": (EIGHT, (Truncate(7),)),
    "a truncation of whole files": (EIGHT, (Truncate(3),)),
    "a truncation inside of a file": (EIGHT, (Truncate(1),)),
    "a truncation of everything": (EIGHT, (Truncate(0),)),
    "a truncation of what was not synchronized": (
        (*EIGHT, *appends(8, 5)),
        (Truncate(10), *appends(100, 2, term=2), Sync()),
    ),
    "entries in the place of others": (
        EIGHT,
        (Truncate(4), *appends(100, 3, term=2, size=31, follower=True), Sync(), Truncate(5)),
    ),
    "a truncation behind a deletion": ((*EIGHT, DeleteBefore(3)), (Truncate(6), Truncate(4))),
    "a deletion inside of a file": (EIGHT, (DeleteBefore(1),)),
    "a deletion of whole files": (EIGHT, (DeleteBefore(2), DeleteBefore(5))),
    "a deletion of everything": (EIGHT, (DeleteBefore(7), *appends(8, 2), Sync())),
    "a deletion with what was not synchronized": (
        (*EIGHT, *appends(8, 5)),
        (DeleteBefore(9),),
    ),
    "an install behind the end": (EIGHT, (Reset(20, 3), *appends(21, 2, term=3), Sync())),
    "an install inside of the log": (EIGHT, (Reset(4, 2), *appends(5, 1, term=2), Sync())),
    "an install into an empty log": ((Keep(1, "n0"),), (Reset(20, 3), *appends(21, 1, term=3))),
    "an install over what was not synchronized": ((*EIGHT, *appends(8, 5)), (Reset(9, 1),)),
    "an install behind an install": (
        (*EIGHT, Reset(20, 3), *appends(21, 5, term=3), Sync()),
        (Reset(40, 4), Truncate(41)),
    ),
}


class SwitchedDisk(CutDisk):
    """A disk whose power goes off before an operation that is chosen later."""

    __slots__ = ()

    def cut_before(self, operation: int) -> None:
        """Let the power go off before this operation, counted from now on."""
        self._cut_before = len(self._operations) + operation


def cuts(disk: MemoryDisk, name: str) -> Iterator[MemoryDisk]:
    """Give what may be left of a disk when a program or its machine stops."""
    yield copy.deepcopy(disk)  # Only the program ends.
    lost = copy.deepcopy(disk)
    lost.lose_unsynced()
    yield lost
    for first_bytes in (lambda size: size, lambda size: size // 2):
        torn = copy.deepcopy(disk)
        torn.tear(first_bytes, names=1)
        yield torn
    for draw in range(DRAWS):
        drawn = copy.deepcopy(disk)
        drawn.power_cut(random.Random(f"{name} {draw}"))
        yield drawn


def files_of(disk: MemoryDisk) -> tuple[tuple[str, bytes], ...]:
    """All files of a node."""
    folders = ("", "/data", "/index")
    paths = [
        f"{OPTIONS.directory}{folder}/{name}"
        for folder in folders
        for name in disk.names(f"{OPTIONS.directory}{folder}")
    ]
    return tuple([(path, disk.read(path)) for path in paths])


def until_the_cut(act: Callable[[], object]) -> bool:
    """Do something until the power goes off; tell whether it had ended before."""
    try:
        act()
    except PowerCutError:
        return False
    return True


@dataclass(slots=True)
class Crashes:
    """What is left of one scenario's disk; what was looked at before is passed by."""

    life: Life = field(default_factory=Life)
    counted: Counter[str] = field(default_factory=Counter)
    known: set[object] = field(default_factory=set)

    def is_new(self, kind: str, disk: MemoryDisk) -> bool:
        self.counted[kind] += 1
        key = (kind, files_of(disk), self.life.log, self.life.under_way)
        seen_before = key in self.known
        self.known.add(key)
        self.counted[f"different {kind}"] += not seen_before
        return not seen_before

    def crash(self, disk: MemoryDisk, name: str) -> None:
        """Cut the power; then at every operation of each recovery of what is left."""
        for number, left in enumerate(cuts(disk, name)):
            if self.is_new("crashes", left):
                self.crash_recovery(left, f"{name} {number}")

    def crash_recovery(self, left: MemoryDisk, name: str) -> None:
        ended, at = False, 0
        while not ended:
            disk = copy.deepcopy(left)
            cut = CutDisk(disk, cut_before=at)
            ended = until_the_cut(partial(DLedgerStore.open, cut, OPTIONS))
            for again in cuts(disk, f"{name} {at}"):
                if self.is_new("second crashes", again):
                    self.look(again)
            at += 1

    def look(self, disk: MemoryDisk) -> None:
        """What is recovered is durable, and takes entries that are there after a power cut."""
        store = DLedgerStore.open(disk, OPTIONS)
        found = seen(store)
        refusal = self.life.refusal(found)
        assert refusal is None, refusal
        has_the_files_of_dledger(disk)
        disk.lose_unsynced()
        store = DLedgerStore.open(disk, OPTIONS)
        assert seen(store) == found, "what was found is durable"
        self.counted["looks"] += 1
        later = Life(found)
        later.perform(store, self.lost(found) if self.counted["looks"] % 2 else AFTERWARDS)
        disk.lose_unsynced()
        assert seen(DLedgerStore.open(disk, OPTIONS)) == later.log

    def lost(self, found: Log) -> tuple[Operation, ...]:
        """The first entry that was lost, again: those behind it must not come back with it."""
        log = self.life.log
        lost = log.entries[len(found.entries) :][:1] if log.before == found.before else ()
        again = [Append(term, body, kind) for term, kind, body in lost if term >= found.end_term]
        return (*again, Sync())


def has_the_files_of_dledger(disk: MemoryDisk) -> None:
    """DLedger reads nothing if a file has another size, or something else lies beside it."""
    sizes = {
        "data": OPTIONS.mapped_file_size_for_entry_data,
        "index": OPTIONS.mapped_file_size_for_entry_index,
    }
    for folder, size in sizes.items():
        path = OPTIONS.path(folder)
        names = disk.names(path)
        assert all(name.isdecimal() for name in names)
        assert {disk.size(f"{path}/{name}") for name in names} <= {size}


def crash_everywhere(name: str) -> Counter[str]:
    """Crash a scenario at every operation, and each recovery of what is left at each of its."""
    setup, script = SCENARIOS[name]
    crashes = Crashes()
    ended, at = False, 0
    while not ended:
        disk, crashes.life = MemoryDisk(), Life()
        switch = SwitchedDisk(disk)
        store = DLedgerStore.open(switch, OPTIONS)
        crashes.life.perform(store, setup)
        switch.cut_before(at)
        ended = until_the_cut(partial(crashes.life.perform, store, script))
        crashes.counted["operations"] += not ended
        crashes.crash(disk, f"{name} {at}")
        at += 1
    return crashes.counted


@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_acknowledged_is_lost_by_two_crashes(name: str) -> None:
    counted = crash_everywhere(name)
    assert counted["operations"] >= 4
    assert counted["different crashes"] >= 3
    assert counted["different second crashes"] >= counted["different crashes"]
