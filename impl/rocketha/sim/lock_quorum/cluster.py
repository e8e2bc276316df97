"""Brokers with lock managers, and consumers that process queues in order.

The queues are the same for everybody; a consumer that gets one goes on behind the last message that
any consumer has finished. What is processed by whom is the history of a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Final, Protocol, TypeAlias

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.histories.ordered import Processed
from rocketha.locks import voting
from rocketha.locks.connections import ConsumerCore, ConsumerHears, ManagerCore, ManagerHears
from rocketha.locks.consumer import (
    ConsumerAction,
    ConsumerActionName,
    LockWanted,
    PatienceOver,
    ProcessNext,
    ProcessWanted,
    UnlockWanted,
)
from rocketha.locks.state import ConsumerState, LockManagerState, Round
from rocketha.locks.voting import ManagerAction
from rocketha.recording.recorder import NOT_RECORDED, Parts, Recording
from rocketha.runtime.effects import AnswerClient
from rocketha.runtime.events import RequestArrived, RequestEvent, ResponseArrived
from rocketha.runtime.ports import StepUnderWay
from rocketha.sim.engine.crash_points import CrashPoints
from rocketha.sim.engine.cut_step import Shown, StepCutter
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.frames import Frame, FrameRecorder
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.open_node import OpenNode
from rocketha.sim.engine.random_source import InjectionPoint, RandomSource
from rocketha.sim.engine.remoting_calls import Arrived, Calls, RemotingCalls
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.lock_quorum.outsiders import draw_request
from rocketha.sim.lock_quorum.plan import LockPlan
from rocketha.types import MASTER, BrokerId, TimestampMs

__all__ = [
    "FIRST_CONSUMER",
    "BrokerRestarted",
    "BrokerStepped",
    "Consumer",
    "ConsumerStepped",
    "LockCluster",
    "LockClusterStep",
    "LockObserver",
    "NullLockObserver",
]

FIRST_CONSUMER: Final = BrokerId(101)
"""The first consumer's number in the network; brokers begin with 1."""
_GROUP: Final = "orderly"


@dataclass(frozen=True, slots=True)
class BrokerStepped:
    """A lock manager took a step."""

    broker: BrokerId
    event: ManagerHears | RequestEvent
    received: tuple[str, ...]
    """What the frames are called that made it take the step."""
    sent: tuple[Frame, ...]
    action: ManagerAction | None
    """What its core says of the step."""


@dataclass(frozen=True, slots=True)
class BrokerRestarted:
    """A broker is back and has forgotten everything."""

    broker: BrokerId


@dataclass(frozen=True, slots=True)
class ConsumerStepped:
    """A consumer took a step."""

    consumer: BrokerId
    event: ConsumerHears | RequestEvent
    received: tuple[str, ...]
    """What the frames are called that made it take the step."""
    sent: tuple[Frame, ...]
    processed: tuple[ProcessNext, ...]
    action: ConsumerAction | None
    """What its core says of the step."""


LockClusterStep: TypeAlias = BrokerStepped | BrokerRestarted | ConsumerStepped


class LockObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: LockCluster) -> None:
        """Look at the cluster before anything happens."""
        ...

    def stepped(self, cluster: LockCluster, step: LockClusterStep) -> None:
        """Look at the cluster after a step."""
        ...


class NullLockObserver:
    """Whoever looks away."""

    def started(self, cluster: LockCluster) -> None:
        """Do nothing."""

    def stepped(self, cluster: LockCluster, step: LockClusterStep) -> None:
        """Do nothing."""


