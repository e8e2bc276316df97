"""Brokers with lock managers, and consumers that process queues in order.

The queues are the same for everybody; a consumer that gets one goes on behind the last message that
any consumer has finished. What is processed by whom is the history of a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final, Protocol, TypeAlias

from rocketha.errors import PacketError
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.lock_bodies import (
    LockCode,
    MessageQueue,
    QueueLockBody,
    pull_locked_queues,
    pull_queue_lock,
    push_locked_queues,
    push_queue_lock,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.histories.ordered import Processed
from rocketha.locks import consumer as consumers
from rocketha.locks import voting
from rocketha.locks.consumer import (
    AnswerHeard,
    ConsumerAction,
    ConsumerActionName,
    ConsumerEvent,
    LockWanted,
    PatienceOver,
    ProcessNext,
    ProcessWanted,
    SendLock,
    SendUnlock,
    UnlockWanted,
)
from rocketha.locks.state import ConsumerState, LockManagerState, RequestId, Round, RoundId
from rocketha.locks.voting import (
    AnswerLock,
    AskForVotes,
    LockAsked,
    ManagerAction,
    ManagerEvent,
    PassOnRelease,
    RoundOver,
    UnlockAsked,
    VotesHeard,
)
from rocketha.sim.faults import Fault, FaultCounts
from rocketha.sim.lock_options import LockPlan
from rocketha.sim.network import Network
from rocketha.sim.node import Node
from rocketha.sim.remoting_calls import Arrived, Calls, RemotingCalls
from rocketha.sim.scheduler import Scheduler
from rocketha.types import BrokerId, TimestampMs

__all__ = [
    "FIRST_CONSUMER",
    "BrokerActed",
    "BrokerRestarted",
    "Consumer",
    "ConsumerActed",
    "LockCluster",
    "LockClusterAction",
    "LockObserver",
    "NullLockObserver",
]

FIRST_CONSUMER: Final = BrokerId(101)
"""The first consumer's number in the network; brokers begin with 1."""
_GROUP: Final = "orderly"


@dataclass(frozen=True, slots=True)
class BrokerActed:
    """A lock manager took an action of the specification, and asked others for votes."""

    broker: BrokerId
    action: ManagerAction
    asked: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class BrokerRestarted:
    """A broker is back and has forgotten everything."""

    broker: BrokerId


@dataclass(frozen=True, slots=True)
class ConsumerActed:
    """A consumer took an action of the specification."""

    consumer: BrokerId
    action: ConsumerAction
    at: BrokerId
    """Whom it takes for the master."""


LockClusterAction: TypeAlias = BrokerActed | BrokerRestarted | ConsumerActed


class LockObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: LockCluster) -> None:
        """Look at the cluster before anything happens."""
        ...

    def acted(self, cluster: LockCluster, action: LockClusterAction) -> None:
        """Look at the cluster after an action."""
        ...


class NullLockObserver:
    """Whoever looks away."""

    def started(self, cluster: LockCluster) -> None:
        """Do nothing."""

    def acted(self, cluster: LockCluster, action: LockClusterAction) -> None:
        """Do nothing."""


@dataclass(slots=True)
class Consumer:
    """A consumer and its machine, whose clock is right."""

    id: BrokerId
    state: ConsumerState
    wanted: frozenset[MessageQueue] = frozenset()
    positions: dict[MessageQueue, int] | None = None
    """Of the queues that it processes: the next message."""


