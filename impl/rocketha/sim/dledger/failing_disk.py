"""A disk that fails: an operation with an error (EIO), or a write for want of room (ENOSPC).

Of a write that fails a piece may be there. A file whose synchronization has failed looks whole, and
the next one has nothing to do; a power cut takes what it did not write.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.dledger.performers import AppliedMachine, DLedgerFiles
from rocketha.dledger.push_state import (
    DeleteBefore,
    InstallSnapshot,
    SaveSnapshot,
    TruncateLedger,
)
from rocketha.dledger.state import KeepTermAndVote
from rocketha.dledger.store_options import StoreOptions
from rocketha.errors import DiskError
from rocketha.sim.engine.crash_points import Ending
from rocketha.sim.engine.faults import Fault
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk

__all__ = ["DiskFailure", "FailingDisk", "copied_files", "is_done_on"]

_NEEDS_ROOM: Final = ("write", "truncate")
_REASONS: Final = {
    Fault.DISK_ERROR: "Input/output error",
    Fault.DISK_FULL: "No space left on device",
    Fault.CUT_IN_STEP: "The node ends",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFailure:
    """An operation that fails, and what becomes of the node then."""

    fault: Fault
    """DISK_ERROR; DISK_FULL, which concerns only what needs room; or CUT_IN_STEP: the disk works,
    and its node ends before the operation."""
    operations: int
    """So many operations are done before."""
    ending: Ending


class FailingDisk(CutDisk):
    """The disk of a machine; it works until it is told to fail."""

    __slots__ = ("_left", "_memory", "ends_before", "failure", "syncs")

    def __init__(self, disk: MemoryDisk) -> None:
        """Pass operations on to a disk."""
        super().__init__(disk)
        self._memory = disk
        self._left = 0
        self.failure: DiskFailure | None = None
        """The one that is to come."""
        self.syncs = 0
        """So many files were synchronized."""
        self.ends_before: Callable[[str], Ending | None] = _never
        """Hears each operation, as `name path`, and says how the node ends before it."""

    def fail(self, failure: DiskFailure | None) -> None:
        """Let an operation fail; None: none."""
        self.failure = failure
        self._left = 0 if failure is None else failure.operations

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write at `offset`; of what fails a half may be there. Raises: DiskError"""
        try:
            super().write(path, offset, data)
        except DiskError:
            self._inner.write(path, offset, data[: len(data) // 2])
            raise

    def fsync(self, path: str) -> None:
        """Make the content of a file durable. Raises: DiskError"""
        try:
            super().fsync(path)
        except DiskError:
            if self.failure is not None and self.failure.fault is Fault.DISK_ERROR:
                self._memory.fail_fsync(path)
            raise
        self.syncs += 1

    def _count(self, operation: str, path: str) -> None:
        ending = self.ends_before(f"{operation} {path}")
        if ending is not None:
            self.fail(DiskFailure(fault=Fault.CUT_IN_STEP, operations=0, ending=ending))
        failure = self.failure
        if failure is None:
            return
        if failure.fault is Fault.DISK_FULL and operation not in _NEEDS_ROOM:
            return
        if self._left > 0:
            self._left -= 1
            return
        raise DiskError(path, reason=_REASONS[failure.fault])


def _never(operation: str) -> None:
    del operation


def copied_files(files: DLedgerFiles, device: FailingDisk) -> DLedgerFiles:
    """Return the open files of a node on a copy of its disk, which works."""
    # a failure has a random source, which takes long, and who hears operations is the node
    without = {id(device.failure): None, id(device.ends_before): _never}
    copied, works = copy.deepcopy((files, device), without)
    works.fail(None)
    return copied


def is_done_on(
    disk: MemoryDisk,
    effect: object,
    before: DLedgerFiles,
    options: StoreOptions,
    new_machine: Callable[[], AppliedMachine],
) -> bool:
    """Tell whether a start will find an effect done in which the disk has failed.

    `before` are the files before the effect. A cut that has removed some files only is finished: no
    action of the specification is half of it.
    """
    store = before.store
    found = DLedgerFiles.open(copy.deepcopy(disk), options, new_machine())
    match effect:
        case KeepTermAndVote(kept=kept):
            return found.store.kept == kept
        case TruncateLedger(index=index) if found.store.end_index < store.end_index:
            if found.store.end_index >= index:
                DLedgerFiles.open(disk, options, new_machine()).store.truncate(index)
            return True
        case DeleteBefore():
            return found.store.before_begin_index > store.before_begin_index
        case SaveSnapshot(index=index) | InstallSnapshot(index=index):
            return found.snapshot_index == index
        case _:
            return False
