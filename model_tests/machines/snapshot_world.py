"""A node with snapshots on a disk in memory: what can be done to both."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final, assert_never

from model_tests.machines.hand_stops import (
    Operation,
    OperationKind,
    Run,
    Stopped,
    StoppingDisk,
    StoppingLog,
)
from rocketha.bugs import Bugs
from rocketha.controller.log import DurableLog
from rocketha.errors import SnapshotError, SnapshotGapError
from rocketha.sim.snapshot_history import RegisterHistory
from rocketha.snapshot.caller import StateMachineCaller
from rocketha.snapshot.files import SnapshotFiles
from rocketha.snapshot.keeping import SnapshotManager, SnapshotOptions
from rocketha.snapshot.register import RegisterStateMachine
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex

__all__ = ["World"]

_OPTIONS: Final = SnapshotOptions(snapshot_threshold=1, max_snapshot_reserved_num=2)


@dataclass(slots=True)
class Node:
    """A node that has its log."""

    log: StoppingLog
    machine: RegisterStateMachine
    caller: StateMachineCaller
    manager: SnapshotManager
    has_refused: bool = False


class World:
    """A disk, and the node on it."""

    def __init__(self, history: RegisterHistory, bugs: Bugs) -> None:
        """Start a node on an empty disk."""
        self.disk = MemoryDisk()
        self.damaged: dict[bytes, bytes] = {}
        """Contents of damaged files -> what they were."""
        self.run: Run | None = None
        """The last operation."""
        self.node: Node | None = None
        self._history = history
        self._bugs = bugs
        self._seen = StoppingDisk(self.disk)
        self.start()
        self.operate(Operation(OperationKind.OPEN, stop_at=None))

    def start(self) -> None:
        """Let the node read its log."""
        log, _ = DurableLog.open(self._seen)
        machine = RegisterStateMachine(self._bugs)
        caller = StateMachineCaller(machine, self._bugs)
        stopping = StoppingLog(log, self._seen, lambda: caller.commit)
        files = SnapshotFiles(self._seen, bugs=self._bugs)
        manager = SnapshotManager(files, stopping, caller, _OPTIONS, self._bugs)
        self.node = Node(log=stopping, machine=machine, caller=caller, manager=manager)

    def operate(self, operation: Operation) -> None:
        """Call an operation, up to where it is to stop."""
        self.run = self._seen.run = Run(operation, self.damage)
        try:
            self._call(operation)
            self.run.has_ended = True
        except Stopped:
            self.run.has_ended = False
        finally:
            self._seen.run = None

    def _call(self, operation: Operation) -> None:
        node = self.up()
        match operation.kind:
            case OperationKind.SAVE:
                node.manager.save_if_due()
            case OperationKind.CLEAN:
                node.manager.clean_up()
            case OperationKind.INSTALL:
                with suppress(SnapshotError):  # not read back: the leader may send it again
                    node.manager.install(self._history.snapshot(operation.index))
            case OperationKind.OPEN:
                try:
                    node.manager.start()
                except SnapshotGapError:
                    node.has_refused = True
            case _ as unreachable:
                assert_never(unreachable)

    def append(self, index: int) -> None:
        """Append an entry of the history."""
        self.up().log.append(self._history.entry(index), self._history.term(index))

    def learn(self, index: int) -> None:
        """Tell what was agreed on."""
        self.up().caller.learn_commit(LogIndex(index))

    def apply(self) -> None:
        """Apply the next entry."""
        caller, log = self.up().caller, self.up().log
        index = LogIndex(caller.applied.last_included_index + 1)
        term = log.term_of(index)
        assert term is not None
        caller.replay(next(log.entries(index)), term)

    def damage(self, index: LogIndex) -> None:
        """Change the value of a register; all else is as it should be."""
        path = f"snapshot/snapshot_{index}"
        content = self.disk.read(path)
        at = content.rindex(b"}") - 1
        self.disk.write(path, at, bytes([content[at] ^ 2]))
        self.disk.fsync(path)
        self.damaged[self.disk.read(path)] = content

    def cut_power(self, names: int) -> None:
        """Tear what was not synchronized; so many changes of names survive."""
        self.disk.tear(lambda size: size // 2, names=names)
        self.node = self.run = None

    def up(self) -> Node:
        """Return the node."""
        assert self.node is not None
        return self.node
