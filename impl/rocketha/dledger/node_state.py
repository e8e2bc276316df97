"""A DLedger node as a whole: what happens to it, what it does, and what it remembers.

Source: DLedgerServer
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from rocketha.dledger.push_state import PusherAction, PusherEvent, PusherState
from rocketha.dledger.state import ElectorAction, ElectorEvent, ElectorState, RequestNumber
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_requests import LegacyPushEntryRequest
from rocketha.runtime.effects import After, AnswerClient, Effect, Then
from rocketha.runtime.events import RequestEvent, TimerFired
from rocketha.types import LogIndex, RequestId, Term, TimestampMs

__all__ = [
    "AnswerApplied",
    "AnswerRead",
    "AppendAsked",
    "LeadershipBegun",
    "NodeAction",
    "NodeHears",
    "NodeState",
    "NodeStepped",
    "PendingRead",
    "ReadAsked",
    "RefuseClient",
    "Started",
    "Waiting",
]


# ---- what happens ----


@dataclass(frozen=True, slots=True)
class Started:
    """The node has come up with what its disk has."""


@dataclass(frozen=True, slots=True)
class LeadershipBegun:
    """This node leads from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendAsked:
    """A client of this node has something for the log. Source: DLedgerServer.handleWrite"""

    ticket: int
    """What the node calls the call; the answer has it."""
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAsked:
    """A client reads the state machine, without an entry in the log.

    Source: DLedgerServer.handleRead, ReadMode.READ_INDEX_READ
    """

    ticket: int


NodeHears: TypeAlias = (
    Started | LeadershipBegun | AppendAsked | ReadAsked | TimerFired | PusherEvent | ElectorEvent
)
"""What a node hears, besides requests and answers."""


# ---- what it does for clients ----


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerApplied(AnswerClient):
    """An entry was agreed on; the state machine has just had it."""

    ticket: int
    index: LogIndex
    term: Term


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRead(AnswerClient):
    """The state machine may be read now: it is as new as when it was asked."""

    ticket: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseClient(AnswerClient):
    """A client is told why not."""

    ticket: int
    code: DLedgerResponseCode
    leader_id: str | None
    is_unknown: bool
    """What was asked for may still come to pass."""


# ---- what it remembers ----


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A client waits for its entry. Source: DLedgerEntryPusher.pendingClosure"""

    ticket: int
    since_ms: TimestampMs


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRead:
    """A read waits until this node has led since, and has applied what was committed then."""

    ticket: int
    index: LogIndex
    """The commit index when it was asked for."""
    after: RequestNumber
    """Heartbeats with a larger number prove that the node still led."""
    since_ms: TimestampMs
    is_confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """A node that runs."""

    elector: ElectorState
    pusher: PusherState
    waiting: Mapping[LogIndex, Waiting] = field(default_factory=lambda: MappingProxyType({}))
    """By the index of the entry, in the order of indexes."""
    reads: tuple[PendingRead, ...] = ()
    preferred_due_ms: TimestampMs | None = None
    """When a leader looks for somebody who is preferred. None: now."""
    legacy_pushes: Mapping[RequestId, LegacyPushEntryRequest] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Pushes of the older generation that are not answered yet."""
    random: int = 0
    """Where the numbers are that elections draw."""


NodeAction: TypeAlias = ElectorAction | PusherAction


@dataclass(frozen=True, slots=True)
class NodeStepped:
    """The result of one step."""

    state: NodeState
    effects: tuple[
        Effect | Then[NodeHears | RequestEvent] | After[NodeHears | RequestEvent], ...
    ] = ()
    action: NodeAction | None = None
