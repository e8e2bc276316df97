"""A simulated member of a DLedger group: its disk, its files, its ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from rocketha.dledger import node as core
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.connections import DLedgerCore
from rocketha.dledger.node_state import (
    AnswerApplied,
    AnswerRead,
    NodeAction,
    NodeHears,
    NodeState,
    RefuseClient,
    Started,
)
from rocketha.dledger.performers import (
    DLedgerFiles,
    LedgerPerformer,
    MachinePerformer,
    RolePerformer,
)
from rocketha.dledger.register import RegisterService
from rocketha.dledger.state import RoleChanged
from rocketha.dledger.store_options import StoreOptions
from rocketha.errors import DLedgerFileError, TermFileError
from rocketha.formats.dledger_index_file import INDEX_UNIT_SIZE
from rocketha.formats.dledger_request_codec import push_request
from rocketha.formats.dledger_requests import DLedgerRequest
from rocketha.known_bugs import Bugs
from rocketha.recording.recorder import Parts, Recording
from rocketha.runtime.core import Sender
from rocketha.runtime.effects import AnswerClient, RefuseRequest, Respond, SendRequest
from rocketha.runtime.events import RequestEvent, TimerFired
from rocketha.runtime.ports import StepUnderWay
from rocketha.sim.engine.crash_points import CrashPoints, Ending
from rocketha.sim.engine.failure import CoreFailure
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.frames import Frame, FrameRecorder
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.remoting_calls import Arrived
from rocketha.sim.engine.request_ports import CallingCluster, CallingNode
from rocketha.types import BrokerId, ConnectionId, RequestId, SizeBytes, TimestampMs

__all__ = [
    "STORE",
    "DLedgerMachine",
    "Member",
    "MemberStepped",
    "OutsiderTold",
    "SavedClient",
    "Surroundings",
]

STORE: Final = StoreOptions(
    mapped_file_size_for_entry_data=SizeBytes(4_096),
    mapped_file_size_for_entry_index=SizeBytes(64 * INDEX_UNIT_SIZE),
)
"""Small files, so that runs have several."""


class DLedgerMachine(Node[NodeState]):
    """A node of a group and its machine."""

    __slots__ = ("opened",)

    def __init__(self, number: BrokerId, bugs: Bugs) -> None:
        """Make a node with an empty disk that is down."""
        super().__init__(number, bugs)
        self.opened: DLedgerFiles | None = None
        """Its files; of a node that is down those that it had."""

    @property
    def unsynced(self) -> int:
        """Return how many entries a power cut would take."""
        if self.opened is None:
            return 0
        return self.opened.store.end_index - self.opened.store.synced_index


_OUTSIDE: Final = ConnectionId(-1)
"""No connection of the network has this number."""


@dataclass(frozen=True, slots=True)
class OutsiderTold:
    """The answer to who administers the group."""

    code: int
    body: str


@dataclass(frozen=True, slots=True)
class MemberStepped:
    """A member took a step."""

    member: BrokerId
    event: NodeHears | RequestEvent
    received: tuple[str, ...]
    sent: tuple[Frame, ...]
    action: NodeAction | None
    """What its core says of the step."""


@dataclass(frozen=True, slots=True)
class SavedClient:
    """What a client is told, and what the state machine has for it."""

    answer: AnswerApplied | AnswerRead | RefuseClient
    outcome: object
    registers: Mapping[str, int]


class Surroundings(CallingCluster, Protocol):
    """What is around a member."""

    @property
    def now_ms(self) -> int:
        """Return the virtual time."""
        ...

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

    def draw_seed(self, machine: DLedgerMachine) -> int:
        """Return where the random numbers of a member that starts begin."""
        ...

    def doubled_after_ms(self) -> int | None:
        """Return after how long a request arrives once more; None: it does not."""
        ...

    def report(self, stepped: MemberStepped) -> None:
        """Hear of a step."""
        ...

    def client_told(self, told: SavedClient) -> None:
        """Hear what a client is told."""
        ...

    def end_in_step(self, machine: DLedgerMachine, ending: Ending) -> None:
        """Stop a member in the middle of a step; it comes back."""
        ...


class Member(CallingNode[NodeState, NodeHears, NodeAction]):
    """The host of a member and its ports."""

    def __init__(
        self, machine: DLedgerMachine, config: DLedgerConfig, cluster: Surroundings
    ) -> None:
        """Make a member that is down."""
        self.machine = machine
        self.config = config
        self.registers = RegisterService()
        self._cluster = cluster
        self._ending: Ending | None = None
        self._still_until_ms = 0
        ledger = LedgerPerformer(self.files)
        self._applying = MachinePerformer(self.files, lambda: self.registers, config, self.request)
        super().__init__(
            machine.id,
            DLedgerCore(),
            cluster,
            seam=self,
            performers=(ledger, self._applying, RolePerformer(self._role_changed)),
            see=ledger.view,
            timers=self,
        )
        machine.host = self.host
        recorder = cluster.recording.of(
            config.self_id,
            {"kind": "dledger", "peers": config.peers},
            parts=self._parts,
            shows_ms=self.now_ms,
        )
        self.recorder = self._frames = FrameRecorder(recorder)

    def files(self) -> DLedgerFiles:
        """Return its files."""
        assert self.machine.opened is not None, f"{self.config.self_id} was never up"
        return self.machine.opened

    @property
    def state(self) -> NodeState:
        """Return what it knows; it runs."""
        return self.machine.running()

    def start(self) -> None:
        """Come up with what the disk has."""
        machine = self.machine
        self.go_on()
        self.registers = RegisterService()
        try:
            machine.opened = DLedgerFiles.open(machine.disk, STORE, self.registers)
        except (DLedgerFileError, TermFileError) as error:
            if not machine.bugs:
                raise
            raise CoreFailure(str(error)) from error
        store = machine.opened.store
        seed = self._cluster.draw_seed(machine)
        machine.state = core.started(
            self.config,
            store.kept,
            store,
            snapshot_index=machine.opened.snapshot_index,
            seed=seed,
        )
        self.recorder.started()

    def begin(self) -> None:
        """Take the first event."""
        self.host.take(Started())

    def _parts(self) -> Parts:
        state, store = self.machine.running(), self.files().store
        member, pusher = state.elector.member, state.pusher
        return {
            "term": member.curr_term,
            "vote": member.curr_vote_for,
            "role": member.role.value,
            "leader": member.leader_id,
            "end": store.end_index,
            "synced": store.synced_index,
            "begin": store.before_begin_index,
            "committed": pusher.committed_index,
            "applied": pusher.applied_index,
        }

    # ---- what the engine asks ----

    def now_ms(self) -> TimestampMs:
        """Return what its clock shows."""
        return self.machine.clock.shows(self._cluster.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a member."""
        return broker_address(peer)

    def after_step(self, event: NodeHears | RequestEvent, action: NodeAction | None) -> None:
        """Tell the cluster of a step."""
        received, sent = self._frames.take_received(), self._frames.take()
        self._cluster.report(MemberStepped(self.id, event, received, sent, action))

    def answer(self, answer: AnswerClient) -> None:
        """Answer a client."""
        assert isinstance(answer, AnswerApplied | AnswerRead | RefuseClient)
        self.recorder.answered(answer)
        if not self.is_muted:
            told = SavedClient(answer, self._applying.outcome, dict(self.registers.values))
            self._cluster.client_told(told)

    def _role_changed(self, changed: RoleChanged) -> None:
        """Have nothing that leads or follows but the node itself."""

    # ---- who administers the group ----

    def ask_from_outside(self, message: DLedgerRequest) -> None:
        """Hear a request that comes over a connection of its own."""
        command = push_request(message, opaque=1)

        def hear() -> None:
            self.recorder.heard(message)
            self.take_request(Arrived(_OUTSIDE, command))

        self.when_it_runs(hear)

    def respond(self, request: RequestId, code: int, body: bytes) -> None:
        """Answer a request."""
        if self.waiting(request).conn == _OUTSIDE:
            self.recorder.answered(OutsiderTold(code, body.decode()))
        else:
            super().respond(request, code, body)

    def refuse(self, request: RequestId) -> None:
        """Close the connection of a request."""
        assert self.waiting(request).conn != _OUTSIDE
        super().refuse(request)

    # ---- a process that stands still (SIGSTOP) ----

    def stand_still(self, wait_ms: int) -> None:
        """Take no event for so long; what comes meanwhile comes then."""
        self._still_until_ms = max(self._still_until_ms, self._cluster.now_ms + wait_ms)

    def go_on(self) -> None:
        """Stand still no longer."""
        self._still_until_ms = 0

    def when_it_runs(self, act: Callable[[], None]) -> None:
        """Do something as soon as the process does not stand still, if it is the same then."""
        wait_ms = self._still_until_ms - self._cluster.now_ms
        if wait_ms <= 0:
            act()
            return
        incarnation = self.machine.incarnation

        def later() -> None:
            if self.machine.incarnation == incarnation:
                self.when_it_runs(act)

        self._cluster.scheduler.after(wait_ms, later)

    def arrive(self, arrived: Arrived) -> None:
        """Hear a request, and perhaps once more later: then nobody waits for the answer."""
        incarnation = self.machine.incarnation
        self.when_it_runs(lambda: super(Member, self).arrive(arrived))
        late_ms = self._cluster.doubled_after_ms()
        if late_ms is None:
            return

        def again() -> None:
            if self.machine.incarnation == incarnation:
                self.when_it_runs(lambda: super(Member, self).arrive(arrived))

        self._cluster.scheduler.after(late_ms, again)

    # ---- timers ----

    def wake_at(self, at_ms: TimestampMs) -> None:
        """Let `TimerFired` come when the node's clock shows this; an earlier time stays."""
        machine, now_ms = self.machine, self._cluster.now_ms
        due_ms = max(machine.clock.when(at_ms), now_ms + 1)
        if machine.timer_at_ms is not None and machine.timer_at_ms <= due_ms:
            return
        machine.timer_at_ms = due_ms
        incarnation = machine.incarnation

        def fire() -> None:
            if machine.incarnation == incarnation and machine.timer_at_ms == due_ms:
                machine.timer_at_ms = None
                self.when_it_runs(lambda: self.host.take(TimerFired()))

        self._cluster.scheduler.after(due_ms - now_ms, fire)

    def transfer(self, sender: Sender) -> None:
        """Have no connections of which a core knows."""
        raise AssertionError(f"{self.config.self_id} transfers nothing: {sender}")

    # ---- the seam: it ends between two effects of a step ----

    def is_end(self, *, is_first: bool) -> bool:
        """Count a seam, and tell whether the node ends there."""
        if is_first:
            return False
        self._ending = self._cluster.crash_points.passes(self.config.self_id)
        return self._ending is not None

    def end(self, step: StepUnderWay[NodeHears | RequestEvent, NodeAction]) -> bool:
        """End the node: what is written is written, and what it would send never leaves it.

        A step of which nothing was done is none. Of any other one the rest is performed where it
        writes nothing, so that it is whole for whoever looks.
        """
        ending = self._ending
        assert ending is not None
        self._cluster.counts.add(Fault.CUT_IN_STEP)
        if step.done:
            self.is_muted = True
            for effect in step.rest:
                if isinstance(effect, _SENDS):
                    self.host.perform(effect, step.action)
            self.is_muted = False
            self.cut(step.event, step.action)
        self._frames.take_received()
        self._frames.take()
        self._cluster.end_in_step(self.machine, ending)
        return True


_SENDS: Final = (SendRequest, Respond, RefuseRequest, AnswerClient)
"""What a node does that leaves no trace on its disk."""
