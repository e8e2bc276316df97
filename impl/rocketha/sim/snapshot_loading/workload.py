"""What happens to a node with snapshots: its leader, and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Final

from rocketha.errors import PowerCutError
from rocketha.histories.clients import RegisterReads
from rocketha.sim.engine.crash_points import Ending
from rocketha.sim.engine.failure import CoreFailure
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.random_source import Injection
from rocketha.sim.engine.recurrence import Recurrence
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.snapshot_loading.cluster import SnapshotCluster, cut_by
from rocketha.sim.snapshot_loading.entries import Sent
from rocketha.sim.snapshot_loading.plan import SnapshotPlan
from rocketha.sim.snapshot_loading.reader import RegisterReader
from rocketha.sim.snapshot_loading.recorders import NODE
from rocketha.types import LogIndex

__all__ = ["SnapshotWorkload"]

_ENDS: Final = {
    Fault.POWER_CUT: "the power goes off",
    Fault.TORN_WRITE: "the power goes off in the middle of writes",
    Fault.PROCESS_CRASH: "the process ends",
}
_SEAMS: Final = 40
"""A node ends within so many changes of its disk and ends of actions."""
_WITHIN: Final = 14
"""The power goes off within so many actions of the node."""
_MISSED: Final = 3
"""So many entries are agreed on without the node, at most, before it gets a snapshot; or so many
arrive before it learns that they were agreed on."""
_ENDS_BEFORE_LOAD: Final = 2
"""Of the ways in which it comes to nothing that a snapshot has arrived."""
_OFTEN_MS: Final = 20
"""Mean time between two entries that the node gets from a leader that it follows."""
_SELDOM_MS: Final = 280
_ARRIVES: Final = (*(Sent.WHOLE,) * 6, *Sent, Sent.UNLOADABLE)
_FOLLOW_MS: Final = 10
"""A node that is healed gets what it lacks so often."""


class SnapshotWorkload:
    """The world around a node; `begin` puts it in motion, `heal` makes it kind."""

    def __init__(
        self,
        cluster: SnapshotCluster,
        plan: SnapshotPlan,
        environment: Environment,
        reader: RegisterReader,
    ) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._counts = environment.counts
        self._reader = reader
        self._recurrence = Recurrence(environment.scheduler, environment.streams)
        faults = (Fault.POWER_CUT, Fault.TORN_WRITE, Fault.PROCESS_CRASH)
        self._cuts = [fault for fault in faults if fault in plan.faults]

    def begin(self) -> None:
        """Start everything that repeats. Raises: CoreFailure if the node is not there"""
        if self._cluster.failure is not None:
            raise CoreFailure(self._cluster.failure)
        often: tuple[tuple[str, Callable[[Injection], None], int], ...] = (
            ("put", self._put, _OFTEN_MS),
            ("agree", self._agree_alone, _SELDOM_MS),
            ("append", self._append, _SELDOM_MS // 2),
            ("learn", self._learn, _SELDOM_MS // 2),
            ("uncommitted", self._append_uncommitted, _SELDOM_MS),
            ("receive", self._receive, _SELDOM_MS // 2),
            ("load", self._load_late, _SELDOM_MS // 2),
            ("clean", self._clean_up, _SELDOM_MS),
            ("nothing", self._append_nothing, _SELDOM_MS * 2),
            ("late", self._pass_snapshot, _SELDOM_MS),
        )
        self._set_the_scene()
        for kind, act, gap_ms in often:
            self._recurrence.sometimes(gap_ms, partial(self._guarded, act), kind)
        for fault in self._cuts:
            act = partial(self._guarded, partial(self._cut_now, fault))
            self._recurrence.sometimes(_SELDOM_MS * len(self._cuts), act, fault)
        if self._cuts:
            act = partial(self._guarded, self._cut_within)
            self._recurrence.sometimes(_SELDOM_MS, act, "cut within")
        if Fault.CUT_IN_STEP in self._plan.faults and self._cuts:
            act = partial(self._guarded, self._cut_in_step)
            self._recurrence.sometimes(_SELDOM_MS, act, Fault.CUT_IN_STEP)
            act = partial(self._guarded, self._cut_in_append)
            self._recurrence.sometimes(_SELDOM_MS // 2, act, "cut in append")
        if Fault.DAMAGED_FILE in self._plan.faults:
            act = partial(self._guarded, self._damage)
            self._recurrence.sometimes(_SELDOM_MS, act, Fault.DAMAGED_FILE)

    def _set_the_scene(self) -> None:
        """Let the group begin before the node, or a leader that does not last."""
        for _ in range(self._plan.compacted):
            self._cluster.agree()
        if self._plan.compacted:
            self._cluster.compact(LogIndex(self._cluster.agreed))
        if self._plan.begins_with_uncommitted:
            self._cluster.append_stray()

    def heal(self) -> None:
        """End all faults; the node gets what it lacks."""
        self._recurrence.healed = True
        self._cluster.cut_after, self._cluster.rots_next = None, False
        self._cluster.crash_points.is_calm = True
        self._recurrence.every(_FOLLOW_MS, self._catch_up, "follow")

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def converged(self) -> bool:
        """Tell whether all that the group has agreed on is applied."""
        return not self._has_refused() and self._cluster.applied >= self._cluster.agreed

    def unavailable_because(self) -> str | None:
        """Return why the node does not start, if its disk has damaged what it needs."""
        return "no snapshot is whole" if self._has_refused() and self._cluster.damages else None

    def clients(self, *, converged: bool) -> RegisterReads:
        """Return what was read of the registers."""
        return self._reader.reads(healed_at_ms=self._cluster.now_ms if converged else None)

    def _has_refused(self) -> bool:
        return self._cluster.has_refused

    # ---- one thing after the other ----

    def _guarded(self, act: Callable[[Injection], None], injection: Injection) -> None:
        """Let something happen to a node that runs; the power may go off in the middle of it."""
        if self._has_refused():
            return
        with self._ending_by_errors():
            what = act
            while True:  # the power may go off again while the node starts
                try:
                    what(injection)
                except PowerCutError:
                    what = self._cut
                else:
                    break

    def _catch_up(self) -> None:
        if self._has_refused() or self.converged():
            return
        with self._ending_by_errors():
            self._follow()

    @contextmanager
    def _ending_by_errors(self) -> Iterator[None]:
        """End the run where the node ends by itself, whatever its error is. Raises: CoreFailure"""
        try:
            yield
        except Exception as error:
            if self._cluster.is_observed:
                raise
            self._cluster.fail(error)
            raise CoreFailure(f"{type(error).__name__}: {error}") from error

    # ---- the node follows ----

    def _agree(self) -> None:
        if self._cluster.agreed < len(self._cluster.history):
            self._cluster.agree()

    def _agree_alone(self, injection: Injection) -> None:
        injection.note("the group agrees on an entry")
        self._agree()

    def _put(self, injection: Injection) -> None:
        injection.note("the node follows its leader by an entry")
        if self._cluster.matched >= self._cluster.agreed:
            self._agree()
        self._follow()

    def _follow(self) -> None:
        """Get the next entry, or the snapshot that stands for it, and do what it asks for."""
        matched = self._cluster.matched
        if matched + 1 < self._cluster.kept:
            if self._cluster.job is None:
                self._cluster.receive()
            self._load()
        elif matched < self._cluster.agreed:
            self._cluster.append(LogIndex(matched + 1))
        self._learn_up_to(self._cluster.matched)
        self._apply_all()

    def _append(self, injection: Injection) -> None:
        """Let entries arrive that are not known to be agreed on."""
        injection.note("entries arrive that are not known to be agreed on")
        for _ in range(injection.rng.randint(1, _MISSED)):
            self._append_next()

    def _append_next(self) -> None:
        """Let the leader's next entry arrive; the group agrees on one if there is none."""
        matched = self._cluster.matched
        if matched >= self._cluster.agreed:
            self._agree()
        if self._cluster.kept <= matched + 1 <= self._cluster.agreed:
            self._cluster.append(LogIndex(matched + 1))

    def _append_uncommitted(self, injection: Injection) -> None:
        """Let a leader that does not last write behind the log."""
        injection.note("a leader that does not last writes behind the log")
        for _ in range(injection.rng.randint(1, _MISSED)):
            if self._cluster.takes_strays:
                self._cluster.append_stray()

    def _learn(self, injection: Injection) -> None:
        """Let the node learn of some entries, and perhaps apply them."""
        injection.note("the node learns what was agreed on")
        rng = injection.rng
        known, matched = self._cluster.up().caller.commit, self._cluster.matched
        if matched > known:
            self._learn_up_to(LogIndex(rng.randint(known + 1, matched)))
        if rng.randrange(2) == 0:
            self._apply_all()

    def _learn_up_to(self, index: LogIndex) -> None:
        if index > self._cluster.up().caller.commit:
            self._cluster.learn(index)

    def _apply_all(self) -> None:
        for _ in range(self._cluster.up().caller.commit - self._cluster.applied):
            self._cluster.apply()
            self._cluster.save()
        self._cluster.apply()  # there is none any more

    # ---- a snapshot of the leader ----

    def _receive(self, injection: Injection) -> None:
        """Let the leader's snapshot arrive: of entries that the node lacks, or a late one."""
        injection.note("a snapshot of the leader arrives")
        for _ in range(injection.rng.randint(0, _MISSED)):
            self._agree()
        if self._cluster.kept <= self._cluster.agreed and injection.rng.randrange(4):
            self._cluster.compact(LogIndex(self._cluster.agreed))
        if self._cluster.kept > 1:
            sent, fails = injection.rng.choice(_ARRIVES), injection.rng.randrange(4)
            if fails == _ENDS_BEFORE_LOAD:
                sent = Sent.WHOLE
            if sent is not Sent.WHOLE:
                injection.note(f"it is {sent.value}")
            self._let_it_fail(injection, fails)
            self._cluster.receive(sent)
            if fails == _ENDS_BEFORE_LOAD and self._cuts:
                self._cut(injection)

    def _pass_snapshot(self, injection: Injection) -> None:
        """Let a snapshot arrive of entries that the node has, and applies before it is loaded."""
        injection.note("a snapshot of the leader arrives, and the node passes it")
        for _ in range(injection.rng.randint(1, _MISSED)):
            self._append_next()
        has_all = self._cluster.matched == self._cluster.agreed
        if has_all and self._cluster.kept <= self._cluster.agreed:
            self._cluster.compact(LogIndex(self._cluster.agreed))
            self._cluster.receive()
            self._append_next()
            self._learn_up_to(self._cluster.matched)
            self._apply_all()
            self._load()

    def _let_it_fail(self, injection: Injection, fails: int) -> None:
        """Let the disk damage a snapshot that arrives, or the node end before it is loaded."""
        if fails == 0 and Fault.DAMAGED_FILE in self._plan.faults:
            self._rot_next(injection)
        elif fails == 1 and self._cuts:
            self._cut_within(injection)

    def _clean_up(self, injection: Injection) -> None:
        injection.note("the node cleans up")
        self._cluster.clean_up()

    def _append_nothing(self, injection: Injection) -> None:
        injection.note("an entry arrives that has no byte")
        self._cluster.append_nothing()

    def _load_late(self, injection: Injection) -> None:
        injection.note("the node loads a snapshot that has arrived")
        self._load()

    def _load(self) -> None:
        if self._cluster.up().manager.receiving is not None:
            self._cluster.load_received()

    # ---- faults ----

    def _cut_now(self, fault: Fault, injection: Injection) -> None:
        self._end_node(injection, fault, injection.rng)

    def _cut(self, injection: Injection) -> None:
        ending, self._cluster.ending = self._cluster.ending, None
        if ending is None:
            self._end_node(injection, injection.rng.choice(self._cuts), injection.rng)
        else:
            self._counts.add(Fault.CUT_IN_STEP)
            self._end_node(injection, ending.end, ending.rng)

    def _cut_in_step(self, injection: Injection) -> None:
        self._arm(injection, injection.rng.randint(1, _SEAMS))

    def _cut_in_append(self, injection: Injection) -> None:
        """Let the node end when it has written an entry, and not synchronized it."""
        self._arm(injection, 2)
        self._append_next()

    def _arm(self, injection: Injection, seams: int) -> None:
        end = injection.rng.choice(self._cuts)
        injection.note(f"the node ends {seams} seams from now: {end}")
        ending = Ending(end=end, rng=Random(injection.rng.random()))
        self._cluster.crash_points.arm(NODE, seams, ending)

    def _end_node(self, injection: Injection, fault: Fault, rng: Random) -> None:
        injection.note(_ENDS[fault])
        self._counts.add(fault)
        if fault is Fault.PROCESS_CRASH:
            self._cluster.end_process()
        else:
            self._cluster.cut_power(cut_by(fault, rng))
        self._cluster.start()

    def _cut_within(self, injection: Injection) -> None:
        actions = injection.rng.randint(1, _WITHIN)
        injection.note(f"the power goes off after {actions} more actions of the node")
        self._cluster.cut_after = actions

    def _damage(self, injection: Injection) -> None:
        """Damage the newest file or two; that shows when the node starts."""
        rng = injection.rng
        for _ in range(rng.choice((1, 1, 2))):
            if self._cluster.sound:
                index = self._cluster.sound[-1]
                injection.note(f"the disk damages the snapshot up to entry {index}")
                self._cluster.damage(index)
        if rng.randrange(3) == 0:
            self._rot_next(injection)
        if self._cuts and rng.randrange(2) == 0:
            self._cut(injection)
            if rng.randrange(2) == 0:
                self._cut_within(injection)

    def _rot_next(self, injection: Injection) -> None:
        injection.note("the disk will damage the next snapshot before it is read back")
        self._cluster.rots_next = True
