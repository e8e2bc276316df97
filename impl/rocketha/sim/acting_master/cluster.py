"""Groups of brokers, their name servers, and a producer."""

from __future__ import annotations

from typing import Any, Final, Protocol

from rocketha.acting.core import NameServerLost
from rocketha.acting_master import core as brokers
from rocketha.acting_master.state import BrokerOptions, BrokerState
from rocketha.escape.events import HeartbeatDue
from rocketha.escape.producer import ProducerState
from rocketha.formats.name_server_requests import TopicRouteData
from rocketha.formats.offset_tables import TableKind
from rocketha.histories.offsets import BrokerGone, MasterStarted, OffsetEvent
from rocketha.nameserver import core as nameserver
from rocketha.nameserver.state import NameServerState
from rocketha.runtime.broker_files import BrokerFiles, FileOptions
from rocketha.runtime.events import ConnectionLost
from rocketha.runtime.performers import ConnectionPerformer
from rocketha.sim.acting_master.nodes import ActingNameServer, BrokerNode, BrokerStepped
from rocketha.sim.acting_master.plan import (
    NAME_SERVERS,
    ActingMasterPlan,
    group_of,
    ha_address,
    number_in_group,
)
from rocketha.sim.engine.network import End
from rocketha.sim.engine.node import FIRST_PRODUCER, Node, broker_address
from rocketha.sim.engine.remoting_calls import Arrived
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.escape.container_calls import ContainerCalls
from rocketha.sim.escape.nodes import ProducerNode
from rocketha.sim.escape.plan import PRODUCERS
from rocketha.sim.escape.steps import EscapeStep
from rocketha.sim.pre_online.shared_network import ReplicationSockets, SharedNetwork
from rocketha.sim.route.steps import RouteStep
from rocketha.storage.commit_log import CommitLogOptions
from rocketha.types import MASTER, BrokerId, ConnectionId, HaAddress, SizeBytes, TimestampMs

__all__ = ["ActingMasterCluster", "ActingMasterObserver", "NullActingMasterObserver"]

_SEGMENT: Final = SizeBytes(8 << 10)
_HEARTBEAT_MS: Final = 200


class ActingMasterObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def stepped(self, cluster: ActingMasterCluster, step: BrokerStepped) -> None:
        """Look at the cluster after a step of a broker."""
        ...


class NullActingMasterObserver:
    """Whoever looks away."""

    def stepped(self, cluster: ActingMasterCluster, step: BrokerStepped) -> None:
        """Do nothing."""


