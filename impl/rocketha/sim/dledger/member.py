"""A simulated process of a DLedger group, whatever the state machine above its log is.

Its machine has a disk and a clock. Requests may come twice, the process may stand still, and it may
end between two effects of a step, or in one in which its disk fails.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Protocol, TypeVar, cast

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.node import started as node_started
from rocketha.dledger.node_state import NodeState
from rocketha.dledger.performers import AppliedMachine, DLedgerFiles, LedgerPerformer
from rocketha.dledger.store_options import StoreOptions, look_at_term
from rocketha.errors import DiskError, DLedgerFileError, TermFileError
from rocketha.formats.dledger_index_file import INDEX_UNIT_SIZE
from rocketha.known_bugs import Bugs
from rocketha.recording.dledger_parts import OnDisk, reported_on_disk
from rocketha.recording.recorder import Parts, Recording
from rocketha.runtime.core import Core, Sender
from rocketha.runtime.effects import AnswerClient, RefuseRequest, Respond, SendRequest
from rocketha.runtime.events import RequestEvent, TimerFired
from rocketha.runtime.performer import Performer
from rocketha.runtime.ports import StepUnderWay
from rocketha.sim.dledger.failing_disk import (
    DiskFailure,
    FailingDisk,
    copied_files,
    is_done_on,
)
from rocketha.sim.dledger.surviving_files import SurvivingFiles
from rocketha.sim.engine.crash_points import DISCARD, START, STOP, CrashPoints, Ending
from rocketha.sim.engine.failure import CoreFailure
from rocketha.sim.engine.fault_injector import FaultTarget
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.frames import FrameRecorder
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.remoting_calls import Arrived
from rocketha.sim.engine.request_ports import CallingCluster, CallingNode
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, SizeBytes, TimestampMs

__all__ = ["STORE", "LedgerMachine", "LedgerMember", "LedgerSurroundings", "end_in_step"]

S = TypeVar("S")
H = TypeVar("H")
A = TypeVar("A")

STORE: Final = StoreOptions(
    mapped_file_size_for_entry_data=SizeBytes(1_024),
    mapped_file_size_for_entry_index=SizeBytes(16 * INDEX_UNIT_SIZE),
)
"""Small files, so that runs have several."""
_SLOW_SYNC_MS: Final = 40
"""So long a slow disk takes to synchronize a file."""


@dataclass(frozen=True, slots=True)
class StoodStill:
    """The process stood still for so long, by true time, before it took the step."""

    wait_ms: int


class LedgerMachine(Node[S]):
    """A node of a group and its machine."""

    __slots__ = ("device", "is_damaged", "opened")

    def __init__(self, number: BrokerId, bugs: Bugs) -> None:
        """Make a node with an empty disk that is down."""
        super().__init__(number, bugs)
        self.opened: DLedgerFiles | None = None
        """Its files; of a node that is down those that it had."""
        self.device = FailingDisk(self.disk)
        """Its disk, as its program has it."""
        self.is_damaged = False
        """Its disk has damaged its log since it was up."""

    @property
    def unsynced(self) -> int:
        """Return how many entries a power cut would take."""
        if self.opened is None:
            return 0
        return self.opened.store.end_index - self.opened.store.synced_index


def end_in_step(group: FaultTarget[S], machine: Node[S], ending: Ending) -> None:
    """Stop a member in the middle of a step; it comes back."""
    if ending.end is not Fault.PROCESS_CRASH:
        machine.lose_power(ending.rng if ending.end is Fault.TORN_WRITE else None)
    if ending.silent:
        group.counts.add(Fault.HALF_OPEN)
    group.crash(machine, silent=ending.silent)
    incarnation = machine.incarnation

    def restart() -> None:
        if machine.state is None and machine.incarnation == incarnation:
            group.restart(machine)

    group.scheduler.after(ending.restart_ms, restart)


class LedgerSurroundings(CallingCluster, Protocol):
    """What is around a member, whatever it is a member of."""

    @property
    def recording(self) -> Recording:
        """Return where members write what they see and do."""
        ...

    @property
    def crash_points(self) -> CrashPoints:
        """Return where members end in the middle of a step."""
        ...

    @property
    def counts(self) -> FaultCounts:
        """Return where faults are counted."""
        ...

    def draw_seed(self, machine: Node[Any]) -> int:
        """Return where the random numbers of a member that starts begin."""
        ...

    def doubled_after_ms(self, machine: Node[Any]) -> int | None:
        """Return after how long a request to a node arrives once more; None: it does not."""
        ...

    def end_in_step(self, machine: Node[Any], ending: Ending) -> None:
        """Stop a member in the middle of a step; it comes back."""
        ...


class LedgerMember(CallingNode[S, H, A], ABC, Generic[S, H, A]):
    """The host of a member and its ports; what is above the log a subclass says."""

    def __init__(
        self,
        machine: LedgerMachine[S],
        core: Core[S, H | RequestEvent, A, Any],
        config: DLedgerConfig,
        cluster: LedgerSurroundings,
        performers: Iterable[Performer[Any, Any]],
    ) -> None:
        """Make a member that is down."""
        self.machine = machine
        self.config = config
        self._cluster = cluster
        self._ending: Ending | None = None
        self._before: DLedgerFiles | None = None
        """Its files before the effect under way, while its disk is about to fail."""
        self._is_cut = False
        """It ends in the step under way, and its files are looked at for the last time."""
        self._cut_start: DiskFailure | None = None
        """Its next start ends in the middle."""
        self._powers_off = False
        """Its machine loses power right after its next start."""
        self._counts_as_done = False
        """The effect in which its disk has failed does, though only a start makes it durable."""
        self._left: MemoryDisk | None = None
        """What its disk has, as its log was thrown away in a start that has ended in the middle."""
        self._surviving = SurvivingFiles(machine.disk, STORE, self.files)
        points = cluster.crash_points
        machine.device.ends_before = lambda operation: points.operates(config.self_id, operation)
        self._slow_until_ms = 0
        self._still_until_ms = 0
        self._held: dict[int, Callable[[], None]] = {}
        """What comes while it stands still, in this order."""
        self._holds = 0
        ledger = LedgerPerformer(self.files)
        super().__init__(
            machine.id,
            core,
            cluster,
            seam=self,
            performers=(ledger, *performers),
            see=ledger.view,
            timers=self,
        )
        machine.host = self.host

    def record(self, settings: Parts, parts: Callable[[], Parts]) -> None:
        """Begin to write what it sees and does, under its name."""
        recorder = self._cluster.recording.of(
            self.config.self_id, settings, parts=parts, shows_ms=self.now_ms
        )
        self.recorder = self.frames = FrameRecorder(recorder)

    def files(self) -> DLedgerFiles:
        """Return its files."""
        assert self.machine.opened is not None, f"{self.config.self_id} was never up"
        return self.machine.opened

    def on_disk(self) -> OnDisk:
        """Return what of its files survives a power cut; of a step that is cut, what is there.

        A start makes that durable.
        """
        if self._is_cut:
            return replace(reported_on_disk(self.machine.disk, STORE, self.files()), needless=())
        return self._surviving.look()

    def open(self, machine: AppliedMachine) -> NodeState:
        """Open its files with a state machine that has applied nothing, and return its node."""
        node = self.machine
        self.go_on()
        cut, self._cut_start = self._cut_start, None
        if cut is not None and not node.is_damaged:
            self.fails_to_start(cut)
        if self._begins(DISCARD if node.is_damaged else START):
            before = copy.deepcopy(node.disk)
            if self._is_cut_short(None) and self._has_new_term(before):
                self._left = copy.deepcopy(node.disk)
                node.disk.become(before)
            self._begins(START)
        self._surviving.starts()
        options = replace(STORE, discard_damaged_log=node.is_damaged)
        with self._damaged_by_bugs():
            node.opened = DLedgerFiles.open(node.device, options, machine)
        node.is_damaged = self._counts_as_done = False
        store = node.opened.store
        return node_started(
            self.config,
            store.kept,
            store,
            snapshot_index=node.opened.snapshot_index,
            seed=self._cluster.draw_seed(node),
            now_ms=self.now_ms(),
        )

    def _has_new_term(self, before: MemoryDisk) -> bool:
        """Tell whether it has thrown its log away, which is so when the disk has the new term."""
        kept, had = (look_at_term(disk, STORE) for disk in (self.machine.disk, before))
        return self.machine.is_damaged and kept != had

    def ends_as_it_started(self) -> bool:
        """End right after a start: in the middle of one its log was thrown away, or power goes off.

        What is thrown away counts as such, and is once more when it starts again. Power takes all
        that the start has not made durable, though it has read it. False: it does not end.
        """
        left, self._left = self._left, None
        if left is not None:
            self.machine.disk.become(left)
            self.machine.is_damaged = True
            return True
        powers_off, self._powers_off = self._powers_off, False
        if powers_off:
            self.machine.lose_power(None)
        return powers_off

    def fails_to_start(self, failure: DiskFailure) -> bool:
        """Try to start on a disk that fails meanwhile, and tell whether that ended it."""
        self._begins(START)
        return self._is_cut_short(failure)

    def _is_cut_short(self, failure: DiskFailure | None) -> bool:
        """Try to start, and tell whether this failure ended it, or the crash point that is due."""
        node = self.machine
        node.device.fail(failure)
        try:
            with self._damaged_by_bugs():
                options = replace(STORE, discard_damaged_log=node.is_damaged)
                DLedgerFiles.open(node.device, options, self.new_machine())
        except DiskError:
            self._ends_struck()
            return True
        finally:
            node.device.fail(None)
        return False

    def _ends_struck(self) -> None:
        """Have on the disk what is left of it as the process ends in a start or an end."""
        struck = self.machine.device.failure
        assert struck is not None
        self._cluster.counts.add(struck.fault)
        self._powers_off = _is_kept_in_memory(struck)
        if struck.ending.end is not Fault.PROCESS_CRASH:
            if self._counts_as_done:  # so its operating system has written it meanwhile
                self.machine.disk.write_back()
            is_torn = struck.ending.end is Fault.TORN_WRITE
            self.machine.lose_power(struck.ending.rng if is_torn else None)

    def _begins(self, what: str) -> bool:
        """Count an effect, a start or an end; tell whether the node may end in the middle of it."""
        return self._cluster.crash_points.begins(self.config.self_id, what)

    @contextmanager
    def _damaged_by_bugs(self) -> Iterator[None]:
        """Count files that a known bug has damaged as a failure of the core."""
        try:
            yield
        except (DLedgerFileError, TermFileError) as error:
            if not self.machine.bugs:
                raise
            raise CoreFailure(str(error)) from error

    @abstractmethod
    def new_machine(self) -> AppliedMachine:
        """Return a state machine that has applied nothing."""

    # ---- what the engine asks ----

    def now_ms(self) -> TimestampMs:
        """Return what its clock shows."""
        return self.machine.clock.shows(self._cluster.scheduler.now_ms)

    # ---- a process that stands still (SIGSTOP) ----

    def stand_still(self, wait_ms: int) -> None:
        """Take no event for so long; what comes meanwhile comes then."""
        self.recorder.heard(StoodStill(wait_ms))
        self._still_until_ms = max(self._still_until_ms, self._cluster.scheduler.now_ms + wait_ms)

    def go_on(self) -> None:
        """Stand still no longer, hear what came meanwhile, and have a disk that works."""
        self._still_until_ms = self._slow_until_ms = 0
        self.machine.device.fail(None)
        if self._held:
            self._cluster.scheduler.after(0, self._hear_held)

    def _hear_held(self) -> None:
        held, self._held = self._held, {}
        for later in held.values():
            later()

    def when_it_runs(self, act: Callable[[], None]) -> None:
        """Do something as soon as the process does not stand still, if it is the same then."""
        wait_ms = self._still_until_ms - self._cluster.scheduler.now_ms
        if wait_ms <= 0:
            act()
            return
        incarnation = self.machine.incarnation
        number = self._holds = self._holds + 1

        def later() -> None:
            if self.machine.incarnation == incarnation:
                self.when_it_runs(act)

        def when_it_goes_on() -> None:
            held = self._held.pop(number, None)
            if held is not None:
                held()

        self._held[number] = later
        self._cluster.scheduler.after(wait_ms, when_it_goes_on)

    def arrive(self, arrived: Arrived) -> None:
        """Hear a request, and perhaps once more later: then nobody waits for the answer."""
        incarnation = self.machine.incarnation
        self.when_it_runs(lambda: super(LedgerMember, self).arrive(arrived))
        late_ms = self._cluster.doubled_after_ms(self.machine)
        if late_ms is None:
            return

        def again() -> None:
            if self.machine.incarnation == incarnation:
                self.when_it_runs(lambda: super(LedgerMember, self).arrive(arrived))

        self._cluster.scheduler.after(late_ms, again)

    # ---- its disk ----

    def close_files(self) -> None:
        """Make its log durable, as a process does that ends in order, unless its disk fails now.

        At a crash point it ends in the middle of that.
        """
        device = self.machine.device
        if device.failure is not None:
            return
        self._begins(STOP)
        try:
            with self._damaged_by_bugs():
                self.files().store.close()
        except DiskError:
            self._ends_struck()
        finally:
            device.fail(None)

    def slow_down(self, lasts_ms: int) -> None:
        """Have a slow disk for so long: each step that synchronizes takes a while."""
        self._slow_until_ms = self._cluster.scheduler.now_ms + lasts_ms
        self.machine.device.syncs = 0

    def wait_for_disk(self) -> None:
        """Stand still after a step, if the disk is slow and has synchronized something in it."""
        device = self.machine.device
        if device.syncs and self._cluster.scheduler.now_ms < self._slow_until_ms:
            self.stand_still(device.syncs * _SLOW_SYNC_MS)
        device.syncs = 0

    def failed(self, step: StepUnderWay[H | RequestEvent, A]) -> bool:
        """End the node, whose disk has failed in an effect.

        Where a start finds the effect done, it was; else it was not, whatever it has written.
        """
        failure, before, machine = self.machine.device.failure, self._before, self.machine
        if failure is None or before is None:
            return False
        machine.device.fail(None)
        self._cluster.counts.add(failure.fault)
        effect, *rest = step.rest
        ending = failure.ending
        self._powers_off = _is_kept_in_memory(failure)
        if ending.end is not Fault.PROCESS_CRASH:
            loses_all = failure.fault is Fault.CUT_IN_STEP and ending.end is Fault.POWER_CUT
            machine.lose_power(None if loses_all else ending.rng)
        if ending.start_operations is not None:
            self._cut_start = replace(failure, operations=ending.start_operations)
        with self._damaged_by_bugs():
            is_done = is_done_on(machine.disk, effect, before, STORE, self.new_machine)
        machine.opened = before
        self._counts_as_done = is_done
        if is_done:
            self.host.perform(effect, step.action)
        self._end(replace(step, rest=tuple(rest)), is_shown=is_done or bool(step.done))
        self._cluster.end_in_step(machine, replace(ending, end=Fault.PROCESS_CRASH))
        return True

    # ---- timers ----

    def wake_at(self, at_ms: TimestampMs) -> None:
        """Let `TimerFired` come when the node's clock shows this; an earlier time stays."""
        machine, now_ms = self.machine, self._cluster.scheduler.now_ms
        due_ms = max(machine.clock.when(at_ms), now_ms + 1)
        if machine.timer_at_ms is not None and machine.timer_at_ms <= due_ms:
            return
        machine.timer_at_ms = due_ms
        incarnation = machine.incarnation

        def fire() -> None:
            if machine.incarnation == incarnation and machine.timer_at_ms == due_ms:
                machine.timer_at_ms = None
                self.when_it_runs(lambda: self.host.take(cast(Any, TimerFired())))

        self._cluster.scheduler.after(due_ms - now_ms, fire)

    def transfer(self, sender: Sender) -> None:
        """Have no connections of which a core knows."""
        raise AssertionError(f"{self.config.self_id} transfers nothing: {sender}")

    # ---- the seam: it ends between two effects of a step ----

    def is_end(self, effect: object, *, is_first: bool) -> bool:
        """Count a seam, and tell whether the node ends there."""
        device, may_end = self.machine.device, self._begins(type(effect).__name__)
        fails = may_end or device.failure is not None
        self._before = copied_files(self.files(), device) if fails else None
        if is_first:
            return False
        self._ending = self._cluster.crash_points.passes(self.config.self_id)
        return self._ending is not None

    def end(self, step: StepUnderWay[H | RequestEvent, A]) -> bool:
        """End the node: what is written is written, and what it would send never leaves it.

        A step of which nothing was done is none. Of any other one the rest is performed where it
        writes nothing, so that it is whole for whoever looks.
        """
        ending = self._ending
        assert ending is not None
        self._cluster.counts.add(Fault.CUT_IN_STEP)
        self._end(step, is_shown=bool(step.done))
        self._cluster.end_in_step(self.machine, ending)
        return True

    def _end(self, step: StepUnderWay[H | RequestEvent, A], *, is_shown: bool) -> None:
        if is_shown:
            self.is_muted = True
            for effect in step.rest:
                if isinstance(effect, _SENDS):
                    self.host.perform(effect, step.action)
            self.is_muted = False
            self._is_cut = True
            self.cut(step.event, step.action)
            self._is_cut = False
        self.frames.take_received()
        self.frames.take()


def _is_kept_in_memory(failure: DiskFailure) -> bool:
    """Tell whether a process has ended at a crash point, and its machine still runs."""
    return failure.fault is Fault.CUT_IN_STEP and failure.ending.end is Fault.PROCESS_CRASH


_SENDS: Final = (SendRequest, Respond, RefuseRequest, AnswerClient)
"""What a node does that leaves no trace on its disk."""
