"""A group of brokers, its name servers, and a controller of which only decisions are there."""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar, Final, Protocol

from rocketha.acting import core as acting
from rocketha.acting.core import ActingCore, NameServerLost, RoleLearned, ShutdownWanted
from rocketha.acting.rules import Role
from rocketha.acting.state import ActingState
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import DataVersion, QueryDataVersion
from rocketha.histories.routes import Election, RouteAnswer
from rocketha.nameserver import core as nameserver
from rocketha.nameserver.state import NameServerState
from rocketha.runtime.events import ConnectionLost
from rocketha.sim.engine.network import End
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.remoting_calls import Arrived, RemotingCalls
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.route.nodes import RouteBroker, RouteNameServer
from rocketha.sim.route.outsiders import draw_request
from rocketha.sim.route.plan import BROKER_NAME, TOPIC, RoutePlan
from rocketha.sim.route.steps import (
    BrokerStarted,
    BrokerStepped,
    BrokerStopped,
    Elected,
    NameServerStepped,
    NameServerStopped,
    RouteStep,
)
from rocketha.types import MASTER, BrokerId, ConnectionId, TimestampMs

__all__ = ["NullRouteObserver", "RouteCluster", "RouteObserver"]

_FIRST_MASTER: Final = BrokerId(1)


class RouteObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: RouteCluster) -> None:
        """Look at the cluster before anything happens."""
        ...

    def stepped(self, cluster: RouteCluster, step: RouteStep) -> None:
        """Look at the cluster after a step."""
        ...


class NullRouteObserver:
    """Whoever looks away."""

    def started(self, cluster: RouteCluster) -> None:
        """Do nothing."""

    def stepped(self, cluster: RouteCluster, step: RouteStep) -> None:
        """Do nothing."""


