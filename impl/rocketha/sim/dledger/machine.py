"""A simulated member of a DLedger group: its disk, its files, its ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

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
    MachinePerformer,
    RolePerformer,
)
from rocketha.dledger.register import RegisterService
from rocketha.dledger.state import RoleChanged
from rocketha.formats.dledger_request_codec import push_request
from rocketha.formats.dledger_requests import DLedgerRequest
from rocketha.recording.dledger_parts import MemberParts, settings_of
from rocketha.recording.recorder import Parts
from rocketha.runtime.effects import AnswerClient, Respond
from rocketha.runtime.events import RequestEvent
from rocketha.sim.dledger.member import (
    LedgerMachine,
    LedgerMember,
    LedgerSurroundings,
)
from rocketha.sim.engine.frames import Frame
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.remoting_calls import Arrived
from rocketha.types import BrokerId, ConnectionId, RequestId

__all__ = [
    "DLedgerMachine",
    "Member",
    "MemberStepped",
    "OutsiderTold",
    "SavedClient",
    "Surroundings",
]

DLedgerMachine: TypeAlias = LedgerMachine[NodeState]
"""A node of a group and its machine."""

_OUTSIDE: Final = ConnectionId(-1)
"""No connection of the network has this number."""


@dataclass(frozen=True, slots=True)
class OutsiderTold:
    """The answer to who administers the group."""

    code: int
    body: str


@dataclass(frozen=True, slots=True)
class SavedClient:
    """What a client is told, and what the state machine has for it."""

    answer: AnswerApplied | AnswerRead | RefuseClient
    outcome: object
    registers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MemberStepped:
    """A member took a step."""

    member: BrokerId
    event: NodeHears | RequestEvent
    received: tuple[str, ...]
    sent: tuple[Frame, ...]
    action: NodeAction | None
    """What its core says of the step."""
    told: tuple[SavedClient, ...]
    """What left it for clients, in this order."""


class Surroundings(LedgerSurroundings, Protocol):
    """What is around a member."""

    def report(self, stepped: MemberStepped) -> None:
        """Hear of a step."""
        ...

    def client_told(self, told: SavedClient) -> None:
        """Hear what a client is told."""
        ...


class Member(LedgerMember[NodeState, NodeHears, NodeAction]):
    """The host of a member whose state machine has registers."""

    def __init__(
        self, machine: DLedgerMachine, config: DLedgerConfig, cluster: Surroundings
    ) -> None:
        """Make a member that is down."""
        self.registers = RegisterService()
        self._around_it = cluster
        self._told: list[SavedClient] = []
        self._applying = MachinePerformer(self.files, lambda: self.registers, config, self.request)
        performers = (self._applying, RolePerformer(self._role_changed))
        super().__init__(machine, DLedgerCore(), config, cluster, performers)
        self._recorded = MemberParts(self.files, self.on_disk)
        self.record(settings_of(config), self._parts)

    @property
    def state(self) -> NodeState:
        """Return what it knows; it runs."""
        return self.machine.running()

    def start(self) -> None:
        """Come up with what the disk has."""
        self.registers = self.new_machine()
        self.machine.state = self.open(self.registers)
        self._recorded.starts()
        self.recorder.started()

    def new_machine(self) -> RegisterService:
        """Return registers that nobody has set."""
        return RegisterService()

    def begin(self) -> None:
        """Take the first event."""
        self.host.take(Started())

    def _parts(self) -> Parts:
        return self._recorded.of(self.machine.running())

    # ---- what the engine asks ----

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a member."""
        return broker_address(peer)

    def after_step(self, event: NodeHears | RequestEvent, action: NodeAction | None) -> None:
        """Tell the cluster of a step."""
        received, sent = self.frames.take_received(), self.frames.take()
        told, self._told = tuple(self._told), []
        self._around_it.report(MemberStepped(self.id, event, received, sent, action, told))
        self.wait_for_disk()

    def answer(self, answer: AnswerClient) -> None:
        """Answer a client."""
        assert isinstance(answer, AnswerApplied | AnswerRead | RefuseClient)
        self.recorder.answered(answer)
        if not self.is_muted:
            told = SavedClient(answer, self._applying.outcome, dict(self.registers.values))
            self._told.append(told)
            self._around_it.client_told(told)

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

    def respond(self, answer: Respond) -> None:
        """Answer a request."""
        if self.waiting(answer.request).conn == _OUTSIDE:
            self.recorder.answered(OutsiderTold(answer.code, answer.body.decode()))
        else:
            super().respond(answer)

    def refuse(self, request: RequestId) -> None:
        """Close the connection of a request."""
        assert self.waiting(request).conn != _OUTSIDE
        super().refuse(request)
