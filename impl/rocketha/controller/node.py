"""A controller with its log on a disk: what is between frames and the state machine.

An entry is on the disk before it is applied, and applied before it is answered. If the log fails,
nothing was answered and the outcome is unknown: the node must be opened again, and then it applies
what the disk has. Snapshots stand for the beginning of the log (`rocketha.replicated_log`).

Source: controller `ControllerManager`, controller/impl `JRaftController`
"""

from __future__ import annotations

from typing import assert_never

from rocketha.controller.applied import Applied
from rocketha.controller.dispatch import (
    Answered,
    Arrival,
    Close,
    ControllerOptions,
    Ignored,
    Proposed,
    Served,
    admit,
    answer,
    read_frame,
)
from rocketha.controller.entry import (
    Entry,
    encode_entry,
)
from rocketha.controller.state import ControllerState
from rocketha.controller.state_machine import ControllerStateMachine
from rocketha.replicated_log.log import DurableLog, LogOpened
from rocketha.replicated_log.snapshot_files import SnapshotFiles
from rocketha.replicated_log.snapshot_manager import SnapshotManager, SnapshotsLoaded
from rocketha.replicated_log.state_machine_caller import StateMachineCaller
from rocketha.storage.disk import Disk

__all__ = ["ControllerNode"]


class ControllerNode:
    """One controller. Make it with `ControllerNode.open`."""

    __slots__ = ("_loaded", "_machine", "_options", "_snapshots")

    def __init__(
        self,
        machine: ControllerStateMachine,
        snapshots: SnapshotManager,
        loaded: SnapshotsLoaded,
        options: ControllerOptions,
    ) -> None:
        """Take a state machine that has applied the log, and who keeps both."""
        self._machine = machine
        self._snapshots = snapshots
        self._loaded = loaded
        self._options = options

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
        return cls(machine, snapshots, loaded, options), opened

    @property
    def state(self) -> ControllerState:
        """Return the state after the last entry."""
        return self._machine.state

    @property
    def loaded(self) -> SnapshotsLoaded:
        """Return which snapshot was loaded, and how much of the log was replayed."""
        return self._loaded

    def serve(self, data: bytes, arrival: Arrival) -> Served:
        """Take one frame.

        Raises: DiskError; then nobody was answered, and the node must be opened again.
        """
        command = read_frame(data)
        if isinstance(command, Close):
            return Served(state=self.state, close=command.error)
        admitted = admit(self.state, command, arrival=arrival, options=self._options)
        match admitted:
            case Close(error=error):
                return Served(state=self.state, close=error)
            case Ignored():
                return Served(state=self.state)
            case Answered(reply=reply):
                return Served(state=self.state, out=answer(command, reply))
            case Proposed(entry=entry):
                applied = self.commit(entry)
                return Served(
                    state=applied.state,
                    out=answer(command, applied.reply),
                    entry=entry,
                    events=applied.events,
                    effects=applied.effects,
                )
            case _ as unreachable:
                assert_never(unreachable)

    def commit(self, entry: Entry) -> Applied:
        """Log an entry and apply it; save a snapshot when it is time.

        Raises: DiskError, EncodingError
        """
        return self._snapshots.commit(encode_entry(entry), lambda: self._machine.on_apply(entry))
