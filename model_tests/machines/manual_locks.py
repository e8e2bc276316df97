"""Lock managers and consumers that a test drives: an adapter for LockQuorum.

Nothing happens by itself: time stands still, and what peers say to each other lies here until a
step moves it. A step is taken by doing to the cores what makes them take it; then the state is
projected as it is for traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from model_tests.machines.lock_model import lock_constants
from rocketha.formats.lock_bodies import LockCode, MessageQueue, pull_queue_lock
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.lock_quorum import consumer_rules, voting_rules
from rocketha.locks.consumer import AnswerHeard, PatienceOver, UnlockWanted
from rocketha.locks.state import ConsumerOptions, LockManagerState, LockOptions, RoundId
from rocketha.locks.voting import RoundOver
from rocketha.sim.engine.clock import TRUE_TIME, Clock
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.network import Network, Sockets
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.remoting_calls import Arrived, Content, OnAnswer
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.lock_quorum.cluster import FIRST_CONSUMER, Consumer, LockCluster
from rocketha.sim.lock_quorum.plan import draw_lock_run
from rocketha.types import BrokerId, ConnectionId
from rocketproof.protocols.lock_quorum.projection import LockProjection
from tlatrace.testing.calls import call_of
from tlatrace.values import State, TlaSet, Value

__all__ = ["ManualLocks"]

_LINE: Final = ConnectionId(0)
"""Over which everything is said."""
_CHANGES_NOTHING: Final = frozenset({"SendAnswer", "IgnoreAnswer", "Refrain"})
"""Actions of LockQuorum that models do not explore."""


@dataclass(slots=True)
class _Said:
    """A request under way."""

    sender: BrokerId
    receiver: BrokerId
    command: RemotingCommand
    on_answer: OnAnswer | None
    """None: nobody waits."""


@dataclass(slots=True)
class _ManualCalls:
    """What peers have said to each other."""

    requests: list[_Said] = field(default_factory=list)
    waiting: dict[int, _Said] = field(default_factory=dict)
    """Opaque -> a request that was heard and is not answered yet."""
    answers: list[tuple[_Said, RemotingCommand]] = field(default_factory=list)
    """Answers under way."""
    said: int = 0

    def ask(
        self, sender: BrokerId, receiver: BrokerId, content: Content, on_answer: OnAnswer
    ) -> str:
        return self._say(sender, receiver, content, on_answer)

    def tell(self, sender: BrokerId, receiver: BrokerId, content: Content) -> str:
        return self._say(sender, receiver, content, None)

    def _say(
        self, sender: BrokerId, receiver: BrokerId, content: Content, on_answer: OnAnswer | None
    ) -> str:
        self.said += 1
        command = content.command(self.said)
        self.requests.append(_Said(sender, receiver, command, on_answer))
        return Arrived(_LINE, command).message

    def answer(self, peer: BrokerId, arrived: Arrived, content: Content) -> None:
        del peer
        said = self.waiting.pop(arrived.command.opaque)
        answer = content.command(arrived.command.opaque)
        self.answers.append((said, answer))

    def refuse(self, peer: BrokerId, arrived: Arrived) -> None:
        raise AssertionError(f"{peer} does not understand {arrived}")

    def hang_up(self, sender: BrokerId, receiver: BrokerId) -> None:
        """Do nothing: who has waited for long enough does not look at the answer."""

    def stop(self, peer: BrokerId, *, silent: bool) -> None:
        del silent
        gone = [opaque for opaque, said in self.waiting.items() if said.receiver == peer]
        for opaque in gone:
            del self.waiting[opaque]


class _ManualLockCluster(LockCluster):
    """A cluster in which a step says whom a consumer takes for the master."""

    at: BrokerId = BrokerId(1)

    def route(self) -> BrokerId:
        return self.at


class _NoNetwork:
    """Nothing is sent over it."""

    def attach(self, sockets: Sockets) -> None:
        del sockets


class ManualLocks:
    """The brokers and two consumers of a model, which take its steps."""

    def __init__(self, model: str, bugs: Bugs) -> None:
        """Begin in the initial state."""
        constants = lock_constants(model)
        numbers = {name: value for name, value in constants.items() if isinstance(value, int)}
        replicas = constants["Replica"]
        assert isinstance(replicas, TlaSet)
        members = tuple(BrokerId(number) for number in range(1, len(replicas) + 1))
        self._skew_ms = numbers["Skew"]
        plan = replace(
            draw_lock_run(PerPurposeStreams(0), SimOptions(brokers=len(members), bugs=bugs)),
            locks=LockOptions(
                members=members,
                total_replicas=numbers["Configured"],
                strict=True,
                life_ms=numbers["VoteLife"],
                round_ms=1,
                rules=voting_rules(bugs),
            ),
            consumer=ConsumerOptions(
                lease_ms=numbers["LeaseLife"],
                patience_ms=numbers["Patience"],
                rules=consumer_rules(bugs),
            ),
            clocks=(TRUE_TIME,) * len(members),
            gone=None,
            consumers=2,
            queues=1,
        )
        self._projection = LockProjection()
        self._scheduler = Scheduler()  # never run
        self._cluster = _ManualLockCluster(
            plan=plan,
            scheduler=self._scheduler,
            network=cast(Network, _NoNetwork()),
            random_source=PerPurposeStreams(0),
            counts=FaultCounts(),
            observer=self._projection,
        )
        self._calls = self._cluster.calls = _ManualCalls()

    # ---- what an adapter has ----

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        """Let the cores take one action, and no other."""
        before = len(self._projection.events)
        self._make(action, params)
        events = self._projection.events[before:]
        took = [
            call_of(event.action or "nothing", event.params)
            for event in events
            if event.action not in _CHANGES_NOTHING
        ]
        assert took == [call_of(action, params)], f"the cores took {took}"

    def observe(self) -> State:
        """Return the state of the cores after the last action."""
        state = self._projection.events[-1].state
        assert state is not None
        return state

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        """Tell whether somebody can make the cores take an action now.

        The model lets messages of one kind arrive in any order; a broker asks the others, and tells
        them what is given back, after it has heard of it. Nobody answers for a broker that has
        restarted, and who votes for nothing answers at once.
        """
        match action, params:
            case "ReceiveAsk", (str() as client, str() as broker):
                return self._find(LockCode.LOCK_BATCH_MQ, client, broker) is not None
            case "ReceiveFree", (str() as client, str() as broker):
                return self._find(LockCode.UNLOCK_BATCH_MQ, client, broker) is not None
            case "ReceiveAnswer", (str() as client, TlaSet() as got):
                if self._answer_to(client) is not None:
                    return not len(got)
                return self._round_of(client) is not None
            case _:
                return True

    def stuttering_calls(self) -> Sequence[str]:
        """List answers that come too late: nothing may come of them."""
        return [
            f"{consumer.state.client_id} hears a late answer"
            for consumer in self._cluster.consumers.values()
            if self._is_late(consumer)
        ]

    def make_idle_call(self, name: str) -> None:
        """Let a consumer hear an answer to its last attempt after its time."""
        consumer = self._consumer(name.partition(" ")[0])
        before = len(self._projection.events)
        everything = frozenset(self._cluster.queues)
        self._cluster.consume(consumer, AnswerHeard(consumer.state.tries, everything))
        took = {event.action for event in self._projection.events[before:]}
        assert took <= _CHANGES_NOTHING, f"the cores took {took}"

    def _is_late(self, consumer: Consumer) -> bool:
        state, now_ms = consumer.state, self._cluster.now_ms
        attempt = state.attempt
        if attempt is None:
            return state.tries > 0
        return now_ms - attempt.began_ms > state.options.patience_ms

    # ---- what the cores are ----

    def _consumer(self, name: str) -> Consumer:
        return self._cluster.consumers[BrokerId(FIRST_CONSUMER + int(name.removeprefix("c")) - 1)]

    def _node(self, broker: str) -> Node[LockManagerState]:
        return self._cluster.nodes[BrokerId(int(broker.removeprefix("b")))]

    def _queues(self, names: Value) -> frozenset[MessageQueue]:
        assert isinstance(names, TlaSet)
        return frozenset(q for q in self._cluster.queues if f"q{q.queue_id + 1}" in tuple(names))

    def _find(self, code: LockCode, client: str, broker: str) -> _Said | None:
        """Return the oldest request to a broker that concerns a consumer."""
        receiver = self._node(broker).id
        for said in self._calls.requests:
            concerns = pull_queue_lock(said.command.body).client_id == client
            if said.receiver == receiver and said.command.code == code and concerns:
                return said
        return None

    def _hear(self, code: LockCode, client: str, broker: str) -> None:
        said = self._find(code, client, broker)
        assert said is not None, f"nothing of {client} is on the way to {broker}"
        self._calls.requests.remove(said)
        if said.on_answer is not None:
            self._calls.waiting[said.command.opaque] = said
        self._cluster.asked(said.receiver, Arrived(_LINE, said.command))

    def _answer_to(self, client: str) -> tuple[_Said, RemotingCommand] | None:
        """Return the answer that is on the way to a consumer."""
        consumer = self._consumer(client)
        for said, answer in self._calls.answers:
            number = pull_queue_lock(said.command.body).attempt
            if said.sender == consumer.id and number == consumer.state.tries:
                return said, answer
        return None

    def _round_of(self, client: str) -> tuple[Node[LockManagerState], RoundId] | None:
        """Return the round in which a broker asks the others for a consumer."""
        consumer = self._consumer(client)
        for said in self._calls.waiting.values():
            number = pull_queue_lock(said.command.body).attempt
            if said.sender == consumer.id and number == consumer.state.tries:
                node = self._cluster.nodes[said.receiver]
                for round_id in node.running().rounds:
                    if self._cluster.is_for(
                        node.id, node.running().rounds[round_id], said.command.opaque
                    ):
                        return node, round_id
        return None

    # ---- the steps ----

    def _make(self, action: str, params: tuple[Value, ...]) -> None:
        cluster = self._cluster
        match action, params:
            case "Lock", (str() as client, TlaSet() as queues, str() as at):
                cluster.at = self._node(at).id
                consumer = self._consumer(client)
                consumer.wanted = self._queues(queues)
                cluster.lock(consumer)
            case "ReceiveAnswer", (str() as client, TlaSet() as got):
                self._let_answer(client, heard=len(got) > 0)
            case "GiveUp", (str() as client,):
                consumer = self._consumer(client)
                cluster.consume(consumer, PatienceOver(consumer.state.tries))
            case "Unlock", (str() as client, TlaSet() as queues):
                cluster.consume(self._consumer(client), UnlockWanted(self._queues(queues)))
            case "Process", (str() as client, str() as queue):
                (wanted,) = [q for q in cluster.queues if f"q{q.queue_id + 1}" == queue]
                cluster.process(self._consumer(client), wanted)
            case "ReceiveAsk", (str() as client, str() as broker):
                self._hear(LockCode.LOCK_BATCH_MQ, client, broker)
            case "ReceiveFree", (str() as client, str() as broker):
                self._hear(LockCode.UNLOCK_BATCH_MQ, client, broker)
            case "Restart", (str() as broker,):
                cluster.crash(self._node(broker))
                cluster.restart(self._node(broker))
            case "ExpireEarly" | "WaitLess", (str() as broker, *_):
                # Its clock gains as much as it may at once.
                node = self._node(broker)
                node.clock = Clock(offset_ms=node.clock.offset_ms + self._skew_ms)
                self._projection.time_passed(cluster)
            case "Tick", (int() as passed,):
                self._scheduler.now_ms += passed
                self._projection.time_passed(cluster)
            case _:
                raise AssertionError(f"nobody knows how to make {action}")

    def _let_answer(self, client: str, *, heard: bool) -> None:
        """Let the broker answer that a consumer has asked, with the votes of the others or not."""
        if self._answer_to(client) is None:
            found = self._round_of(client)
            assert found is not None, f"nobody answers {client}"
            node, number = found
            for said, answer in [a for a in self._calls.answers if a[0].sender == node.id]:
                if heard and said.on_answer is not None:
                    self._calls.answers.remove((said, answer))
                    said.on_answer(answer)
            if number in node.running().rounds:
                self._cluster.manage(node, RoundOver(number))
        answer_to = self._answer_to(client)
        assert answer_to is not None, f"nobody answers {client}"
        said, answer = answer_to
        self._calls.answers.remove(answer_to)
        assert said.on_answer is not None
        said.on_answer(answer)
