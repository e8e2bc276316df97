"""The thin shell between cores, their disks and the network, whatever the protocol is.

An event goes to the core of its broker; the effects are performed, all before the next event; then
the cluster is told the action, if the step was one. What the shell adds to the cores:

* It cuts the byte streams into packets.
* It asks for transfers: soon while there is something to send, else when a heartbeat is due.
* It tells the cluster when a server ends a connection: what was in flight is lost then. Only when a
  role changes, or a broker dies, does what it has sent still arrive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, Protocol, TypeAlias, TypeVar, assert_never

from rocketha.broker.effects import AnswerPull
from rocketha.broker.effects import AnswerPut as AnswerGroupPut
from rocketha.broker.events import GroupEvent
from rocketha.errors import CommitLogError, PacketError
from rocketha.legacy_ha.effects import AnswerPut
from rocketha.runtime.effects import (
    AppendLog,
    AppendMessage,
    CloseConnection,
    Connect,
    FlushLog,
    SendPacket,
    SendToController,
    StoreEpochs,
    StoreIdentity,
    Then,
    TruncateLog,
)
from rocketha.runtime.events import (
    ConnectionLost,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
    TimerFired,
    TransferDue,
)
from rocketha.sim.chances import Chances
from rocketha.sim.network import End, Network
from rocketha.sim.node import Node, broker_address
from rocketha.sim.scheduler import Scheduler
from rocketha.types import BrokerId, ConnectionId, HaAddress, TimestampMs

__all__ = ["Cores", "Inbox", "OwnEffect", "Sender", "Shell", "ShellEvent", "Step", "StorageFailure"]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")
S_co = TypeVar("S_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)

_TRANSFER_GAP_MAX_MS: Final = 6
"""Between two packets on one connection: acks and messages come in between."""

_HEARTBEAT_GAP_MIN_MS: Final = 20

ShellEvent: TypeAlias = (
    PeerAccepted | PeerConnected | PacketRefused | ConnectionLost | TransferDue | TimerFired
)
"""What the shell tells every core."""

_GroupEffect: TypeAlias = (
    SendToController | StoreIdentity | AnswerGroupPut | AnswerPull | Then[GroupEvent]
)

OwnEffect: TypeAlias = StoreEpochs | AnswerPut | _GroupEffect
"""What only one protocol knows."""

_LogEffect: TypeAlias = AppendLog | AppendMessage | TruncateLog | FlushLog
_AnyEffect: TypeAlias = SendPacket | CloseConnection | Connect | _LogEffect | OwnEffect


class StorageFailure(CommitLogError):
    """A bug that is switched on made a core do to its log what the log refuses."""


class Step(Protocol[S_co, A_co]):
    """The result of one step of a core."""

    @property
    def state(self) -> S_co:
        """The new state."""
        ...

    @property
    def effects(self) -> Sequence[_AnyEffect]:
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
    """A connection over which a broker may send."""

    conn: ConnectionId
    behind: bool
    """There is something to send now."""
    heartbeat_at_ms: int
    """When to say something otherwise, by the broker's clock."""


class Cores(Protocol[S, E, A]):
    """A protocol, as the shell sees it; the cluster of that protocol is one."""

    def step(self, node: Node[S], event: E | ShellEvent, now_ms: TimestampMs) -> Step[S, A]:
        """Let the core of a broker take an event."""
        ...

    def next_timer_ms(self, state: S) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        ...

    def senders(self, node: Node[S]) -> Iterable[Sender]:
        """Return the connections over which a broker that runs may send."""
        ...

    def inbox(self, end: End, conn: ConnectionId) -> Inbox[E]:
        """Begin to hear a peer at this end of a connection."""
        ...

    def perform(self, node: Node[S], effect: OwnEffect) -> None:
        """Perform an effect of this protocol."""
        ...

    def resolve(self, node: Node[S], peer: HaAddress) -> BrokerId:
        """Find the broker at an address."""
        ...

    def lingers(self, action: A | None, end: End) -> bool:
        """Tell whether what this end has sent still arrives when an action closes it."""
        ...

    def sent(self, node: Node[S], conn: ConnectionId, data: bytes) -> None:
        """Hear one packet that a broker sends."""
        ...

    def acted(self, broker: BrokerId, action: A) -> None:
        """Hear an action."""
        ...

    def ended_by_server(self, conn: ConnectionId, client: BrokerId) -> None:
        """Hear that nothing more comes to a client over a connection that it still holds."""
        ...

    def stepped(self, node: Node[S], event: E | ShellEvent) -> None:
        """Hear that an event was taken, and its effects performed."""
        ...


