"""A simulated member of a DLedger group: its disk, its files, its ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from rocketha.dledger.client_requests import ClientRequest, appended, ask
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.connections import DLedgerCore
from rocketha.dledger.node_state import (
    AnswerApplied,
    AnswerRead,
    AppendAsked,
    NodeAction,
    NodeHears,
    NodeState,
    ReadAsked,
    RefuseClient,
    Started,
)
from rocketha.dledger.performers import (
    MachinePerformer,
    RolePerformer,
)
from rocketha.dledger.register import RegisterService
from rocketha.dledger.state import RoleChanged
from rocketha.formats.dledger_request_codec import push_request, push_response
from rocketha.formats.dledger_requests import AppendEntryResponse, DLedgerRequest
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.recording.dledger_parts import MemberParts, settings_of
from rocketha.recording.recorder import Parts
from rocketha.runtime.effects import AnswerClient, Respond
from rocketha.runtime.events import RequestEvent
from rocketha.sim.dledger.member import (
    STORE,
    LedgerMachine,
    LedgerMember,
    LedgerSurroundings,
)
from rocketha.sim.engine.frames import Frame
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.open_node import OutsiderHeard, OutsiderRefused
from rocketha.sim.engine.remoting_calls import Arrived
from rocketha.types import BrokerId, ConnectionId, RequestId

__all__ = [
    "ClientTold",
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
    """The answer to who administers the group, or to a client that is answered at once."""

    code: int
    body: str


@dataclass(frozen=True, slots=True)
class ClientTold:
    """The answer to an APPEND, as it is sent."""

    body: str


@dataclass(frozen=True, slots=True)
class SavedClient:
    """What a client is told, and what the state machine has for it."""

    answer: AnswerApplied | AnswerRead | RefuseClient
    said: AppendEntryResponse | None
    """What it hears that has sent an APPEND; None: it reads by the index."""
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
        self._reads: set[int] = set()
        """The tickets of clients that read by the index."""
        self._addresses = {name: f"{name}:20911" for name in config.peers}
        self._applying = MachinePerformer(self.files, lambda: self.registers, config, self.request)
        performers = (self._applying, RolePerformer(self._role_changed))
        super().__init__(machine, DLedgerCore(), config, cluster, performers)
        self._recorded = MemberParts(self.files, self.on_disk)
        sizes = {"mapped_file_size_for_entry_data": STORE.mapped_file_size_for_entry_data}
        self.record({**settings_of(config), **sizes}, self._parts)

    @property
    def state(self) -> NodeState:
        """Return what it knows; it runs."""
        return self.machine.running()

    def start(self) -> None:
        """Come up with what the disk has."""
        self.registers = self.new_machine()
        self._reads.clear()
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

    # ---- clients ----

    def asked(self, request: ClientRequest | ReadAsked, ticket: int = 0) -> None:
        """Hear a request that is answered at once, or with this ticket."""
        self.when_it_runs(lambda: self._asked(request, ticket))

    def _asked(self, request: ClientRequest | ReadAsked, ticket: int) -> None:
        if isinstance(request, ReadAsked):
            self._reads.add(request.ticket)
            self._take(request)
            return
        log = self.files().store
        said = ask(self.state, request, ticket=ticket, log=log, addresses=self._addresses)
        if isinstance(said, AppendAsked):
            self._take(said)
            return
        command = push_response(said, opaque=0)
        self.recorder.heard(request)
        self.recorder.answered(OutsiderTold(command.code, command.body.decode()))
        self.recorder.stepped(request, None)

    def _take(self, event: AppendAsked | ReadAsked) -> None:
        self.recorder.heard(event)
        self.host.take(event)

    def answer(self, answer: AnswerClient) -> None:
        """Answer a client."""
        assert isinstance(answer, AnswerApplied | AnswerRead | RefuseClient)
        self.recorder.answered(answer)
        said = self._said(answer)
        if said is not None:
            self.recorder.answered(ClientTold(push_response(said, opaque=0).body.decode()))
        if not self.is_muted:
            outcome, registers = self._applying.outcome, dict(self.registers.values)
            told = SavedClient(answer, said, outcome, registers)
            self._told.append(told)
            self._around_it.client_told(told)

    def _said(
        self, answer: AnswerApplied | AnswerRead | RefuseClient
    ) -> AppendEntryResponse | None:
        """Return what a client hears that has sent an APPEND."""
        if isinstance(answer, AnswerRead) or answer.ticket in self._reads:
            self._reads.discard(answer.ticket)
            return None
        return appended(self.state, answer, self.files().store)

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

    def ask_unreadably(self, command: RemotingCommand) -> None:
        """Hear a request that is none, over a connection of its own."""

        def hear() -> None:
            self.recorder.heard(OutsiderHeard(command.code, {}))
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
        if self.waiting(request).conn == _OUTSIDE:
            self.recorder.answered(OutsiderRefused())
        else:
            super().refuse(request)
