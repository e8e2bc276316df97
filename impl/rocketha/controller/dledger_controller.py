"""A controller of a controller group: its DLedger node and the controller above it, as one core.

| what a controller of a group does        | when                                                  |
|------------------------------------------|-------------------------------------------------------|
| serves, and scans for masters            | once it has applied an entry of the term in which it  |
|                                          | leads: then it has all that was answered before       |
| answers a request that changes something | when its entry is applied; never, if it leads no more |
| answers a query                          | when a majority has confirmed since that it leads     |
| says who leads, as far as it knows       | always                                                |
| answers NOT_LEADER                       | to all else, while it does not serve                  |

RocketMQ's leader answers queries from its memory, also one that was replaced and does not know.

Spec: ControllerGroup!Take, ControllerGroup!Serves, ControllerGroup!Answer
Source: controller/impl `DLedgerController` (`RoleChangeHandler`, `appendToDLedgerAndWait`,
`getControllerMetadata`), `DLedgerControllerStateMachine`
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias, get_origin

from rocketha.controller.applied import Applied
from rocketha.controller.core import (
    NOT_LEADER,
    ChannelGone,
    ControllerCore,
    ControllerHears,
    EntryActed,
    FrameReceived,
    LeadingController,
    ScanDue,
    SentRequest,
    answer_to,
)
from rocketha.controller.dispatch import Close, ControllerOptions, Need, need_of, read_frame
from rocketha.controller.entry import Entry, decode_entry, encode_entry
from rocketha.controller.state import ControllerState
from rocketha.controller.state_machine import ControllerStateMachine
from rocketha.controller.tables import pull_tables, push_tables
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.connections import DLedgerCore
from rocketha.dledger.ledger import LedgerView
from rocketha.dledger.node_state import (
    AnswerApplied,
    AnswerRead,
    AppendAsked,
    NodeAction,
    NodeHears,
    NodeState,
    ReadAsked,
    RefuseClient,
)
from rocketha.dledger.performers import DLedgerFiles, MachinePerformer
from rocketha.errors import PacketError, SnapshotError
from rocketha.formats.controller_responses import MetadataInfo
from rocketha.formats.controller_snapshot import (
    Section,
    SectionType,
    SnapshotVersion,
    decode_snapshot,
    encode_snapshot,
)
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.replicated_log.replicated_log import (
    EntryApplied,
    LeadershipGained,
    LeadershipLost,
    LogPosition,
    Propose,
    Proposed,
)
from rocketha.runtime.core import Core
from rocketha.runtime.effects import Effect, SendRequest
from rocketha.runtime.events import RequestEvent
from rocketha.types import LogIndex, Term, TimestampMs

__all__ = [
    "ControllerMachinePerformer",
    "DLedgerController",
    "DLedgerControllerCore",
    "DLedgerControllerMachine",
    "DLedgerControllerStepped",
    "NoopApplied",
    "StateLoaded",
]


# ---- what happens to it, besides what happens to its node and to its controller ----


@dataclass(frozen=True, slots=True)
class NoopApplied:
    """An entry was agreed on that no state machine sees."""

    position: LogPosition


@dataclass(frozen=True, slots=True)
class StateLoaded:
    """The state is that of a snapshot which a leader has sent."""

    state: ControllerState


_Hears: TypeAlias = NodeHears | RequestEvent | ControllerHears | NoopApplied | StateLoaded
_NOT_DONE: Final = (AnswerApplied, AnswerRead, RefuseClient, Propose)
"""What one part wants and the other one takes: nobody performs it."""
_LEVEL: Final = 1
"""Of zlib, the fastest: tables of 10,000 groups get 22 times smaller, by the usual one 24 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DLedgerController:
    """What a controller of a group has in memory."""

    node: NodeState
    controller: LeadingController
    serves_in: Term | None = None
    """The term in which it leads and serves."""
    queries: Mapping[int, FrameReceived] = field(default_factory=lambda: MappingProxyType({}))
    """Ticket -> a query that waits until it is confirmed that this controller leads."""
    last_ticket: int = 0


@dataclass(frozen=True, slots=True)
class DLedgerControllerStepped:
    """The result of one step."""

    state: DLedgerController
    effects: tuple[Any, ...] = ()
    action: NodeAction | EntryActed | None = None

    def then(
        self, step: Callable[[DLedgerController], DLedgerControllerStepped]
    ) -> DLedgerControllerStepped:
        """Go on from here; the action is that of the first of both that has one."""
        later = step(self.state)
        action = later.action if self.action is None else self.action
        return DLedgerControllerStepped(later.state, (*self.effects, *later.effects), action)


