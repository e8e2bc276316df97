"""A node with registers, a log and snapshots, small enough to cut its power everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rocketha.bugs import NO_BUGS, Bugs
from rocketha.controller.log import NO_TERM, DurableLog
from rocketha.snapshot.caller import StateMachineCaller
from rocketha.snapshot.files import SnapshotFiles
from rocketha.snapshot.keeping import SnapshotManager, SnapshotOptions, SnapshotsLoaded
from rocketha.snapshot.register import RegisterStateMachine, push_set
from rocketha.storage.disk import Disk
from rocketha.types import Term

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
        self, disk: Disk, *, bugs: Bugs = NO_BUGS, options: SnapshotOptions = OPTIONS
    ) -> None:
        self.log, self.opened = DurableLog.open(disk)
        self.files = SnapshotFiles(disk, bugs=bugs)
        self.machine = RegisterStateMachine(bugs)
        self.caller = StateMachineCaller(self.machine, bugs)
        self.manager, loaded = SnapshotManager.open(
            self.files, self.log, self.caller, options, bugs
        )
        self.loaded: SnapshotsLoaded = loaded

    @property
    def values(self) -> Mapping[str, int]:
        return self.machine.values

    @property
    def applied(self) -> int:
        return self.caller.applied.last_included_index

    def put(self, entry: Entry, term: Term = NO_TERM) -> None:
        data = push_set(*entry)
        self.manager.commit(data, lambda: self.machine.on_replay(data), term)


def run(disk: Disk, entries: Iterable[Entry] = HISTORY, *, bugs: Bugs = NO_BUGS) -> Registers:
    """Start a node and give it entries."""
    node = Registers(disk, bugs=bugs)
    for entry in entries:
        node.put(entry)
    return node
