"""A protocol, as its host sees it: events in, effects out, and which effects these may be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

from rocketha.runtime.effects import After, Effect, Then
from rocketha.types import ConnectionId, TimestampMs

__all__ = ["Core", "Inbox", "Sender", "Step"]

S = TypeVar("S")
E = TypeVar("E")
S_co = TypeVar("S_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)
V_contra = TypeVar("V_contra", contravariant=True)


class Step(Protocol[S_co, E_co, A_co]):
    """The result of one step of a core."""

    @property
    def state(self) -> S_co:
        """The new state."""
        ...

    @property
    def effects(self) -> Sequence[Effect | Then[E_co] | After[E_co]]:
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


class Core(ABC, Generic[S, E, A_co, V_contra]):
    """A protocol; it has no state of its own.

    `V` is what it may see of the node's files while it steps; None, if it has none.
    """

    effects: ClassVar[tuple[object, ...]]
    """The classes of effects of its steps: a host that cannot perform one of them is not made."""

    @abstractmethod
    def step(self, state: S, event: E, *, now_ms: TimestampMs, log: V_contra) -> Step[S, E, A_co]:
        """Take one event."""

    def next_timer_ms(self, state: S) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        del state
        return None

    def senders(self, state: S, log: V_contra) -> Iterable[Sender]:
        """Return the connections over which the node may send."""
        del state, log
        return ()

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> Inbox[E]:
        """Begin to hear the peer of a connection, which this node accepted or asked for."""
        raise AssertionError(f"this protocol has no connections: {conn}, accepted: {accepted}")
