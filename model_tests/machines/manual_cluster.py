"""A broker group that a test drives: real cores, a real controller, real frames and files.

Nothing happens by itself: packets lie on a `ManualNetwork` and frames on a `ManualRpc` until a test
has them delivered, and every machine has a clock that goes on when the test says so.

What a core asks to be told at once (`Then`) it is told at once, but for two questions that it asks
after many events: whether confirmOffset can move, and whether a slave can join. They wait in `due`:
for the specification they are steps of their own, and the core must answer them well at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from model_tests.machines.manual_network import ManualNetwork
from model_tests.machines.manual_rpc import Frame, ManualRpc, Sent
from rocketha.broker.connections import GroupCore
from rocketha.broker.core import new_broker
from rocketha.broker.effects import GroupAction, GroupEffect, GroupStepped
from rocketha.broker.events import (
    CommandReceived,
    ConfirmDue,
    ExpandDue,
    GroupEvent,
    Started,
)
from rocketha.broker.options import GroupOptions
from rocketha.broker.state import FlushedLogView, GroupBroker, Registration
from rocketha.controller.applied import BrokerRegistered, ControllerEvent
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import Entry
from rocketha.controller.host import ControllerHost, ControllerPorts
from rocketha.controller.state import Group
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import ControllerRequest
from rocketha.formats.remoting_frame import push_command
from rocketha.ha.effects import SpecAction
from rocketha.known_bugs import Bugs
from rocketha.runtime.broker_files import BrokerName
from rocketha.runtime.effects import (
    AnswerClient,
    Then,
)
from rocketha.runtime.events import HostEvent, TimerFired
from rocketha.sim.engine.clock import Clock
from rocketha.sim.engine.hosts import HostedCluster, Hosts
from rocketha.sim.engine.network import End, Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.replica_group.actions import (
    ChannelEnded,
    ClientAnswered,
    ControllerActed,
    ControllerFrame,
    Exchanged,
)
from rocketha.sim.replica_group.cluster import GroupCluster, GroupObserver
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, ConnectionId, HaAddress, TimestampMs

__all__ = ["GroupNode", "ManualCluster"]

GroupNode = Node[GroupBroker]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What a projection asks the plan of a simulated group."""

    bugs: Bugs
    broker: GroupOptions
    controller: ControllerOptions


class _PatientCore(GroupCore):
    """Does not ask two of its questions: they wait for the test."""

    def __init__(self) -> None:
        self.due: set[ConfirmDue | ExpandDue] = set()
        """What the last steps would have asked."""

    def step(
        self, state: GroupBroker, event: GroupEvent, *, now_ms: TimestampMs, log: FlushedLogView
    ) -> GroupStepped:
        """Take one event."""
        stepped = super().step(state, event, now_ms=now_ms, log=log)
        now: list[GroupEffect] = []
        for effect in stepped.effects:
            match effect:
                case Then(event=ConfirmDue() | ExpandDue() as question):
                    self.due.add(question)
                case _:
                    now.append(effect)
        return replace(stepped, effects=tuple(now))


