"""Runs of `rocketha.locks` as behaviours of LockQuorum.

The unit of time is a millisecond. After every action the whole state is read from the real one:

| specification   | implementation                                                            |
|-----------------|---------------------------------------------------------------------------|
| votes, released | the tables of the lock managers; of a broker that is down, its last ones  |
| wait            | what is left of the time in which a manager does not vote after its start |
| attempt, lease  | the consumers' attempts and leases, and what is left of them              |
| attempt.yes     | who has voted for the attempt, heard or not                               |
| asks, frees     | what was sent and has not arrived; what is lost stays for ever            |
| fresh, last     | what the consumers have processed                                         |

What is left is counted in true time. A broker's fast clock may have ended it before: that is
ExpireEarly, or WaitLess. Time passes in Ticks between two other actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, TypeAlias, assert_never

from rocketha.formats.lock_bodies import MessageQueue, QueueLockBody
from rocketha.locks.consumer import ConsumerActionName
from rocketha.locks.state import ConsumerState, LockManagerState, Vote
from rocketha.locks.voting import ManagerActionName, remembers
from rocketha.sim.engine.node import Node
from rocketha.sim.lock_quorum.cluster import (
    BrokerActed,
    BrokerRestarted,
    ConsumerActed,
    LockCluster,
    LockClusterAction,
)
from rocketha.sim.lock_quorum.plan import SKEW_MS
from rocketha.types import BrokerId
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name
from tlatrace.trace import Event
from tlatrace.values import State, Value, record, tla_set

__all__ = ["LOCK_SPEC", "LockProjection"]

LOCK_SPEC: Final = "LockQuorum"

_NO_VOTE: Final = record({"c": NONE})
_NO_ATTEMPT: Final = record({"n": 0})

_Sent: TypeAlias = tuple[str, int, BrokerId, frozenset[MessageQueue], bool]
"""Consumer, number of its attempt, receiver, queues; of a request: whether the consumer asks."""


@dataclass(slots=True)
class _SeenVote:
    """A vote, and when it was given in true time."""

    vote: Vote
    given_ms: int
    early: bool = False
    """It is over, early."""


class LockProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._cluster: LockCluster | None = None
        self._now_ms = 0
        self._consumers: dict[str, ConsumerState] = {}
        self._queues: tuple[MessageQueue, ...] = ()
        self._votes: dict[BrokerId, dict[MessageQueue, _SeenVote]] = {}
        self._released: dict[BrokerId, dict[tuple[str, MessageQueue], int]] = {}
        self._waits_until: dict[BrokerId, int] = {}
        self._asks: set[_Sent] = set()
        self._frees: set[_Sent] = set()
        self._yes: dict[str, dict[MessageQueue, set[BrokerId]]] = {}
        self._last: dict[MessageQueue, str] = {}

    @property
    def constants(self) -> State:
        """Return the constants of the specification, as the run has them."""
        assert self._cluster is not None
        plan = self._cluster.plan
        return {
            "Replica": _names(self._cluster.nodes),
            "Client": tla_set(self._consumers),
            "Queue": _qs(self._queues),
            "None": NONE,
            "Configured": plan.locks.total_replicas,
            "Strict": plan.locks.strict,
            "VoteLife": plan.locks.life_ms,
            "LeaseLife": plan.consumer.lease_ms,
            "Patience": plan.consumer.patience_ms,
            "Skew": SKEW_MS,
        }

    # ---- the observer ----

    def started(self, cluster: LockCluster) -> None:
        """Record the initial state."""
        self._cluster = cluster
        self._queues = cluster.queues
        self._consumers = {c.state.client_id: c.state for c in cluster.consumers.values()}
        self._votes = {broker: {} for broker in cluster.nodes}
        self._released = {broker: {} for broker in cluster.nodes}
        self._waits_until = dict.fromkeys(cluster.nodes, 0)
        self._record(cluster, NONE, "Init")

    def acted(self, cluster: LockCluster, action: LockClusterAction) -> None:
        """Record that time has passed, an action, and the state after it."""
        self.time_passed(cluster)
        match action:
            case BrokerActed():
                self._broker_acted(cluster, action)
            case BrokerRestarted(broker=broker):
                self._restarted(cluster, broker)
            case ConsumerActed():
                self._consumer_acted(cluster, action)
            case _ as unreachable:
                assert_never(unreachable)

    # ---- time ----

    def time_passed(self, cluster: LockCluster) -> None:
        """Record that time has passed, and what a fast clock has ended since."""
        passed_ms = cluster.now_ms - self._now_ms
        if passed_ms:
            self._now_ms = cluster.now_ms
            self._record(cluster, NONE, "Tick", passed_ms)
        for node in cluster.nodes.values():
            # Whoever has just come back, or is down, has no clock that was looked at.
            if node.state is not None:
                self._notice_early(cluster, node, node.state)

    def _notice_early(
        self, cluster: LockCluster, node: Node[LockManagerState], state: LockManagerState
    ) -> None:
        broker, shown_ms = node.id, node.clock.shows(cluster.now_ms)
        for queue, seen in self._votes[broker].items():
            over = shown_ms - seen.vote.voted_ms >= state.options.life_ms
            if over and not seen.early and self._left_ms(cluster, seen) > 0:
                seen.early = True
                self._record(cluster, _name(broker), "ExpireEarly", _name(broker), _q(queue))
        if self._waits_until[broker] > self._now_ms and remembers(state, shown_ms):
            self._waits_until[broker] = self._now_ms
            self._record(cluster, _name(broker), "WaitLess", _name(broker))

    def _left_ms(self, cluster: LockCluster, seen: _SeenVote) -> int:
        return 0 if seen.early else cluster.plan.locks.life_ms - (self._now_ms - seen.given_ms)

    # ---- brokers ----

    def _restarted(self, cluster: LockCluster, broker: BrokerId) -> None:
        node = cluster.nodes[broker]
        self._votes[broker] = {}
        self._released[broker] = {}
        waits = not remembers(node.running(), node.clock.shows(cluster.now_ms))
        self._waits_until[broker] = self._now_ms + (cluster.plan.locks.life_ms if waits else 0)
        self._record(cluster, _name(broker), "Restart", _name(broker))

    def _broker_acted(self, cluster: LockCluster, acted: BrokerActed) -> None:
        broker, action, body = acted.broker, acted.action, acted.action.body
        match action.name:
            case ManagerActionName.RECEIVE_ASK:
                self._asks.discard(_sent(body, broker, first=not body.only_this_broker))
                for other in acted.asked:
                    self._asks.add(_sent(body, other, first=False, queues=action.voted))
                attempt = self._consumers[body.client_id].attempt
                if attempt is not None and attempt.number == body.attempt:
                    for queue in action.voted:
                        self._yes[body.client_id][queue].add(broker)
            case ManagerActionName.RECEIVE_FREE:
                self._frees.discard(_sent(body, broker, first=False))
            case _ as unreachable:
                assert_never(unreachable)
        self._read(cluster.nodes[broker].running())
        self._record(cluster, _name(broker), action.name, body.client_id, _name(broker))

    def _read(self, state: LockManagerState) -> None:
        """Read the tables of a broker."""
        before = self._votes[state.broker]
        votes: dict[MessageQueue, _SeenVote] = {}
        for (_, queue), vote in state.votes.items():
            seen = before.get(queue)
            same = seen is not None and seen.vote is vote
            votes[queue] = seen if seen is not None and same else _SeenVote(vote, self._now_ms)
        self._votes[state.broker] = votes
        released = {(who, queue): n for (who, (_, queue)), n in state.released.items()}
        self._released[state.broker] = released

    # ---- consumers ----

    def _consumer_acted(self, cluster: LockCluster, acted: ConsumerActed) -> None:
        state, action = cluster.consumers[acted.consumer].state, acted.action
        name = state.client_id
        before = self._consumers[name]
        self._consumers[name] = state
        params: tuple[Value, ...] = (name, _qs(action.queues))
        number = state.tries
        match action.name:
            case ConsumerActionName.LOCK:
                self._asks.add((name, number, acted.at, action.queues, True))
                self._yes[name] = {queue: set() for queue in self._queues}
                params = (*params, _name(acted.at))
            case ConsumerActionName.GIVE_UP:
                params = (name,)
            case ConsumerActionName.PROCESS:
                (queue,) = action.queues
                self._last[queue] = name
                params = (name, _q(queue))
            case ConsumerActionName.RECEIVE_ANSWER | ConsumerActionName.UNLOCK:
                pass
            case _ as unreachable:
                assert_never(unreachable)
        if before.attempt is not None and action.name is not ConsumerActionName.LOCK:
            number = before.attempt.number
        if action.given_back:
            for broker in cluster.nodes:
                self._frees.add((name, number, broker, action.given_back, False))
        self._record(cluster, name, action.name, *params)

    # ---- the state ----

    def _record(self, cluster: LockCluster, node: str, action: str, *params: Value) -> None:
        state: State = {
            "votes": self._of_brokers(cluster, lambda b: self._votes_value(cluster, b)),
            "released": self._of_brokers(cluster, self._released_value),
            "wait": self._of_brokers(cluster, lambda b: self._after_now(self._waits_until[b])),
            "asks": _asks_value(frozenset(self._asks)),
            "frees": _frees_value(frozenset(self._frees)),
            "tries": record({name: state.tries for name, state in self._consumers.items()}),
            "attempt": record({name: self._attempt(s) for name, s in self._consumers.items()}),
            "lease": record({name: self._lease(s) for name, s in self._consumers.items()}),
            "fresh": record({name: self._fresh(s) for name, s in self._consumers.items()}),
            "last": record({_q(queue): self._last.get(queue, NONE) for queue in self._queues}),
        }
        self.events.append(
            Event(
                step=len(self.events),
                action=str(action),
                params=params,
                node=node,
                state=state,
                clock=self._now_ms,
            )
        )

    def _of_brokers(self, cluster: LockCluster, value: Callable[[BrokerId], Value]) -> Value:
        return record({_name(broker): value(broker) for broker in cluster.nodes})

    def _votes_value(self, cluster: LockCluster, broker: BrokerId) -> Value:
        votes = self._votes[broker]
        values: dict[str, Value] = {}
        for queue in self._queues:
            seen = votes.get(queue)
            left_ms = 0 if seen is None else self._left_ms(cluster, seen)
            if seen is None or left_ms <= 0:
                values[_q(queue)] = _NO_VOTE
            else:
                client, attempt = seen.vote.client_id, seen.vote.attempt
                values[_q(queue)] = record({"c": client, "n": attempt, "left": left_ms})
        return record(values)

    def _released_value(self, broker: BrokerId) -> Value:
        table = self._released[broker]
        return record(
            {
                name: record({_q(queue): table.get((name, queue), 0) for queue in self._queues})
                for name in self._consumers
            }
        )

    def _attempt(self, consumer: ConsumerState) -> Value:
        attempt = consumer.attempt
        if attempt is None:
            return _NO_ATTEMPT
        yes = self._yes[consumer.client_id]
        return record(
            {
                "n": attempt.number,
                "qs": _qs(attempt.queues),
                "left": self._after_now(attempt.began_ms + consumer.options.patience_ms + 1),
                "yes": record({_q(queue): _names(yes[queue]) for queue in self._queues}),
            }
        )

    def _lease(self, consumer: ConsumerState) -> Value:
        ends = {queue: lease.ends_ms for queue, lease in consumer.leases.items()}
        return record({_q(queue): self._after_now(ends.get(queue, 0)) for queue in self._queues})

    def _fresh(self, consumer: ConsumerState) -> Value:
        return _qs(
            queue
            for queue, lease in consumer.leases.items()
            if lease.ends_ms > self._now_ms and not lease.begun
        )

    def _after_now(self, at_ms: int) -> int:
        return max(0, at_ms - self._now_ms)


def _sent(
    body: QueueLockBody,
    receiver: BrokerId,
    *,
    first: bool,
    queues: frozenset[MessageQueue] | None = None,
) -> _Sent:
    return body.client_id, body.attempt, receiver, queues or body.queues, first


@lru_cache(maxsize=16)
def _asks_value(sent: frozenset[_Sent]) -> Value:
    return tla_set(map(_ask_value, sent))


@lru_cache(maxsize=16)
def _frees_value(sent: frozenset[_Sent]) -> Value:
    return tla_set(map(_release_value, sent))


@lru_cache(maxsize=4096)
def _ask_value(sent: _Sent) -> Value:
    client, number, receiver, queues, first = sent
    return record(
        {"c": client, "n": number, "r": _name(receiver), "qs": _qs(queues), "first": first}
    )


@lru_cache(maxsize=4096)
def _release_value(sent: _Sent) -> Value:
    client, number, receiver, queues, _ = sent
    return record({"c": client, "n": number, "r": _name(receiver), "qs": _qs(queues)})


def _name(broker: BrokerId) -> str:
    return broker_name(broker)


def _names(brokers: Iterable[BrokerId]) -> Value:
    return tla_set(_name(broker) for broker in brokers)


@cache
def _q(queue: MessageQueue) -> str:
    return f"q{queue.queue_id + 1}"


def _qs(queues: Iterable[MessageQueue]) -> Value:
    return tla_set(_q(queue) for queue in queues)