class LockCluster:
    """The brokers of a group, its consumers, and the queues."""

    def __init__(
        self,
        *,
        plan: LockPlan,
        scheduler: Scheduler,
        network: Network,
        rng: Random,
        counts: FaultCounts,
        observer: LockObserver,
    ) -> None:
        """Make a cluster whose brokers have run for long, except for one that is gone."""
        self.plan = plan
        self.scheduler = scheduler
        self.network = network
        self.counts = counts
        self.actions = 0
        self.calm = False
        """Nothing goes wrong any more."""
        self.queues = tuple([MessageQueue("orders", "g", n) for n in range(plan.queues)])
        self.history: list[Processed] = []
        self.finished: dict[MessageQueue, int] = dict.fromkeys(self.queues, 0)
        """Of each queue: messages that some consumer has processed."""
        self._rng = rng
        self._observer = observer
        self._requests: dict[RequestId, Arrived] = {}
        self._last_request = 0
        self._retry: dict[BrokerId, int] = {}
        self.nodes: dict[BrokerId, Node[LockManagerState]] = {}
        for broker, clock in zip(plan.locks.members, plan.clocks, strict=True):
            long_ago = TimestampMs(clock.shows(0) - 2 * plan.locks.life_ms)
            fresh = voting.started(broker, plan.locks, now_ms=long_ago)
            node: Node[LockManagerState] = Node(broker, plan.locks.bugs)
            node.state = fresh
            node.clock = clock
            self.nodes[broker] = node
        self.consumers = {
            number: Consumer(number, self._fresh(number))
            for number in (BrokerId(FIRST_CONSUMER + at) for at in range(plan.consumers))
        }
        self.calls: Calls = RemotingCalls(network, self)
        if plan.gone is not None:
            self.nodes[plan.gone].stop()
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
        node.stop()
        self.calls.stop(node.id, silent=silent)

    def restart(self, node: Node[LockManagerState]) -> None:
        """Let a broker come back that is down, unless it is gone for the whole run."""
        if node.id == self.plan.gone:
            return
        assert node.state is None
        now_ms = node.clock.shows(self.now_ms)
        node.state = voting.started(node.id, self.plan.locks, now_ms=now_ms)
        self._report(BrokerRestarted(node.id))

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

    # ---- consumers ----

    def consume(self, consumer: Consumer, event: ConsumerEvent) -> None:
        """Let a consumer take an event, and do what it says."""
        stepped = consumers.step(consumer.state, event, now_ms=TimestampMs(self.now_ms))
        consumer.state = stepped.state
        at = self.route()
        for effect in stepped.effects:
            match effect:
                case SendLock(body=body):
                    self._send_lock(consumer, at, body)
                case SendUnlock(body=body):
                    data = push_queue_lock(body)
                    self.calls.tell(consumer.id, at, LockCode.UNLOCK_BATCH_MQ, data)
                case ProcessNext(queue=queue, fresh=fresh):
                    self._process(consumer, queue, fresh=fresh)
        if stepped.action is not None:
            self._report(ConsumerActed(consumer.id, stepped.action, at))
            if stepped.action.name in (
                ConsumerActionName.RECEIVE_ANSWER,
                ConsumerActionName.GIVE_UP,
            ):
                self._lock_again(consumer, stepped.action)

    def route(self) -> BrokerId:
        """Return the master, or who acts for it; with a stale route, anybody."""
        members = self.plan.locks.members
        percent = 0 if self.calm else self.network.plan.stale_route_percent
        if percent and self._rng.randrange(100) < percent:
            self.counts.add(Fault.STALE_ROUTE)
            return self._rng.choice(members)
        up = [node.id for node in self.up()]
        return min(up) if up else members[0]

    def _send_lock(self, consumer: Consumer, at: BrokerId, body: QueueLockBody) -> None:
        number = body.attempt

        def answered(command: RemotingCommand | None) -> None:
            if command is None:
                return
            try:
                queues = pull_locked_queues(command.body)
            except PacketError:
                return
            self.consume(consumer, AnswerHeard(number, queues))

        def over() -> None:
            attempt = consumer.state.attempt
            if attempt is not None and attempt.number == number:
                self.calls.hang_up(consumer.id, at)
                self.consume(consumer, PatienceOver(number))

        data = push_queue_lock(body)
        self.calls.ask(consumer.id, at, LockCode.LOCK_BATCH_MQ, data, answered)
        self.scheduler.after(consumers.patience_ms(consumer.state.options) + 1, over)

    def _lock_again(self, consumer: Consumer, action: ConsumerAction) -> None:
        """Ask again before the leases end, or soon for what was refused."""
        whole = action.name is ConsumerActionName.RECEIVE_ANSWER and not action.given_back
        retry_ms = 1 + self._rng.randrange(self.plan.retry_ms)
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

    def _process(self, consumer: Consumer, queue: MessageQueue, *, fresh: bool) -> None:
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

    def is_for(self, round_: Round, opaque: int) -> bool:
        """Tell whether a round is held for the request with this number."""
        return self._requests[round_.request].command.opaque == opaque

    # ---- brokers (rocketha.sim.remoting_calls.Servers) ----

    def is_up(self, peer: BrokerId) -> bool:
        """Tell whether a broker runs; consumers always do."""
        return peer not in self.nodes or self.nodes[peer].state is not None

    def asked(self, peer: BrokerId, arrived: Arrived) -> None:
        """Let a broker take a request. Raises: PacketError"""
        node = self.nodes[peer]
        match arrived.command.code:
            case LockCode.UNLOCK_BATCH_MQ:
                self.manage(node, UnlockAsked(pull_queue_lock(arrived.command.body)))
            case LockCode.LOCK_BATCH_MQ:
                body = pull_queue_lock(arrived.command.body)
                self._last_request += 1
                request = RequestId(self._last_request)
                self._requests[request] = arrived
                self.manage(node, LockAsked(request, body))
            case _:
                self.calls.answer(peer, arrived, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, b"")

    def manage(self, node: Node[LockManagerState], event: ManagerEvent) -> None:
        """Let a lock manager take an event, and do what it says."""
        now_ms = node.clock.shows(self.now_ms)
        stepped = voting.step(node.running(), event, now_ms=now_ms)
        node.state = stepped.state
        asked: list[BrokerId] = []
        rounds: set[RoundId] = set()
        for effect in stepped.effects:
            match effect:
                case AnswerLock(request=request, queues=queues):
                    arrived, data = self._requests.pop(request), push_locked_queues(queues)
                    self.calls.answer(node.id, arrived, ResponseCode.SUCCESS, data)
                case AskForVotes():
                    asked.append(effect.broker)
                    rounds.add(effect.round)
                    self._ask_for_votes(node, effect)
                case PassOnRelease(broker=broker, body=body):
                    data = push_queue_lock(body)
                    self.calls.tell(node.id, broker, LockCode.UNLOCK_BATCH_MQ, data)
        for number in rounds:
            self._end_round_in_time(node, number)
        if stepped.action is not None:
            self._report(BrokerActed(node.id, stepped.action, tuple(asked)))

    def _ask_for_votes(self, node: Node[LockManagerState], ask: AskForVotes) -> None:
        incarnation = node.incarnation

        def answered(command: RemotingCommand | None) -> None:
            if node.state is None or node.incarnation != incarnation:
                return
            queues = None
            if command is not None:
                try:
                    queues = pull_locked_queues(command.body)
                except PacketError:
                    queues = None
            self.manage(node, VotesHeard(ask.round, ask.broker, queues))

        data = push_queue_lock(ask.body)
        self.calls.ask(node.id, ask.broker, LockCode.LOCK_BATCH_MQ, data, answered)

    def _end_round_in_time(self, node: Node[LockManagerState], number: RoundId) -> None:
        self.scheduler.after(
            self.plan.locks.round_ms, partial(self._round_over, node, node.incarnation, number)
        )

    def _round_over(self, node: Node[LockManagerState], incarnation: int, number: RoundId) -> None:
        if node.state is None or node.incarnation != incarnation:
            return
        round_ = node.state.rounds.get(number)
        if round_ is not None:
            for broker in sorted(round_.asked):
                self.calls.hang_up(node.id, broker)
            self.manage(node, RoundOver(number))

    # ---- the rest ----

    def _report(self, action: LockClusterAction) -> None:
        self.actions += 1
        self._observer.acted(self, action)