class ActingMasterCluster:
    """All nodes. Masters are masters whenever they run."""

    def __init__(
        self, environment: Environment, plan: ActingMasterPlan, observer: ActingMasterObserver
    ) -> None:
        """Make a cluster of which nobody runs."""
        self.plan = plan
        self.scheduler = environment.scheduler
        self.network = SharedNetwork(
            environment.scheduler, environment.streams, counts=environment.counts, plan=plan.faults
        )
        self.counts = environment.counts
        self.crash_points = environment.crash_points
        self.recording = environment.recording
        self.actions = 0
        self.away: frozenset[BrokerId] = frozenset()
        """Who does not come back now."""
        self._observer = observer
        self._watchers: list[BrokerWatcher] = []
        self._options: dict[BrokerId, BrokerOptions] = dict(plan.brokers)
        self.brokers: dict[BrokerId, Node[BrokerState]] = {
            number: _with_log(Node(number, plan.bugs)) for number in self._options
        }
        self.history: dict[str, list[OffsetEvent]] = {
            group_of(number): [] for number in self.masters
        }
        self._registered: dict[str, frozenset[BrokerId]] = {}
        self.name_servers: dict[BrokerId, Node[NameServerState]] = {
            number: Node(number, plan.bugs) for number in NAME_SERVERS
        }
        self.producer: Node[ProducerState] = Node(FIRST_PRODUCER, plan.bugs)
        self.nodes: dict[BrokerId, Node[Any]] = {
            **self.brokers,
            **self.name_servers,
            FIRST_PRODUCER: self.producer,
        }
        self.hosted = {
            number: BrokerNode(node, self, flush_ms=plan.flush_ms)
            for number, node in self.brokers.items()
        }
        self._name_servers = {
            number: ActingNameServer(node, self, plan.name_server)
            for number, node in self.name_servers.items()
        }
        self.hosted_producer = ProducerNode(
            self.producer, self, masters=self.masters, heartbeat_ms=_HEARTBEAT_MS
        )
        self.calls = ContainerCalls(
            self.network, self, self.scheduler, frozenset(), on_lost=self._lost
        )
        self.network.attach(ReplicationSockets(self.network, self._connections))

    @property
    def masters(self) -> list[BrokerId]:
        """Return the masters of all groups."""
        return [number for number in self._options if number_in_group(number) == MASTER]

    def slaves(self, master: BrokerId) -> list[BrokerId]:
        """Return the slaves of a master."""
        group = group_of(master)
        return [one for one in self._options if one != master and group_of(one) == group]

    def watch(self, watcher: BrokerWatcher) -> None:
        """Tell somebody else of each step of a broker, too."""
        self._watchers.append(watcher)

    def number_of(self, address: str) -> BrokerId:
        """Return which node has an address."""
        return next(number for number in self.nodes if broker_address(number) == address)

    def broker_at(self, address: HaAddress) -> BrokerId:
        """Return which broker accepts slaves at an address."""
        return next(number for number in self.brokers if ha_address(number) == address)

    def up(self) -> list[Node[Any]]:
        """Return the nodes that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    def registered(self, group: str) -> frozenset[BrokerId]:
        """Return whom all name servers that run believe to be in a group."""
        states = [node.state for node in self.name_servers.values() if node.state is not None]
        found = [state.groups.get(group) for state in states]
        of_each = [frozenset() if one is None else frozenset(one.brokers) for one in found]
        return frozenset.intersection(*of_each) if of_each else frozenset()

    def find(self, name_server: BrokerId, topic: str) -> TopicRouteData | None:
        """Let a client ask a name server who has a topic, if it runs."""
        if not self.is_up(name_server):
            return None
        return self._name_servers[name_server].find(topic)

    def _connections(self, broker: BrokerId) -> ConnectionPerformer[Any, Any]:
        return self.hosted[broker].connections

    # ---- what happens from outside ----

    def crash(self, node: Node[Any], *, silent: bool = False) -> None:
        """Stop a node."""
        if node.id in self.brokers:
            self.hosted[node.id].stop()
        elif node.id in self.name_servers:
            self._name_servers[node.id].stop()
        else:
            raise AssertionError(f"{node.id} does not stop")
        node.stop()
        self.calls.stop(node.id, silent=silent)
        if node.id in self.brokers:
            gone = BrokerGone(number_in_group(node.id), stopped=True)
            self.history[group_of(node.id)].append(gone)
        self._note_registered()

    def restart(self, node: Node[Any]) -> None:
        """Let a node come back that is down, if it is not to stay away."""
        assert node.state is None, node.id
        if node.id in self.away:
            return
        if node.id in self.brokers:
            self.start_broker(node.id)
        else:
            self.start_name_server(node.id)

    def start_name_server(self, number: BrokerId) -> None:
        """Let a name server run, which knows nobody."""
        node, hosted = self.name_servers[number], self._name_servers[number]
        node.state = NameServerState(options=self.plan.name_server)
        for due in nameserver.started(node.running()):
            hosted.after(due.wait_ms, due.event)
        self._note_registered()

    def start_producer(self) -> None:
        """Let the producer run, which never stops."""
        self.producer.state = ProducerState(
            group=PRODUCERS,
            brokers={group_of(one): one for one in self.masters},
            heartbeat_ms=_HEARTBEAT_MS,
            timeout_ms=_HEARTBEAT_MS,
        )
        self.hosted_producer.after(_HEARTBEAT_MS, HeartbeatDue())

    def start_broker(self, number: BrokerId) -> None:
        """Let a broker run, with what its disk has."""
        node, hosted, options = self.brokers[number], self.hosted[number], self._options[number]
        node.files.recover()
        files = {kind: hosted.load(kind) for kind in TableKind}
        node.state = brokers.fresh(options, node.files.log, files, now_ms=hosted.now_ms())
        for due in brokers.started(options):
            hosted.after(due.wait_ms, due.event)
        if options.is_master:
            there = self.registered(group_of(number)) - {MASTER}
            self.history[group_of(number)].append(MasterStarted(there))

    # ---- the net (rocketha.sim.engine.remoting_calls.Servers) ----

    def is_up(self, peer: BrokerId) -> bool:
        """Tell whether a node runs."""
        return self.nodes[peer].state is not None

    def asked(self, peer: BrokerId, arrived: Arrived) -> None:
        """Let a node take a request."""
        if peer in self.brokers:
            self.hosted[peer].arrive(arrived)
        elif peer in self.name_servers:
            self._name_servers[peer].arrive(arrived)
        else:
            self.hosted_producer.arrive(arrived)

    def _lost(self, peer: BrokerId, conn: ConnectionId, other: BrokerId, end: End) -> None:
        """Tell a name server of a channel that is gone, and a broker of a name server."""
        if peer in self.name_servers:
            if end is End.SERVER:
                self._name_servers[peer].host.hear(ConnectionLost(conn=conn))
        elif peer in self.brokers and end is End.CLIENT and other in self.name_servers:
            self.hosted[peer].host.hear(NameServerLost(other))

    # ---- the rest ----

    def now_ms(self) -> TimestampMs:
        """Return the virtual time."""
        return TimestampMs(self.scheduler.now_ms)

    def stepped(self, step: BrokerStepped) -> None:
        """Tell the observer of a step of a broker."""
        self.actions += step.action is not None
        for watcher in self._watchers:
            watcher.stepped(step)
        self._observer.stepped(self, step)

    def report(self, step: RouteStep | EscapeStep) -> None:
        """Note whom a name server takes for gone; the producer's steps are no matter."""
        del step
        self._note_registered()

    def _note_registered(self) -> None:
        for group, history in self.history.items():
            there = self.registered(group)
            for broker in sorted(self._registered.get(group, frozenset()) - there):
                history.append(BrokerGone(broker, stopped=False))
            self._registered[group] = there


class BrokerWatcher(Protocol):
    """Whoever is told of steps besides the observer: clients."""

    def stepped(self, step: BrokerStepped) -> None:
        """Hear of a step."""
        ...


def _with_log(node: Node[Any]) -> Node[Any]:
    log = CommitLogOptions(directory="commitlog", segment_size=_SEGMENT)
    node.files = BrokerFiles(node.disk, FileOptions(log=log))
    return node