class DLedgerControllerCore(Core[DLedgerController, _Hears, NodeAction | EntryActed, LedgerView]):
    """The core of a controller of a group."""

    effects = tuple(
        effect
        for effect in (*DLedgerCore.effects, *ControllerCore.effects)
        if (get_origin(effect) or effect) not in _NOT_DONE
    )

    def __init__(self, options: ControllerOptions, addresses: Mapping[str, str]) -> None:
        """Take the configuration, and where brokers find each member of the group."""
        self._options = options
        self._addresses = addresses
        self._node = DLedgerCore()
        self._controller = ControllerCore(options)

    def step(
        self, state: DLedgerController, event: _Hears, *, now_ms: TimestampMs, log: LedgerView
    ) -> DLedgerControllerStepped:
        """Take one event. Raises: EncodingError"""
        at = _At(now_ms, log)
        match event:
            case FrameReceived():
                return self._receive(state, event, at)
            case ChannelGone() | ScanDue():
                leads = state.controller.leads
                return self._control(state, event, at) if leads else _Stepped(state)
            case EntryApplied(position=position):
                applied = self._control(state, event, at)
                return applied.then(lambda after: self._serve_from(after, position, at))
            case NoopApplied(position=position):
                return self._serve_from(state, position, at)
            case StateLoaded(state=loaded):
                controller = replace(state.controller, state=loaded)
                return _Stepped(replace(state, controller=controller))
            case Proposed() | LeadershipGained() | LeadershipLost():
                raise AssertionError(f"a log tells its node nothing from outside: {event}")
            case _:
                return self._agree(state, event, at)

    def next_timer_ms(self, state: DLedgerController) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        return self._node.next_timer_ms(state.node)

    # ---- what brokers say ----

    def _receive(
        self, state: DLedgerController, event: FrameReceived, at: _At
    ) -> DLedgerControllerStepped:
        """Serve a frame, refuse it, or let it wait until it is known who leads."""
        command = read_frame(event.data)
        need = Need.NOTHING if isinstance(command, Close) else need_of(command)
        if isinstance(command, Close) or need is Need.NOTHING:
            return self._control(state, event, at)
        if not state.controller.leads:
            return _Stepped(state, _refuse(event))
        if need is Need.LOG:
            return self._control(state, event, at)
        ticket = state.last_ticket + 1
        queries = MappingProxyType({**state.queries, ticket: event})
        waits = replace(state, queries=queries, last_ticket=ticket)
        return self._agree(waits, ReadAsked(ticket=ticket), at)

    # ---- the node ----

    def _agree(
        self, state: DLedgerController, event: NodeHears | RequestEvent, at: _At
    ) -> DLedgerControllerStepped:
        """Let the node take an event; queries that it confirms are answered."""
        stepped = self._node.step(state.node, event, now_ms=at.now_ms, log=at.log)
        done = DLedgerControllerStepped(
            replace(state, node=stepped.state), _performed(stepped.effects), stepped.action
        )
        for effect in stepped.effects:
            if isinstance(effect, AnswerRead | RefuseClient) and effect.ticket in state.queries:
                confirmed = isinstance(effect, AnswerRead)
                done = done.then(partial(self._end_query, effect.ticket, confirmed, at))
        serves_in, member = state.serves_in, stepped.state.elector.member
        if serves_in is None or (member.is_leader and member.curr_term == serves_in):
            return done
        return done.then(lambda after: self._lose(after, at))

    def _end_query(
        self, ticket: int, confirmed: bool, at: _At, state: DLedgerController
    ) -> DLedgerControllerStepped:
        event = state.queries[ticket]
        left = {other: frame for other, frame in state.queries.items() if other != ticket}
        state = replace(state, queries=MappingProxyType(left))
        return self._control(state, event, at) if confirmed else _Stepped(state, _refuse(event))

    # ---- the controller ----

    def _control(
        self, state: DLedgerController, event: ControllerHears, at: _At
    ) -> DLedgerControllerStepped:
        """Let the controller take an event; what it proposes goes to the log at once."""
        controller = self._controller
        if isinstance(event, FrameReceived):
            metadata = self._metadata(state)
            controller = ControllerCore(replace(self._options, metadata=metadata))
        stepped = controller.step(state.controller, event, now_ms=at.now_ms)
        done = DLedgerControllerStepped(
            replace(state, controller=stepped.state), _performed(stepped.effects), stepped.action
        )
        for effect in stepped.effects:
            if isinstance(effect, Propose):
                done = done.then(partial(self._propose, effect, at))
        return done

    def _propose(
        self, effect: Propose[Entry, Any], at: _At, state: DLedgerController
    ) -> DLedgerControllerStepped:
        """Write an entry, and tell the controller where it is."""
        ticket = state.last_ticket + 1
        asked = AppendAsked(ticket=ticket, body=encode_entry(effect.entry))
        appended = self._agree(replace(state, last_ticket=ticket), asked, at)
        node, index = appended.state.node, LogIndex(at.log.end_index + 1)
        waits = node.waiting.get(index)
        position = None
        if waits is not None and waits.ticket == ticket:
            position = LogPosition(index, node.elector.member.curr_term)
        told = Proposed(asker=effect.asker, position=position)
        return appended.then(lambda after: self._control(after, told, at))

    def _serve_from(
        self, state: DLedgerController, position: LogPosition, at: _At
    ) -> DLedgerControllerStepped:
        """Serve from the first entry of the own term on.

        Spec: ControllerGroup!HasOwnNoop
        """
        member = state.node.elector.member
        is_own = member.is_leader and position.term == member.curr_term
        if not is_own or state.serves_in == member.curr_term:
            return _Stepped(state)
        state = replace(state, serves_in=member.curr_term)
        return self._control(state, LeadershipGained(), at)

    def _lose(self, state: DLedgerController, at: _At) -> DLedgerControllerStepped:
        return self._control(replace(state, serves_in=None), LeadershipLost(), at)

    def _metadata(self, state: DLedgerController) -> MetadataInfo:
        """Say who leads. Source: DLedgerController.getControllerMetadata"""
        config, leader = state.node.elector.config, state.node.elector.member.leader_id
        return MetadataInfo(
            group=config.group,
            leader_id=leader,
            leader_address=None if leader is None else self._addresses[leader],
            is_leader=state.controller.leads,
            peers="".join(f"{peer}:{self._addresses[peer]};" for peer in config.peers),
        )


