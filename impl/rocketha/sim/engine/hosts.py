"""The nodes of a simulated cluster on their hosts: simulated ports, whatever the protocol is.

* A node that has something to send is asked for a transfer soon, else when a heartbeat is due.
* The cluster hears when a server ends a connection: what was in flight is lost then. Only when a
  role changes, or a broker dies, does what it has sent still arrive.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from rocketha.errors import CommitLogError, PacketError
from rocketha.recording.recorder import NOT_RECORDED, StepRecorder
from rocketha.runtime.core import Core, Inbox, Sender
from rocketha.runtime.effects import AnswerClient
from rocketha.runtime.events import (
    ConnectionLost,
    HostEvent,
    MessageAppended,
    PacketRefused,
    PeerAccepted,
    TimerFired,
    TransferDue,
)
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.performers import (
    ClientPerformer,
    ConnectionPerformer,
    ControllerPerformer,
    FilePerformer,
)
from rocketha.runtime.ports import StepUnderWay
from rocketha.sim.engine.crash_points import CrashPoints
from rocketha.sim.engine.cut_step import Shown, StepCutter
from rocketha.sim.engine.failure import CoreFailure
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.network import End, Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import RandomSource
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.storage.commit_log import CommitLog
from rocketha.types import BrokerId, ConnectionId, HaAddress, TimestampMs

__all__ = ["Forged", "HostedCluster", "Hosts", "Repeated"]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")

_TRANSFER_GAP_MAX_MS: Final = 6
"""Between two packets on one connection: acks and messages come in between."""

_HEARTBEAT_GAP_MIN_MS: Final = 20


class HostedCluster(ABC, Generic[S, E, A]):
    """What is around the nodes: the cluster of a protocol says what its ports lead to."""

    closes_are_shown = False
    """Records say which connections a node accepts, closes and loses, and what it appends."""
    heard_events: tuple[type[object], ...] = (PeerAccepted, ConnectionLost, MessageAppended)
    """What of all this they say."""

    counts: FaultCounts
    """Where faults are counted."""

    def crash(self, node: Node[S], *, silent: bool = False) -> None:
        """Stop a broker of which the disk is already what survives; a silent one tells no peer."""
        raise AssertionError(f"{node.id} does not stop in this protocol, silent: {silent}")

    def restart(self, node: Node[S]) -> None:
        """Let a broker come back that is down."""
        raise AssertionError(f"{node.id} does not come back in this protocol")

    def may_end(self, node: Node[S], step: StepUnderWay[Any, Any], shown: Shown) -> bool:
        """Tell whether a broker may end in the middle of a step, of which a trace says this."""
        del node, step, shown
        return True

    def log_lost(self, node: Node[S]) -> None:
        """Hear that a broker that is down lost records that it had flushed."""
        raise AssertionError(f"{node.id} cuts nothing that it has flushed in this protocol")

    @abstractmethod
    def resolve(self, node: Node[S], peer: HaAddress) -> BrokerId:
        """Find the broker at an address."""

    @abstractmethod
    def lingers(self, action: A | None, end: End) -> bool:
        """Tell whether what this end has sent still arrives when an action closes it."""

    @abstractmethod
    def acted(self, broker: BrokerId, action: A) -> None:
        """Hear an action."""

    def recorder_of(self, node: Node[S]) -> StepRecorder:
        """Return what writes down what a broker sees and does."""
        del node
        return NOT_RECORDED

    def sent(self, node: Node[S], conn: ConnectionId, data: bytes) -> None:
        """Hear one packet that a broker sends."""

    def shown(self, data: bytes, *, of_server: bool) -> Mapping[str, object] | None:
        """Return what records say of a packet; None: only that it was sent."""
        del data, of_server
        return None

    def took(self, node: Node[S], event: E | HostEvent, action: A | None) -> None:
        """Hear of every step, once its effects are performed, and before `acted`."""

    def ended_by_server(self, conn: ConnectionId, client: BrokerId) -> None:
        """Hear that nothing more comes to a client over a connection that it still holds."""

    def stepped(self, node: Node[S], event: E | HostEvent) -> None:
        """Hear that an event was taken, and its effects performed."""

    def ask_controller(self, node: Node[S], data: bytes, *, controller: int, leaves: bool) -> None:
        """Carry a frame to a controller, or note what does not leave a node that ends."""
        del controller, leaves
        raise AssertionError(f"{node.id} asks no controller in this protocol: {data!r}")

    def client_answered(self, node: Node[S], answer: AnswerClient) -> None:
        """Hear an answer to a client, also one that does not leave a node that ends."""

    def answer_client(self, node: Node[S], answer: AnswerClient) -> None:
        """Answer a client."""
        raise AssertionError(f"{node.id} answers nobody in this protocol: {answer}")

    def flush_later(self, node: Node[S]) -> None:
        """Let the flush service of a node do its work soon."""
        raise AssertionError(f"nobody waits for the disk of {node.id} in this protocol")


class Hosts(Generic[S, E, A]):
    """What moves the brokers of a cluster; it is the `Sockets` of the network."""

    def __init__(
        self,
        core: Core[S, E | HostEvent, A, CommitLog],
        cluster: HostedCluster[S, E, A],
        nodes: Mapping[BrokerId, Node[S]],
        *,
        scheduler: Scheduler,
        network: Network,
        random_source: RandomSource,
        crash_points: CrashPoints | None = None,
    ) -> None:
        """Give every node a host, and take over the network; a node runs when it has a state."""
        self._core = core
        self._scheduler = scheduler
        self._network = network
        self._crash_points = crash_points or CrashPoints()
        self._hosts: dict[BrokerId, _Hosted[S, E, A]] = {}
        for node in nodes.values():
            ports = _NodePorts(self, cluster, node, scheduler, network, random_source)
            self._hosts[node.id] = hosted = ports.hosted(core, self._crash_points)
            node.host, node.connections = hosted.host, hosted.connections
        network.attach(self)

    def stop(self, node: Node[S], *, silent: bool) -> None:
        """Stop a broker of which the disk is already what survives."""
        node.stop()
        self._crash_points.disarm(broker_address(node.id))
        self._network.drop_broker(node.id, silent=silent)

    def deliver(self, node: Node[S], event: E | HostEvent) -> None:
        """Let a broker take one event and all that follows from it.

        Raises: CoreFailure
        """
        try:
            self._hosts[node.id].host.take(event)
        except CommitLogError as error:
            if not node.bugs:
                raise
            raise CoreFailure(str(error)) from error

    def flush(self, node: Node[S]) -> None:
        """Run the flush service of a broker, if it runs and there is something to flush."""
        if node.state is not None:
            self._hosts[node.id].files.flush()

    def goes_on(self, node: Node[S]) -> bool:
        """Tell whether a broker has still to take what follows from the event under way."""
        return self._hosts[node.id].host.is_continued

    def arm(self, node: Node[S]) -> None:
        """Make sure that the broker is woken when it has something to do."""
        self._hosts[node.id].host.arm()

    def forge(
        self,
        broker: BrokerId,
        conn: ConnectionId,
        data: bytes,
        inbox: Inbox[E | HostEvent] | None = None,
    ) -> None:
        """Let a broker take a packet over an open connection that nobody has sent.

        It is read from `inbox`; None: as the first one of a connection.
        """
        hosted = self._hosts[broker]
        if inbox is None:
            inbox = self._core.inbox(conn, accepted=conn in hosted.accepted)
        inbox.feed(data)
        try:
            event = inbox.next_event()
        except PacketError as error:
            event = PacketRefused(conn=conn, error=error)
        assert event is not None, "it is a whole packet"
        hosted.recorder.heard(Forged(conn))
        hosted.host.take(event)

    # ---- the network's side (rocketha.sim.network.Sockets) ----

    def accepted(self, conn: ConnectionId, server: BrokerId) -> bool:
        """Tell a server that a client is there; False if the broker is down."""
        connection = self._network.find(conn)
        host = None if connection is None else broker_address(connection.client)
        self._hosts[server].accepted.add(conn)
        return self._hosts[server].connections.accepted(conn, host)

    def connected(self, conn: ConnectionId, client: BrokerId) -> None:
        """Tell a client that its connection stands."""
        self._hosts[client].connections.connected(conn)

    def received(self, conn: ConnectionId, broker: BrokerId, data: bytes) -> None:
        """Hand over what arrived."""
        self._hosts[broker].connections.received(conn, data)

    def lost(self, conn: ConnectionId, broker: BrokerId) -> None:
        """Tell an end that the connection is gone."""
        self._hosts[broker].connections.lost(conn)


@dataclass(frozen=True, slots=True)
class Forged:
    """A packet came that nobody has sent, as records have it."""

    conn: ConnectionId


@dataclass(frozen=True, slots=True)
class Repeated:
    """A packet came once more that the peer has sent, as records have it."""

    conn: ConnectionId


@dataclass(frozen=True, slots=True)
class _Hosted(Generic[S, E, A]):
    """The host of a node, and those of its performers that hear something from outside."""

    host: NodeHost[S, E | HostEvent, A]
    connections: ConnectionPerformer[E | HostEvent, A]
    files: FilePerformer
    recorder: StepRecorder
    accepted: set[ConnectionId]
    """Connections that another broker asked for."""


class _NodePorts(Generic[S, E, A]):
    """All ports of one node."""

    def __init__(
        self,
        hosts: Hosts[S, E, A],
        cluster: HostedCluster[S, E, A],
        node: Node[S],
        scheduler: Scheduler,
        network: Network,
        random_source: RandomSource,
    ) -> None:
        self._hosts = hosts
        self._cluster = cluster
        self._node = node
        self._scheduler = scheduler
        self._network = network
        self._random_source = random_source
        self._ended: list[tuple[ConnectionId, BrokerId]] = []
        self._recorder = cluster.recorder_of(node)
        self._accepted: set[ConnectionId] = set()
        self._packets: Counter[str] = Counter()
        self.is_muted = False

    def hosted(
        self, core: Core[S, E | HostEvent, A, CommitLog], crash_points: CrashPoints
    ) -> _Hosted[S, E, A]:
        connections: ConnectionPerformer[E | HostEvent, A] = ConnectionPerformer(
            core.inbox, transport=self, recorder=self
        )
        files = FilePerformer(self._node.files, flushing=self)
        host: NodeHost[S, E | HostEvent, A] = NodeHost(
            core,
            (connections, files, ControllerPerformer(self), ClientPerformer(self)),
            clock=self,
            recorder=self,
            see=files.log,
            timers=self,
            seam=StepCutter(
                self._cluster, self._node, self, crash_points, scheduler=self._scheduler
            ),
        )
        return _Hosted(host, connections, files, self._recorder, self._accepted)

    # ---- clock, controller, clients, flush service ----

    def now_ms(self) -> TimestampMs:
        return self._node.clock.shows(self._scheduler.now_ms)

    def ask(self, data: bytes, *, controller: int) -> None:
        self._cluster.ask_controller(
            self._node, data, controller=controller, leaves=not self.is_muted
        )

    def answer(self, answer: AnswerClient) -> None:
        self._recorder.answered(answer)
        self._cluster.client_answered(self._node, answer)
        if not self.is_muted:
            self._cluster.answer_client(self._node, answer)

    def request(self) -> None:
        if not self.is_muted:
            self._cluster.flush_later(self._node)

    # ---- transport ----

    def connect(self, peer: HaAddress) -> ConnectionId:
        return self._network.connect(self._node.id, self._cluster.resolve(self._node, peer))

    def send(self, conn: ConnectionId, data: bytes) -> None:
        if not self.is_muted:
            self._network.send(conn, self._node.id, data)

    def close(self, conn: ConnectionId, *, reason: str, action: A | None) -> None:
        del reason
        connection = self._network.find(conn)
        if connection is None or self.is_muted:
            return
        end = End.SERVER if connection.server == self._node.id else End.CLIENT
        if self._cluster.closes_are_shown and connection.is_open(end):
            self._recorder.sent(f"{conn}:{end.value}:close")
        lingers = self._cluster.lingers(action, end)
        if end is End.SERVER and not lingers:
            self._ended.append((conn, connection.client))
        self._network.close(conn, self._node.id, lingers=lingers)

    def abandon(self, conn: ConnectionId, *, is_open: bool) -> None:
        self._network.close(conn, self._node.id, lingers=is_open)

    # ---- recorder ----

    def sent(self, conn: ConnectionId, data: bytes) -> None:
        if self._recorder is not NOT_RECORDED:
            is_server = conn in self._accepted
            found = self._network.find(conn)
            peer = None if found is None else found.client if is_server else found.server
            to = None if peer is None else broker_address(peer)
            shown = self._cluster.shown(data, of_server=is_server)
            body = None if shown is None else json.dumps(shown).encode()
            self._recorder.sent(self._next_packet(conn, of_server=is_server), to=to, body=body)
        self._cluster.sent(self._node, conn, data)

    def received(self, conn: ConnectionId) -> None:
        if self._recorder is not NOT_RECORDED:
            of_server = conn not in self._accepted
            self._recorder.received(self._next_packet(conn, of_server=of_server))

    def _next_packet(self, conn: ConnectionId, *, of_server: bool) -> str:
        """Return what both ends call the next packet of an end of a connection."""
        of = f"{conn}:{'server' if of_server else 'client'}"
        self._packets[of] += 1
        return f"{of}:{self._packets[of]}"

    def stepped(self, event: E | HostEvent, action: A | None) -> None:
        self.cut(event, action)
        self._cluster.stepped(self._node, event)

    # ---- what becomes of a step that is cut (rocketha.sim.engine.cut_step.CutPorts) ----

    def cut(self, event: E | HostEvent, action: A | None) -> None:
        if self._cluster.closes_are_shown and isinstance(event, self._cluster.heard_events):
            self._recorder.heard(event)
        self._recorder.stepped(event, action)
        self._cluster.took(self._node, event, action)
        if action is not None:
            self._cluster.acted(self._node.id, action)
        ended, self._ended = self._ended, []
        for conn, client in ended:
            self._cluster.ended_by_server(conn, client)

    def forget(self) -> None:
        self._ended.clear()

    # ---- timers ----

    def wake_at(self, at_ms: TimestampMs) -> None:
        node, now_ms = self._node, self._scheduler.now_ms
        due_ms = node.clock.when(at_ms)
        if node.timer_at_ms is None or due_ms < node.timer_at_ms:
            self._set_timer(max(due_ms, now_ms + 1))

    def _set_timer(self, at_ms: int) -> None:
        node = self._node
        node.timer_at_ms = at_ms
        incarnation = node.incarnation

        def fire() -> None:
            if node.incarnation == incarnation and node.timer_at_ms == at_ms:
                node.timer_at_ms = None
                self._hosts.deliver(node, TimerFired())

        self._scheduler.after(at_ms - self._scheduler.now_ms, fire)

    def transfer(self, sender: Sender) -> None:
        node, now_ms = self._node, self._scheduler.now_ms
        planned = node.transfer_at_ms.get(sender.conn)
        if sender.behind:
            if planned is None or planned > now_ms + _TRANSFER_GAP_MAX_MS:
                rng = self._random_source.of("transfer", node.id)
                self._transfer_later(sender.conn, 1 + rng.randrange(_TRANSFER_GAP_MAX_MS))
        elif planned is None:
            wait_ms = node.clock.when(sender.heartbeat_at_ms) - now_ms
            self._transfer_later(sender.conn, max(_HEARTBEAT_GAP_MIN_MS, wait_ms))

    def _transfer_later(self, conn: ConnectionId, wait_ms: int) -> None:
        node = self._node
        incarnation, at_ms = node.incarnation, self._scheduler.now_ms + wait_ms
        node.transfer_at_ms[conn] = at_ms

        def fire() -> None:
            if node.incarnation == incarnation and node.transfer_at_ms.get(conn) == at_ms:
                del node.transfer_at_ms[conn]
                self._hosts.deliver(node, TransferDue(conn=conn))

        self._scheduler.after(wait_ms, fire)
