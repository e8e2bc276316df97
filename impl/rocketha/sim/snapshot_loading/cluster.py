"""One node with registers, a log and snapshots, its disk, and the group that it follows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Protocol

from rocketha.errors import EncodingError, PowerCutError, SnapshotError, SnapshotGapError
from rocketha.histories.register_files import scan_log
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.snapshot_loading import snapshot_rules
from rocketha.recording.recorder import NOT_RECORDED, Recording
from rocketha.replicated_log.log import NO_TERM, DurableLog
from rocketha.replicated_log.register import RegisterStateMachine
from rocketha.replicated_log.snapshot_files import SnapshotFiles
from rocketha.replicated_log.snapshot_manager import SnapshotManager, SnapshotOptions
from rocketha.replicated_log.state_machine_caller import StateMachineCaller
from rocketha.sim.engine.crash_points import CrashPoints, Ending
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.snapshot_loading.entries import RegisterHistory, Sent
from rocketha.sim.snapshot_loading.recorders import LOG, NODE, SnapshotNode, SnapshotRecorder
from rocketha.sim.snapshot_loading.steps import (
    Call,
    SnapshotAction,
    SnapshotActionName,
    SteppedDisk,
    SteppedLog,
    Steps,
)
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term

__all__ = ["Job", "NullSnapshotObserver", "SnapshotCluster", "SnapshotNode", "SnapshotObserver"]

_Name = SnapshotActionName


@dataclass(frozen=True, slots=True)
class Job:
    """The snapshot that is being written."""

    kind: str
    index: LogIndex


class SnapshotObserver(Protocol):
    """Who wants to know what happens."""

    def started(self, world: SnapshotCluster) -> None:
        """Look at the initial state."""

    def acted(self, world: SnapshotCluster, action: SnapshotAction) -> None:
        """Look at the state after an action."""


class NullSnapshotObserver:
    """An observer that does not look."""

    def started(self, world: SnapshotCluster) -> None:
        """Do nothing."""

    def acted(self, world: SnapshotCluster, action: SnapshotAction) -> None:
        """Do nothing."""


class SnapshotCluster:
    """A node, and what happens to it."""

    def __init__(
        self,
        history: RegisterHistory,
        options: SnapshotOptions,
        bugs: Bugs,
        observer: SnapshotObserver,
        scheduler: Scheduler,
        recording: Recording = NOT_RECORDED,
        crash_points: CrashPoints | None = None,
        counts: FaultCounts | None = None,
    ) -> None:
        """Start a node on an empty disk."""
        self.history = history
        self.options = options
        self.disk = MemoryDisk()
        self.node: SnapshotNode | None = None
        self.has_refused = False
        """The node does not start, or go on."""
        self.agreed, self.kept = 0, 1
        self.crashes = 0
        self.damaged: dict[bytes, bytes] = {}
        """Contents of files that were damaged -> what they were."""
        self.damages = 0
        self._counts = counts or FaultCounts()
        self.actions = 0
        self.scheduler = scheduler
        self.is_loading = False
        """The node has not loaded a snapshot yet."""
        self.is_unsure = False
        """The process has ended, and nobody has made sure yet of what it left on the disk."""
        self.leaves_log = False
        """The process ends in a step that has changed the log, and that is shown as done."""
        self.rots_next = False
        """The disk damages the next snapshot that is written, before it is read back."""
        self.failure: str | None = None
        """Why the node has ended by itself, if it has."""
        self.is_observed = False
        """Somebody looks at it: what is raised now the node has not done."""
        self._arriving: LogIndex | None = None
        """The entry of the leader's snapshot that arrived last."""
        self.cut_after: int | None = None
        """The power goes off after so many more actions of the node."""
        self.crash_points = crash_points or CrashPoints()
        self.ending: Ending | None = None
        """How the power goes off that goes off now, if a crash point says so."""
        self._rules = snapshot_rules(bugs)
        self._observer = observer
        self._steps = Steps(self._ended, self._show, self._at_seam)
        self._recorder = SnapshotRecorder(history, options, scheduler, recording)
        try:
            self._make_node().manager.start(follows=True)
        except Exception as error:  # whatever it is: the node is not there
            self._end(error)
        observer.started(self)

    @property
    def now_ms(self) -> int:
        """Return the virtual time."""
        return self.scheduler.now_ms

    @property
    def job(self) -> Job | None:
        """Return what is being written."""
        if self.node is None or self.has_refused:
            return None
        receiving = self.node.manager.receiving
        if receiving is None and self._steps.writes is Call.RECEIVE:
            receiving = self._arriving
        if receiving is not None:
            return Job("install", receiving)
        if self._steps.writes is None:
            return None
        return Job("save", self._rules.snap_index(self.applied, self.up().caller.commit))

    @property
    def is_busy(self) -> bool:
        """Tell whether a call is under way."""
        return self._steps.call is not None

    @property
    def applied(self) -> LogIndex:
        """Return the index of the last entry that is applied."""
        return self.up().caller.applied.last_included_index

    @property
    def matched(self) -> LogIndex:
        """Return the last index at which the log has what the group has agreed on."""
        log = self.up().log
        for index in range(min(log.end_index, self.agreed), log.first_index - 2, -1):
            if log.term_of(LogIndex(index)) == self._term(index):
                return LogIndex(index)
        return LogIndex(log.first_index - 1)

    @property
    def takes_strays(self) -> bool:
        """Tell whether a leader that does not last may write behind the log."""
        log = self.up().log
        last = log.term_of(log.end_index)
        return last is not None and last <= self.history.stray

    def up(self) -> SnapshotNode:
        """Return the node, which is there."""
        assert self.node is not None
        return self.node

    # ---- the group ----

    def agree(self) -> None:
        """Agree on the next entry.

        Spec: SnapshotLoading!Agree
        """
        self.agreed += 1
        self._acted(_Name.AGREE)

    def compact(self, last: LogIndex) -> None:
        """Let the leader remove its log up to an entry that was agreed on.

        Spec: SnapshotLoading!LeaderCompacts
        """
        self.kept = last + 1
        self._acted(_Name.LEADER_COMPACTS, last)

    # ---- the node ----

    def append(self, index: LogIndex) -> None:
        """Let the leader's next entry arrive. Raises: PowerCutError"""
        self._steps.begin(Call.FOLLOW, SnapshotAction(_Name.APPEND_ENTRY, index))
        self._get(index, self.history.entry(index), self._term(index))
        self._steps.end()

    def append_stray(self) -> None:
        """Let an entry of a leader arrive that does not last.

        Spec: SnapshotLoading!AppendStray
        Raises: PowerCutError
        """
        self._steps.begin(Call.FOLLOW, SnapshotAction(_Name.APPEND_STRAY))
        index = LogIndex(self.up().log.end_index + 1)
        self._get(index, self.history.stray_entry(index), self.history.stray)
        self._steps.end()

    def _get(self, index: LogIndex, entry: bytes, term: Term) -> None:
        self._recorder.got_entry(index, entry, term)
        self.up().manager.append(index, entry, term)

    def append_nothing(self) -> None:
        """Let an entry without a byte arrive, which no honest leader sends."""
        self._steps.begin(Call.FOLLOW)
        with suppress(EncodingError):
            self.up().manager.append(LogIndex(self.up().log.end_index + 1), b"", self.history.stray)
        self._steps.end()

    def learn(self, index: LogIndex) -> None:
        """Let the node learn that the group has agreed on what it has. Raises: PowerCutError"""
        self._steps.begin(Call.FOLLOW, SnapshotAction(_Name.COMMIT, index))
        self.up().manager.learn_commit(index)
        self._steps.end()

    def apply(self) -> None:
        """Let the node apply the next entry. Raises: PowerCutError"""
        self._steps.begin(Call.FOLLOW, SnapshotAction(_Name.APPLY))
        if not self.up().manager.apply_next():
            self._steps.forget()
        self._steps.end()

    def save(self) -> None:
        """Let the node save a snapshot if it is time, and clean up. Raises: PowerCutError"""
        self._steps.begin(Call.SAVE)
        self.up().manager.save_if_due()
        self._steps.end()

    def clean_up(self) -> None:
        """Let the node clean up. Raises: PowerCutError"""
        self._steps.begin(Call.SAVE)
        self.up().manager.clean_up()
        self._steps.end()

    def receive(self, sent: Sent = Sent.WHOLE) -> None:
        """Let the leader's snapshot arrive, late perhaps. Raises: PowerCutError"""
        self._steps.begin(Call.RECEIVE)
        self._arriving = LogIndex(self.kept - 1)
        data = self.history.snapshot(self._arriving, sent)
        self._recorder.got_snapshot(data)
        with suppress(SnapshotError):  # damaged on its way: nothing comes of it
            self.up().manager.receive(data)
        self._steps.end()

    def load_received(self) -> None:
        """Let the node load the leader's snapshot. Raises: PowerCutError"""
        self._steps.begin(Call.LOAD, SnapshotAction(_Name.READ_BACK))
        self.up().manager.load_received()
        self._steps.end()

    def start(self) -> None:
        """Let a node start, and load its newest snapshot. Raises: PowerCutError"""
        self.begin_start()
        self.load_newest()

    def begin_start(self) -> None:
        """Let a node start."""
        self._make_node()
        self.is_loading = True
        self._acted(_Name.START)
        self.is_unsure = False

    def load_newest(self) -> None:
        """Let the node load its newest snapshot; it may refuse. Raises: PowerCutError"""
        self._steps.begin(Call.START, SnapshotAction(_Name.LOAD_NEWEST))
        try:
            self.up().manager.start(follows=True)
        except SnapshotGapError as error:
            self.has_refused = True
            self._recorder.failed(error)
        self.is_loading = False
        self._steps.end()

    def _make_node(self) -> SnapshotNode:
        disk = SteppedDisk(self._recorder.on(self.disk), self._steps)
        log, _ = DurableLog.open(disk, rules=self._rules)
        machine = RegisterStateMachine(self._rules)
        caller = StateMachineCaller(machine, self._rules)
        stepped = SteppedLog(log, self._steps)
        files = SnapshotFiles(disk, rules=self._rules)
        manager = SnapshotManager(
            files, stepped, caller, self.options, self._rules, recorder=self._recorder.steps
        )
        self.node = SnapshotNode(log=log, machine=machine, caller=caller, manager=manager)
        self.has_refused = False
        self._recorder.started(self.node)
        return self.node

    def fail(self, error: Exception) -> None:
        """End the node by an error of its own.

        The specification knows one such end, a node that refuses to start: that is what is shown.
        """
        self._end(error)
        self._acted(_Name.LOAD_NEWEST)

    def _end(self, error: Exception) -> None:
        self.failure = f"{type(error).__name__}: {error}"
        self.has_refused, self.is_loading = True, False
        self._steps.forget()
        self._recorder.failed(error)

    def _term(self, index: int) -> Term:
        return self.history.term(index) if index else NO_TERM

    # ---- faults ----

    def end_process(self) -> None:
        """End the process, and let the disk go on.

        A trace shows a power cut that everything survives: what was not sure is made sure by the
        start, before the node does anything else.

        Spec: SnapshotLoading!Crash
        """
        self.is_unsure = True
        self._went_down(self.disk)

    def cut_power(self, cut: Callable[[MemoryDisk], object]) -> None:
        """Cut the power; `cut` says what becomes of what was not synchronized.

        Spec: SnapshotLoading!Crash
        """
        left = copy.deepcopy(self.disk)
        cut(left)
        self._went_down(left)

    def _went_down(self, left: MemoryDisk) -> None:
        self.disk, self.node, self.cut_after = left, None, None
        self.is_loading = self.leaves_log = False
        self.crashes += 1
        self._steps.forget()
        self._recorder.lost_power(left)
        self._acted(_Name.CRASH)

    @property
    def sound(self) -> tuple[LogIndex, ...]:
        """Return the indexes of the snapshots that are durable, and have something to damage."""
        durable = copy.deepcopy(self.disk)
        durable.lose_unsynced()
        seen, kept = _snapshots(self.disk), _snapshots(durable)
        return tuple(
            LogIndex(index)
            for index in sorted(seen)
            if kept.get(index) == seen[index] not in self.damaged
            and b"}" in seen[index]
            and b'"no number"' not in seen[index]  # it never was whole
        )

    def damage(self, index: LogIndex) -> None:
        """Change the last register of a snapshot that is durable.

        Spec: SnapshotLoading!Rot
        """
        path = f"snapshot/snapshot_{index}"
        content = self.disk.read(path)
        at = content.rindex(b"}") - 1
        self.disk.write(path, at, bytes([content[at] ^ 1]))
        self.disk.fsync(path)
        self.damaged[self.disk.read(path)] = content
        self.damages += 1
        self._counts.add(Fault.DAMAGED_FILE)
        self._acted(_Name.ROT, index)

    # ---- actions ----

    def _at_seam(self) -> None:
        """Let the node end before it changes its disk, if a crash point says so.

        A trace shows all of a step or nothing, and its log is what tells. Where the process ends
        with another log than the one that is for sure, it shows the step; where the power goes off
        and leaves another one, the node ends after the step. Raises: PowerCutError
        """
        ending = None if self.crash_points.is_calm else self.crash_points.passes(NODE)
        if ending is None:
            return
        self.ending = ending
        if not self._keeps_log(ending):
            if ending.end is not Fault.PROCESS_CRASH:
                self.cut_after = 1
                return
            self.leaves_log, self.is_loading = True, False
            self._steps.show()
        raise PowerCutError("", reason="a node ends in the middle of a step")

    def _keeps_log(self, ending: Ending) -> bool:
        """Tell whether a node that ends so has the log again that it has for sure now."""
        sure, left = copy.deepcopy(self.disk), copy.deepcopy(self.disk)
        sure.lose_unsynced()
        cut_by(ending.end, copy.deepcopy(ending.rng))(left)
        return scan_log(left.read(LOG)) == scan_log(sure.read(LOG))

    def _ended(self, action: SnapshotAction) -> None:
        self._show(action)
        if self.rots_next and action.name is _Name.SYNC_DIRECTORY and self.sound:
            self.rots_next = False
            self.damage(self.sound[-1])
        if not self.crash_points.is_calm:
            self.ending = self.crash_points.passes(NODE)
            if self.ending is not None:
                raise PowerCutError("", reason=f"the power went off after {action.name}")
        if self.cut_after is not None:
            self.cut_after -= 1
            if self.cut_after <= 0:
                raise PowerCutError("", reason=f"the power went off after {action.name}")

    def _show(self, action: SnapshotAction) -> None:
        self._acted(action.name, action.index)

    def _acted(self, name: SnapshotActionName, index: LogIndex | None = None) -> None:
        self.actions += 1
        self.is_observed = True
        self._observer.acted(self, SnapshotAction(name, index))
        self.is_observed = False


def cut_by(end: Fault, rng: Random) -> Callable[[MemoryDisk], object]:
    """Return what an end does to a disk: what was not synchronized survives, or is torn, or not."""
    match end:
        case Fault.PROCESS_CRASH:
            return _go_on
        case Fault.TORN_WRITE:
            return lambda disk: disk.power_cut(rng)
        case _:
            return MemoryDisk.lose_unsynced


def _go_on(disk: MemoryDisk) -> None:
    """Let a disk go on when the process ends."""


def _snapshots(disk: MemoryDisk) -> Mapping[int, bytes]:
    names = [name for name in disk.names("snapshot") if name != "tmp"]
    return {int(name.removeprefix("snapshot_")): disk.read(f"snapshot/{name}") for name in names}
