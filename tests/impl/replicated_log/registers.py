"""A node with registers, a log and snapshots, small enough to cut its power everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rocketha.known_bugs import NO_BUGS, Bugs
from rocketha.known_bugs.snapshot_loading import snapshot_rules
from rocketha.replicated_log.log import NO_TERM, DurableLog
from rocketha.replicated_log.register import RegisterStateMachine
from rocketha.replicated_log.snapshot_files import SnapshotFiles, SnapshotMeta, SnapshotWriter
from rocketha.replicated_log.snapshot_manager import (
    SnapshotManager,
    SnapshotOptions,
    SnapshotsLoaded,
)
from rocketha.replicated_log.state_machine_caller import StateMachineCaller
from rocketha.sim.snapshot_loading.entries import push_set
from rocketha.storage.disk import Disk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term

OPTIONS = SnapshotOptions(snapshot_threshold=2, max_snapshot_reserved_num=2)

Entry = tuple[str, int | None]

HISTORY: tuple[Entry, ...] = (
    ("a", 1),
    ("b", 2),
    ("a", None),
    ("c", 4),
    ("b", 5),
    ("c", None),
    ("d", 7),
    ("b", None),
)
"""Every state differs from every other one, and registers go."""


def fold(entries: Iterable[Entry]) -> dict[str, int]:
    """Apply entries to nothing."""
    state: dict[str, int] = {}
    for key, value in entries:
        state.pop(key, None)
        if value is not None:
            state[key] = value
    return state


STATES = [fold(HISTORY[:n]) for n in range(len(HISTORY) + 1)]


class Registers:
    """One node. Making it is its start."""

    def __init__(
        self,
        disk: Disk,
        *,
        bugs: Bugs = NO_BUGS,
        options: SnapshotOptions = OPTIONS,
        follows: bool = False,
    ) -> None:
        rules = snapshot_rules(bugs)
        self.log, self.opened = DurableLog.open(disk, rules=rules)
        self.files = SnapshotFiles(disk, rules=rules)
        self.machine = RegisterStateMachine(rules)
        self.caller = StateMachineCaller(self.machine, rules)
        self.manager = SnapshotManager(self.files, self.log, self.caller, options, rules)
        self.loaded: SnapshotsLoaded = self.manager.start(follows=follows)

    @property
    def values(self) -> Mapping[str, int]:
        return self.machine.values

    @property
    def applied(self) -> int:
        return self.caller.applied.last_included_index

    def put(self, entry: Entry, term: Term = NO_TERM) -> None:
        data = push_set(*entry)
        self.manager.commit(data, lambda: self.machine.on_replay(data), term)


def install(node: Registers, data: bytes) -> bool:
    """Let a leader's snapshot arrive and be loaded; tell whether the node has taken it."""
    before = node.manager.receiving
    node.manager.receive(data)
    taken = node.manager.receiving != before
    if taken:
        node.manager.load_received()
    return taken


def run(disk: Disk, entries: Iterable[Entry] = HISTORY, *, bugs: Bugs = NO_BUGS) -> Registers:
    """Start a node and give it entries."""
    node = Registers(disk, bugs=bugs)
    for entry in entries:
        node.put(entry)
    return node


def meta(index: int, term: int = 0) -> SnapshotMeta:
    """Say of which entry a snapshot is."""
    return SnapshotMeta(last_included_index=LogIndex(index), last_included_term=Term(term))


def leaders(index: int, term: int = 0) -> bytes:
    """Make the snapshot of a leader that has this part of the history."""
    writer = SnapshotWriter(meta(index, term))
    own = Registers(MemoryDisk())
    for entry in HISTORY[:index]:
        own.put(entry)
    own.machine.on_snapshot_save(writer)
    return writer.encoded()


def flip(disk: MemoryDisk, path: str, at: int = -1, bit: int = 0) -> None:
    """Damage a file for good."""
    at %= disk.size(path)
    disk.write(path, at, bytes([disk.read(path, at, 1)[0] ^ 1 << bit]))
    disk.fsync(path)


def after_five() -> MemoryDisk:
    """Make the disk of a node that has the first five entries, and two snapshots."""
    disk = MemoryDisk()
    run(disk, HISTORY[:5])
    return disk


def entry_data(entry: Entry) -> bytes:
    """Write an entry of the log."""
    return push_set(*entry)


class Liar(MemoryDisk):
    """Spoils the last byte of some snapshots as it writes them."""

    def __init__(self, *spoilt: int) -> None:
        super().__init__()
        self.saves = 0
        self.spoilt = spoilt

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write, and spoil it if it is time."""
        if path == "snapshot/tmp":
            self.saves += 1
            if self.saves in self.spoilt:
                data = data[:-1] + bytes([data[-1] ^ 1])
        super().write(path, offset, data)
