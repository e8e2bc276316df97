"""What a node needs of the world: the ports that its host and its performers call.

A simulator, a test and a process with sockets implement the ports; none of them looks at effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from rocketha.runtime.core import Sender
from rocketha.runtime.effects import AnswerClient, Respond, SendOneWay, SendRequest
from rocketha.types import (
    ConnectionId,
    HaAddress,
    RequestId,
    RequestReference,
    TimestampMs,
)

__all__ = [
    "Alarms",
    "Clients",
    "Clock",
    "Controller",
    "FlushService",
    "PacketRecorder",
    "Recorder",
    "Remoting",
    "Seam",
    "StepUnderWay",
    "Timers",
    "Transport",
]

E_contra = TypeVar("E_contra", contravariant=True)
A_contra = TypeVar("A_contra", contravariant=True)
E = TypeVar("E")
A = TypeVar("A")


# ---- every node ----


class Clock(Protocol):
    """The clock of a node."""

    def now_ms(self) -> TimestampMs:
        """Return what it shows."""
        ...


class Recorder(Protocol[E_contra, A_contra]):
    """Whoever notes what a node does. It changes nothing."""

    def stepped(self, event: E_contra, action: A_contra | None) -> None:
        """Hear that an event was taken, and its effects performed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUnderWay(Generic[E, A]):
    """A step whose effects are not all performed; the host's state is that after the step."""

    event: E
    action: A | None
    done: tuple[object, ...]
    """Performed: effects of this step, and of the one that it continues if that was no action."""
    rest: tuple[object, ...]
    """Not performed."""


class Seam(Protocol[E, A]):
    """Whoever may end a node between two effects of a step: what plays its machine."""

    def is_end(self, effect: object, *, is_first: bool) -> bool:
        """Tell whether the node is to end before this effect; never before the first one."""
        ...

    def end(self, step: StepUnderWay[E, A]) -> bool:
        """End the node, which is down then; False if it must not end here and goes on."""
        ...

    def failed(self, step: StepUnderWay[E, A]) -> bool:
        """End the node, whose disk has failed in the first effect of the rest; False: raise it."""
        ...


# ---- connections ----


class Transport(Protocol[A_contra]):
    """Connections with other nodes. `ConnectionPerformer` is told what becomes of them."""

    def connect(self, peer: HaAddress) -> ConnectionId:
        """Begin to connect: `connected` or `lost` follows, or nothing."""
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


class PacketRecorder(Protocol):
    """Whoever notes what a node sends and receives. It changes nothing."""

    def sent(self, conn: ConnectionId, data: bytes) -> None:
        """Hear one packet, before it is sent and before `Recorder.stepped` tells in which step."""
        ...

    def received(self, conn: ConnectionId) -> None:
        """Hear that the next packet of a connection is taken, in the next step."""
        ...


class Timers(Protocol):
    """What wakes a node for what its core has to do next."""

    def wake_at(self, at_ms: TimestampMs) -> None:
        """Let `TimerFired` come when the node's clock shows this; an earlier time stays."""
        ...

    def transfer(self, sender: Sender) -> None:
        """Let `TransferDue` come: soon where there is something to send, else for a heartbeat."""
        ...


# ---- requests ----


class Remoting(Protocol):
    """Requests to others, and answers to theirs.

    The host hears of them with `NodeHost.hear`: `RequestArrived`, and `ResponseArrived` once for
    each request.
    """

    def request(self, request: SendRequest) -> None:
        """Send a request and wait for its answer."""
        ...

    def one_way(self, request: SendOneWay) -> None:
        """Send a request that has no answer."""
        ...

    def respond(self, answer: Respond) -> None:
        """Answer a request; the answer is lost if its connection is."""
        ...

    def refuse(self, request: RequestId) -> None:
        """Close the connection of a request."""
        ...

    def hang_up(self, reference: RequestReference) -> None:
        """Wait no longer for the peer that was sent a request: close the connection with it."""
        ...


class Alarms(Protocol[E_contra]):
    """What wakes a node for an event of its own."""

    def after(self, wait_ms: int, event: E_contra) -> None:
        """Let a node that does not stop before hear an event in a while."""
        ...


# ---- whoever else is around ----


class Controller(Protocol):
    """The way to the controllers."""

    def ask(self, data: bytes, *, controller: int) -> None:
        """Send one frame to one of them, by its place in the list; answers come as events."""
        ...


class Clients(Protocol):
    """Who waits for answers."""

    def answer(self, answer: AnswerClient) -> None:
        """Answer one of them."""
        ...


class FlushService(Protocol):
    """What writes the log through to the disk."""

    def request(self) -> None:
        """Let `FilePerformer.flush` come soon."""
        ...
