"""A cluster of simulated brokers: the thin shell between the cores, their disks and the network.

An event goes to the core of its broker; the effects are performed, all before the next event; then
the observer is told the action, if the step was one. What the shell adds to the cores:

* It cuts the byte streams into packets.
* It asks for transfers: soon while there is something to send, else when a heartbeat is due.
* It resolves addresses, and may be wrong about them (stale route).
* It reports a `Disconnect` when a master ends a connection: what was in flight is lost then. Only
  when its role changes, or it dies, does what it has sent still arrive.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final, assert_never

from rocketha.errors import CommitLogError, PacketError
from rocketha.ha.broker import next_timer_ms, step
from rocketha.ha.effects import (
    ActionName,
    AppendLog,
    AppendMessage,
    CloseConnection,
    Connect,
    Effect,
    FlushLog,
    SendPacket,
    SpecAction,
    StoreEpochs,
    TruncateLog,
)
from rocketha.ha.events import (
    ConnectionLost,
    Event,
    PacketReceived,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
    Restarted,
    TimerFired,
    TransferDue,
)
from rocketha.ha.state import NOT_YET, ConnectionId, HaAddress, Role
from rocketha.sim.actions import ClusterAction, Crashed, Elected, Observer
from rocketha.sim.faults import Fault, FaultCounts
from rocketha.sim.network import Network
from rocketha.sim.node import Node, broker_address, new_node
from rocketha.sim.options import RunPlan
from rocketha.sim.scheduler import Scheduler
from rocketha.types import BrokerId, Epoch, TimestampMs

__all__ = ["Cluster", "StorageFailure"]

_TRANSFER_GAP_MAX_MS: Final = 6
"""Between two packets on one connection: acks and messages come in between."""

_HEARTBEAT_GAP_MIN_MS: Final = 20

_ROLE_CHANGES: Final = frozenset({ActionName.BECOME_MASTER, ActionName.BECOME_SLAVE})


class StorageFailure(CommitLogError):
    """A bug that is switched on made a core do to its log what the log refuses."""


class Cluster:
    """The brokers, what connects them, and the controller's present answer."""

    def __init__(
        self,
        *,
        brokers: int,
        plan: RunPlan,
        scheduler: Scheduler,
        network: Network,
        rng: Random,
        counts: FaultCounts,
        observer: Observer,
    ) -> None:
        """Make a cluster whose brokers run and know nothing."""
        self.plan = plan
        self.nodes: dict[BrokerId, Node] = {
            BrokerId(i): new_node(BrokerId(i), plan.ha) for i in range(1, brokers + 1)
        }
        self.master: BrokerId | None = None
        self.epoch = Epoch(0)
        self.scheduler = scheduler
        self.network = network
        self.counts = counts
        self.actions = 0
        self.stale_route_percent = plan.faults.stale_route_percent
        self._rng = rng
        self._observer = observer
        network.attach(self)
        observer.started(self)

    @property
    def now_ms(self) -> int:
        """Return the virtual time."""
        return self.scheduler.now_ms

    def up(self) -> list[Node]:
        """Return the brokers that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    # ---- what happens from outside ----

    def elect(self, broker: BrokerId) -> None:
        """Elect a master; brokers learn it when they ask."""
        self.master = broker
        self.epoch = Epoch(self.epoch + 1)
        self._acted(None, Elected(master=broker))

    def crash(self, node: Node) -> None:
        """Stop a broker of which the disk is already what survives."""
        node.stop()
        self.network.drop_broker(node.id)
        self._acted(node.id, Crashed(broker=node.id))

    def restart(self, node: Node) -> None:
        """Let a broker come back that is down."""
        assert node.state is None
        entries = node.recover()
        node.state = new_node(node.id, node.options).state
        self.deliver(node, Restarted(incarnation=node.incarnation, entries=entries))

    def flush(self, node: Node) -> None:
        """Run the flush service of a broker that runs.

        Spec: EpochTruncation!Flush
        Source: CommitLog.FlushRealTimeService
        """
        if node.log.flushed_offset < node.log.max_phy_offset:
            node.log.flush()
            node.log_version += 1
            self._acted(node.id, SpecAction(name=ActionName.FLUSH))

    def deliver(self, node: Node, event: Event) -> None:
        """Let a broker take one event and perform what its core says.

        Raises: StorageFailure
        """
        stepped = step(node.running(), event, now_ms=TimestampMs(self.now_ms), log=node.log)
        node.state = stepped.state
        lingers = stepped.action is not None and stepped.action.name in _ROLE_CHANGES
        dead: list[tuple[ConnectionId, BrokerId]] = []
        for effect in stepped.effects:
            self._perform(node, effect, lingers=lingers, dead=dead)
        if stepped.action is not None:
            self._acted(node.id, stepped.action)
        for conn, client in dead:
            self._ended_by_master(conn, client)
        self._arm(node)

    # ---- the network's side (rocketha.sim.network.Sockets) ----

    def accepted(self, conn: ConnectionId, server: BrokerId) -> bool:
        """Tell a server that a client is there; False if the broker is down."""
        node = self.nodes[server]
        if node.state is None:
            return False
        node.server_inbox(conn)
        self.deliver(node, PeerAccepted(conn=conn))
        return True

    def connected(self, conn: ConnectionId, client: BrokerId) -> None:
        """Tell a client that its connection stands."""
        node = self.nodes[client]
        if node.attempt is None or node.attempt[0] != conn:
            self.network.close(conn, client, lingers=True)
            return
        peer = node.attempt[1]
        node.attempt = None
        node.client_inbox(conn)
        self.deliver(node, PeerConnected(conn=conn, peer=peer))

    def received(self, conn: ConnectionId, broker: BrokerId, data: bytes) -> None:
        """Take the packets out of what arrived, and hand them over one by one."""
        node = self.nodes[broker]
        inbox = node.inboxes.get(conn)
        if inbox is None:
            return
        inbox.feed(data)
        while conn in node.inboxes:
            try:
                packet = inbox.next_packet()
            except PacketError as error:
                self.deliver(node, PacketRefused(conn=conn, error=error))
                return
            if packet is None:
                return
            self.deliver(node, PacketReceived(conn=conn, packet=packet))

    def lost(self, conn: ConnectionId, broker: BrokerId) -> None:
        """Tell an end that the connection is gone."""
        node = self.nodes[broker]
        node.inboxes.pop(conn, None)
        if node.attempt is not None and node.attempt[0] == conn:
            node.attempt = None
        if node.state is not None:
            self.deliver(node, ConnectionLost(conn=conn))

    # ---- effects ----

    def _perform(
        self,
        node: Node,
        effect: Effect,
        *,
        lingers: bool,
        dead: list[tuple[ConnectionId, BrokerId]],
    ) -> None:
        match effect:
            case SendPacket(conn=conn, data=data):
                self._observer.sent(self, node.id, conn, data)
                self.network.send(conn, node.id, data)
            case CloseConnection(conn=conn):
                node.inboxes.pop(conn, None)
                connection = self.network.find(conn)
                if connection is not None and connection.server == node.id and not lingers:
                    dead.append((conn, connection.client))
                self.network.close(conn, node.id, lingers=lingers)
            case Connect(peer=peer):
                self._connect(node, peer)
            case AppendLog() | AppendMessage() | TruncateLog() | FlushLog():
                node.log_version += 1
                self._change_log(node, effect)
            case StoreEpochs(entries=entries):
                node.epochs_version += 1
                node.store.replace(entries)
            case _ as unreachable:
                assert_never(unreachable)

    def _change_log(
        self, node: Node, effect: AppendLog | AppendMessage | TruncateLog | FlushLog
    ) -> None:
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
            if not node.options.bugs:
                raise
            raise StorageFailure(error.what, offset=error.offset, reason=error.reason) from error

    def _connect(self, node: Node, peer: HaAddress) -> None:
        """Begin to connect, unless an attempt with the same peer is under way."""
        if node.attempt is not None:
            if node.attempt[1] == peer:
                return
            self.network.close(node.attempt[0], node.id, lingers=False)
        server = self._resolve(node, peer)
        node.attempt = (self.network.connect(node.id, server), peer)

    def _resolve(self, node: Node, peer: HaAddress) -> BrokerId:
        """Find the broker at an address; a stale route leads to another one."""
        others = [n for n in self.nodes.values() if n is not node]
        [server] = [n.id for n in others if broker_address(n.id) == peer]
        stale = [n for n in others if n.id != server]
        if stale and self._rng.randrange(100) < self.stale_route_percent:
            self.counts.add(Fault.STALE_ROUTE)
            zombies = [n for n in stale if n.state is not None and n.state.role is Role.MASTER]
            return self._rng.choice(zombies or stale).id
        return server

    # ---- timers ----

    def _arm(self, node: Node) -> None:
        """Make sure that the broker is woken when it has something to do."""
        state = node.state
        if state is None:
            return
        due = next_timer_ms(state)
        if due is not None and (node.timer_at_ms is None or due < node.timer_at_ms):
            self._set_timer(node, max(due, self.now_ms + 1))
        end = node.log.max_phy_offset
        for conn, server in state.servers.items():
            if server.next_offset == NOT_YET or server.cur is None:
                continue
            planned = node.transfer_at_ms.get(conn)
            if server.next_offset < min(end, server.cur.end_offset):
                if planned is None or planned > self.now_ms + _TRANSFER_GAP_MAX_MS:
                    self._transfer_later(node, conn, 1 + self._rng.randrange(_TRANSFER_GAP_MAX_MS))
            elif planned is None:
                idle_until_ms = server.last_write_ms + state.options.heartbeat_ms
                self._transfer_later(
                    node, conn, max(_HEARTBEAT_GAP_MIN_MS, idle_until_ms - self.now_ms)
                )

    def _set_timer(self, node: Node, at_ms: int) -> None:
        node.timer_at_ms = at_ms
        incarnation = node.incarnation

        def fire() -> None:
            if node.incarnation == incarnation and node.timer_at_ms == at_ms:
                node.timer_at_ms = None
                self.deliver(node, TimerFired())

        self.scheduler.after(at_ms - self.now_ms, fire)

    def _transfer_later(self, node: Node, conn: ConnectionId, wait_ms: int) -> None:
        incarnation, at_ms = node.incarnation, self.now_ms + wait_ms
        node.transfer_at_ms[conn] = at_ms

        def fire() -> None:
            if node.incarnation == incarnation and node.transfer_at_ms.get(conn) == at_ms:
                del node.transfer_at_ms[conn]
                self.deliver(node, TransferDue(conn=conn))

        self.scheduler.after(wait_ms, fire)

    # ---- reports ----

    def _acted(self, broker: BrokerId | None, action: ClusterAction) -> None:
        self.actions += 1
        self._observer.acted(self, broker, action)

    def _ended_by_master(self, conn: ConnectionId, client: BrokerId) -> None:
        """Report that nothing more comes to a slave over a connection that it still holds."""
        self._acted(client, SpecAction(name=ActionName.DISCONNECT, conn=conn))
