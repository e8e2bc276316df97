"""What a node with snapshots writes of its steps: parts of its state, its log, and its files."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Final

from rocketha.histories.register_files import scan_log
from rocketha.recording.recorded_disk import RecordedDisk
from rocketha.recording.recorder import (
    NOT_RECORDED,
    LongSequence,
    Parts,
    Recording,
    StepRecorder,
)
from rocketha.replicated_log.log import DurableLog
from rocketha.replicated_log.register import RegisterStateMachine
from rocketha.replicated_log.snapshot_manager import SnapshotManager, SnapshotOptions
from rocketha.replicated_log.state_machine_caller import StateMachineCaller
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.snapshot_loading.entries import RegisterHistory
from rocketha.storage.disk import Disk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term

__all__ = ["LOG", "NODE", "LeaderEntry", "LeaderSnapshot", "SnapshotNode", "SnapshotRecorder"]

NODE: Final = "n1"
_SNAPSHOTS: Final = "snapshot"
LOG: Final = "controllerLog"


@dataclass(slots=True)
class SnapshotNode:
    """The memory of a node."""

    log: DurableLog
    machine: RegisterStateMachine
    caller: StateMachineCaller
    manager: SnapshotManager


@dataclass(frozen=True, slots=True)
class LeaderEntry:
    """A leader has an entry for this index."""

    index: LogIndex
    term: Term
    entry: str


@dataclass(frozen=True, slots=True)
class LeaderSnapshot:
    """A leader has a snapshot; its bytes, in base64."""

    data: str


class SnapshotRecorder:
    """The recorder of the node, and of the machine that it runs on."""

    def __init__(
        self,
        history: RegisterHistory,
        options: SnapshotOptions,
        scheduler: Scheduler,
        recording: Recording,
    ) -> None:
        """Begin to record a node that has not started."""
        self._node: SnapshotNode | None = None
        self._disk: Disk | None = None
        settings = {
            "snapshot_threshold": options.snapshot_threshold,
            "max_snapshot_reserved_num": options.max_snapshot_reserved_num,
            "terms": history.terms,
            "stray": history.stray,
        }
        self.steps: StepRecorder = recording.of(
            NODE, settings, parts=self._parts, shows_ms=lambda: scheduler.now_ms
        )

    def on(self, disk: Disk) -> Disk:
        """Return a disk that writes what is done to it, if anybody reads that."""
        self._disk = disk
        if self.steps is NOT_RECORDED:
            return disk
        return RecordedDisk(disk, self.steps, {_SNAPSHOTS})

    def started(self, node: SnapshotNode) -> None:
        """Write what a node has at its start."""
        self._node = node
        self.steps.started()

    def got_entry(self, index: LogIndex, entry: bytes, term: Term) -> None:
        """Note an entry that a leader sends, who keeps no records."""
        if self.steps is not NOT_RECORDED:
            self.steps.heard(LeaderEntry(index, term, entry.decode()))

    def got_snapshot(self, data: bytes) -> None:
        """Note a snapshot that a leader sends, who keeps no records."""
        if self.steps is not NOT_RECORDED:
            self.steps.heard(LeaderSnapshot(b64encode(data).decode()))

    def lost_power(self, disk: MemoryDisk) -> None:
        """Write what a power cut has left on the disk."""
        self._node = None
        self.steps.stopped(lambda: {**_log_parts(disk), "files": _files_on(disk), "error": None})

    def failed(self, error: Exception) -> None:
        """Write that the node has ended with an error, perhaps before it could begin."""
        if self._node is None:
            self.steps.started()
        self._node = None
        self.steps.stopped(lambda: {"error": type(error).__name__})

    def _parts(self) -> Parts:
        node, disk = self._node, self._disk
        assert disk is not None
        if node is None:
            return _log_parts(disk)
        boundary = node.log.term_of(LogIndex(node.log.first_index - 1))
        return {
            **_log_parts(disk),
            "boundary": boundary,
            "registers": node.machine.values,
            "applied": node.caller.applied.last_included_index,
            "commit": node.caller.commit,
            "last_snapshot": node.manager.last_snapshot,
            "receiving": node.manager.receiving,
            "failure": None if node.manager.failure is None else str(node.manager.failure),
            "damaged": node.manager.damaged,
        }


def _log_parts(disk: Disk) -> Parts:
    """Read the log from its bytes: what the node says of it is not asked."""
    log = scan_log(disk.read(LOG) if disk.exists(LOG) else b"")
    if log is None:
        return {"first": 0, "boundary": None, "log": LongSequence(())}
    entries = tuple([(term, entry.decode()) for term, entry in log.records])
    return {"first": log.first, "boundary": log.boundary, "log": LongSequence(entries)}


def _files_on(disk: MemoryDisk) -> dict[str, str]:
    return {
        name: b64encode(disk.read(f"{_SNAPSHOTS}/{name}")).decode()
        for name in disk.names(_SNAPSHOTS)
    }
