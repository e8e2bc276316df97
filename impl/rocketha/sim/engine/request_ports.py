"""The ports of simulated nodes that ask each other, whatever the protocol is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from rocketha.formats.remoting_command import RemotingCommand
from rocketha.recording.recorder import NOT_RECORDED, StepRecorder
from rocketha.runtime.core import Core
from rocketha.runtime.effects import AnswerClient, Respond, SendOneWay, SendRequest
from rocketha.runtime.events import RequestArrived, RequestEvent, ResponseArrived
from rocketha.runtime.node_host import NodeHost, no_files
from rocketha.runtime.performer import Performer
from rocketha.runtime.performers import ClientPerformer, RequestPerformer
from rocketha.runtime.ports import Seam, Timers
from rocketha.sim.engine.remoting_calls import Arrived, Calls, Content, response_to
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import BrokerId, RequestId, RequestReference, TimestampMs

__all__ = ["CallingCluster", "CallingNode"]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")
V = TypeVar("V")


class CallingCluster(Protocol):
    """What is around such nodes."""

    @property
    def calls(self) -> Calls:
        """What carries requests."""
        ...

    @property
    def scheduler(self) -> Scheduler:
        """When things happen."""
        ...


class CallingNode(ABC, Generic[S, E, A]):
    """The host of a node, and its ports; what is a protocol's own a subclass says."""

    release: ClassVar[int] = 0
    """What its frames say of what it is: the ordinal of a RocketMQ release."""

    def __init__(
        self,
        number: BrokerId,
        core: Core[S, E | RequestEvent, A, V],
        cluster: CallingCluster,
        *,
        seam: Seam[E | RequestEvent, A] | None = None,
        performers: Iterable[Performer[Any, A]] = (),
        see: Callable[[], Any] = no_files,
        timers: Timers | None = None,
    ) -> None:
        """Make a node that is down; a `seam` may end it in the middle of a step.

        What it does besides requests and answers `performers` do; `see` returns what its core may
        see of its files.
        """
        self.id = number
        self.is_muted = False
        """What it sends now is recorded, and never leaves it."""
        self._unsent = 0
        self.recorder: StepRecorder = NOT_RECORDED
        self._around = cluster
        self._starts = 0
        self._arrived: dict[RequestId, Arrived] = {}
        self._receivers: dict[RequestReference, BrokerId] = {}
        self._last_request = 0
        self.host: NodeHost[S, E | RequestEvent, A] = NodeHost(
            core,
            (RequestPerformer(self), ClientPerformer(self), *performers),
            clock=self,
            recorder=self,
            see=see,
            timers=timers,
            alarms=self,
            seam=seam,
        )

    def stop(self) -> None:
        """Stop the node, and forget all requests."""
        self.host.stop()
        self._starts += 1
        self._arrived.clear()
        self._receivers.clear()

    def arrive(self, arrived: Arrived) -> None:
        """Let the node hear a request."""
        self.recorder.received(arrived.message)
        self.take_request(arrived)

    def take_request(self, arrived: Arrived) -> None:
        """Let the node take a request that is recorded."""
        self._last_request += 1
        request = RequestId(self._last_request)
        self._arrived[request] = arrived
        self.host.take(RequestArrived(request=request, command=arrived.command, conn=arrived.conn))
        if arrived.command.is_oneway:
            self._arrived.pop(request, None)

    def waiting(self, request: RequestId) -> Arrived:
        """Return a request that is not answered yet."""
        return self._arrived[request]

    # ---- what a protocol says ----

    def resolve(self, peer: BrokerId) -> BrokerId:
        """Find a peer."""
        return peer

    @abstractmethod
    def now_ms(self) -> TimestampMs:
        """Return what the node's clock shows."""

    def answer(self, answer: AnswerClient) -> None:
        """Answer a client."""
        raise AssertionError(f"{self.id} answers nobody in this protocol: {answer}")

    @abstractmethod
    def name_of(self, peer: BrokerId) -> str:
        """Return how a peer calls itself in its records."""

    @abstractmethod
    def after_step(self, event: E | RequestEvent, action: A | None) -> None:
        """Hear that an event was taken, and its effects performed."""

    # ---- the recorder of its host ----

    def stepped(self, event: E | RequestEvent, action: A | None) -> None:
        """Have the step recorded, and then looked at."""
        self.recorder.stepped(event, action)
        self.after_step(event, action)

    # ---- what becomes of a step that is cut (rocketha.sim.engine.cut_step.CutPorts) ----

    def cut(self, event: E | RequestEvent, action: A | None) -> None:
        """Have a step recorded and looked at that was cut."""
        self.stepped(event, action)

    def forget(self) -> None:
        """Forget nothing: what was not sent was not noted."""

    # ---- remoting ----

    def request(self, request: SendRequest) -> None:
        """Send a request; the answer is an event, unless the node stops before."""
        reference, starts, receiver = request.reference, self._starts, self.resolve(request.peer)
        if self.is_muted:
            self._note(self._never_sent(), receiver, request)
            return
        self._receivers[reference] = receiver
        waits = True

        def answered(command: RemotingCommand | None) -> None:
            nonlocal waits
            waits = False
            if self._starts != starts:
                return
            if command is not None:
                self._receivers.pop(reference, None)
            self.when_it_runs(lambda: self._answered(message, reference, command))

        def over() -> None:
            if waits and self._starts == starts:
                self._around.calls.hang_up(self.id, receiver)

        message = self._around.calls.ask(
            self.id, receiver, Content.of(request, version=self.release), answered
        )
        self._note(message, receiver, request)
        if request.timeout_ms is not None:
            self._around.scheduler.after(request.timeout_ms, over)

    def _answered(
        self, message: str, reference: RequestReference, command: RemotingCommand | None
    ) -> None:
        if command is not None:
            self.recorder.received(response_to(message))
        self.host.hear(ResponseArrived(reference=reference, command=command))

    def when_it_runs(self, act: Callable[[], None]) -> None:
        """Do something as soon as the process does not stand still: at once, unless it can."""
        act()

    def one_way(self, request: SendOneWay) -> None:
        """Send a request that has no answer."""
        receiver = self.resolve(request.peer)
        if self.is_muted:
            self._note(self._never_sent(), receiver, request)
            return
        message = self._around.calls.tell(
            self.id, receiver, Content.of(request, version=self.release)
        )
        self._note(message, receiver, request)

    def respond(self, answer: Respond) -> None:
        """Answer a request, unless its sender wants no answer."""
        arrived = self._arrived.pop(answer.request)
        if arrived.command.is_oneway:
            return
        if not self.is_muted:
            content = Content.of(answer, remark=answer.remark, version=self.release)
            self._around.calls.answer(self.id, arrived, content)
        self.recorder.sent(
            arrived.response, code=answer.code, body=answer.body, fields=answer.ext_fields
        )

    def refuse(self, request: RequestId) -> None:
        """Close the connection of a request."""
        arrived = self._arrived.pop(request)
        if not self.is_muted:
            self._around.calls.refuse(self.id, arrived)

    def hang_up(self, reference: RequestReference) -> None:
        """Close the connection with who was sent a request, also if it is another one by now."""
        receiver = self._receivers.pop(reference, None)
        if receiver is not None and not self.is_muted:
            self._around.calls.hang_up(self.id, receiver)

    def _never_sent(self) -> str:
        """Return a name for a message that nobody receives."""
        self._unsent += 1
        return f"{self.name_of(self.id)}:unsent:{self._unsent}"

    def _note(self, message: str, receiver: BrokerId, request: SendRequest | SendOneWay) -> None:
        self.recorder.sent(
            message,
            to=self.name_of(receiver),
            code=request.code,
            body=request.body,
            fields=request.ext_fields,
        )

    # ---- alarms ----

    def after(self, wait_ms: int, event: E | RequestEvent) -> None:
        """Let the node hear an event in a while, unless it stops before."""
        starts = self._starts

        def ring() -> None:
            if self._starts == starts:
                self.when_it_runs(lambda: self.host.take(event))

        self._around.scheduler.after(wait_ms, ring)
