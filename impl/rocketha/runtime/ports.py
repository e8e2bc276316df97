"""What a node needs of the world: the ports that its host calls, and the core that it runs.

A simulator, a test and a process with sockets implement the ports; none of them looks at effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from rocketha.runtime.effects import (
    AnswerClient,
    AppendLog,
    AppendMessage,
    CloseConnection,
    Connect,
    FlushLog,
    RequestFlush,
    SendPacket,
    SendToController,
    StoreEpochs,
    StoreIdentity,
    StoreRegistration,
    Then,
    TruncateLog,
)
from rocketha.runtime.events import HostEvent
from rocketha.storage.commit_log import CommitLog
from rocketha.types import ConnectionId, HaAddress, Offset, TimestampMs

__all__ = [
    "Clients",
    "Clock",
    "Controller",
    "Core",
    "FlushService",
    "HostEffect",
    "Inbox",
    "Ports",
    "Recorder",
    "Sender",
    "Step",
    "Timers",
    "Transport",
]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")
S_co = TypeVar("S_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)
E_contra = TypeVar("E_contra", contravariant=True)
A_contra = TypeVar("A_contra", contravariant=True)

HostEffect: TypeAlias = (
    SendPacket
    | CloseConnection
    | Connect
    | AppendLog
    | AppendMessage
    | TruncateLog
    | FlushLog
    | RequestFlush
    | StoreEpochs
    | StoreIdentity
    | StoreRegistration
    | SendToController
    | AnswerClient
)
"""Every effect but `Then`, which has an event of one protocol."""


# ---- the core ----


class Step(Protocol[S_co, E_co, A_co]):
    """The result of one step of a core."""

    @property
    def state(self) -> S_co:
        """The new state."""
        ...

    @property
    def effects(self) -> Sequence[HostEffect | Then[E_co]]:
        """What to do, in this order."""
        ...

    @property
    def action(self) -> A_co | None:
        """The action of the specification, if the step was one."""
        ...


class Inbox(Protocol[E_co]):
    """The bytes of an open connection that are no whole packet yet."""

    def feed(self, data: bytes) -> None:
        """Add bytes that arrived."""
        ...

    def next_event(self) -> E_co | None:
        """Take the next whole packet, as an event of the core. Raises: PacketError"""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """A connection over which a node may send, when it is told `TransferDue`."""

    conn: ConnectionId
    behind: bool
    """There is something to send now."""
    heartbeat_at_ms: int
    """When to say something otherwise, by the node's clock."""


class Core(Protocol[S, E, A_co]):
    """A protocol, as the host sees it; it has no state of its own."""

    def step(
        self, state: S, event: E | HostEvent, *, now_ms: TimestampMs, log: CommitLog
    ) -> Step[S, E, A_co]:
        """Take one event."""
        ...

    def next_timer_ms(self, state: S) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        ...

    def senders(self, state: S, log_end: Offset) -> Iterable[Sender]:
        """Return the connections over which the node may send."""
        ...

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> Inbox[E]:
        """Begin to hear the peer of a connection, which this node accepted or asked for."""
        ...


# ---- the ports ----


class Clock(Protocol):
    """The clock of a node."""

    def now_ms(self) -> TimestampMs:
        """Return what it shows."""
        ...


class Transport(Protocol[A_contra]):
    """Connections with other nodes. The host is told what becomes of them."""

    def connect(self, peer: HaAddress) -> ConnectionId:
        """Begin to connect: `NodeHost.connected` or `NodeHost.lost` follows, or nothing."""
        ...

    def send(self, conn: ConnectionId, data: bytes) -> None:
        """Send one packet."""
        ...

    def close(self, conn: ConnectionId, *, reason: str, action: A_contra | None) -> None:
        """Close a connection in a step that may be an action; the reason is for a log."""
        ...

    def abandon(self, conn: ConnectionId, *, is_open: bool) -> None:
        """Close a connection that the host asked for and does not want any more."""
        ...


class Timers(Protocol):
    """What wakes a node."""

    def wake_at(self, at_ms: TimestampMs) -> None:
        """Let `TimerFired` come when the node's clock shows this; an earlier time stays."""
        ...

    def transfer(self, sender: Sender) -> None:
        """Let `TransferDue` come: soon where there is something to send, else for a heartbeat."""
        ...


class Controller(Protocol):
    """The way to the controller."""

    def ask(self, data: bytes) -> None:
        """Send one frame; answers come as events."""
        ...


class Clients(Protocol):
    """Who waits for answers."""

    def answer(self, answer: AnswerClient) -> None:
        """AnswerClient one of them."""
        ...


class FlushService(Protocol):
    """What writes the log through to the disk."""

    def request(self) -> None:
        """Let `NodeHost.flush` come soon."""
        ...


class Recorder(Protocol[E_contra, A_contra]):
    """Whoever notes what a node does. It changes nothing."""

    def sent(self, conn: ConnectionId, data: bytes) -> None:
        """Hear one packet, before it is sent and before `stepped` tells in which step."""
        ...

    def stepped(self, event: E_contra | HostEvent, action: A_contra | None) -> None:
        """Hear that an event was taken, and its effects performed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports(Generic[E, A]):
    """All that a node needs."""

    clock: Clock
    transport: Transport[A]
    timers: Timers
    controller: Controller
    clients: Clients
    flushing: FlushService
    recorder: Recorder[E, A]
