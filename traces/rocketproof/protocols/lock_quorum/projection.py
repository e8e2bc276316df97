"""Runs of `rocketha.locks` as behaviours of LockQuorum.

The unit of time is a millisecond. Which action a step is, what arrived, what was sent and what has
changed say; what its core says of it is not asked. After every action the whole state is read from
the real one:

| specification   | implementation                                                            |
|-----------------|---------------------------------------------------------------------------|
| votes, released | the tables of the lock managers; of a broker that is down, its last ones  |
| wait            | what is left of the time in which a manager does not vote after its start |
| attempt, lease  | the consumers' attempts and leases, and what is left of them              |
| attempt.yes     | who has answered with its vote, or asked the others for it, heard or not  |
| asks, frees     | frames that were sent and have not arrived; what is lost stays for ever   |
| fresh, last     | what the consumers have processed                                         |

Steps that change nothing are shown where something might have been due: a broker's answer to a
consumer, with those whose answers it had received (SendAnswer); an answer of which a consumer makes
nothing (IgnoreAnswer); a wish that it does not fulfil (Refrain), once until it does something else.

What is left is counted in true time. A broker's fast clock may have ended it before: that is
ExpireEarly, or WaitLess. Time passes in Ticks between two other actions. A consumer sends a release
to one broker, which passes it on; for the specification it is under way to all of them, and gone
where that broker hears it and does not pass it on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from rocketha.formats.lock_bodies import (
    LockCode,
    MessageQueue,
    pull_locked_queues,
    pull_queue_lock,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.locks.state import ConsumerState, LockManagerState, Vote
from rocketha.locks.voting import remembers
from rocketha.recording.record import RESPONSE
from rocketha.runtime.events import RequestArrived
from rocketha.sim.engine.frames import Frame
from rocketha.sim.engine.node import Node
from rocketha.sim.lock_quorum.cluster import (
    BrokerRestarted,
    BrokerStepped,
    ConsumerStepped,
    LockCluster,
    LockClusterStep,
)
from rocketha.sim.lock_quorum.plan import SKEW_MS
from rocketha.types import BrokerId
from rocketproof.known_values import KnownValues, itself
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name
from rocketproof.protocols.lock_quorum.consumer_steps import (
    ConsumerTook,
    consumer_step,
    unfulfilled,
)
from rocketproof.protocols.lock_quorum.rounds import Rounds
from rocketproof.protocols.lock_quorum.values import (
    NO_ATTEMPT,
    NO_VOTE,
    Ask,
    Release,
    asks_value,
    frees_value,
    name_of_queue,
    names,
    queues_value,
    vote_value,
)
from tlatrace.trace import Event
from tlatrace.values import State, Value, record, tla_set

__all__ = ["LOCK_SPEC", "LockProjection"]

LOCK_SPEC: Final = "LockQuorum"

_Numbers: TypeAlias = tuple[tuple[int, ...], ...]
"""Of each consumer, and each queue: its last attempt that was given back."""
_VoteLeft: TypeAlias = tuple[str, int, int] | None
"""Of a queue: consumer, attempt, and how long the vote holds yet."""
_AttemptLeft: TypeAlias = (
    tuple[int, frozenset[MessageQueue], int, tuple[frozenset[BrokerId], ...]] | None
)
"""Number, queues, how long it waits yet, and who votes for each queue."""


@dataclass(slots=True)
class _SeenVote:
    """A vote, and when it was given in true time."""

    vote: Vote
    given_ms: int
    early: bool = False
    """It is over, early."""


@dataclass(frozen=True, slots=True)
class _SeenLease:
    """A lease; where there is none, one that is over."""

    ends_ms: int
    begun: bool


_NO_LEASE: Final = _SeenLease(0, begun=True)


class LockProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._cluster: LockCluster | None = None
        self._now_ms = 0
        self._consumers: dict[str, ConsumerState] = {}
        self._queues: tuple[MessageQueue, ...] = ()
        self._brokers: tuple[str, ...] = ()
        self._leases: dict[str, tuple[_SeenLease, ...]] = {}
        self._read_of: dict[BrokerId, LockManagerState] = {}
        """What its tables were read from."""
        self._votes: dict[BrokerId, dict[MessageQueue, _SeenVote]] = {}
        self._released: dict[BrokerId, _Numbers] = {}
        self._waits_until: dict[BrokerId, int] = {}
        self._asks: set[Ask] = set()
        self._frees: set[Release] = set()
        self._yes: dict[str, dict[MessageQueue, set[BrokerId]]] = {}
        self._last: dict[MessageQueue, str] = {}
        self._rounds = Rounds()
        self._requests: dict[str, tuple[str, int]] = {}
        """A consumer's request -> the consumer, and the number of its attempt."""
        self._refrained: dict[str, set[ConsumerTook]] = {}
        """Consumer -> the wishes that it has not fulfilled since it did something."""
        self._values = KnownValues()

    @property
    def constants(self) -> State:
        """Return the constants of the specification, as the run has them."""
        assert self._cluster is not None
        plan = self._cluster.plan
        return {
            "Replica": names(self._cluster.nodes),
            "Client": tla_set(self._consumers),
            "Queue": queues_value(self._queues),
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
        self._brokers = tuple(map(_name, cluster.nodes))
        self._consumers = {c.state.client_id: c.state for c in cluster.consumers.values()}
        self._leases = {name: self._leases_of(state) for name, state in self._consumers.items()}
        self._votes = {broker: {} for broker in cluster.nodes}
        self._released = dict.fromkeys(cluster.nodes, self._numbers({}))
        self._waits_until = dict.fromkeys(cluster.nodes, 0)
        self._record(cluster, NONE, "Init")

    def stepped(self, cluster: LockCluster, step: LockClusterStep) -> None:
        """Record that time has passed, an action, and the state after it."""
        match step:
            case BrokerStepped():
                self._broker_stepped(cluster, step)
            case BrokerRestarted(broker=broker):
                self.time_passed(cluster)
                self._restarted(cluster, broker)
            case ConsumerStepped():
                self._consumer_stepped(cluster, step)
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
        for queue, seen in sorted(self._votes[broker].items()):
            over = shown_ms - seen.vote.voted_ms >= state.options.life_ms
            if over and not seen.early and self._left_ms(seen, cluster.plan.locks.life_ms) > 0:
                seen.early = True
                self._record(
                    cluster, _name(broker), "ExpireEarly", _name(broker), name_of_queue(queue)
                )
        if self._waits_until[broker] > self._now_ms and remembers(state, shown_ms):
            self._waits_until[broker] = self._now_ms
            self._record(cluster, _name(broker), "WaitLess", _name(broker))

    def _left_ms(self, seen: _SeenVote, life_ms: int) -> int:
        return 0 if seen.early else life_ms - (self._now_ms - seen.given_ms)

    # ---- brokers ----

    def _restarted(self, cluster: LockCluster, broker: BrokerId) -> None:
        node = cluster.nodes[broker]
        self._votes[broker] = {}
        self._released[broker] = self._numbers({})
        waits = not remembers(node.running(), node.clock.shows(cluster.now_ms))
        self._waits_until[broker] = self._now_ms + (cluster.plan.locks.life_ms if waits else 0)
        self._record(cluster, _name(broker), "Restart", _name(broker))

    def _broker_stepped(self, cluster: LockCluster, step: BrokerStepped) -> None:
        """Record what a broker made of a request, and its answer to a consumer."""
        if isinstance(step.event, RequestArrived) and not step.received:
            return  # an outsider's, who is refused
        if isinstance(step.event, RequestArrived):
            self.time_passed(cluster)
            self._requested(cluster, step, step.event.command)
        else:
            self._note_asks(step.sent)
        for answered in self._rounds.answered(step.received, step.sent):
            (frame,) = [frame for frame in step.sent if frame.id == answered.answer]
            client, number = self._requests[answered.request]
            attempt = self._consumers[client].attempt
            if attempt is not None and attempt.number == number:
                self.time_passed(cluster)
                params = (
                    client,
                    queues_value(pull_locked_queues(frame.body)),
                    tla_set(answered.heard),
                )
                self._record(cluster, _name(step.broker), "SendAnswer", *params)

    def _requested(
        self, cluster: LockCluster, step: BrokerStepped, command: RemotingCommand
    ) -> None:
        """Record what a broker made of a request."""
        broker = _name(step.broker)
        self._note_asks(step.sent)
        body = pull_queue_lock(command.body)
        client, asked = body.client_id, command.code == LockCode.LOCK_BATCH_MQ
        arrived = (client, body.attempt, broker, body.queues)
        if asked:
            self._asks.discard((arrived, not body.only_this_broker))
            if not body.only_this_broker:
                self._rounds.asked(broker, step.received[-1], step.sent)
        else:
            self._frees.discard(arrived)
            if cluster.plan.locks.strict and not body.only_this_broker:
                passed_on = {frame.to for frame in step.sent if frame.code == command.code}
                for other in {*map(_name, cluster.nodes)} - passed_on:
                    self._frees.discard((client, body.attempt, other, body.queues))
        attempt = self._consumers[client].attempt
        if asked and attempt is not None and attempt.number == body.attempt:
            for queue in frozenset[MessageQueue]().union(*map(_voted, step.sent)):
                self._yes[client][queue].add(step.broker)
        name = "ReceiveAsk" if asked else "ReceiveFree"
        self._read(cluster)
        self._record(cluster, broker, name, client, broker)

    def _read(self, cluster: LockCluster) -> None:
        """Read the tables of the brokers that run."""
        for broker, node in cluster.nodes.items():
            if node.state is None or node.state is self._read_of.get(broker):
                continue
            self._read_of[broker] = node.state
            before = self._votes[broker]
            votes: dict[MessageQueue, _SeenVote] = {}
            for (_, queue), vote in node.state.votes.items():
                seen = before.get(queue)
                if seen is None or seen.vote is not vote:
                    since_ms = node.clock.shows(self._now_ms) - vote.voted_ms
                    seen = _SeenVote(vote, self._now_ms - since_ms)
                votes[queue] = seen
            self._votes[broker] = votes
            released = {(who, queue): n for (who, (_, queue)), n in node.state.released.items()}
            self._released[broker] = self._numbers(released)

    def _numbers(self, released: Mapping[tuple[str, MessageQueue], int]) -> _Numbers:
        return tuple(
            [tuple([released.get((who, q), 0) for q in self._queues]) for who in self._consumers]
        )

    # ---- consumers ----

    def _consumer_stepped(self, cluster: LockCluster, step: ConsumerStepped) -> None:
        """Record what a consumer did, or that it did nothing where something might be due."""
        state = cluster.consumers[step.consumer].state
        name = state.client_id
        before = self._consumers[name]
        took = consumer_step(step, before, state)
        if took is None:
            self._did_nothing(cluster, step, state)
            return
        self._refrained[name] = set()
        self.time_passed(cluster)
        self._consumers[name] = state
        self._leases[name] = self._leases_of(state)
        params: tuple[Value, ...] = (name, queues_value(took.queues))
        match took.name:
            case "Lock":
                params = (*params, took.at or NONE)
            case "GiveUp":
                params = (name,)
            case "Process":
                params = (name, *map(name_of_queue, took.queues))
            case _:
                pass
        if state.tries != before.tries:
            self._yes[name] = {queue: set() for queue in self._queues}
        for answer in step.processed:
            self._last[answer.queue] = name
        self._note_asks(step.sent)
        self._note_releases(cluster, step.sent)
        for frame in step.sent:
            if frame.code == LockCode.LOCK_BATCH_MQ:
                self._requests[frame.id] = (name, pull_queue_lock(frame.body).attempt)
        self._record(cluster, name, took.name, *params)

    def _did_nothing(
        self, cluster: LockCluster, step: ConsumerStepped, state: ConsumerState
    ) -> None:
        """Record that a consumer made nothing of an answer to its last attempt, or of a wish."""
        name = state.client_id
        for received in step.received:
            if self._requests.get(received.removesuffix(RESPONSE)) == (name, state.tries):
                self.time_passed(cluster)
                self._record(cluster, name, "IgnoreAnswer", name)
        wish = unfulfilled(step.event)
        if wish is not None and wish not in self._refrained.setdefault(name, set()):
            self._refrained[name].add(wish)
            self.time_passed(cluster)
            self._record(cluster, name, "Refrain", name, wish.name, queues_value(wish.queues))

    # ---- frames ----

    def _note_asks(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            if frame.to is not None and frame.code == LockCode.LOCK_BATCH_MQ:
                body = pull_queue_lock(frame.body)
                ask = (body.client_id, body.attempt, frame.to, body.queues)
                self._asks.add((ask, not body.only_this_broker))

    def _note_releases(self, cluster: LockCluster, frames: Iterable[Frame]) -> None:
        """Note what a consumer gives back: the broker that hears it tells the others."""
        for frame in frames:
            if frame.to is not None and frame.code == LockCode.UNLOCK_BATCH_MQ:
                body = pull_queue_lock(frame.body)
                to = [frame.to] if body.only_this_broker else map(_name, cluster.nodes)
                for broker in to:
                    self._frees.add((body.client_id, body.attempt, broker, body.queues))

    # ---- the state ----

    def _record(self, cluster: LockCluster, node: str, action: str, *params: Value) -> None:
        self.events.append(
            Event(
                step=len(self.events),
                action=str(action),
                params=params,
                node=node,
                state=self._state(cluster),
                clock=self._now_ms,
            )
        )

    def _state(self, cluster: LockCluster) -> State:
        life_ms, brokers, consumers = cluster.plan.locks.life_ms, self._brokers, self._consumers
        clients, each = tuple(consumers), self._values.of_each
        votes = [self._votes_left(votes, life_ms) for votes in self._votes.values()]
        released = list(self._released.values())
        waits = list(map(self._after_now, self._waits_until.values()))
        tries = [state.tries for state in consumers.values()]
        attempts = list(map(self._attempt_left, consumers.values()))
        leases = [
            [self._after_now(lease.ends_ms) for lease in leases] for leases in self._leases.values()
        ]
        fresh = list(map(self._fresh, self._leases.values()))
        last = [self._last.get(queue, NONE) for queue in self._queues]
        return {
            "votes": each("votes", brokers, votes, self._votes_value),
            "released": each("released", brokers, released, self._released_value),
            "wait": each("wait", brokers, waits, itself),
            "asks": asks_value(frozenset(self._asks)),
            "frees": frees_value(frozenset(self._frees)),
            "tries": each("tries", clients, tries, itself),
            "attempt": each("attempt", clients, attempts, self._attempt_value),
            "lease": each("lease", clients, leases, self._by_queue),
            "fresh": each("fresh", clients, fresh, queues_value),
            "last": each("last", list(map(name_of_queue, self._queues)), last, itself),
        }

    def _by_queue(self, values: Iterable[Value]) -> Value:
        return record(dict(zip(map(name_of_queue, self._queues), values, strict=True)))

    def _votes_left(self, votes: Mapping[MessageQueue, _SeenVote], life_ms: int) -> list[_VoteLeft]:
        if not votes:
            return [None] * len(self._queues)
        found: list[_VoteLeft] = []
        for seen in map(votes.get, self._queues):
            left_ms = 0 if seen is None else self._left_ms(seen, life_ms)
            if seen is None or left_ms <= 0:
                found.append(None)
            else:
                found.append((seen.vote.client_id, seen.vote.attempt, left_ms))
        return found

    def _votes_value(self, votes: Sequence[_VoteLeft]) -> Value:
        return self._by_queue([NO_VOTE if one is None else vote_value(*one) for one in votes])

    def _released_value(self, numbers: _Numbers) -> Value:
        return record(dict(zip(self._consumers, map(self._by_queue, numbers), strict=True)))

    def _attempt_left(self, consumer: ConsumerState) -> _AttemptLeft:
        attempt = consumer.attempt
        if attempt is None:
            return None
        left_ms = self._after_now(attempt.began_ms + consumer.options.patience_ms + 1)
        yes = tuple(map(frozenset, self._yes[consumer.client_id].values()))
        return attempt.number, attempt.queues, left_ms, yes

    def _attempt_value(self, attempt: _AttemptLeft) -> Value:
        if attempt is None:
            return NO_ATTEMPT
        number, queues, left_ms, yes = attempt
        voters = self._by_queue(map(names, yes))
        return record({"n": number, "qs": queues_value(queues), "left": left_ms, "yes": voters})

    def _leases_of(self, consumer: ConsumerState) -> tuple[_SeenLease, ...]:
        found = map(consumer.leases.get, self._queues)
        return tuple(
            [_NO_LEASE if one is None else _SeenLease(one.ends_ms, one.begun) for one in found]
        )

    def _fresh(self, leases: Iterable[_SeenLease]) -> list[MessageQueue]:
        pairs = zip(self._queues, leases, strict=True)
        return [q for q, one in pairs if one.ends_ms > self._now_ms and not one.begun]

    def _after_now(self, at_ms: int) -> int:
        return max(0, at_ms - self._now_ms)


def _voted(frame: Frame) -> frozenset[MessageQueue]:
    """Return for which queues the sender of a frame has voted: it asks others for these only."""
    if frame.to is None:
        return pull_locked_queues(frame.body)
    return pull_queue_lock(frame.body).queues


def _name(broker: BrokerId) -> str:
    return broker_name(broker)
