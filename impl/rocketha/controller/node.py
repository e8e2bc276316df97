"""What a controller on its own has on a disk: its log, its snapshots, and the state that they make.

An entry is on the disk before it is applied. If the log fails, the outcome is unknown: the node
must be opened again, and then it applies what the disk has. Snapshots stand for the beginning of
the log (`rocketha.replicated_log`).

Source: controller `ControllerManager`, controller/impl `JRaftController`
"""

from __future__ import annotations

from rocketha.controller.applied import Applied
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import Entry
from rocketha.controller.state import ControllerState
from rocketha.controller.state_machine import ControllerStateMachine
from rocketha.replicated_log.log import DurableLog, LogOpened
from rocketha.replicated_log.replicated_log import LocalLog
from rocketha.replicated_log.snapshot_files import SnapshotFiles
from rocketha.replicated_log.snapshot_manager import SnapshotManager, SnapshotsLoaded
from rocketha.replicated_log.state_machine_caller import StateMachineCaller
from rocketha.storage.disk import Disk

__all__ = ["ControllerNode"]


class ControllerNode:
    """One controller. Make it with `ControllerNode.open`."""

    __slots__ = ("_loaded", "_log", "_machine")

    def __init__(
        self,
        machine: ControllerStateMachine,
        snapshots: SnapshotManager,
        loaded: SnapshotsLoaded,
    ) -> None:
        """Take a state machine that has applied the log, and who keeps both."""
        self._machine = machine
        self._log = LocalLog(snapshots, machine)
        self._loaded = loaded

    @classmethod
    def open(
        cls, disk: Disk, options: ControllerOptions, *, path: str = "controllerLog"
    ) -> tuple[ControllerNode, LogOpened]:
        """Load the newest snapshot and replay the log behind it.

        Brokers are heard of again after an entry `Started`.

        Raises: ControllerLogError; SnapshotGapError if the log lacks its beginning and no snapshot
            stands for it; DiskError
        """
        log, opened = DurableLog.open(disk, path)
        machine = ControllerStateMachine(options.rules)
        snapshots, loaded = SnapshotManager.open(
            SnapshotFiles(disk),
            log,
            StateMachineCaller(machine),
            options.snapshots,
        )
        return cls(machine, snapshots, loaded), opened

    @property
    def state(self) -> ControllerState:
        """Return the state after the last entry."""
        return self._machine.state

    @property
    def loaded(self) -> SnapshotsLoaded:
        """Return which snapshot was loaded, and how much of the log was replayed."""
        return self._loaded

    @property
    def log(self) -> LocalLog[Entry, Applied]:
        """Return the log that takes its proposals."""
        return self._log
