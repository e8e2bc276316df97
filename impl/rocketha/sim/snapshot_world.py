"""One node with registers, a log and snapshots, its disk, and the group that it follows."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol

from rocketha.bugs import Bugs
from rocketha.controller.log import DurableLog
from rocketha.errors import PowerCutError, SnapshotError, SnapshotGapError
from rocketha.sim.faults import Fault, FaultCounts
from rocketha.sim.snapshot_history import RegisterHistory
from rocketha.sim.snapshot_steps import (
    Call,
    Job,
    SnapshotAction,
    SnapshotActionName,
    SteppedDisk,
    SteppedLog,
    Steps,
)
from rocketha.snapshot.caller import StateMachineCaller
from rocketha.snapshot.files import SnapshotFiles
from rocketha.snapshot.keeping import SnapshotManager, SnapshotOptions
from rocketha.snapshot.register import RegisterStateMachine
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex

__all__ = ["SnapshotNode", "SnapshotObserver", "SnapshotWorld"]

_STEP_MS: Final = 10
_Name = SnapshotActionName


@dataclass(slots=True)
class SnapshotNode:
    """The memory of a node."""

    log: DurableLog
    machine: RegisterStateMachine
    caller: StateMachineCaller
    manager: SnapshotManager
    has_refused: bool = False


class SnapshotObserver(Protocol):
    """Who wants to know what happens."""

    def started(self, world: SnapshotWorld) -> None:
        """Look at the initial state."""

    def acted(self, world: SnapshotWorld, action: SnapshotAction) -> None:
        """Look at the state after an action."""


class SnapshotWorld:
    """A node, and what happens to it."""

    def __init__(
        self,
        history: RegisterHistory,
        options: SnapshotOptions,
        bugs: Bugs,
        counts: FaultCounts,
        observer: SnapshotObserver,
    ) -> None:
        """Start a node on an empty disk."""
        self.history = history
        self.options = options
        self.disk = MemoryDisk()
        self.node: SnapshotNode | None = None
        self.agreed, self.kept = 0, 1
        self.crashes = 0
        self.damaged: dict[bytes, bytes] = {}
        """Contents of files that were damaged -> what they were."""
        self.damages = 0
        self.actions = 0
        self.now_ms = 0
        self.cut_after: int | None = None
        """The power goes off after so many more actions of the node."""
        self._bugs = bugs
        self._counts = counts
        self._observer = observer
        self._steps = Steps(self._ended, self._written)
        self._make_node().manager.start()
        observer.started(self)

    @property
    def job(self) -> Job | None:
        """Return what is being written."""
        return self._steps.job

    @property
    def is_loading(self) -> bool:
        """Tell whether the node has not loaded a snapshot yet."""
        return self._steps.call is Call.START and self._steps.is_loading

    @property
    def end_index(self) -> LogIndex:
        """Return the index of the last entry in the log."""
        return self._up().log.end_index

    # ---- the group ----

    def agree(self) -> None:
        """Agree on the next entry."""
        self.agreed += 1
        self._acted(_Name.AGREE)

    def compact(self) -> None:
        """Let the leader remove its log."""
        if self.kept < self.agreed + 1:
            self.kept = self.agreed + 1
            self._acted(_Name.LEADER_COMPACTS)

    # ---- the node ----

    def commit_next(self) -> None:
        """Let the node append and apply the next entry. Raises: PowerCutError"""
        node, index = self._up(), LogIndex(self.end_index + 1)
        entry = self.history.entry(index)

        def apply() -> None:
            self._steps.applies()
            node.machine.on_replay(entry)

        self._steps.begin(Call.COMMIT)
        node.manager.commit(entry, apply, self.history.term(index))
        self._steps.end()

    def install(self) -> None:
        """Let the leader's snapshot arrive. Raises: PowerCutError"""
        self._steps.begin(Call.INSTALL)
        with suppress(SnapshotError):  # not read back: the leader may send it again
            self._up().manager.install(self.history.snapshot(self.kept - 1))
        self._steps.end()

    def start(self) -> None:
        """Let a node start; it may refuse. Raises: PowerCutError"""
        node = self._make_node()
        self._steps.is_loading = True
        self._steps.call = Call.START
        self._acted(_Name.START)
        self._steps.begin(Call.START)
        try:
            node.manager.start()
        except SnapshotGapError:
            node.has_refused = True
        self._steps.end()

    def _make_node(self) -> SnapshotNode:
        disk = SteppedDisk(self.disk, self._steps)
        log, _ = DurableLog.open(disk)
        machine = RegisterStateMachine(self._bugs)
        caller = StateMachineCaller(machine, self._bugs)
        stepped = SteppedLog(log, self._steps, lambda: caller.commit)
        files = SnapshotFiles(disk, bugs=self._bugs)
        manager = SnapshotManager(files, stepped, caller, self.options, self._bugs)
        self.node = SnapshotNode(log=log, machine=machine, caller=caller, manager=manager)
        return self.node

    def _up(self) -> SnapshotNode:
        assert self.node is not None
        return self.node

    def _written(self) -> LogIndex:
        if self._steps.call is Call.INSTALL:
            return LogIndex(self.kept - 1)
        return self._up().caller.applied.last_included_index

    # ---- faults ----

    def cut_power(self, rng: Random, *, torn: bool) -> None:
        """Cut the power; what was not synchronized is lost, or torn.

        A file that was removed and written again is there, as one of the two: a cut that leaves
        neither is none of the specification's.
        """
        left = copy.deepcopy(self.disk)
        if torn:
            left.power_cut(rng)
            durable = copy.deepcopy(self.disk)
            durable.lose_unsynced()
            both = set(_snapshots(self.disk)) & set(_snapshots(durable))
            torn = both <= set(_snapshots(left))
        if not torn:
            left = copy.deepcopy(self.disk)
            left.lose_unsynced()
        self._counts.add(Fault.TORN_WRITE if torn else Fault.POWER_CUT)
        self.disk, self.node, self.cut_after = left, None, None
        self.crashes += 1
        self._steps.forget()
        self._acted(_Name.CRASH)

    def damage(self) -> None:
        """Change the last register of the newest snapshot that is durable, if there is one."""
        durable = copy.deepcopy(self.disk)
        durable.lose_unsynced()
        seen, kept = _snapshots(self.disk), _snapshots(durable)
        sound = [n for n in seen if kept.get(n) == seen[n] and seen[n] not in self.damaged]
        if not sound:
            return
        index = max(int(name.removeprefix("snapshot_")) for name in sound)
        name = f"snapshot_{index}"
        content = seen[name]
        at = content.rindex(b"}") - 1
        path = f"snapshot/{name}"
        self.disk.write(path, at, bytes([content[at] ^ 1]))
        self.disk.fsync(path)
        self.damaged[self.disk.read(path)] = content
        self.damages += 1
        self._counts.add(Fault.DAMAGED_FILE)
        self._acted(_Name.ROT, LogIndex(index))

    # ---- actions ----

    def _ended(self, action: SnapshotAction) -> None:
        self._acted(action.name, action.index)
        if self.cut_after is not None:
            self.cut_after -= 1
            if self.cut_after <= 0:
                raise PowerCutError("", reason=f"the power went off after {action.name}")

    def _acted(self, name: SnapshotActionName, index: LogIndex | None = None) -> None:
        self.actions += 1
        self.now_ms += _STEP_MS
        self._observer.acted(self, SnapshotAction(name, index))


def _snapshots(disk: MemoryDisk) -> Mapping[str, bytes]:
    names = [name for name in disk.names("snapshot") if name != "tmp"]
    return {name: disk.read(f"snapshot/{name}") for name in names}
