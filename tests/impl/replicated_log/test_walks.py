"""Random lives of a node: entries, installs, power cuts and damaged files, in any order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Final

import pytest

from rocketha.errors import PowerCutError, SnapshotGapError
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.replicated_log.register import RegisterStateMachine
from rocketha.replicated_log.snapshot_files import SnapshotMeta, SnapshotWriter
from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.sim.snapshot_loading.entries import push_set
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
from tests.impl.replicated_log.registers import Entry, Registers, fold, install

SEEDS: Final = 150
STEPS: Final = 60
KEYS: Final = ("a", "b", "c", "d")


class Life:
    """A node, its disk, and the history on which its group agrees."""

    def __init__(self, seed: int, bugs: Bugs = NO_BUGS) -> None:
        self.rng = random.Random(seed)
        self.bugs = bugs
        self.options = SnapshotOptions(
            snapshot_threshold=self.rng.randint(1, 5),
            max_snapshot_reserved_num=self.rng.randint(1, 3),
        )
        self.disk = MemoryDisk()
        self.history: list[Entry] = []
        self.damaged = 0
        self.seen: Counter[str] = Counter()
        self.refused = False
        self.told = 0
        self.start()

    def live(self) -> None:
        """Go through a life until its end, or until the node refuses to start."""
        steps: tuple[Callable[[], None], ...] = (self.put,) * 16
        steps += (self.cut, self.cut, self.cut_within, self.install, self.damage)
        for _ in range(STEPS):
            self.rng.choice(steps)()
            if self.refused:
                return
            assert self.node.values == fold(self.history[: self.node.applied]), "of one entry"
            assert self.node.caller.commit >= self.node.applied

    def start(self) -> None:
        """Start, and check that what was acknowledged is there."""
        try:
            self.node = Registers(self.disk, bugs=self.bugs, options=self.options)
        except SnapshotGapError:
            self.refuse()
            return
        assert self.node.applied >= self.told, "what was acknowledged is there"
        assert self.node.applied <= len(self.history)
        self.seen["fallen back"] += bool(self.node.loaded.damaged) and self.node.loaded.index > 0
        self.seen["loaded"] += self.node.loaded.index > 0
        # The entry under way when the power went off is agreed on only if the node has it.
        del self.history[self.node.applied :]

    def refuse(self) -> None:
        """End this life."""
        assert self.damaged, "without damage there is no refusal"
        self.refused = True
        self.seen["refused"] += 1

    def entry(self) -> Entry:
        return self.rng.choice(KEYS), self.rng.choice((None, self.rng.randrange(100)))

    def put(self) -> None:
        """Apply the next entry."""
        self.history.append(self.entry())
        self.node.put(self.history[-1])
        self.told = len(self.history)

    def cut(self) -> None:
        """Cut the power between two steps."""
        self.disk.power_cut(self.rng)
        self.start()

    def cut_within(self) -> None:
        """Cut the power in the middle of an entry, and of the snapshot after it."""
        cut = CutDisk(self.disk, cut_before=self.rng.randint(4, 14))
        try:
            node = Registers(cut, bugs=self.bugs, options=self.options)
            while True:
                self.history.append(self.entry())
                node.put(self.history[-1])
                self.told = len(self.history)
        except SnapshotGapError:
            self.refuse()
        except PowerCutError:
            self.seen["cut within"] += 1
            self.cut()

    def install(self) -> None:
        """Let the group go on without the node, and the leader send its snapshot."""
        self.history += [self.entry() for _ in range(self.rng.randint(0, 3))]
        machine = RegisterStateMachine()
        for entry in self.history:
            machine.on_replay(push_set(*entry))
        if not self.history:
            return
        index = LogIndex(len(self.history))
        writer = SnapshotWriter(SnapshotMeta(last_included_index=index, last_included_term=Term(0)))
        machine.on_snapshot_save(writer)
        ahead = index > self.node.applied
        assert install(self.node, writer.encoded()) == ahead
        self.seen["installed"] += ahead
        self.told = index

    def damage(self) -> None:
        """Flip a bit of the newest snapshot."""
        files = self.node.files.indexes
        if not files:
            return
        path = f"snapshot/snapshot_{files[-1]}"
        at = self.rng.randrange(self.disk.size(path))
        byte = self.disk.read(path, at, 1)[0] ^ 1 << self.rng.randrange(8)
        self.disk.write(path, at, bytes([byte]))
        self.disk.fsync(path)
        self.disk.fsync_dir("snapshot")
        self.damaged += 1


def test_a_node_has_the_state_of_one_entry_whatever_happens() -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        life = Life(seed)
        life.live()
        seen += life.seen
    wanted = {"loaded", "fallen back", "refused", "installed", "cut within"}
    assert wanted <= {what for what, times in seen.items() if times >= 10}, seen


@pytest.mark.parametrize(
    "bug",
    [
        Bug.B53,
        Bug.B57,
        Bug.B58,
        Bug.B68,
        Bug.CRC,
        Bug.DIRECTORY_SYNC,
        Bug.SYNC_FIRST,
    ],
)
def test_a_bug_ends_some_life(bug: Bug) -> None:
    for seed in range(SEEDS):
        try:
            Life(seed, frozenset({bug})).live()
        except AssertionError:
            return
    pytest.fail("no life shows it")