class Shell(Generic[S, E, A]):
    """What moves the brokers of a cluster; it is the `Sockets` of the network."""

    def __init__(
        self,
        cores: Cores[S, E, A],
        nodes: Mapping[BrokerId, Node[S]],
        *,
        scheduler: Scheduler,
        network: Network,
        chances: Chances,
    ) -> None:
        """Take over the network; nothing happens yet."""
        self._cores = cores
        self._nodes = nodes
        self._scheduler = scheduler
        self._network = network
        self._chances = chances
        self._inboxes: dict[tuple[BrokerId, ConnectionId], Inbox[E]] = {}
        self._next: deque[tuple[Node[S], E]] = deque()
        network.attach(self)

    def stop(self, node: Node[S], *, silent: bool) -> None:
        """Stop a broker of which the disk is already what survives."""
        node.stop()
        for key in [key for key in self._inboxes if key[0] == node.id]:
            del self._inboxes[key]
        self._network.drop_broker(node.id, silent=silent)

    def deliver(self, node: Node[S], event: E | ShellEvent) -> None:
        """Let a broker take one event and perform what its core says, and then what `then` added.

        Raises: StorageFailure
        """
        self._take(node, event)
        while self._next:
            self._take(*self._next.popleft())

    def then(self, node: Node[S], event: E, *, first: bool = False) -> None:
        """Let the broker that takes an event take this one, too, before anything else happens.

        It comes after what was added before, unless it is to be the `first`.
        """
        if first:
            self._next.appendleft((node, event))
        else:
            self._next.append((node, event))

    def _take(self, node: Node[S], event: E | ShellEvent) -> None:
        now_ms = node.clock.shows(self._scheduler.now_ms)
        stepped = self._cores.step(node, event, now_ms)
        node.state = stepped.state
        dead: list[tuple[ConnectionId, BrokerId]] = []
        for effect in stepped.effects:
            self._perform(node, effect, action=stepped.action, dead=dead)
        if stepped.action is not None:
            self._cores.acted(node.id, stepped.action)
        for conn, client in dead:
            self._cores.ended_by_server(conn, client)
        self._cores.stepped(node, event)
        self.arm(node)

    # ---- the network's side (rocketha.sim.network.Sockets) ----

    def accepted(self, conn: ConnectionId, server: BrokerId) -> bool:
        """Tell a server that a client is there; False if the broker is down."""
        node = self._nodes[server]
        if node.state is None:
            return False
        connection = self._network.find(conn)
        host = None if connection is None else broker_address(connection.client)
        self._inboxes[server, conn] = self._cores.inbox(End.SERVER, conn)
        self.deliver(node, PeerAccepted(conn=conn, host=host))
        return True

    def connected(self, conn: ConnectionId, client: BrokerId) -> None:
        """Tell a client that its connection stands."""
        node = self._nodes[client]
        if node.attempt is None or node.attempt[0] != conn:
            self._network.close(conn, client, lingers=True)
            return
        peer = node.attempt[1]
        node.attempt = None
        self._inboxes[client, conn] = self._cores.inbox(End.CLIENT, conn)
        self.deliver(node, PeerConnected(conn=conn, peer=peer))

    def received(self, conn: ConnectionId, broker: BrokerId, data: bytes) -> None:
        """Take the packets out of what arrived, and hand them over one by one."""
        node, key = self._nodes[broker], (broker, conn)
        inbox = self._inboxes.get(key)
        if inbox is None:
            return
        inbox.feed(data)
        while key in self._inboxes:
            try:
                event = inbox.next_event()
            except PacketError as error:
                self.deliver(node, PacketRefused(conn=conn, error=error))
                return
            if event is None:
                return
            self.deliver(node, event)

    def lost(self, conn: ConnectionId, broker: BrokerId) -> None:
        """Tell an end that the connection is gone."""
        node = self._nodes[broker]
        self._inboxes.pop((broker, conn), None)
        if node.attempt is not None and node.attempt[0] == conn:
            node.attempt = None
        if node.state is not None:
            self.deliver(node, ConnectionLost(conn=conn))

    # ---- effects ----

    def _perform(
        self,
        node: Node[S],
        effect: _AnyEffect,
        *,
        action: A | None,
        dead: list[tuple[ConnectionId, BrokerId]],
    ) -> None:
        match effect:
            case SendPacket(conn=conn, data=data):
                self._cores.sent(node, conn, data)
                self._network.send(conn, node.id, data)
            case CloseConnection(conn=conn):
                self._inboxes.pop((node.id, conn), None)
                connection = self._network.find(conn)
                if connection is None:
                    return
                end = End.SERVER if connection.server == node.id else End.CLIENT
                lingers = self._cores.lingers(action, end)
                if end is End.SERVER and not lingers:
                    dead.append((conn, connection.client))
                self._network.close(conn, node.id, lingers=lingers)
            case Connect(peer=peer):
                self._connect(node, peer)
            case AppendLog() | AppendMessage() | TruncateLog() | FlushLog():
                node.log_version += 1
                self._change_log(node, effect)
            case _:
                self._cores.perform(node, effect)

    def _change_log(self, node: Node[S], effect: _LogEffect) -> None:
        try:
            match effect:
                case AppendLog(offset=offset, data=data):
                    node.log.append_raw(offset, data)
                case AppendMessage(message=message, store_timestamp_ms=stored):
                    node.log.append(replace(message, store_timestamp_ms=stored))
                case TruncateLog(offset=offset):
                    node.log.truncate(offset)
                case FlushLog():
                    node.log.flush()
                case _ as unreachable:
                    assert_never(unreachable)
        except CommitLogError as error:
            if not node.bugs:
                raise
            raise StorageFailure(error.what, offset=error.offset, reason=error.reason) from error

    def _connect(self, node: Node[S], peer: HaAddress) -> None:
        """Begin to connect, unless an attempt with the same peer is under way."""
        if node.attempt is not None:
            if node.attempt[1] == peer:
                return
            self._network.close(node.attempt[0], node.id, lingers=False)
        server = self._cores.resolve(node, peer)
        node.attempt = (self._network.connect(node.id, server), peer)

    # ---- timers ----

    def arm(self, node: Node[S]) -> None:
        """Make sure that the broker is woken when it has something to do."""
        if node.state is None:
            return
        now_ms = self._scheduler.now_ms
        shown_ms = self._cores.next_timer_ms(node.state)
        if shown_ms is not None:
            due = node.clock.when(shown_ms)
            if node.timer_at_ms is None or due < node.timer_at_ms:
                self._set_timer(node, max(due, now_ms + 1))
        for sender in self._cores.senders(node):
            planned = node.transfer_at_ms.get(sender.conn)
            if sender.behind:
                if planned is None or planned > now_ms + _TRANSFER_GAP_MAX_MS:
                    rng = self._chances.of("transfer", node.id)
                    wait_ms = 1 + rng.randrange(_TRANSFER_GAP_MAX_MS)
                    self._transfer_later(node, sender.conn, wait_ms)
            elif planned is None:
                wait_ms = node.clock.when(sender.heartbeat_at_ms) - now_ms
                self._transfer_later(node, sender.conn, max(_HEARTBEAT_GAP_MIN_MS, wait_ms))

    def _set_timer(self, node: Node[S], at_ms: int) -> None:
        node.timer_at_ms = at_ms
        incarnation = node.incarnation

        def fire() -> None:
            if node.incarnation == incarnation and node.timer_at_ms == at_ms:
                node.timer_at_ms = None
                self.deliver(node, TimerFired())

        self._scheduler.after(at_ms - self._scheduler.now_ms, fire)

    def _transfer_later(self, node: Node[S], conn: ConnectionId, wait_ms: int) -> None:
        incarnation, at_ms = node.incarnation, self._scheduler.now_ms + wait_ms
        node.transfer_at_ms[conn] = at_ms

        def fire() -> None:
            if node.incarnation == incarnation and node.transfer_at_ms.get(conn) == at_ms:
                del node.transfer_at_ms[conn]
                self.deliver(node, TransferDue(conn=conn))

        self._scheduler.after(wait_ms, fire)
