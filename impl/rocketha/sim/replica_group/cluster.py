"""A broker group: its brokers, which `hosts` moves, the real controller, and what is between them.

What is around the hosts:

* It starts brokers with what their files say, and keeps who they are.
* It carries frames between brokers and controller.
* It runs the flush service; a disk may be slow.
* It hands calls of producers and consumers to brokers, and answers back.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, Protocol

from rocketha.broker.connections import GroupCore
from rocketha.broker.core import new_broker
from rocketha.broker.effects import AnswerPull, AnswerPut, GroupAction, GroupActionName
from rocketha.broker.events import CommandReceived, GroupEvent, PullRequested, PutRequested, Started
from rocketha.broker.state import GroupBroker, Registration
from rocketha.controller.applied import ControllerEvent
from rocketha.controller.entry import Entry
from rocketha.controller.state import NO_CHANNEL, ControllerState, Group
from rocketha.formats.controller_codes import RequestCode
from rocketha.ha.effects import SpecAction
from rocketha.recording.recorder import NOT_RECORDED, Recording, StepRecorder
from rocketha.runtime.broker_files import BrokerName
from rocketha.runtime.effects import AnswerClient
from rocketha.runtime.events import HostEvent
from rocketha.runtime.ports import StepUnderWay
from rocketha.sim.engine.crash_points import CrashPoints
from rocketha.sim.engine.cut_step import Shown
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.hosts import HostedCluster, Hosts
from rocketha.sim.engine.network import End, Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import InjectionPoint, RandomSource
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.replica_group.actions import (
    ChannelEnded,
    ClientAnswered,
    ClientAsked,
    ControllerActed,
    ControllerFrame,
    EventTaken,
    Exchanged,
    GroupClusterAction,
    is_likely_step,
)
from rocketha.sim.replica_group.callers import Callers
from rocketha.sim.replica_group.channels import Channels, is_outside
from rocketha.sim.replica_group.controller import CONTROLLER, SimulatedController
from rocketha.sim.replica_group.controller_channels import ControllerChannels
from rocketha.sim.replica_group.controller_group import ControllerGroup
from rocketha.sim.replica_group.controllers import Surroundings, group_of, single
from rocketha.sim.replica_group.cut_steps import is_one_for_the_group
from rocketha.sim.replica_group.plan import GroupPlan
from rocketha.sim.replica_group.recorders import (
    BrokerRecorders,
    command_in,
    is_frame,
    note_channel_closed,
    note_channel_refused,
    note_frame_received,
    note_frame_sent,
)
from rocketha.types import BrokerId, ConnectionId, HaAddress, TimestampMs

__all__ = ["GroupCluster", "GroupObserver"]

_BOOT_MAX_MS: Final = 3_000
_ELECTION_MAX_MS: Final = 10_000
_FLUSH_MAX_MS: Final = 3
_PROMISES: Final = frozenset({GroupActionName.ACKNOWLEDGE, GroupActionName.CONSUME})


class GroupObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: GroupCluster) -> None:
        """Look at the cluster: all brokers are registered, and nobody was ever elected."""
        ...

    def sent(
        self, cluster: GroupCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Hear one packet that a broker sends, before `acted` tells in which action."""
        ...

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        """Look at the cluster after an action of a broker, or of the controller (None).

        The effects of the step are performed, but what they ask for (`Then`) is still to come.
        """
        ...

    def stepped(self, cluster: GroupCluster, broker: BrokerId) -> None:
        """Look at the cluster after any step of a broker, and what the network did to it."""
        ...

    def exchanged(self, cluster: GroupCluster, what: Exchanged) -> None:
        """Hear what goes over the wire: a broker's before `acted`, the controller's after it."""
        ...


