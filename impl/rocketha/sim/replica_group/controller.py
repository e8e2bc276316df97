"""The controller of a simulated group: the real one, on a machine with a disk and a clock."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final, Protocol

import msgspec

from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.host import Channels, ControllerHost, ControllerPorts, ControllerRecorder
from rocketha.controller.node import ControllerNode
from rocketha.controller.state import ControllerState
from rocketha.recording.json_parts import as_json
from rocketha.recording.recorder import Parts, Recording, StepRecorder
from rocketha.sim.engine.clock import Clock
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import ConnectionId, TimestampMs

__all__ = ["CONTROLLER", "ControllerMachine", "SimulatedController"]

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


class SimulatedController(Protocol):
    """A controller, or a group of them, as the world around it sees it."""

    steps: StepRecorder
    """What writes down what it hears; of a group nothing does."""

    def steps_of(self, channel: ConnectionId) -> StepRecorder:
        """Return what writes down what is said on a channel."""
        ...

    def steps_from(self, controller: int) -> StepRecorder:
        """Return what writes down what a member says; 0: the first, or the only one."""
        ...

    @property
    def serves(self) -> bool:
        """Tell whether it serves brokers."""
        ...

    @property
    def has_stopped(self) -> bool:
        """Tell whether it is down, or a member of it."""
        ...

    @property
    def has_settled(self) -> bool:
        """Tell whether all of it runs, and has the same state."""
        ...

    @property
    def state(self) -> ControllerState:
        """Return the state after the last entry that it has applied."""
        ...

    def now_ms(self) -> TimestampMs:
        """Return what its clock shows."""
        ...

    def received(self, channel: ConnectionId, data: bytes) -> None:
        """Hear a frame."""
        ...

    def channel_closed(self, channel: ConnectionId) -> None:
        """Hear that a channel is gone."""
        ...

    def scan(self) -> None:
        """Look for groups whose master is gone."""
        ...

    def stop_one(self) -> None:
        """Stop, or let a member stop."""
        ...

    def restart_stopped(self) -> None:
        """Come back, or let all members come back that are down."""
        ...

    def calm(self) -> None:
        """Let nothing go wrong any more."""
        ...

    def set_clock_back(self, by_ms: int) -> None:
        """Let the clock of who is down be behind what it showed."""
        ...


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

    def stop_one(self) -> None:
        """Stop; what was answered is on the disk."""
        self.steps.heard(TablesLeft(self._tables()))
        self.host.stop()
        self._disk.lose_unsynced()

    def restart_stopped(self) -> None:
        """Come back with what the log says."""
        self.host.start()

    def set_clock_back(self, by_ms: int) -> None:
        """Let the clock of a machine that is down be behind what it showed."""
        assert not self.host.is_up
        self._behind_ms += by_ms

    # ---- what the world around it sees (SimulatedController) ----

    @property
    def serves(self) -> bool:
        """Tell whether it serves brokers."""
        return self.host.is_up

    @property
    def has_stopped(self) -> bool:
        """Tell whether it is down."""
        return not self.host.is_up

    @property
    def has_settled(self) -> bool:
        """Tell whether it runs."""
        return self.host.is_up

    @property
    def state(self) -> ControllerState:
        """Return the state after the last entry; while it is down, the one that it had."""
        return self.host.node.state

    def received(self, channel: ConnectionId, data: bytes) -> None:
        """Hear a frame."""
        self.host.received(channel, data)

    def channel_closed(self, channel: ConnectionId) -> None:
        """Hear that a channel is gone."""
        self.host.channel_closed(channel)

    def scan(self) -> None:
        """Look for groups whose master is gone."""
        self.host.scan()

    def steps_of(self, channel: ConnectionId) -> StepRecorder:
        """Return what writes down what it does."""
        del channel
        return self.steps

    def steps_from(self, controller: int) -> StepRecorder:
        """Return what writes down what it does."""
        assert not controller, "there is one controller"
        return self.steps

    def calm(self) -> None:
        """Do nothing: what goes wrong with a single controller others draw."""

    # ---- ports (rocketha.controller.host) ----

    def now_ms(self) -> TimestampMs:
        """Return what the clock shows."""
        return TimestampMs(max(0, self._clock.shows(self._scheduler.now_ms) - self._behind_ms))

    def scan_soon(self) -> None:
        """Scan after a time that is drawn."""
        self._scheduler.after(1 + self._rng.randrange(_SOON_MAX_MS), self.host.scan)
