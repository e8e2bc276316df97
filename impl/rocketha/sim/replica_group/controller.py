"""The controller of a simulated group: the real one, on a machine with a disk and a clock."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

import msgspec

from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.host import Channels, ControllerHost, ControllerPorts, ControllerRecorder
from rocketha.controller.node import ControllerNode
from rocketha.recording.json_parts import as_json
from rocketha.recording.recorder import Parts, Recording, StepRecorder
from rocketha.sim.engine.clock import Clock
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import TimestampMs

__all__ = ["CONTROLLER", "ControllerMachine"]

CONTROLLER: Final = "controller"
"""The name of its machine."""

_SOON_MAX_MS: Final = 4


@dataclass(frozen=True, slots=True)
class TablesLeft:
    """What a controller knows that stops."""

    state: str
    """As JSON."""


@dataclass(frozen=True, slots=True)
class TablesRead:
    """What a controller knows that starts, and where it has it from."""

    state: str
    """As JSON."""
    snapshot: int
    """Index of the last entry that the snapshot stands for; 0: there was none."""
    replayed: int


class ControllerMachine:
    """The machine that a controller runs on: its disk, its clock and its timer."""

    def __init__(
        self,
        options: ControllerOptions,
        *,
        clock: Clock,
        scheduler: Scheduler,
        rng: Random,
        channels: Channels,
        recorder: ControllerRecorder,
        recording: Recording,
        broker_name: str,
        scan_ms: int,
    ) -> None:
        """Begin with an empty disk, and a controller that is up."""
        self._clock = clock
        self._behind_ms = 0
        self._disk = MemoryDisk()
        self._scheduler = scheduler
        self._rng = rng
        self._broker_name = broker_name
        self.steps: StepRecorder = recording.of(
            CONTROLLER,
            {
                "kind": "controller",
                "elect_unclean": options.elect_unclean,
                "broker_name": broker_name,
                "scan_ms": scan_ms,
                "snapshot_threshold": options.snapshots.snapshot_threshold,
            },
            parts=self._parts,
            shows_ms=self.now_ms,
        )
        ports = ControllerPorts(
            clock=self, channels=channels, timer=self, recorder=recorder, steps=self.steps
        )
        self.host = ControllerHost(self._disk, options, ports)
        self._read: ControllerNode | None = None
        """The node of which is written what it has read."""
        self.host.start()

    def _parts(self) -> Parts:
        """Return what its log says of the group; at a start, also all that was read."""
        if self._read is not self.host.node:
            self._read = self.host.node
            loaded = self._read.loaded
            read = TablesRead(self._tables(), loaded.index, loaded.replayed)
            return {**self._of_group(), "read": read}
        return self._of_group()

    def _of_group(self) -> Parts:
        group = self.host.state.groups.get(self._broker_name)
        if group is None:
            return {"waiting": self.host.waiting}
        return {
            "waiting": self.host.waiting,
            "master": group.master,
            "master_epoch": group.master_epoch,
            "sync_state_set": group.sync_state_set,
            "unfit": group.unfit,
            "incarnations": {b: replica.incarnation for b, replica in group.replicas.items()},
        }

    def _tables(self) -> str:
        """Return all that the controller knows."""
        return msgspec.json.encode(as_json(self.host.state)).decode()

    def crash(self) -> None:
        """Stop; what was answered is on the disk."""
        self.steps.heard(TablesLeft(self._tables()))
        self.host.stop()
        self._disk.lose_unsynced()

    def restart(self) -> None:
        """Come back with what the log says."""
        self.host.start()

    def set_clock_back(self, by_ms: int) -> None:
        """Let the clock of a machine that is down be behind what it showed."""
        assert not self.host.is_up
        self._behind_ms += by_ms

    # ---- ports (rocketha.controller.host) ----

    def now_ms(self) -> TimestampMs:
        """Return what the clock shows."""
        return TimestampMs(max(0, self._clock.shows(self._scheduler.now_ms) - self._behind_ms))

    def scan_soon(self) -> None:
        """Scan after a time that is drawn."""
        self._scheduler.after(1 + self._rng.randrange(_SOON_MAX_MS), self.host.scan)