class GroupCluster(HostedCluster[GroupBroker, GroupEvent, SpecAction | GroupAction]):
    """The brokers of one group, what connects them, and the controller."""

    _looked_up: tuple[ControllerState | None, Group | None] = (None, None)
    """A state of the controller, and the group in it."""

    def __init__(
        self,
        *,
        brokers: int,
        plan: GroupPlan,
        scheduler: Scheduler,
        network: Network,
        random_source: RandomSource,
        counts: FaultCounts,
        observer: GroupObserver,
        recording: Recording = NOT_RECORDED,
        crash_points: CrashPoints | None = None,
        controller_network: Network | None = None,
    ) -> None:
        """Make a group whose brokers were never started; nobody is observed before `observe`.

        With a `controller_network` the controller is the group of the plan's members.
        """
        self.plan = plan
        self.scheduler = scheduler
        self.network = network
        self.counts = counts
        self.actions = 0
        self.slow_disks: dict[BrokerId, tuple[int, int]] = {}
        """Until when the disk of a broker is slow, and how slow."""
        self.has_acknowledged = False
        """A message was acknowledged, or shown to a consumer."""
        self._random_source = random_source
        self._lookups: Counter[BrokerId] = Counter()
        self._observer = observer
        self._observed = False
        self.crash_points = crash_points or CrashPoints()
        self._callers: Callers | None = None
        self._said: list[ControllerFrame] = []
        """Frames of the controller in the step under way."""
        of = plan.broker
        name = BrokerName(cluster_name=of.cluster_name, broker_name=of.broker_name)
        self.nodes: dict[BrokerId, Node[GroupBroker]] = {
            broker: Node(broker, plan.bugs, name=name)
            for broker in map(BrokerId, range(1, brokers + 1))
        }
        for node in self.nodes.values():
            node.clock = plan.clocks[node.id - 1]
        self._is_recorded = recording is not NOT_RECORDED
        self._frames = 0
        self._recorders = BrokerRecorders(self.nodes, plan, scheduler, recording)
        self._hosts: Hosts[GroupBroker, GroupEvent, SpecAction | GroupAction] = Hosts(
            GroupCore(),
            self,
            self.nodes,
            scheduler=scheduler,
            network=network,
            random_source=random_source,
            crash_points=self.crash_points,
        )
        self.controllers: ControllerGroup | None = None
        self.channels: Channels | ControllerChannels
        self.controller: SimulatedController
        given = Surroundings(
            scheduler=scheduler,
            random_source=random_source,
            counts=counts,
            recording=recording,
            crash_points=self.crash_points,
        )
        if controller_network is None:
            self.channels, self.controller = single(self, plan, given)
        else:
            self.channels, self.controllers = group_of(self, plan, controller_network, given)
            self.controller = self.controllers

    def _fresh(self, broker: BrokerId) -> GroupBroker:
        return new_broker(address=broker_address(broker), options=self.plan.broker)

    # ---- what whoever looks may see ----

    @property
    def now_ms(self) -> int:
        """Return the true virtual time; every machine has its own."""
        return self.scheduler.now_ms

    @property
    def controller_shows_ms(self) -> TimestampMs:
        """Return what the clock of the controller's machine shows; of a group, its last entry."""
        return self.controller.now_ms()

    @property
    def group(self) -> Group | None:
        """Return what the controller knows of the group."""
        state = self.controller.state
        if state is not self._looked_up[0]:
            self._looked_up = state, state.groups.get(self.plan.broker.broker_name)
        return self._looked_up[1]

    @property
    def starting(self) -> frozenset[BrokerId]:
        """Return the brokers that run and that the controller does not know in this incarnation."""
        return frozenset([node.id for node in self.nodes.values() if self.is_starting(node)])

    def is_starting(self, node: Node[GroupBroker]) -> bool:
        """Tell whether a broker runs that the controller does not know in this incarnation."""
        state, group = node.state, self.group
        if state is None:
            return False
        replica = None if group is None else group.replicas.get(node.id)
        return replica is None or replica.incarnation != state.incarnation

    def up(self) -> list[Node[GroupBroker]]:
        """Return the brokers that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    # ---- the beginning ----

    def attach(self, callers: Callers) -> None:
        """Say who is answered; once."""
        assert self._callers is None
        self._callers = callers

    def boot(self) -> None:
        """Let all brokers get their identities and register, if they do so in time.

        There is no election yet. An observer sees a broker that did not register as down.
        """
        until_ms = self.now_ms + _ELECTION_MAX_MS
        while not self.controller.serves and self.scheduler.run_next(until_ms):
            pass
        for node in self.nodes.values():
            self.restart(node)
            until_ms = self.now_ms + _BOOT_MAX_MS
            while node.running().registration is not Registration.REGISTERED:
                if not self.scheduler.run_next(until_ms):
                    break

    def observe(self) -> None:
        """Tell the observer from now on what happens; elections are held from now on."""
        self._observed = True
        self._observer.started(self)

    # ---- what happens from outside ----

    def crash(self, node: Node[GroupBroker], *, silent: bool = False) -> None:
        """Stop a broker of which the disk is already what survives.

        Spec: ReplicaGroup!Crash
        """
        self._recorders.stopped(node)
        self._hosts.stop(node, silent=silent)
        self.channels.drop(node.id, silent=silent)
        self._report(node.id, Crashed(broker=node.id))

    def may_end(self, node: Node[GroupBroker], step: StepUnderWay[Any, Any], shown: Shown) -> bool:
        """Spare who is not known yet, as every crash does, and whose log alone would be cut."""
        if shown is Shown.CUT_LOG or is_one_for_the_group(step):
            return False
        return self._observed and not self.is_starting(node)

    def restart(self, node: Node[GroupBroker]) -> None:
        """Let a broker come up that is down."""
        assert node.state is None
        node.files.recover()
        start = node.files.identity.begin()
        node.state = self._fresh(node.id)
        self._recorders.of(node.id).started()
        self.deliver(
            node,
            Started(
                incarnation=start.incarnation,
                entries=node.files.load_epochs(),
                identity=node.files.identity.load(),
                log_torn=start.log_torn,
            ),
        )

    def flush(self, node: Node[GroupBroker]) -> None:
        """Run the flush service of a broker. Source: CommitLog.FlushRealTimeService"""
        self._hosts.flush(node)

    def call(self, broker: BrokerId, call: PutRequested | PullRequested) -> None:
        """Let a broker that runs take a producer's or a consumer's call."""
        self._recorders.asked(broker, call)
        self._exchanged(ClientAsked(broker, call))
        self.deliver(self.nodes[broker], call)

    def deliver(self, node: Node[GroupBroker], event: GroupEvent) -> None:
        """Let a broker take one event, and what that asks for.

        Raises: CoreFailure
        """
        self._hosts.deliver(node, event)

    # ---- what is around the hosts (rocketha.sim.hosts.HostedCluster) ----

    def flush_later(self, node: Node[GroupBroker]) -> None:
        """Let the flush service do its work soon, if the disk is not slow.

        Source: CommitLog.GroupCommitService
        """
        until_ms, wait_ms = self.slow_disks.get(node.id, (0, 0))
        if self.now_ms < until_ms:
            self.counts.add(Fault.SLOW_DISK)
        else:
            wait_ms = self._random_source.of("flush", node.id).randrange(_FLUSH_MAX_MS)
        incarnation = node.incarnation

        def flush() -> None:
            if node.incarnation == incarnation:
                self.flush(node)

        self.scheduler.after(1 + wait_ms, flush)

    def ask_controller(
        self, node: Node[GroupBroker], data: bytes, *, controller: int, leaves: bool
    ) -> None:
        """Send a frame to a controller; there are no elections before the group is observed."""
        is_lost = not self._observed and _wants_election(data)
        channel = NO_CHANNEL
        if not is_lost:
            channel = self.channels.ask(node.id, data, leaves=leaves, controller=controller)
            self._exchanged(
                ControllerFrame(channel=channel, broker=node.id, by_controller=False, data=data)
            )
        peers = self.plan.broker.controllers
        if self._is_recorded and (peers or not is_lost):
            self._frames += 1
            recorder = self._recorders.of(node.id)
            to = peers[controller] if peers else CONTROLLER
            note_frame_sent(recorder, channel, data, to=to, number=self._frames)

    def answer_client(self, node: Node[GroupBroker], answer: AnswerClient) -> None:
        """Answer a producer or a consumer."""
        assert self._callers is not None
        self._exchanged(ClientAnswered(node.id, answer))
        match answer:
            case AnswerPut():
                self._callers.put_answered(node.id, answer)
            case AnswerPull():
                self._callers.pull_answered(node.id, answer)
            case _:
                raise AssertionError(f"no answer of a group's broker: {answer}")

    def recorder_of(self, node: Node[GroupBroker]) -> StepRecorder:
        """Return what writes down what a broker sees and does."""
        return self._recorders.of(node.id)

    def resolve(self, node: Node[GroupBroker], peer: HaAddress) -> BrokerId:
        """Find the broker at an address; a stale route leads to another one, rather to a zombie."""
        [server] = [broker for broker in self.nodes if broker_address(broker) == peer]
        assert server != node.id
        others = [n for n in self.nodes.values() if n.id not in (server, node.id)]
        percent = self.network.plan.stale_route_percent
        rng = self._random_source.of("route", node.id)
        if not others or rng.randrange(100) >= percent:
            return server
        zombies = [n for n in others if n.state is not None and n.state.is_master]
        found, me = rng.choice(zombies or others).id, broker_address(node.id)
        self._lookups[node.id] += 1
        point = InjectionPoint(Fault.STALE_ROUTE, me, self._lookups[node.id])
        if not self._random_source.allows(point):
            return server
        self._random_source.note(
            point, f"{me} connects to {broker_address(found)} instead of {peer}"
        )
        self.counts.add(Fault.STALE_ROUTE)
        return found

    def lingers(self, action: SpecAction | GroupAction | None, end: End) -> bool:
        """Tell that what a slave has sent still arrives, and what a master has sent does not."""
        del action
        return end is End.CLIENT

    def sent(self, node: Node[GroupBroker], conn: ConnectionId, data: bytes) -> None:
        """Tell the observer of a packet."""
        if self._observed:
            self._observer.sent(self, node.id, conn, data)

    def acted(self, broker: BrokerId, action: SpecAction | GroupAction) -> None:
        """Tell the observer of an action."""
        self._report(broker, action)

    def stepped(self, node: Node[GroupBroker], event: GroupEvent | HostEvent) -> None:
        """Tell the observer of a step."""
        if self._observed:
            self._observer.stepped(self, node.id)
            self._exchanged(EventTaken(node.id, event, self._hosts.goes_on(node)))

    # ---- what the channels ask (rocketha.sim.group_channels.Peers) ----

    def asked(self, channel: ConnectionId, data: bytes) -> None:
        """Let the controller serve a frame."""
        if self._is_recorded and self.controller.serves:
            note_frame_received(self.controller.steps, channel, data)
        owner = self.channels.owner(channel)
        frame = ControllerFrame(
            channel=channel, broker=owner, by_controller=False, has_arrived=True, data=data
        )
        if self.controller.serves and is_frame(data):
            self._exchanged(frame)
        self.controller.received(channel, data)
        self._tell_said()

    def closed(self, channel: ConnectionId) -> None:
        """Let the controller know that a channel is gone."""
        if self.controller.serves:
            note_channel_closed(self.controller.steps, channel)
            self._exchanged(ChannelEnded(channel))
        self.controller.channel_closed(channel)

    def answered(self, broker: BrokerId, data: bytes, channel: ConnectionId | None) -> None:
        """Let a broker hear the controller, if it runs."""
        node = self.nodes[broker]
        if node.state is not None:
            command = command_in(data)
            if self._is_recorded and (channel is not None or not command.is_response):
                note_frame_received(self._recorders.of(broker), channel or NO_CHANNEL, data)
            self.deliver(node, CommandReceived(command=command))

    # ---- what the controller asks (rocketha.controller.host) ----

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        """End a channel."""
        del reason
        note_channel_refused(self.controller.steps_of(channel), channel)
        self.channels.refuse(channel)

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        """Send an answer of the controller over the channel of who asked."""
        owner = self.channels.owner(channel)
        if self._is_recorded and (owner is not None or is_outside(channel)):
            to = "" if owner is None else broker_address(owner)
            note_frame_sent(self.controller.steps_of(channel), channel, data, to=to)
        self._said.append(
            ControllerFrame(channel=channel, broker=owner, by_controller=True, data=data)
        )
        self.channels.answer(channel, data)

    def notify(self, address: str, data: bytes) -> None:
        """Send a frame of the controller to the broker at an address."""
        self.notify_from(0, address, data)

    def controller_stopped(self, controller: int) -> None:
        """A member of the controller group is down, and all its channels are gone."""
        self.channels.stopped(controller)

    def notify_from(self, controller: int, address: str, data: bytes) -> None:
        """Send a frame of a controller to the broker at an address."""
        for broker in self.nodes:
            if broker_address(broker) == address:
                self._said.append(
                    ControllerFrame(channel=None, broker=broker, by_controller=True, data=data)
                )
                if self._is_recorded:
                    self._frames += 1
                    steps = self.controller.steps_from(controller)
                    note_frame_sent(steps, NO_CHANNEL, data, to=address, number=self._frames)
                self.channels.notify(broker, data, controller=controller)

    def applied(self, entry: Entry, events: tuple[ControllerEvent, ...]) -> None:
        """Tell the observer of an entry of the controller's log, and of what it says then."""
        self._report(None, ControllerActed(entry=entry, events=events))
        self._tell_said()

    # ---- reports ----

    def _exchanged(self, what: Exchanged) -> None:
        self._observer.exchanged(self, what)

    def _tell_said(self) -> None:
        """Tell the observer what the controller has said in a step that is over."""
        said, self._said = self._said, []
        for frame in said:
            self._exchanged(frame)

    def _report(self, broker: BrokerId | None, action: GroupClusterAction) -> None:
        if not self._observed:
            return
        if is_likely_step(action):
            self.actions += 1
        if isinstance(action, GroupAction) and action.name in _PROMISES:
            self.has_acknowledged = True
        self._observer.acted(self, broker, action)


def _wants_election(data: bytes) -> bool:
    return command_in(data).code == RequestCode.ELECT_MASTER
