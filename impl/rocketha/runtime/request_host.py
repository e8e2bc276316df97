"""The host of a node that asks others and answers them, and has neither log nor connections.

Requests go to peers that a name server knows, and answers come back, or never. The host knows no
protocol and no transport; it performs the effects of a step in their order, once.

Source: remoting/netty `NettyRemotingClient`, `NettyRemotingServer`, as what a lock manager uses
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar, assert_never

from rocketha.runtime.effects import (
    After,
    AnswerClient,
    HangUp,
    RefuseRequest,
    Respond,
    SendOneWay,
    SendRequest,
    Then,
)
from rocketha.runtime.events import RequestEvent
from rocketha.runtime.host import Host
from rocketha.runtime.ports import Clients, Clock
from rocketha.types import BrokerId, RequestId, RequestReference, TimestampMs

__all__ = [
    "Alarms",
    "Remoting",
    "RequestCore",
    "RequestEffect",
    "RequestHost",
    "RequestPorts",
    "RequestRecorder",
    "RequestStep",
]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")
S_co = TypeVar("S_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)
E_contra = TypeVar("E_contra", contravariant=True)
A_contra = TypeVar("A_contra", contravariant=True)

RequestEffect: TypeAlias = (
    SendRequest | SendOneWay | Respond | RefuseRequest | HangUp | AnswerClient
)
"""Every effect but `Then` and `After`, which have an event of one protocol."""


class RequestStep(Protocol[S_co, E_co, A_co]):
    """The result of one step of a core."""

    @property
    def state(self) -> S_co:
        """The new state."""
        ...

    @property
    def effects(self) -> Sequence[RequestEffect | Then[E_co] | After[E_co]]:
        """What to do, in this order."""
        ...

    @property
    def action(self) -> A_co | None:
        """The action of the specification, if the step was one."""
        ...


class RequestCore(Protocol[S, E, A_co]):
    """A protocol, as the host sees it; it has no state of its own."""

    def step(
        self, state: S, event: E | RequestEvent, *, now_ms: TimestampMs
    ) -> RequestStep[S, E, A_co]:
        """Take one event."""
        ...


# ---- the ports ----


class Remoting(Protocol):
    """Requests to others, and answers to theirs.

    The host hears of them with `Host.hear`: `RequestArrived`, and `ResponseArrived` once for each
    request.
    """

    def request(self, request: SendRequest) -> None:
        """Send a request and wait for its answer."""
        ...

    def one_way(self, peer: BrokerId, code: int, body: bytes) -> None:
        """Send a request that has no answer."""
        ...

    def respond(self, request: RequestId, code: int, body: bytes) -> None:
        """Answer a request; the answer is lost if its connection is."""
        ...

    def refuse(self, request: RequestId) -> None:
        """Close the connection of a request."""
        ...

    def hang_up(self, reference: RequestReference) -> None:
        """Wait no longer for the peer that was sent a request: close the connection with it."""
        ...


class Alarms(Protocol[E_contra]):
    """What wakes a node."""

    def after(self, wait_ms: int, event: E_contra) -> None:
        """Let a node that does not stop before hear an event in a while."""
        ...


class RequestRecorder(Protocol[E_contra, A_contra]):
    """Whoever notes what a node does. It changes nothing."""

    def stepped(self, event: E_contra | RequestEvent, action: A_contra | None) -> None:
        """Hear that an event was taken, and its effects performed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPorts(Generic[E, A]):
    """All that such a node needs."""

    clock: Clock
    remoting: Remoting
    alarms: Alarms[E]
    clients: Clients
    recorder: RequestRecorder[E, A]


class RequestHost(Host[S, E | RequestEvent], Generic[S, E, A]):
    """Runs one node: its core, through its ports."""

    __slots__ = ("_core", "_ports")

    def __init__(self, core: RequestCore[S, E, A], ports: RequestPorts[E, A]) -> None:
        """Make a node that is down."""
        super().__init__()
        self._core = core
        self._ports = ports

    def _take(self, event: E | RequestEvent) -> None:
        assert self.state is not None, "the node is down"
        step = self._core.step(self.state, event, now_ms=self._ports.clock.now_ms())
        self.state = step.state
        asked: list[E] = []
        for effect in step.effects:
            if isinstance(effect, Then):
                asked.append(effect.event)
            elif isinstance(effect, After):
                self._ports.alarms.after(effect.wait_ms, effect.event)
            else:
                self._perform(effect)
        self._follow.extend(asked)
        self._ports.recorder.stepped(event, step.action)

    def _perform(self, effect: RequestEffect) -> None:
        remoting = self._ports.remoting
        match effect:
            case SendRequest():
                remoting.request(effect)
            case SendOneWay(peer=peer, code=code, body=body):
                remoting.one_way(peer, code, body)
            case Respond(request=request, code=code, body=body):
                remoting.respond(request, code, body)
            case RefuseRequest(request=request):
                remoting.refuse(request)
            case HangUp(reference=reference):
                remoting.hang_up(reference)
            case AnswerClient():
                self._ports.clients.answer(effect)
            case _ as unreachable:
                assert_never(unreachable)
