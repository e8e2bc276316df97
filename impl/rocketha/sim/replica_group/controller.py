"""The controller of a simulated group: the real one, on a machine with a disk and a clock."""

from __future__ import annotations

from random import Random
from typing import Final

from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.host import Channels, ControllerHost, ControllerPorts, ControllerRecorder
from rocketha.sim.engine.clock import Clock
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import TimestampMs

__all__ = ["ControllerMachine"]

_SOON_MAX_MS: Final = 4


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
    ) -> None:
        """Begin with an empty disk, and a controller that is up."""
        self._clock = clock
        self._disk = MemoryDisk()
        self._scheduler = scheduler
        self._rng = rng
        ports = ControllerPorts(clock=self, channels=channels, timer=self, recorder=recorder)
        self.host = ControllerHost(self._disk, options, ports)
        self.host.start()

    def crash(self) -> None:
        """Stop; what was answered is on the disk."""
        self.host.stop()
        self._disk.lose_unsynced()

    def restart(self) -> None:
        """Come back with what the log says."""
        self.host.start()

    # ---- ports (rocketha.controller.host) ----

    def now_ms(self) -> TimestampMs:
        """Return what the clock shows."""
        return self._clock.shows(self._scheduler.now_ms)

    def scan_soon(self) -> None:
        """Scan after a time that is drawn."""
        self._scheduler.after(1 + self._rng.randrange(_SOON_MAX_MS), self.host.scan)