class RouteCluster:
    """All nodes, and what the controller has decided."""

    acting_core: ClassVar[ActingCore] = ActingCore()
    """What brokers do."""

    def __init__(self, environment: Environment, plan: RoutePlan, observer: RouteObserver) -> None:
        """Make a cluster whose brokers run and have asked nobody yet."""
        self.plan = plan
        self.scheduler = environment.scheduler
        self.network = environment.network(plan.faults)
        self.counts = environment.counts
        self.crash_points = environment.crash_points
        self.recording = environment.recording
        self.actions = 0
        self.elections: list[Election] = [Election(TimestampMs(0), broker_address(_FIRST_MASTER))]
        self.gone: BrokerId | None = None
        """A broker that does not come back."""
        self._streams = environment.streams
        self._observer = observer
        self._says = False
        self.brokers: dict[BrokerId, Node[ActingState]] = {
            options.own_id: Node(options.own_id, plan.bugs) for options in plan.brokers
        }
        self.name_servers: dict[BrokerId, Node[NameServerState]] = {
            number: Node(number, plan.bugs) for number in plan.name_servers
        }
        self.nodes: dict[BrokerId, Node[Any]] = {**self.brokers, **self.name_servers}
        self._brokers = {
            options.own_id: RouteBroker(
                self.brokers[options.own_id], self, options, self.acting_core
            )
            for options in plan.brokers
        }
        self._name_servers = {
            number: RouteNameServer(node, self, plan.name_server)
            for number, node in self.name_servers.items()
        }
        self._controller = self.recording.of(
            "controller",
            {"kind": "controller", "master": self.elections[0].address},
            parts=lambda: {"master": self.elections[-1].address},
            shows_ms=lambda: self.scheduler.now_ms,
        )
        self._controller.started()
        self._controller.sent(_election_named(1))
        self._controller.stepped(self.elections[0], None)
        self.calls = RemotingCalls(self.network, self, on_lost=self._lost)
        for node in self.name_servers.values():
            self._start_name_server(node)
        for broker in self.brokers.values():
            self._start_broker(broker)
        observer.started(self)

    @property
    def master(self) -> BrokerId:
        """Return whom the controller has made master."""
        return self.number_of(self.elections[-1].address)

    def number_of(self, address: str) -> BrokerId:
        """Return which broker has an address."""
        return next(number for number in self.brokers if broker_address(number) == address)

    def up(self) -> list[Node[Any]]:
        """Return the nodes that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    def serves(self, broker: BrokerId) -> bool:
        """Tell whether a broker runs a master's services as a slave."""
        return self._brokers[broker].serves

    def answers(self) -> list[RouteAnswer]:
        """Return what clients were told, in its order."""
        told = [answer for one in self._name_servers.values() for answer in one.answers]
        return sorted(told, key=lambda answer: (answer.at_ms, answer.name_server))

    # ---- what happens from outside ----

    def elect(self, broker: BrokerId) -> None:
        """Make a broker master; all brokers hear of it, each in its time."""
        if broker == self.master:
            return
        self.elections.append(Election(self._now_ms, broker_address(broker)))
        self._controller.sent(_election_named(len(self.elections)))
        elected = Elected(broker)
        self._controller.stepped(elected, None)
        self.report(elected)
        for node in self.brokers.values():
            self._learn_later(node)

    def ask_route(self, name_server: BrokerId) -> None:
        """Let a client ask a name server, if it runs."""
        if self.is_up(name_server):
            self._name_servers[name_server].ask_route(TOPIC)

    def ask_version(self, name_server: BrokerId, rng: Random) -> None:
        """Let somebody ask a name server of a broker's version: of what it has, or another one."""
        broker = rng.choice(self.plan.brokers)
        group = self.name_servers[name_server].running().groups.get(BROKER_NAME)
        known = None if group is None else group.found(broker.address)
        version = DataVersion(1, 1, TimestampMs(1))
        if known is not None and rng.randrange(2):
            version = known.version
        self._name_servers[name_server].ask_version(
            QueryDataVersion(
                cluster_name=broker.cluster_name,
                broker_name=broker.broker_name,
                broker_address=broker.address,
                broker_id=broker.own_id,
                data_version=version,
            )
        )

    def others_come_or_go(self, name_server: BrokerId) -> None:
        """Let brokers of other groups, in one process, register with a name server, or end."""
        self._name_servers[name_server].others_come_or_go()

    def ask_from_outside(self, node: BrokerId, rng: Random) -> None:
        """Let somebody ask a node for what it must refuse."""
        asked = self._name_servers.get(node) or self._brokers[node]
        asked.ask_from_outside(draw_request(rng))

    def crash(self, node: Node[Any], *, silent: bool = False) -> None:
        """Stop a node."""
        if node.id in self._name_servers:
            self._name_servers[node.id].recorder.stopped(dict)
            self._name_servers[node.id].stop()
        else:
            self._brokers[node.id].recorder.stopped(dict)
            self._brokers[node.id].stop()
        node.stop()
        self.calls.stop(node.id, silent=silent)
        if node.id in self._name_servers:
            self.report(NameServerStopped(node.id))
        else:
            says, self._says = self._says, False
            self.report(BrokerStopped(node.id, says))

    def shut_down(self, broker: BrokerId) -> None:
        """Let a broker tell name servers that it stops, and stop."""
        self._brokers[broker].host.take(ShutdownWanted())
        self.crash(self.brokers[broker])

    def restart(self, node: Node[Any]) -> None:
        """Let a node come back that is down, unless it is gone for good."""
        assert node.state is None
        if node.id == self.gone:
            return
        if node.id in self._name_servers:
            self._start_name_server(node)
        else:
            self._start_broker(node)
            self.report(BrokerStarted(node.id))

    def _start_name_server(self, node: Node[NameServerState]) -> None:
        node.state = NameServerState(options=self.plan.name_server)
        self._name_servers[node.id].recorder.started()
        for due in nameserver.started(node.running()):
            self._name_servers[node.id].after(due.wait_ms, due.event)

    def _start_broker(self, node: Node[ActingState]) -> None:
        options = self.plan.brokers[node.id - 1]
        node.state = acting.fresh(options, now_ms=self._now_ms)
        self._brokers[node.id].recorder.started()
        for due in acting.started(options):
            self._brokers[node.id].after(due.wait_ms, due.event)
        self._learn_later(node)

    def _learn_later(self, node: Node[ActingState]) -> None:
        incarnation = node.incarnation
        rng = self._streams.of("learn", broker_address(node.id))

        def learn() -> None:
            if node.state is not None and node.incarnation == incarnation:
                self.learn_role(node.id)

        self.scheduler.after(1 + rng.randrange(self.plan.learn_ms), learn)

    def learn_role(self, broker: BrokerId) -> None:
        """Let a broker that runs hear from the controller what it is."""
        broker_id = MASTER if self.master == broker else broker
        role = Role(broker_id=broker_id, epoch=len(self.elections))
        self._brokers[broker].recorder.received(_election_named(role.epoch))
        self._brokers[broker].host.take(RoleLearned(role))

    @property
    def _now_ms(self) -> TimestampMs:
        return TimestampMs(self.scheduler.now_ms)

    # ---- the net (rocketha.sim.engine.remoting_calls.Servers) ----

    def is_up(self, peer: BrokerId) -> bool:
        """Tell whether a node runs."""
        return self.nodes[peer].state is not None

    def asked(self, peer: BrokerId, arrived: Arrived) -> None:
        """Let a node take a request."""
        if peer in self._name_servers:
            self._name_servers[peer].arrive(arrived)
        else:
            self._brokers[peer].arrive(arrived)

    def _lost(self, peer: BrokerId, conn: ConnectionId, other: BrokerId, end: End) -> None:
        """Tell a name server of a channel that is gone, and a broker of a name server."""
        if peer in self._name_servers:
            if end is End.SERVER:
                self._name_servers[peer].host.hear(ConnectionLost(conn=conn))
        elif end is End.CLIENT:
            self._brokers[peer].host.hear(NameServerLost(other))

    # ---- the rest ----

    def report(self, step: RouteStep) -> None:
        """Tell the observer of a step."""
        match step:
            case BrokerStepped(sent=sent):
                self._says = any(one.code == NameServerCode.UNREGISTER_BROKER for one in sent)
                self.actions += step.action is not None
            case NameServerStepped(action=action):
                ours = [broker_address(number) for number in self.brokers]
                self.actions += action is not None and action.broker in (None, *ours)
            case _:
                self.actions += 1
        self._observer.stepped(self, step)


def _election_named(epoch: int) -> str:
    """Return what the news of an election is called by who hears it."""
    return f"election:{epoch}"
