"""A disk that refuses an operation, once or from then on: a typed error, and nothing is lost."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Final

import pytest

from rocketha.dledger.store import DLedgerStore
from rocketha.errors import DiskError, DLedgerFileError, PowerCutError
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk
from tests.impl.dledger.store_model import (
    OPTIONS,
    DeleteBefore,
    Keep,
    Life,
    Operation,
    Reset,
    Sync,
    Truncate,
    appends,
    seen,
)

SETUP: Final[tuple[Operation, ...]] = (
    Keep(1, "n0"),
    *appends(0, 8),
    Sync(),
    DeleteBefore(1),
    *appends(8, 2),
)
ACTS: Final[tuple[Operation, ...]] = (
    *appends(10, 3, size=70),
    Sync(),
    Keep(2, "n1"),
    Truncate(9),
    *appends(20, 2, term=2),
    Sync(),
    DeleteBefore(5),
    Reset(30, 2),
    *appends(31, 2, term=2),
    Sync(),
)
SPACE: Final = frozenset({"write", "truncate"})
"""What a full disk refuses."""


class FailingDisk(CutDisk):
    """Refuses the operation of a number: after a piece of a write, without doing anything else.

    As in an operating system, nothing is left to do for the next synchronization of a file where
    one has failed: what was written is seen, and a power cut takes it.
    """

    __slots__ = ("_fails", "_memory", "_piece", "failed")

    def __init__(self, disk: MemoryDisk, fails: Callable[[int, str], bool], piece: int) -> None:
        super().__init__(disk)
        self._memory = disk
        self._fails = fails
        self._piece = piece
        self.failed: list[str] = []

    def write(self, path: str, offset: int, data: bytes) -> None:
        try:
            super().write(path, offset, data)
        except PowerCutError:
            raise AssertionError from None
        except DiskError:
            self._inner.write(path, offset, data[: self._piece])
            raise

    def _count(self, operation: str, path: str) -> None:
        number = len(self._operations)
        super()._count(operation, path)
        if self._fails(number, operation):
            self.failed.append(operation)
            if operation == "fsync":
                self._memory._file(path).unsynced.clear()
            reason = "No space left on device" if operation in SPACE else "Input/output error"
            raise DiskError(path, reason=reason)


def left_of(disk: MemoryDisk, name: str) -> Iterator[MemoryDisk]:
    """Only the program ends, or the power goes off, too."""
    yield copy.deepcopy(disk)
    lost = copy.deepcopy(disk)
    lost.lose_unsynced()
    yield lost
    drawn = copy.deepcopy(disk)
    drawn.power_cut(random.Random(name))
    yield drawn


@pytest.mark.parametrize("piece", [0, 13, 1 << 20])
@pytest.mark.parametrize("lasting", [False, True])
def test_an_operation_that_fails_loses_nothing(lasting: bool, piece: int) -> None:
    """EIO comes once; a full disk refuses all writes, and still removes and synchronizes."""
    refused: set[str] = set()
    first, ended = 0, False
    while not ended:

        def fails(number: int, operation: str, first: int = first) -> bool:
            if lasting:
                return number >= first and operation in SPACE
            return number == first

        disk, life = MemoryDisk(), Life()
        life.perform(DLedgerStore.open(disk, OPTIONS), SETUP)
        failing = FailingDisk(disk, fails, piece)
        store: DLedgerStore | None = None
        try:
            # The recovery of what was not synchronized is under way, too.
            store = DLedgerStore.open(failing, OPTIONS)
            life.log = seen(store)
            life.perform(store, ACTS)
            ended = not failing.failed
        except DiskError:
            refused.update(failing.failed)
            if store is not None:
                refuses_all_that_follows(store)
        for number, left in enumerate(left_of(disk, f"{first}")):
            found = seen(DLedgerStore.open(left, OPTIONS))
            refusal = life.refusal(found)
            assert refusal is None, (first, number, refusal)
            left.lose_unsynced()
            assert seen(DLedgerStore.open(left, OPTIONS)) == found, "it is durable, too"
        first += 1
    assert first > 40
    assert (
        refused == SPACE
        if lasting
        else refused == {*SPACE, "fsync", "fsync_dir", "rename", "unlink"}
    )


def refuses_all_that_follows(store: DLedgerStore) -> None:
    """Nobody knows what is on the disk: no operation may build on it, and none is acknowledged."""
    end, synced = store.end_index, store.synced_index
    later: tuple[Operation, ...] = (Keep(99), *appends(99, 1, term=99), Reset(99, 99))
    for operation in later:
        with pytest.raises(DiskError, match="nobody knows"):
            operation.perform(store)
    if synced < end:
        with pytest.raises(DiskError, match="nobody knows"):
            store.sync()
    store.close()
    assert (store.end_index, store.synced_index) == (end, synced)


def test_the_disk_of_these_tests_refuses() -> None:
    disk = FailingDisk(MemoryDisk(), lambda number, _: number == 1, 2)
    disk.write("a", 0, b"abcdef")
    with pytest.raises(DiskError, match="a: No space left on device"):
        disk.write("a", 6, b"ghijkl")
    assert disk.read("a") == b"abcdefgh"


def test_a_synchronization_that_fails_leaves_nothing_to_the_next_one() -> None:
    memory = MemoryDisk()
    memory.fsync_dir("")
    disk = FailingDisk(memory, lambda number, _: number == 2, 0)
    disk.write("a", 0, b"abc")
    disk.fsync_dir("")
    with pytest.raises(DiskError, match="Input/output error"):
        disk.fsync("a")
    disk.fsync("a")
    assert disk.read("a") == b"abc"
    memory.lose_unsynced()
    assert disk.read("a") == b""


def test_a_recovery_that_fails_leaves_the_log_to_the_next_one() -> None:
    """A disk without space: the log cannot be opened, and is there when there is some again."""
    disk, life = MemoryDisk(), Life()
    life.perform(DLedgerStore.open(disk, OPTIONS), SETUP)
    disk.unlink(f"dledger-n0/index/{0:020}")
    with pytest.raises(DiskError, match="No space left"):
        DLedgerStore.open(FailingDisk(disk, lambda _, what: what in SPACE, 0), OPTIONS)
    found = seen(DLedgerStore.open(disk, OPTIONS))
    assert found.entries == life.log.entries


def test_a_disk_error_is_no_damage() -> None:
    """Who throws away what is damaged must not throw this away."""
    assert not issubclass(DiskError, DLedgerFileError)
    assert not issubclass(DLedgerFileError, DiskError)
