"""A slave that acts, masters of other groups, a name server, a producer; slaves that register."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Final, Protocol

from rocketha.acting import core as acting
from rocketha.acting.core import ActingCore, RoleLearned
from rocketha.acting.core import NameServerLost as ServerLost
from rocketha.acting.rules import Role
from rocketha.acting.state import ActingOptions, ActingState
from rocketha.escape import master as masters
from rocketha.escape import slave as slaves
from rocketha.escape.events import HeartbeatDue, LocalChanged
from rocketha.escape.master_state import MasterState
from rocketha.escape.producer import ProducerState
from rocketha.escape.rules import RULES
from rocketha.escape.state import SlaveState
from rocketha.formats.offset_tables import TableKind
from rocketha.nameserver import core as nameserver
from rocketha.nameserver.state import NameServerState
from rocketha.runtime.broker_files import BrokerFiles, FileOptions
from rocketha.runtime.events import ConnectionLost
from rocketha.sim.engine.network import End
from rocketha.sim.engine.node import (
    FIRST_NAME_SERVER,
    FIRST_PRODUCER,
    Node,
    broker_address,
)
from rocketha.sim.engine.remoting_calls import Arrived
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.escape.container_calls import ContainerCalls
from rocketha.sim.escape.nodes import MasterNode, ProducerNode, SlaveNode
from rocketha.sim.escape.outsiders import draw_request
from rocketha.sim.escape.plan import NEIGHBOUR, PRODUCERS, SLAVE, EscapePlan, group_of
from rocketha.sim.escape.steps import (
    EscapeStep,
    MasterStarted,
    MasterStepped,
    MasterStopped,
    ProducerStepped,
    SlaveStarted,
    SlaveStepped,
    SlaveStopped,
)
from rocketha.sim.route.nodes import RouteBroker, RouteNameServer
from rocketha.sim.route.steps import RouteStep
from rocketha.storage.commit_log import CommitLogOptions
from rocketha.types import MASTER, BrokerId, ConnectionId, SizeBytes, TimestampMs

__all__ = ["EscapeCluster", "EscapeObserver", "NullEscapeObserver"]

_SEGMENT: Final = SizeBytes(8 << 10)
_HEARTBEAT_MS: Final = 200


class EscapeObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: EscapeCluster) -> None:
        """Look at the cluster before anything happens."""
        ...

    def stepped(self, cluster: EscapeCluster, step: EscapeStep) -> None:
        """Look at the cluster after a step."""
        ...


class NullEscapeObserver:
    """Whoever looks away."""

    def started(self, cluster: EscapeCluster) -> None:
        """Do nothing."""

    def stepped(self, cluster: EscapeCluster, step: EscapeStep) -> None:
        """Do nothing."""


class EscapeCluster:
    """All nodes. A master in the slave's process has its files on the same disk."""

    def __init__(
        self, environment: Environment, plan: EscapePlan, observer: EscapeObserver
    ) -> None:
        """Make a cluster of which nobody runs, and the log that the group's master has left."""
        self.plan = plan
        self.scheduler = environment.scheduler
        self.network = environment.network(plan.faults)
        self.counts = environment.counts
        self.crash_points = environment.crash_points
        self.recording = environment.recording
        self.actions = 0
        self.away: frozenset[BrokerId] = frozenset()
        """Who does not come back any more."""
        self._observer = observer
        self._watchers: list[EscapeWatcher] = []
        self._is_begun = False
        self.slave: Node[SlaveState] = _with_files(Node(SLAVE, plan.bugs), "commitlog")
        self.masters: dict[BrokerId, Node[MasterState]] = {}
        self.local: frozenset[BrokerId] = frozenset(
            plan.slave.masters[name] for name in plan.slave.local
        )
        for number in plan.slave.masters.values():
            node: Node[MasterState] = Node(number, plan.bugs)
            if number in self.local:
                node.disk = self.slave.disk
            self.masters[number] = _with_files(node, f"{broker_address(number)}/commitlog")
        for message in plan.messages:
            self.slave.files.append(message)
        self.slave.files.flush()
        self.neighbour: Node[ActingState] = Node(NEIGHBOUR, plan.bugs)
        self.others: dict[BrokerId, Node[ActingState]] = {
            number: Node(number, plan.bugs) for number in plan.other_slaves
        }
        """Slaves of other groups."""
        self.producer: Node[ProducerState] = Node(FIRST_PRODUCER, plan.bugs)
        self.name_server: Node[NameServerState] = Node(FIRST_NAME_SERVER, plan.bugs)
        self.nodes: dict[BrokerId, Node[Any]] = {
            NEIGHBOUR: self.neighbour,
            SLAVE: self.slave,
            **self.masters,
            **self.others,
            FIRST_NAME_SERVER: self.name_server,
            FIRST_PRODUCER: self.producer,
        }
        self.hosted_slave = SlaveNode(
            self.slave,
            self,
            plan.slave,
            pops_max=plan.pops_max,
            invisible_ms=plan.invisible_ms,
        )
        self.hosted_masters = {
            number: MasterNode(self.masters[number], self, options, flush_ms=plan.flush_ms)
            for number, options in zip(self.masters, plan.masters, strict=True)
        }
        self.hosted_producer = ProducerNode(
            self.producer, self, masters=self.masters, heartbeat_ms=_HEARTBEAT_MS
        )
        self._registering = {
            number: RouteBroker(node, self, self._registers_as(number), ActingCore())
            for number, node in {NEIGHBOUR: self.neighbour, **self.others}.items()
        }
        self._name_server = RouteNameServer(self.name_server, self, plan.name_server)
        container = frozenset({SLAVE, *self.local}) if self.local else frozenset[BrokerId]()
        self.calls = ContainerCalls(
            self.network, self, self.scheduler, container, on_lost=self._lost
        )
        observer.started(self)

    def watch(self, watcher: EscapeWatcher) -> None:
        """Tell somebody else of each step, too."""
        self._watchers.append(watcher)

    def number_of(self, address: str) -> BrokerId:
        """Return which node has an address."""
        return next(number for number in self.nodes if broker_address(number) == address)

    def up(self) -> list[Node[Any]]:
        """Return the nodes that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    def registered(self, group: str) -> frozenset[BrokerId]:
        """Return who is registered under a brokerName, as the name server believes."""
        state = self.name_server.state
        found = None if state is None else state.groups.get(group)
        return frozenset() if found is None else frozenset(found.brokers)

    def begin(self) -> None:
        """Let nodes have what bugs the plan wants, now that all are there."""
        self._is_begun = True
        self.slave.state = replace(self.slave.running(), options=self.plan.slave)
        for node, options in zip(self.masters.values(), self.plan.masters, strict=True):
            node.state = replace(node.running(), options=options)

    # ---- what happens from outside ----

    def crash(self, node: Node[Any], *, silent: bool = False) -> None:
        """Stop a node, and with the slave's process all that is in it.

        Spec: Escape!Stop, Escape!Die
        """
        if node.id == SLAVE:
            self._stop_slave()
            for number in sorted(self.local):
                if self.masters[number].state is not None:
                    self._stop_master(number)
                    self.calls.stop(number, silent=silent)
        elif node.id in self.masters:
            self._stop_master(node.id)
            if node.id in self.local:
                self._tell_local(node.id, runs=False)
        elif node.id in self._registering:
            hosted = self._registering[node.id]
            hosted.recorder.stopped(dict)
            hosted.stop()
            node.stop()
        else:
            assert node.id == FIRST_NAME_SERVER, node.id
            self._name_server.recorder.stopped(dict)
            self._name_server.stop()
            node.stop()
        self.calls.stop(node.id, silent=silent)

    def _stop_slave(self) -> None:
        self.hosted_slave.recorder.stopped(self.hosted_slave.left)
        self.hosted_slave.stop()
        self.slave.stop()
        self.report(SlaveStopped())

    def _stop_master(self, number: BrokerId) -> None:
        hosted = self.hosted_masters[number]
        hosted.recorder.stopped(dict)
        hosted.stop()
        self.masters[number].stop()
        self.report(MasterStopped(number))

    def restart(self, node: Node[Any]) -> None:
        """Let a node come back that is down, in the slave's process with all that is in it."""
        if node.state is not None or node.id in self.away:
            return
        if node.id == SLAVE:
            self.start_slave()
            for number in sorted(self.local):
                self.restart(self.masters[number])
        elif node.id in self.masters:
            if node.id not in self.local or self.slave.state is not None:
                self.start_master(node.id)
        elif node.id in self._registering:
            self.start_registering(node.id)
        else:
            assert node.id == FIRST_NAME_SERVER, node.id
            self.start_name_server()

    def start_name_server(self) -> None:
        """Let the name server run, which knows nobody."""
        self.name_server.state = NameServerState(options=self.plan.name_server)
        self._name_server.recorder.started()
        for due in nameserver.started(self.name_server.running()):
            self._name_server.after(due.wait_ms, due.event)

    def start_registering(self, number: BrokerId) -> None:
        """Let the neighbour run, which has a smaller brokerId, or a slave of another group."""
        options, hosted = self._registers_as(number), self._registering[number]
        self.nodes[number].state = acting.fresh(options, now_ms=hosted.now_ms())
        hosted.recorder.started()
        for due in acting.started(options):
            hosted.after(due.wait_ms, due.event)
        hosted.host.take(RoleLearned(Role(broker_id=options.own_id, epoch=0)))

    def _registers_as(self, number: BrokerId) -> ActingOptions:
        return self.plan.neighbour if number == NEIGHBOUR else self.plan.other_slaves[number]

    def start_producer(self) -> None:
        """Let the producer run, which never stops."""
        self.producer.state = ProducerState(
            group=PRODUCERS,
            brokers=self.plan.slave.masters,
            heartbeat_ms=_HEARTBEAT_MS,
            timeout_ms=self.plan.slave.request_timeout_ms,
        )
        self.hosted_producer.recorder.started()
        self.hosted_producer.after(_HEARTBEAT_MS, HeartbeatDue())

    def start_master(self, number: BrokerId) -> None:
        """Let a master run, with its log.

        Spec: Escape!Return
        """
        node, hosted = self.masters[number], self.hosted_masters[number]
        options = next(
            one for one in self.plan.masters if one.acting.broker_name == group_of(number)
        )
        if not self._is_begun:
            options = replace(options, rules=RULES)
        node.files.recover()
        node.state = masters.fresh(options, node.files.log, now_ms=hosted.now_ms())
        hosted.recorder.started()
        for due in masters.started(options):
            hosted.after(due.wait_ms, due.event)
        self.report(MasterStarted(number))
        hosted.host.take(RoleLearned(Role(broker_id=MASTER, epoch=0)))
        if number in self.local:
            self._tell_local(number, runs=True)

    def _tell_local(self, number: BrokerId, *, runs: bool) -> None:
        if self.slave.state is not None:
            self.hosted_slave.host.hear(LocalChanged(group_of(number), runs))

    def start_slave(self) -> None:
        """Let the slave run, with what its disk has."""
        options, hosted = self.plan.slave, self.hosted_slave
        if not self._is_begun:
            options = replace(options, rules=RULES)
        self.slave.files.recover()
        messages = tuple(record.message for record in self.slave.files.log.records())
        files = {kind: hosted.load(kind) for kind in TableKind}
        self.slave.state = slaves.fresh(options, messages, files, now_ms=hosted.now_ms())
        hosted.recorder.started()
        for due in slaves.started(options):
            hosted.after(due.wait_ms, due.event)
        self.report(SlaveStarted())
        hosted.host.take(RoleLearned(Role(broker_id=SLAVE, epoch=0)))
        for number in sorted(self.local):
            if self.masters[number].state is not None:
                self._tell_local(number, runs=True)

    def ask_from_outside(self, rng: Random) -> BrokerId:
        """Let somebody ask the slave, a master or the producer for what it must refuse."""
        hosted: dict[BrokerId, SlaveNode | MasterNode | ProducerNode] = {
            SLAVE: self.hosted_slave,
            **self.hosted_masters,
            FIRST_PRODUCER: self.hosted_producer,
        }
        number = rng.choice([one for one in hosted if self.is_up(one)])
        master = self.masters.get(number)
        halves = () if master is None else master.running().halves.values()
        hosted[number].ask_from_outside(draw_request(rng, halves))
        return number

    # ---- the net (rocketha.sim.engine.remoting_calls.Servers) ----

    def is_up(self, peer: BrokerId) -> bool:
        """Tell whether a node runs."""
        return self.nodes[peer].state is not None

    def asked(self, peer: BrokerId, arrived: Arrived) -> None:
        """Let a node take a request."""
        if peer == FIRST_NAME_SERVER:
            self._name_server.arrive(arrived)
        elif peer == FIRST_PRODUCER:
            self.hosted_producer.arrive(arrived)
        elif peer in self._registering:
            self._registering[peer].arrive(arrived)
        elif peer == SLAVE:
            self.hosted_slave.arrive(arrived)
        else:
            self.hosted_masters[peer].arrive(arrived)

    def _lost(self, peer: BrokerId, conn: ConnectionId, other: BrokerId, end: End) -> None:
        """Tell a name server of a channel that is gone, and a broker of a name server."""
        if peer == FIRST_NAME_SERVER:
            if end is End.SERVER:
                self._name_server.host.hear(ConnectionLost(conn=conn))
        elif end is End.CLIENT and other == FIRST_NAME_SERVER:
            lost = ServerLost(other)
            if peer in self._registering:
                self._registering[peer].host.hear(lost)
            elif peer == SLAVE:
                self.hosted_slave.host.hear(lost)
            else:
                self.hosted_masters[peer].host.hear(lost)

    # ---- the rest ----

    def now_ms(self) -> TimestampMs:
        """Return what all clocks show."""
        return self.hosted_slave.now_ms()

    def report(self, step: EscapeStep | RouteStep) -> None:
        """Tell the observer of a step, but those of name servers and of who only registers."""
        if not isinstance(
            step,
            SlaveStepped
            | SlaveStopped
            | SlaveStarted
            | MasterStepped
            | MasterStopped
            | MasterStarted
            | ProducerStepped,
        ):
            return
        if (
            not isinstance(step, SlaveStepped | MasterStepped | ProducerStepped)
            or step.action is not None
        ):
            self.actions += 1
        for watcher in self._watchers:
            watcher.stepped(step)
        self._observer.stepped(self, step)


class EscapeWatcher(Protocol):
    """Whoever is told of steps besides the observer: clients."""

    def stepped(self, step: EscapeStep) -> None:
        """Hear of a step."""
        ...


def _with_files(node: Node[Any], directory: str) -> Node[Any]:
    log = CommitLogOptions(directory=directory, segment_size=_SEGMENT)
    node.files = BrokerFiles(node.disk, FileOptions(log=log))
    return node
