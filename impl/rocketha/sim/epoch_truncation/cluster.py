"""A cluster of simulated brokers that a controller elects masters of; `hosts` moves them.

What is around the hosts:

* It has the controller's present answer.
* It resolves addresses, and may be wrong about them (stale route).
* It reports a `Disconnect` when a master ends a connection, since what was in flight is lost.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from typing import Final, Protocol, assert_never

from rocketha.formats.ha_packets import (
    Ack,
    Expecting,
    Handshake,
    HandshakeReply,
    Transfer,
    pull_master_packet,
    pull_slave_packet,
)
from rocketha.formats.packet_stream import master_stream, slave_stream
from rocketha.ha.connections import PacketInbox, ReplicationCore
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.ha.events import Event, MasterAddressLearnt, MasterLearnt, PacketReceived, Restarted
from rocketha.ha.state import BrokerState, Role
from rocketha.known_bugs import NO_BUGS
from rocketha.known_bugs.storage import file_options
from rocketha.recording.recorder import NOT_RECORDED, Recording, StepRecorder
from rocketha.runtime.events import (
    ConnectionLost,
    HostEvent,
    MessageAppended,
    PeerAccepted,
    PeerConnected,
)
from rocketha.sim.engine.crash_points import CrashPoints
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.hosts import HostedCluster, Hosts, Repeated
from rocketha.sim.engine.network import End, Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import InjectionPoint, RandomSource
from rocketha.sim.engine.records import SEGMENT_SIZE
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.epoch_truncation.actions import (
    ClusterAction,
    Crashed,
    Elected,
    LogLost,
    StoreLost,
)
from rocketha.sim.epoch_truncation.forgeries import forgeries
from rocketha.sim.epoch_truncation.plan import RunPlan
from rocketha.sim.epoch_truncation.recorders import ClusterRecorders
from rocketha.storage.commit_log import CommitLog
from rocketha.types import BrokerId, ConnectionId, Epoch, HaAddress, Offset

__all__ = ["Cluster", "NullObserver", "Observer"]

_ROLE_CHANGES: Final = frozenset({ActionName.BECOME_MASTER, ActionName.BECOME_SLAVE})


class Observer(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: Cluster) -> None:
        """Look at the cluster before anything happens."""

    def sent(self, cluster: Cluster, broker: BrokerId, conn: ConnectionId, data: bytes) -> None:
        """Hear one packet that a broker sends, before `took` says in which step."""

    def took(
        self,
        cluster: Cluster,
        broker: BrokerId,
        event: Event | HostEvent,
        action: SpecAction | None,
    ) -> None:
        """Look at the cluster after a step of a broker, before `acted` if it is an action."""

    def acted(self, cluster: Cluster, broker: BrokerId | None, action: ClusterAction) -> None:
        """Look at the cluster after an action of a broker, or of the controller (None).

        A `Disconnect` may concern a connection of which the master knows nothing.
        """


class NullObserver:
    """An observer that does not look."""

    def started(self, cluster: Cluster) -> None:
        """Do nothing."""

    def sent(self, cluster: Cluster, broker: BrokerId, conn: ConnectionId, data: bytes) -> None:
        """Do nothing."""

    def took(
        self,
        cluster: Cluster,
        broker: BrokerId,
        event: Event | HostEvent,
        action: SpecAction | None,
    ) -> None:
        """Do nothing."""

    def acted(self, cluster: Cluster, broker: BrokerId | None, action: ClusterAction) -> None:
        """Do nothing."""


class Cluster(HostedCluster[BrokerState, Event, SpecAction]):
    """The brokers, what connects them, and the controller's present answer."""

    closes_are_shown = True
    heard_events = (
        PeerAccepted,
        PeerConnected,
        ConnectionLost,
        MessageAppended,
        MasterAddressLearnt,
    )

    def __init__(
        self,
        *,
        brokers: int,
        plan: RunPlan,
        scheduler: Scheduler,
        network: Network,
        random_source: RandomSource,
        counts: FaultCounts,
        observer: Observer,
        recording: Recording = NOT_RECORDED,
        crash_points: CrashPoints | None = None,
    ) -> None:
        """Make a cluster whose brokers run and know nothing."""
        self.plan = plan
        bugs = plan.bugs
        self.nodes: dict[BrokerId, Node[BrokerState]] = {
            broker: Node(broker, bugs) for broker in map(BrokerId, range(1, brokers + 1))
        }
        self.forged: ConnectionId | None = None
        """The connection of a packet that nobody has sent, while a broker takes it."""
        self.master: BrokerId | None = None
        self.epoch = Epoch(0)
        self.scheduler = scheduler
        self.network = network
        self.counts = counts
        self.actions = 0
        self.stale_route_percent = plan.faults.stale_route_percent
        self._random_source = random_source
        self._lookups: Counter[BrokerId] = Counter()
        self._observer = observer
        self.crash_points = crash_points or CrashPoints()
        self._recorders = ClusterRecorders(self.nodes, plan, scheduler, recording)
        self._hosts = Hosts(
            ReplicationCore(),
            self,
            self.nodes,
            scheduler=scheduler,
            network=network,
            random_source=random_source,
            crash_points=self.crash_points,
        )
        for node in self.nodes.values():
            node.state = self._fresh(node.id)
        self._recorders.started()
        observer.started(self)

    def _fresh(self, broker: BrokerId) -> BrokerState:
        return BrokerState(broker_id=broker, options=self.plan.ha)

    @property
    def now_ms(self) -> int:
        """Return the virtual time."""
        return self.scheduler.now_ms

    def up(self) -> list[Node[BrokerState]]:
        """Return the brokers that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    # ---- what happens from outside ----

    def elect(self, broker: BrokerId | None) -> None:
        """Elect a master, or find nobody; brokers learn of a master when they ask."""
        self.master = broker
        self.epoch = Epoch(self.epoch + 1)
        elected = Elected(master=broker)
        self._recorders.elected(elected, self.epoch)
        self._report(None, elected)

    def tell_master(self, node: Node[BrokerState]) -> None:
        """Let a broker that runs hear who is elected, if anybody is."""
        master = self.master
        self._recorders.heard(node.id, self.epoch)
        address = None if master is None else broker_address(master)
        self.deliver(node, MasterLearnt(epoch=self.epoch, master=master, address=address))

    def crash(self, node: Node[BrokerState], *, silent: bool = False) -> None:
        """Stop a broker of which the disk is already what survives."""
        self._recorders.stopped(node)
        self._hosts.stop(node, silent=silent)
        self._report(node.id, Crashed(broker=node.id))

    def left_on_disk(self, node: Node[BrokerState]) -> Offset:
        """Return where the log ends that a broker would find that is down; its disk stays.

        Raises: CommitLogError, DiskError
        """
        disk = copy.deepcopy(node.disk)
        log, _ = CommitLog.open(disk, file_options(SEGMENT_SIZE, NO_BUGS).log)
        return log.max_phy_offset

    def lose_log(self, node: Node[BrokerState], end: Offset) -> None:
        """Cut the log of a broker that is down, as an operator would; its epoch file stays.

        Raises: CommitLogError, DiskError
        """
        assert node.state is None
        log, _ = CommitLog.open(node.disk, file_options(SEGMENT_SIZE, NO_BUGS).log)
        log.truncate(end)
        node.files.changed()
        self.log_lost(node)

    def log_lost(self, node: Node[BrokerState]) -> None:
        """Report that a broker that is down lost records: it ended while it cut its log.

        Spec: EpochTruncation!LoseLog
        """
        self._report(node.id, LogLost(broker=node.id))

    def lose_store(self, node: Node[BrokerState]) -> None:
        """Remove the files of a broker that is down, as an operator would.

        Spec: EpochTruncation!LoseStore
        """
        assert node.state is None
        for folder in ("", "commitlog"):
            for name in node.disk.names(folder):
                node.disk.unlink(f"{folder}/{name}" if folder else name)
            node.disk.fsync_dir(folder)
        node.files.changed()
        self._report(node.id, StoreLost(broker=node.id))

    def restart(self, node: Node[BrokerState]) -> None:
        """Let a broker come back that is down. Raises: EpochFileError, CommitLogError, DiskError"""
        assert node.state is None
        node.files.recover()
        entries = node.files.load_epochs()
        node.state = self._fresh(node.id)
        self._recorders.of(node.id).started()
        self.deliver(node, Restarted(incarnation=node.incarnation, entries=entries))

    def has(self, conn: ConnectionId, broker: BrokerId) -> bool:
        """Tell whether a broker runs and listens to a connection."""
        state = self.nodes[broker].state
        if state is None:
            return False
        is_own = state.client is not None and state.client.id == conn
        return is_own or conn in state.servers

    def forge(self, conn: ConnectionId, broker: BrokerId, which: int) -> None:
        """Let a broker take one of the packets that no honest peer sends."""
        node = self.nodes[broker]
        forged = forgeries(node.running(), conn, node.log.max_phy_offset)
        either = Expecting.HANDSHAKE | Expecting.TRANSFER  # the core has to know what comes when
        is_accepted = conn in node.running().servers
        stream = slave_stream(either) if is_accepted else master_stream(either)
        self.forged = conn
        self._hosts.forge(broker, conn, forged[which % len(forged)], PacketInbox(conn, stream))
        self.forged = None

    def flush(self, node: Node[BrokerState]) -> None:
        """Run the flush service of a broker that runs.

        Spec: EpochTruncation!Flush
        Source: CommitLog.FlushRealTimeService
        """
        self._hosts.flush(node)

    def deliver(self, node: Node[BrokerState], event: Event) -> None:
        """Let a broker take one event and perform what its core says.

        Raises: CoreFailure
        """
        self._hosts.deliver(node, event)

    def repeat(self, node: Node[BrokerState], event: PacketReceived) -> None:
        """Let a broker take a packet once more that its peer has sent. Raises: CoreFailure"""
        self._recorders.of(node.id).heard(Repeated(event.conn))
        self.deliver(node, event)

    # ---- what is around the hosts (rocketha.sim.hosts.HostedCluster) ----

    def resolve(self, node: Node[BrokerState], peer: HaAddress) -> BrokerId:
        """Find the broker at an address; a stale route leads to another one."""
        others = [n for n in self.nodes.values() if n is not node]
        [server] = [n.id for n in others if broker_address(n.id) == peer]
        stale = [n for n in others if n.id != server]
        rng = self._random_source.of("route", node.id)
        if not stale or rng.randrange(100) >= self.stale_route_percent:
            return server
        zombies = [n for n in stale if n.state is not None and n.state.role is Role.MASTER]
        found, me = rng.choice(zombies or stale).id, broker_address(node.id)
        self._lookups[node.id] += 1
        point = InjectionPoint(Fault.STALE_ROUTE, me, self._lookups[node.id])
        if not self._random_source.allows(point):
            return server
        self._random_source.note(
            point, f"{me} connects to {broker_address(found)} instead of {peer}"
        )
        self.counts.add(Fault.STALE_ROUTE)
        return found

    def recorder_of(self, node: Node[BrokerState]) -> StepRecorder:
        """Return what writes down what a broker sees and does."""
        return self._recorders.of(node.id)

    def lingers(self, action: SpecAction | None, end: End) -> bool:
        """Tell whether what was sent over connections that an action closes still arrives."""
        del end
        return action is not None and action.name in _ROLE_CHANGES

    def sent(self, node: Node[BrokerState], conn: ConnectionId, data: bytes) -> None:
        """Tell the observer of a packet."""
        self._observer.sent(self, node.id, conn, data)

    def shown(self, data: bytes, *, of_server: bool) -> Mapping[str, object]:
        """Return what a packet says."""
        either = Expecting.HANDSHAKE | Expecting.TRANSFER
        pulled = pull_master_packet(data, either) if of_server else pull_slave_packet(data, either)
        assert pulled is not None, data
        packet, _ = pulled
        match packet:
            case Handshake():
                return {
                    "is": "Handshake",
                    "slave": packet.broker_id,
                    "learner": packet.async_learner,
                    "last_file": packet.sync_from_last_file,
                    "incarnation": packet.incarnation,
                }
            case Ack(max_phy_offset=ack):
                return {"is": "Ack", "ack": ack}
            case HandshakeReply():
                return {"is": "Reply", "epoch": max(packet.last_epoch, 0)}
            case Transfer():
                size = len(packet.body)
                return {"is": "Batch", "epoch": packet.epoch, "offset": packet.offset, "size": size}
            case _ as unreachable:
                assert_never(unreachable)

    def took(
        self, node: Node[BrokerState], event: Event | HostEvent, action: SpecAction | None
    ) -> None:
        """Tell the observer of a step."""
        self._observer.took(self, node.id, event, action)

    def acted(self, broker: BrokerId, action: SpecAction) -> None:
        """Tell the observer of an action."""
        self._report(broker, action)

    def ended_by_server(self, conn: ConnectionId, client: BrokerId) -> None:
        """Report that nothing more comes to a slave over a connection that it still holds."""
        self._report(client, SpecAction(name=ActionName.DISCONNECT, conn=conn))

    def _report(self, broker: BrokerId | None, action: ClusterAction) -> None:
        self.actions += 1
        self._observer.acted(self, broker, action)