class ManualCluster(HostedCluster[GroupBroker, GroupEvent, SpecAction | GroupAction]):
    """Has what a projection asks of a `rocketha.sim.group_cluster.GroupCluster`."""

    def __init__(
        self,
        *,
        brokers: int,
        options: GroupOptions,
        controller: ControllerOptions,
        bugs: Bugs,
        observer: GroupObserver,
    ) -> None:
        """Start all brokers, and let them register; nobody asks for an election yet."""
        self.plan = _Plan(bugs=bugs, broker=options, controller=controller)
        self.controllers = None
        """There is one controller, and no group of them."""
        self.network = ManualNetwork(half_open=True)
        self.post = ManualRpc()
        self.route: BrokerId | None = None
        """Whom the next connection leads to, whatever the address."""
        self.due: dict[BrokerId, set[ConfirmDue | ExpandDue]] = {}
        """What a broker asked to be told, and was not told yet."""
        self._options = options
        self._observer = observer
        self._observed = False
        self._registered: dict[BrokerId, int] = {}
        self._said: list[ControllerFrame] = []
        self.scheduler = scheduler = Scheduler()  # never run
        name = BrokerName(cluster_name=options.cluster_name, broker_name=options.broker_name)
        self.nodes: dict[BrokerId, GroupNode] = {
            broker: Node(broker, bugs, name=name) for broker in map(BrokerId, range(1, brokers + 1))
        }
        self._core = _PatientCore()
        self._hosts: Hosts[GroupBroker, GroupEvent, SpecAction | GroupAction] = Hosts(
            # No other methods of the network are called than those that this one has, too.
            self._core,
            self,
            self.nodes,
            scheduler=scheduler,
            network=cast(Network, self.network),
            random_source=PerPurposeStreams(0),
        )
        self._around = around = _AroundController(self)
        self.host = ControllerHost(
            MemoryDisk(),
            controller,
            ControllerPorts(clock=around, channels=around, timer=around, recorder=around),
        )
        self.host.start()
        for node in self.nodes.values():
            self._boot(node)
        self._observed = True
        self._observer.started(self._seen)

    def _fresh(self, broker: BrokerId) -> GroupBroker:
        return new_broker(address=broker_address(broker), options=self._options)

    @property
    def _seen(self) -> GroupCluster:
        """Return this group as its observer takes it: that asks for no more than there is."""
        return cast(GroupCluster, self)

    # ---- what whoever looks may see ----

    @property
    def now_ms(self) -> int:
        """Return no time: every machine has its own."""
        return 0

    @property
    def group(self) -> Group | None:
        """Return what the controller knows of the group."""
        return self.host.node.state.groups.get(self._options.broker_name)

    @property
    def starting(self) -> frozenset[BrokerId]:
        """Return the brokers that run and of which the controller has not heard."""
        return frozenset(node.id for node in self.nodes.values() if self.is_starting(node))

    def is_starting(self, node: GroupNode) -> bool:
        """Tell whether a broker runs and the controller has not heard of it."""
        return (
            node.state is not None and self._registered.get(node.id) != node.running().incarnation
        )

    @property
    def controller_shows_ms(self) -> TimestampMs:
        """Return what the clock of the controller's machine shows."""
        return self._around.now_ms()

    # ---- what a test has happen ----

    def _boot(self, node: GroupNode) -> None:
        self.restart(node)
        while node.running().registration is not Registration.REGISTERED:
            self.answer(self.post.sent[-1])
        assert node.running().broker_id == node.id

    def restart(self, node: GroupNode) -> None:
        """Let a broker come up that is down."""
        assert node.state is None
        node.files.recover()
        start = node.files.identity.begin()
        node.state = self._fresh(node.id)
        self.due[node.id] = set()
        started = Started(
            incarnation=start.incarnation,
            entries=node.files.load_epochs(),
            identity=node.files.identity.load(),
            log_torn=start.log_torn,
        )
        self.deliver(node, started)

    def stop(self, node: GroupNode) -> None:
        """Stop a broker of which the disk is already what survives."""
        self._hosts.stop(node, silent=False)
        self.post.leave(node.id)
        self._observer.acted(self._seen, node.id, Crashed(broker=node.id))

    def deliver(self, node: GroupNode, event: GroupEvent) -> None:
        """Let a broker take one event, and what that asks for at once."""
        self._hosts.deliver(node, event)

    def serve(self, sent: Sent) -> None:
        """Hand a frame of a broker to the controller."""
        self._arrives(sent.channel, sent.broker, sent.data)
        self.post.serve(sent, self.host.received)
        self._tell_said()

    def answer(self, sent: Sent) -> None:
        """Hand a frame to the controller, and its answer to the broker."""
        self.serve(sent)
        self.read(self.post.frames[-1])

    def operate(self, request: ControllerRequest) -> None:
        """Hand an operator's request to the controller."""
        channel, data = self.post.new_channel(), push_command(push_request(request, opaque=0))
        self._arrives(channel, None, data)
        self.host.received(channel, data)
        self._tell_said()

    def read(self, frame: Frame) -> None:
        """Hand a frame of the controller to a broker."""
        self.deliver(self.nodes[frame.broker], CommandReceived(command=frame.command))

    def fire(self, node: GroupNode, after_ms: int) -> None:
        """Let time pass at a broker; a connection that it asks for then is refused."""
        shows = node.clock.shows(0)
        node.clock = Clock(offset_ms=shows + after_ms)
        self.deliver(node, TimerFired())
        if node.asked is not None:
            self.network.sever(node.asked)

    def wait(self, ms: int) -> None:
        """Let time pass at the controller."""
        self._around.shows_ms += ms

    # ---- what is around the hosts (rocketha.sim.hosts.HostedCluster) ----

    def ask_controller(
        self, node: GroupNode, data: bytes, *, controller: int, leaves: bool
    ) -> None:
        """Keep a frame; no step of these nodes is cut."""
        assert leaves
        assert controller == 0
        self.post.ask(node.id, node.running().incarnation, data)
        channel = self.post.of(node.id)
        self._exchanged(
            ControllerFrame(channel=channel, broker=node.id, by_controller=False, data=data)
        )

    def answer_client(self, node: GroupNode, answer: AnswerClient) -> None:
        """Let the observer alone hear the answer to a client."""
        self._exchanged(ClientAnswered(node.id, answer))

    def flush_later(self, node: GroupNode) -> None:
        """Let the flush service do its work at once."""
        self._hosts.flush(node)

    def resolve(self, node: GroupNode, peer: HaAddress) -> BrokerId:
        """Find the broker at an address, unless a route leads to another one."""
        if self.route is not None:
            return self.route
        [server] = [broker for broker in self.nodes if broker_address(broker) == peer]
        assert server != node.id
        return server

    def lingers(self, action: SpecAction | GroupAction | None, end: End) -> bool:
        """Tell that what a slave has sent still arrives, and what a master has sent does not."""
        del action
        return end is End.CLIENT

    def sent(self, node: GroupNode, conn: ConnectionId, data: bytes) -> None:
        """Tell the observer of a packet."""
        if self._observed:
            self._observer.sent(self._seen, node.id, conn, data)

    def acted(self, broker: BrokerId, action: SpecAction | GroupAction) -> None:
        """Tell the observer of an action."""
        if self._observed:
            self._observer.acted(self._seen, broker, action)

    def stepped(self, node: GroupNode, event: GroupEvent | HostEvent) -> None:
        """Let questions wait, and tell the observer of a step."""
        del event
        self.due[node.id] |= self._core.due
        self._core.due.clear()
        if self._observed:
            self._observer.stepped(self._seen, node.id)

    # ---- what the controller does ----

    def controller_acted(self, action: ControllerActed) -> None:
        """Note who has registered, and tell the observer of an entry."""
        for event in action.events:
            if isinstance(event, BrokerRegistered):
                self._registered[event.broker_id] = event.incarnation
        if self._observed:
            self._observer.acted(self._seen, None, action)
        self._tell_said()

    def controller_said(self, broker: BrokerId, channel: ConnectionId | None, data: bytes) -> None:
        """Keep what the controller says in its step, for the observer."""
        self._said.append(
            ControllerFrame(channel=channel, broker=broker, by_controller=True, data=data)
        )

    def close(self, channel: ConnectionId) -> None:
        """Tell the controller that a channel is gone."""
        self.post.end(channel)
        self._exchanged(ChannelEnded(channel))
        self.host.channel_closed(channel)

    # ---- what the observer hears of the wire ----

    def _arrives(self, channel: ConnectionId, broker: BrokerId | None, data: bytes) -> None:
        self._exchanged(
            ControllerFrame(
                channel=channel, broker=broker, by_controller=False, has_arrived=True, data=data
            )
        )

    def _tell_said(self) -> None:
        said, self._said = self._said, []
        for frame in said:
            self._exchanged(frame)

    def _exchanged(self, what: Exchanged) -> None:
        self._observer.exchanged(self._seen, what)


class _AroundController:
    """The ports of the controller; its scans are the test's."""

    def __init__(self, group: ManualCluster) -> None:
        self.shows_ms = 0
        self._group = group

    def now_ms(self) -> TimestampMs:
        return TimestampMs(self.shows_ms)

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        del reason
        self._group.post.end(channel)

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        self._group.post.answer(channel, data)
        asker = self._group.post.channels.get(channel)
        if asker is not None:
            self._group.controller_said(asker[0], channel, data)

    def notify(self, address: str, data: bytes) -> None:
        for broker in self._group.nodes:
            if broker_address(broker) == address:
                self._group.post.notify(broker, data)
                self._group.controller_said(broker, None, data)

    def scan_soon(self) -> None:
        """Do nothing: a test scans when it wants to."""

    def applied(self, entry: Entry, events: tuple[ControllerEvent, ...]) -> None:
        self._group.controller_acted(ControllerActed(entry=entry, events=events))
