"""A master that comes back, its slaves, and their name server."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, ClassVar, Final, Protocol

from rocketha.histories.offsets import BrokerGone, MasterStarted, OffsetEvent
from rocketha.nameserver import core as nameserver
from rocketha.nameserver.state import NameServerState
from rocketha.pre_online import core as pre_online
from rocketha.pre_online.core import PreOnlineCore
from rocketha.pre_online.events import NameServerLost
from rocketha.pre_online.rules import RULES
from rocketha.pre_online.state import PreOnlineOptions, PreOnlineState
from rocketha.runtime.events import ConnectionLost
from rocketha.runtime.performers import ConnectionPerformer
from rocketha.sim.engine.network import End
from rocketha.sim.engine.node import FIRST_NAME_SERVER, Node, broker_address
from rocketha.sim.engine.random_source import Injection, InjectionPoint
from rocketha.sim.engine.remoting_calls import Arrived, RemotingCalls
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.pre_online.broker import SimulatedBroker
from rocketha.sim.pre_online.plan import BROKER_NAME, PreOnlinePlan, ha_address
from rocketha.sim.pre_online.shared_network import ReplicationSockets, SharedNetwork
from rocketha.sim.pre_online.steps import (
    BrokerStarted,
    BrokerStepped,
    BrokerStopped,
    PreOnlineStep,
)
from rocketha.sim.route.nodes import RouteNameServer
from rocketha.sim.route.steps import NameServerStepped, NameServerStopped, RouteStep
from rocketha.types import MASTER, BrokerId, ConnectionId, HaAddress, TimestampMs

__all__ = ["RESTART_MS", "NullPreOnlineObserver", "PreOnlineCluster", "PreOnlineObserver"]

RESTART_MS: Final = 700
"""A broker that stops is back within this time."""
_NO_PACKET: Final = b"\xff" * 64
_REWRITTEN: Final = 8
"""Of so many brokers that write a table twice one ends in between."""


class PreOnlineObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: PreOnlineCluster) -> None:
        """Look at the cluster before anything happens."""
        ...

    def stepped(self, cluster: PreOnlineCluster, step: PreOnlineStep) -> None:
        """Look at the cluster after a step."""
        ...


class NullPreOnlineObserver:
    """Whoever looks away."""

    def started(self, cluster: PreOnlineCluster) -> None:
        """Do nothing."""

    def stepped(self, cluster: PreOnlineCluster, step: PreOnlineStep) -> None:
        """Do nothing."""


class PreOnlineCluster:
    """All nodes. Slaves start first, and the master when they are registered.

    So all begins where the specification does, also with bugs.

    A request and its answer are one step of the specification. So a request is lost here with the
    connection that it was sent over, and with who has sent it: none arrives for whose answer nobody
    waits.
    """

    core: ClassVar[PreOnlineCore] = PreOnlineCore()
    """What brokers do."""

    def __init__(
        self, environment: Environment, plan: PreOnlinePlan, observer: PreOnlineObserver
    ) -> None:
        """Make a cluster of which nobody runs."""
        self.plan = plan
        self.scheduler = environment.scheduler
        self.network = SharedNetwork(
            environment.scheduler, environment.streams, counts=environment.counts, plan=plan.faults
        )
        self.counts = environment.counts
        self.crash_points = environment.crash_points
        self.is_calm = False
        """No broker ends between two writes any more."""
        self._streams = environment.streams
        self._rewritten: Counter[BrokerId] = Counter()
        self.recording = environment.recording
        self.actions = 0
        self.history: list[OffsetEvent] = []
        self._observer = observer
        self._group: frozenset[BrokerId] = frozenset()
        self._is_begun = False
        self.brokers: dict[BrokerId, Node[PreOnlineState]] = {
            options.broker_id: Node(options.broker_id, plan.bugs) for options in plan.brokers
        }
        self.name_server: Node[NameServerState] = Node(FIRST_NAME_SERVER, plan.bugs)
        self.nodes: dict[BrokerId, Node[Any]] = {
            **self.brokers,
            FIRST_NAME_SERVER: self.name_server,
        }
        self.hosted = {
            options.broker_id: SimulatedBroker(
                self.brokers[options.broker_id], self, options, self.core
            )
            for options in plan.brokers
        }
        self._name_server = RouteNameServer(self.name_server, self, plan.name_server)
        self.calls = RemotingCalls(self.network, self, on_lost=self._lost, forgets=True)
        self.network.attach(ReplicationSockets(self.network, self._connections))
        observer.started(self)

    @property
    def slaves(self) -> list[BrokerId]:
        """Return the slaves."""
        return [number for number in self.brokers if number != MASTER]

    def number_of(self, address: str) -> BrokerId:
        """Return which broker has an address."""
        return next(number for number in self.brokers if broker_address(number) == address)

    def broker_at(self, address: HaAddress) -> BrokerId:
        """Return which broker accepts slaves at an address."""
        return next(number for number in self.brokers if ha_address(number) == address)

    def up(self) -> list[Node[Any]]:
        """Return the nodes that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    def group(self) -> frozenset[BrokerId]:
        """Return who is registered, as the name server believes."""
        state = self.name_server.state
        group = None if state is None else state.groups.get(BROKER_NAME)
        return frozenset() if group is None else frozenset(group.brokers)

    def _connections(self, broker: BrokerId) -> ConnectionPerformer[Any, Any]:
        return self.hosted[broker].connections

    def _options(self, broker: BrokerId) -> PreOnlineOptions:
        """Return how a broker is set up: it has a bug when all are there."""
        options = self.plan.brokers[broker]
        return options if self._is_begun else replace(options, rules=RULES)

    def begin(self) -> None:
        """Let brokers have what bugs the plan wants, now that all are there."""
        self._is_begun = True
        for broker, node in self.brokers.items():
            node.state = replace(node.running(), options=self._options(broker))

    # ---- what happens from outside ----

    def has(self, conn: ConnectionId, broker: BrokerId) -> bool:
        """Tell whether a broker runs and has a connection."""
        hosted = self.hosted.get(broker)
        return hosted is not None and conn in hosted.connections.standing

    def forge(self, conn: ConnectionId, broker: BrokerId, which: int) -> None:
        """Let a broker take over a connection what is no packet."""
        del which
        self.hosted[broker].connections.received(conn, _NO_PACKET)

    def crash(self, node: Node[Any], *, silent: bool = False) -> None:
        """Stop a node; what it has sent and has not arrived is lost.

        Spec: PreOnline!Stop
        """
        if node.id == FIRST_NAME_SERVER:
            self._name_server.recorder.stopped(dict)
            self._name_server.stop()
        else:
            self.hosted[node.id].recorder.stopped(self.hosted[node.id].left)
            self.hosted[node.id].stop()
        node.stop()
        self.calls.stop(node.id, silent=silent)
        self.network.lose_sent(node.id)
        if node.id == FIRST_NAME_SERVER:
            self.report(NameServerStopped(node.id))
        else:
            self.history.append(BrokerGone(node.id, stopped=True))
            self.report(BrokerStopped(node.id))

    def stop_for(self, node: Node[Any], wait_ms: int) -> None:
        """Stop a broker, and let it come back in a while if it is still down then."""
        self.crash(node)
        incarnation = node.incarnation

        def restart() -> None:
            if node.state is None and node.incarnation == incarnation:
                self.restart(node)

        self.scheduler.after(wait_ms, restart)

    def ends_between_writes(self, broker: BrokerId) -> bool:
        """Let a broker end now and then that is to write a table again that it has just written."""
        self._rewritten[broker] += 1
        point = InjectionPoint("write", broker_address(broker), self._rewritten[broker])
        if self.is_calm or not self._streams.allows(point):
            return False
        injection = Injection(self._streams, point)
        if injection.rng.randrange(_REWRITTEN):
            return False
        wait_ms = 1 + injection.rng.randrange(RESTART_MS)
        words = f"{point.whose} ends between two writes of a table, and is back after {wait_ms} ms"
        injection.note(words)
        self.stop_for(self.brokers[broker], wait_ms)
        return True

    def restart(self, node: Node[Any]) -> None:
        """Let a node come back that is down."""
        assert node.state is None
        if node.id == FIRST_NAME_SERVER:
            self.start_name_server()
        else:
            self.start_broker(node.id)

    def start_name_server(self) -> None:
        """Let the name server run, which knows nobody."""
        node = self.name_server
        node.state = NameServerState(options=self.plan.name_server)
        self._name_server.recorder.started()
        for due in nameserver.started(node.running()):
            self._name_server.after(due.wait_ms, due.event)

    def start_broker(self, broker: BrokerId) -> None:
        """Let a broker run, with what its disk has."""
        node, hosted = self.brokers[broker], self.hosted[broker]
        options = self._options(broker)
        files = {kind: hosted.load(kind) for kind in options.steps}
        now_ms = TimestampMs(self.scheduler.now_ms)
        node.state = pre_online.fresh(options, files, now_ms=now_ms)
        hosted.recorder.started()
        for due in pre_online.started(options):
            hosted.after(due.wait_ms, due.event)
        if broker == MASTER:
            self.history.append(MasterStarted(self.group() - {MASTER}))
        self.report(BrokerStarted(broker))

    # ---- the net (rocketha.sim.engine.remoting_calls.Servers) ----

    def is_up(self, peer: BrokerId) -> bool:
        """Tell whether a node runs."""
        return self.nodes[peer].state is not None

    def asked(self, peer: BrokerId, arrived: Arrived) -> None:
        """Let a node take a request."""
        asked = self._name_server if peer == FIRST_NAME_SERVER else self.hosted[peer]
        asked.arrive(arrived)

    def _lost(self, peer: BrokerId, conn: ConnectionId, other: BrokerId, end: End) -> None:
        """Tell a name server of a channel that is gone, and a broker of a name server."""
        if peer == FIRST_NAME_SERVER:
            if end is End.SERVER:
                self._name_server.host.hear(ConnectionLost(conn=conn))
        elif end is End.CLIENT and other == FIRST_NAME_SERVER:
            self.hosted[peer].host.hear(NameServerLost())

    # ---- the rest ----

    def report(self, step: PreOnlineStep | RouteStep) -> None:
        """Tell the observer of a step; note whom a name server takes for gone.

        Spec: PreOnline!Remove
        """
        assert isinstance(
            step,
            BrokerStepped | BrokerStarted | BrokerStopped | NameServerStepped | NameServerStopped,
        )
        group = self.group()
        for broker in sorted(self._group - group):
            self.history.append(BrokerGone(broker, stopped=False))
        self._group = group
        if not isinstance(step, BrokerStepped | NameServerStepped) or step.action is not None:
            self.actions += 1
        self._observer.stepped(self, step)
