"""One simulated run of a node with snapshots: a seed, faults, and then a world without."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from rocketha.errors import PowerCutError, RockethaError
from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.sim.engine.faults import SNAPSHOT_FAULTS, Fault, FaultCounts, draw_plan
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.report import SimReport
from rocketha.sim.snapshot_loading.cluster import SnapshotCluster, SnapshotObserver
from rocketha.sim.snapshot_loading.entries import draw_history
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex

__all__ = ["simulate_snapshots"]

_WITHIN: Final = 14
"""The power goes off within so many actions of the node."""
_MISSED: Final = 3
"""So many entries are agreed on without the node, at most, before it gets a snapshot; or so many
arrive before it learns that they were agreed on."""
_OPTIONS: Final = SnapshotOptions(snapshot_threshold=2, max_snapshot_reserved_num=2)
"""Of all runs, so that one model judges them."""


def simulate_snapshots(seed: int, options: SimOptions, observer: SnapshotObserver) -> SimReport:
    """Run a node; the same seed and options give the same run, always and everywhere."""
    rng, counts = Random(seed), FaultCounts()
    faults = draw_plan(rng, SNAPSHOT_FAULTS, options.faults, share=0.7).faults
    drawn = rng.randrange(80, 200)
    steps = drawn if options.steps is None else options.steps
    world = SnapshotCluster(draw_history(rng), _OPTIONS, options.bugs, observer)
    life = _Life(world, rng, faults, counts)
    failure: str | None = None
    try:
        life.live(steps)
        life.heal()
    except (AssertionError, RockethaError) as error:
        if not options.bugs:
            raise
        failure = f"{type(error).__name__}: {error}"
    refused = world.node is not None and world.node.has_refused
    return SimReport(
        seed=seed,
        actions=world.actions,
        virtual_ms=world.now_ms,
        faults=counts.by_name(),
        converged=failure is None and life.has_all(),
        failure=failure,
        excuse="no snapshot is whole" if refused and world.damages else None,
    )


class _Life:
    """What happens to a node."""

    def __init__(
        self, world: SnapshotCluster, rng: Random, faults: frozenset[Fault], counts: FaultCounts
    ) -> None:
        self._world = world
        self._rng = rng
        self._counts = counts
        self._cuts = [fault for fault in (Fault.POWER_CUT, Fault.TORN_WRITE) if fault in faults]
        moves: list[Callable[[], None]] = [self._put] * 14
        moves += [self._agree, self._append, self._append, self._learn, self._learn]
        moves += [self._stray, self._receive, self._receive, self._load, self._load]
        if self._cuts:
            moves += [self._cut, self._cut_within]
        if Fault.DAMAGED_FILE in faults:
            moves += [self._damage, self._damage]
        self._moves = moves

    def live(self, steps: int) -> None:
        """Let things happen for so many actions, or until the node refuses to start."""
        for _ in range(steps):  # a move is an action or more, until the history ends
            if self._world.actions < steps and not self._has_refused():
                self._try(self._rng.choice(self._moves))

    def heal(self) -> None:
        """Let the node get what it lacks."""
        self._world.cut_after = None
        for _ in range(len(self._world.history)):
            if not self._has_refused() and not self.has_all():
                self._follow()

    def has_all(self) -> bool:
        """Tell whether all that the group has agreed on is applied."""
        node = self._world.node
        return (
            node is not None and not node.has_refused and self._world.applied >= self._world.agreed
        )

    def _has_refused(self) -> bool:
        return self._world.node is not None and self._world.node.has_refused

    def _try(self, move: Callable[[], None]) -> None:
        try:
            move()
        except PowerCutError:
            self._try(self._cut)

    def _agree(self) -> None:
        if self._world.agreed < len(self._world.history):
            self._world.agree()

    # ---- the node follows ----

    def _put(self) -> None:
        if self._world.matched >= self._world.agreed:
            self._agree()
        self._follow()

    def _follow(self) -> None:
        """Get the next entry, or the snapshot that stands for it, and do what it asks for."""
        matched = self._world.matched
        if matched + 1 < self._world.kept:
            if self._world.job is None:
                self._world.receive()
            self._load()
        elif matched < self._world.agreed:
            self._world.append(LogIndex(matched + 1))
        self._learn_up_to(self._world.matched)
        self._apply_all()

    def _append(self) -> None:
        """Let entries arrive that are not known to be agreed on."""
        for _ in range(self._rng.randint(1, _MISSED)):
            matched = self._world.matched
            if matched >= self._world.agreed:
                self._agree()
            if self._world.kept <= matched + 1 <= self._world.agreed:
                self._world.append(LogIndex(matched + 1))

    def _stray(self) -> None:
        """Let a leader that does not last write behind the log."""
        for _ in range(self._rng.randint(1, _MISSED)):
            if self._world.takes_strays:
                self._world.append_stray()

    def _learn(self) -> None:
        """Let the node learn of some entries, and perhaps apply them."""
        known, matched = self._world.up().caller.commit, self._world.matched
        if matched > known:
            self._learn_up_to(LogIndex(self._rng.randint(known + 1, matched)))
        if self._rng.randrange(2) == 0:
            self._apply_all()

    def _learn_up_to(self, index: LogIndex) -> None:
        if index > self._world.up().caller.commit:
            self._world.learn(index)

    def _apply_all(self) -> None:
        for _ in range(self._world.up().caller.commit - self._world.applied):
            self._world.apply()
            self._world.save()

    # ---- a snapshot of the leader ----

    def _receive(self) -> None:
        """Let the leader's snapshot arrive: of entries that the node lacks, or a late one."""
        for _ in range(self._rng.randint(0, _MISSED)):
            self._agree()
        if self._world.kept <= self._world.agreed and self._rng.randrange(4):
            self._world.compact()
        if self._world.kept > 1 and self._world.job is None:
            self._world.receive()

    def _load(self) -> None:
        if self._world.up().manager.receiving is not None:
            self._world.load_received()

    # ---- faults ----

    def _cut(self) -> None:
        fault = self._rng.choice(self._cuts)
        torn = fault is Fault.TORN_WRITE
        self._counts.add(fault)
        self._world.cut_power(
            (lambda disk: disk.power_cut(self._rng)) if torn else MemoryDisk.lose_unsynced
        )
        self._world.start()

    def _cut_within(self) -> None:
        self._world.cut_after = self._rng.randint(1, _WITHIN)

    def _damage(self) -> None:
        """Damage the newest file or two; that shows when the node starts."""
        for _ in range(self._rng.choice((1, 1, 2))):
            if self._world.sound:
                self._world.damage(self._world.sound[-1])
                self._counts.add(Fault.DAMAGED_FILE)
        if self._cuts and self._rng.randrange(2) == 0:
            self._cut()
            if self._rng.randrange(2) == 0:
                self._cut_within()