class Consumer(OpenNode[ConsumerState, ConsumerHears, ConsumerAction]):
    """A consumer and its machine, whose clock is right."""

    def __init__(self, number: BrokerId, state: ConsumerState, cluster: LockCluster) -> None:
        """Make a consumer that is up."""
        super().__init__(number, ConsumerCore(), cluster)
        self.wanted: frozenset[MessageQueue] = frozenset()
        self.positions: dict[MessageQueue, int] | None = None
        """Of the queues that it processes: the next message."""
        self._cluster = cluster
        self._master: BrokerId | None = None
        """Whom it takes for the master in this step."""
        self._processed: list[ProcessNext] = []
        self.host.state = state
        settings = {
            "kind": "consumer",
            "consumer_group": state.consumer_group,
            "lease_ms": state.options.lease_ms,
            "patience_ms": state.options.patience_ms,
        }
        recorder = cluster.recording.of(
            state.client_id, settings, parts=self._parts, shows_ms=self.now_ms
        )
        self.recorder = self._frames = FrameRecorder(recorder)
        self.recorder.started()

    @property
    def state(self) -> ConsumerState:
        """Return what it knows."""
        assert self.host.state is not None
        return self.host.state

    def _parts(self) -> Parts:
        state = self.state
        return {
            "tries": state.tries,
            "attempt": state.attempt,
            "leases": state.leases,
            "wanted": self.wanted,
        }

    def now_ms(self) -> TimestampMs:
        """Return the virtual time."""
        return TimestampMs(self._cluster.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        """Return the name of a broker."""
        return broker_address(peer)

    def resolve(self, peer: BrokerId) -> BrokerId:
        """Ask the route once in a step."""
        assert peer == MASTER
        if self._master is None:
            self._master = self._cluster.route()
        return self._master

    def answer(self, answer: AnswerClient) -> None:
        """Process a message."""
        assert isinstance(answer, ProcessNext)
        self.recorder.answered(answer)
        self._processed.append(answer)
        self._cluster.processed(self, answer)

    def after_step(
        self, event: ConsumerHears | RequestEvent, action: ConsumerAction | None
    ) -> None:
        """Tell the cluster of a step; the route is asked also in steps that need none."""
        processed, self._processed = tuple(self._processed), []
        received, sent = self._frames.take_received(), self._frames.take()
        stepped = ConsumerStepped(self.id, event, received, sent, processed, action)
        lost = isinstance(event, ResponseArrived) and event.command is None
        if action is not None or not (lost or isinstance(event, PatienceOver | RequestArrived)):
            self.resolve(MASTER)
            self._master = None
        self._cluster.consumer_stepped(self, stepped)


class _Manager(OpenNode[LockManagerState, ManagerHears, ManagerAction]):
    """A lock manager on its broker."""

    def __init__(self, node: Node[LockManagerState], cluster: LockCluster) -> None:
        cutter: StepCutter[Any, Any, Any] = StepCutter(
            cluster, node, self, cluster.crash_points, scheduler=cluster.scheduler
        )
        super().__init__(node.id, ManagerCore(), cluster, seam=cutter)
        self._node = node
        self._cluster = cluster
        node.host = self.host
        locks = cluster.plan.locks
        settings = {
            "kind": "broker",
            "members": [self.name_of(broker) for broker in locks.members],
            "queues": cluster.queues,
            "total_replicas": locks.total_replicas,
            "strict": locks.strict,
            "life_ms": locks.life_ms,
            "round_ms": locks.round_ms,
        }
        recorder = cluster.recording.of(
            self.name_of(node.id), settings, parts=self._parts, shows_ms=self.now_ms
        )
        self.recorder = self._frames = FrameRecorder(recorder)

    def _parts(self) -> Parts:
        state = self._node.running()
        return {"votes": state.votes, "released": state.released, "rounds": state.rounds}

    def now_ms(self) -> TimestampMs:
        return self._node.clock.shows(self._cluster.now_ms)

    def name_of(self, peer: BrokerId) -> str:
        return broker_address(peer)

    def after_step(self, event: ManagerHears | RequestEvent, action: ManagerAction | None) -> None:
        received, sent = self._frames.take_received(), self._frames.take()
        self._cluster.report(BrokerStepped(self.id, event, received, sent, action))


class LockCluster:
    """The brokers of a group, its consumers, and the queues."""

    def __init__(
        self,
        *,
        plan: LockPlan,
        scheduler: Scheduler,
        network: Network,
        random_source: RandomSource,
        counts: FaultCounts,
        observer: LockObserver,
        recording: Recording = NOT_RECORDED,
        crash_points: CrashPoints | None = None,
    ) -> None:
        """Make a cluster whose brokers have run for long, except for one that is gone."""
        self.plan = plan
        self.scheduler = scheduler
        self.network = network
        self.counts = counts
        self.crash_points = crash_points or CrashPoints()
        self.actions = 0
        self.calm = False
        """Nothing goes wrong any more."""
        self.queues = tuple([MessageQueue("orders", "g", n) for n in range(plan.queues)])
        self.history: list[Processed] = []
        self.finished: dict[MessageQueue, int] = dict.fromkeys(self.queues, 0)
        """Of each queue: messages that some consumer has processed."""
        self._random_source = random_source
        self._stale_routes = 0
        self._observer = observer
        self.recording = recording
        self._retry: dict[BrokerId, int] = {}
        self.nodes: dict[BrokerId, Node[LockManagerState]] = {}
        self._managers: dict[BrokerId, _Manager] = {}
        for broker, clock in zip(plan.locks.members, plan.clocks, strict=True):
            long_ago = TimestampMs(clock.shows(0) - 2 * plan.locks.life_ms)
            fresh = voting.started(broker, plan.locks, now_ms=long_ago)
            node: Node[LockManagerState] = Node(broker, plan.bugs)
            self._managers[broker] = _Manager(node, self)
            node.state = fresh
            node.clock = clock
            self.nodes[broker] = node
            self._managers[broker].recorder.started()
        self.consumers = {
            number: Consumer(number, self._fresh(number), self)
            for number in (BrokerId(FIRST_CONSUMER + at) for at in range(plan.consumers))
        }
        self.calls: Calls = RemotingCalls(network, self)
        if plan.gone is not None:
            self._stop(self.nodes[plan.gone])
        observer.started(self)

    def _fresh(self, number: BrokerId) -> ConsumerState:
        name = f"c{number - FIRST_CONSUMER + 1}"
        return ConsumerState(client_id=name, consumer_group=_GROUP, options=self.plan.consumer)

    @property
    def now_ms(self) -> int:
        """Return the virtual time."""
        return self.scheduler.now_ms

    def up(self) -> list[Node[LockManagerState]]:
        """Return the brokers that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    # ---- what happens from outside ----

    def crash(self, node: Node[LockManagerState], *, silent: bool = False) -> None:
        """Stop a broker."""
        self._stop(node)
        self.calls.stop(node.id, silent=silent)

    def may_end(
        self, node: Node[LockManagerState], step: StepUnderWay[Any, Any], shown: Shown
    ) -> bool:
        """Let a broker end between any two effects."""
        del node, step, shown
        return True

    def log_lost(self, node: Node[LockManagerState]) -> None:
        """Have no log."""
        raise AssertionError(f"{node.id} has no log in this protocol")

    def _stop(self, node: Node[LockManagerState]) -> None:
        self.crash_points.disarm(broker_address(node.id))
        self._managers[node.id].recorder.stopped(dict)
        self._managers[node.id].stop()
        node.stop()

    def restart(self, node: Node[LockManagerState]) -> None:
        """Let a broker come back that is down, unless it is gone for the whole run."""
        if node.id == self.plan.gone:
            return
        assert node.state is None
        now_ms = node.clock.shows(self.now_ms)
        node.state = voting.started(node.id, self.plan.locks, now_ms=now_ms)
        self._managers[node.id].recorder.started()
        self.report(BrokerRestarted(node.id))

    def want(self, consumer: Consumer, queues: frozenset[MessageQueue]) -> None:
        """Change what a consumer wants; what it has and does not want it gives up."""
        consumer.wanted = queues
        unwanted = frozenset(self.queues) - queues
        self.consume(consumer, UnlockWanted(unwanted))

    def lock(self, consumer: Consumer) -> None:
        """Let a consumer ask for what it wants."""
        self.consume(consumer, LockWanted(consumer.wanted))

    def process(self, consumer: Consumer, queue: MessageQueue) -> None:
        """Let a consumer process the next message of a queue, if it holds it."""
        self.consume(consumer, ProcessWanted(queue))

    def ask_from_outside(self, rng: Random) -> None:
        """Let somebody ask a node for what it must refuse."""
        nodes: list[OpenNode[Any, Any, Any]] = [self._managers[node.id] for node in self.up()]
        node = rng.choice([*nodes, *nodes, *self.consumers.values()])
        node.ask_from_outside(draw_request(rng))

    # ---- consumers ----

    def consume(self, consumer: Consumer, event: ConsumerHears) -> None:
        """Let a consumer take an event, and do what it says; its application keeps no records."""
        consumer.recorder.heard(event)
        consumer.host.take(event)

    def consumer_stepped(self, consumer: Consumer, stepped: ConsumerStepped) -> None:
        """Tell the observer of a step, and let a consumer try again that has heard enough."""
        self.report(stepped)
        action = stepped.action
        names = (ConsumerActionName.RECEIVE_ANSWER, ConsumerActionName.GIVE_UP)
        if action is not None and action.name in names:
            self._lock_again(consumer, action)

    def route(self) -> BrokerId:
        """Return the master, or who acts for it; with a stale route, anybody."""
        members = self.plan.locks.members
        percent = 0 if self.calm else self.network.plan.stale_route_percent
        up = [node.id for node in self.up()]
        right = min(up) if up else members[0]
        rng = self._random_source.of("route")
        if not percent or rng.randrange(100) >= percent:
            return right
        found = rng.choice(members)
        self._stale_routes += 1
        point = InjectionPoint(Fault.STALE_ROUTE, "", self._stale_routes)
        if not self._random_source.allows(point):
            return right
        words = f"a consumer takes {broker_address(found)} for the master"
        self._random_source.note(point, words)
        self.counts.add(Fault.STALE_ROUTE)
        return found

    def _lock_again(self, consumer: Consumer, action: ConsumerAction) -> None:
        """Ask again before the leases end, or soon for what was refused."""
        whole = action.name is ConsumerActionName.RECEIVE_ANSWER and not action.given_back
        retry_ms = 1 + self._random_source.of("retry", consumer.id).randrange(self.plan.retry_ms)
        self.lock_later(consumer, self.plan.consumer.relock_ms if whole else retry_ms)

    def lock_later(self, consumer: Consumer, wait_ms: int) -> None:
        """Let a consumer ask in a while; a later call takes the place of this one."""
        turn = self._retry[consumer.id] = self._retry.get(consumer.id, 0) + 1

        def again() -> None:
            if self._retry[consumer.id] != turn:
                return
            if consumer.wanted:
                self.lock(consumer)
            else:
                self.lock_later(consumer, self.plan.retry_ms)

        self.scheduler.after(wait_ms, again)

    def processed(self, consumer: Consumer, answer: ProcessNext) -> None:
        """Note that a consumer has processed the next message of a queue."""
        queue, fresh = answer.queue, answer.fresh
        positions = consumer.positions = consumer.positions or {}
        if fresh:
            positions[queue] = self.finished[queue]
        message = positions[queue]
        positions[queue] = message + 1
        self.finished[queue] = max(self.finished[queue], message + 1)
        self.history.append(
            Processed(
                queue=queue,
                message=message,
                client_id=consumer.state.client_id,
                fresh=fresh,
                at_ms=self.now_ms,
            )
        )

    # ---- brokers (rocketha.sim.remoting_calls.Servers) ----

    def is_up(self, peer: BrokerId) -> bool:
        """Tell whether a broker runs; consumers always do."""
        return peer not in self.nodes or self.nodes[peer].state is not None

    def asked(self, peer: BrokerId, arrived: Arrived) -> None:
        """Let a broker, or a consumer, take a request."""
        consumer = self.consumers.get(peer)
        (self._managers[peer] if consumer is None else consumer).arrive(arrived)

    def manage(self, node: Node[LockManagerState], event: ManagerHears) -> None:
        """Let a lock manager take an event, and do what it says."""
        self._managers[node.id].host.take(event)

    def is_for(self, broker: BrokerId, round_: Round, opaque: int) -> bool:
        """Tell whether a round of a broker is held for the request with this number."""
        return self._managers[broker].waiting(round_.request).command.opaque == opaque

    # ---- the rest ----

    def report(self, step: LockClusterStep) -> None:
        """Tell the observer of a step."""
        self.actions += isinstance(step, BrokerRestarted) or step.action is not None
        self._observer.stepped(self, step)