@dataclass(frozen=True, slots=True)
class _At:
    """When a step is taken, and what the node's log is then."""

    now_ms: TimestampMs
    log: LedgerView


_Stepped = DLedgerControllerStepped


def _performed(effects: Iterable[object]) -> tuple[Any, ...]:
    return tuple([effect for effect in effects if not isinstance(effect, _NOT_DONE)])


def _refuse(event: FrameReceived) -> tuple[Effect, ...]:
    command = read_frame(event.data)
    assert not isinstance(command, Close)
    return answer_to(SentRequest(command, event.channel), NOT_LEADER)


# ---- its state machine ----


class DLedgerControllerMachine:
    """The controller's state machine, as a DLedger node applies entries to it.

    A snapshot is the section of `rocketha.formats.controller_snapshot` that has both tables,
    compressed by zlib: INSTALL_SNAPSHOT has all of it in one frame of 16 MiB, and the tables of
    100,000 groups have three times as many bytes. Implements `AppliedMachine`.
    """

    def __init__(self, machine: ControllerStateMachine) -> None:
        """Take a machine that has applied nothing."""
        self.machine = machine
        self.last: Entry | None = None
        """The last entry that was applied."""

    def on_apply(self, entry: bytes) -> Applied:
        """Apply an entry, and return what came of it. Raises: ControllerLogError"""
        self.last = decode_entry(entry)
        return self.machine.on_apply(self.last)

    def on_snapshot_save(self) -> bytes:
        """Return all groups. Raises: EncodingError"""
        tables = Section(SectionType.REPLICAS_INFO_MANAGER, push_tables(self.machine.state))
        return zlib.compress(encode_snapshot((tables,), SnapshotVersion.CHECKED), _LEVEL)

    def on_snapshot_load(self, data: bytes) -> None:
        """Have these groups and no others. Raises: SnapshotError"""
        try:
            _, sections = decode_snapshot(zlib.decompress(data))
        except zlib.error as error:
            raise SnapshotError("controller's snapshot", offset=0, reason=str(error)) from None
        bodies = {section.kind: section.body for section in sections}
        if SectionType.REPLICAS_INFO_MANAGER not in bodies:
            raise SnapshotError("controller's snapshot", offset=0, reason="has no tables")
        try:
            found = pull_tables(bodies[SectionType.REPLICAS_INFO_MANAGER])
        except PacketError as error:
            raise SnapshotError("controller's tables", offset=0, reason=str(error)) from None
        self.machine.on_snapshot_load(found)


class ControllerMachinePerformer(MachinePerformer):
    """Applies entries, and lets the controller hear of each of them."""

    def __init__(
        self,
        files: Callable[[], DLedgerFiles],
        machine: Callable[[], DLedgerControllerMachine],
        config: DLedgerConfig,
        send: Callable[[SendRequest], None],
    ) -> None:
        """Take the files, the machine, and what sends a request."""
        super().__init__(files, machine, config, send)
        self._controller_machine = machine

    def applied(self, entry: DLedgerEntry) -> None:
        """Tell the controller."""
        position = LogPosition(entry.index, entry.term)
        if entry.kind is not DLedgerEntryType.NORMAL:
            self.node.hear(NoopApplied(position))
            return
        last, outcome = self._controller_machine().last, self.outcome
        assert last is not None
        assert isinstance(outcome, Applied)
        self.node.hear(EntryApplied(position=position, entry=last, outcome=outcome))

    def loaded(self) -> None:
        """Tell the controller which groups there are now."""
        self.node.hear(StateLoaded(self._controller_machine().machine.state))
