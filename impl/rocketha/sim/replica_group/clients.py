"""Producers and consumers of a simulated group, and what they saw.

A producer has one message at a time, sends it to any broker that says it is master, a zombie or
not, and gives up when there is no answer for long. A consumer pulls from any such broker from where
it was, and now and then from the beginning again. What they see is the history of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from rocketha.broker.effects import AnswerPull, AnswerPut, PutStatus
from rocketha.broker.events import PullRequested, PutRequested
from rocketha.broker.state import GroupBroker, PullId
from rocketha.histories.history import HistoryEvent, Outcome, Put, Seen
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.log_reader import logged_messages, shown_body
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection
from rocketha.sim.engine.records import message_of_epoch, record_count
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.types import BrokerId, Epoch, Offset, PutId

__all__ = ["Clients", "Consumer"]

_LATENCY_MAX_MS: Final = 4
_AGAIN_PERCENT: Final = 10
"""How often a consumer begins again."""
_OUTCOMES: Final = {
    PutStatus.PUT_OK: Outcome.OK,
    PutStatus.FLUSH_DISK_TIMEOUT: Outcome.UNKNOWN,
    PutStatus.FLUSH_SLAVE_TIMEOUT: Outcome.UNKNOWN,
    PutStatus.SLAVE_NOT_AVAILABLE: Outcome.UNKNOWN,
    PutStatus.IN_SYNC_REPLICAS_NOT_ENOUGH: Outcome.FAIL,
    PutStatus.SERVICE_NOT_AVAILABLE: Outcome.FAIL,
}
_BEGINNING: Final = Offset(0)


@dataclass(slots=True)
class _Call:
    """A producer's call that is under way."""

    producer: int
    invoked_ms: int
    injection: Injection
    body: str | None = None
    epoch: Epoch | None = None


@dataclass(slots=True)
class Consumer:
    """A consumer, and how far it is."""

    number: int
    offset: Offset = _BEGINNING
    pull: PullId | None = None
    """The call that is under way."""
    injection: Injection | None = None
    """That of the last call."""


class Clients:
    """All clients of a group; `events` is where their history goes."""

    def __init__(self, cluster: GroupCluster, events: list[HistoryEvent]) -> None:
        """Prepare them; they do nothing by themselves."""
        self.is_lossy = True
        self.consumers = tuple(Consumer(n + 1) for n in range(cluster.plan.consumers))
        self._cluster = cluster
        self._events = events
        self._busy: dict[int, PutId] = {}
        self._calls: dict[PutId, _Call] = {}
        self._messages = 0
        self._pulls = 0
        cluster.attach(self)

    # ---- producers ----

    def produce(self, producer: int, injection: Injection) -> PutId | None:
        """Send the next message of a producer, if it waits for none, and there is a master."""
        if producer in self._busy:
            return None
        node = self._any_master(injection)
        if node is None:
            return None
        self._messages += 1
        put = PutId(self._messages)
        self._busy[producer] = put
        self._calls[put] = _Call(producer, self._cluster.now_ms, injection)
        injection.note(f"producer {producer} sends message {put} to {broker_address(node.id)}")
        self._send(injection, "the request", lambda: self._arrive(node.id, put))
        self._cluster.scheduler.after(
            self._cluster.plan.patience_ms, lambda: self._settle(put, Outcome.UNKNOWN, "no answer")
        )
        return put

    def has_room(self) -> bool:
        """Tell whether all logs have fewer records than producers may write."""
        nodes = self._cluster.nodes.values()
        longest = max(record_count(node.log.max_phy_offset) for node in nodes)
        return longest < self._cluster.plan.records_max

    def _arrive(self, broker: BrokerId, put: PutId) -> None:
        """A request is there; the simulator writes into the message where that is."""
        call = self._calls.get(put)
        if call is None:
            return  # the producer gave up, and its connection with it
        node = self._cluster.nodes[broker]
        if node.state is None:
            self._send(
                call.injection,
                "the answer",
                lambda: self._settle(put, Outcome.FAIL, "nobody listens"),
            )
            return
        call.epoch = node.state.ha.known_epoch
        message = message_of_epoch(call.epoch, put)
        call.body = shown_body(message.body)
        self._cluster.call(broker, PutRequested(put=put, message=message))

    def put_answered(self, broker: BrokerId, answer: AnswerPut) -> None:
        """Carry an answer to its producer."""
        del broker
        outcome, call = _OUTCOMES[answer.status], self._calls.get(answer.put)
        if call is not None:
            self._send(
                call.injection,
                "the answer",
                lambda: self._settle(answer.put, outcome, answer.status, answer.offset),
            )

    def _settle(
        self, put: PutId, outcome: Outcome, status: str, offset: Offset | None = None
    ) -> None:
        call = self._calls.pop(put, None)
        if call is None:
            return
        del self._busy[call.producer]
        given_up = outcome is Outcome.UNKNOWN and offset is None
        self._events.append(
            Put(
                producer=call.producer,
                body=call.body,
                epoch=call.epoch,
                invoked_ms=call.invoked_ms,
                answered_ms=None if given_up else self._cluster.now_ms,
                outcome=outcome,
                status=str(status),
                offset=offset,
            )
        )

    # ---- consumers ----

    def consume(self, consumer: Consumer, injection: Injection) -> None:
        """Look for more, if the consumer waits for nothing, and there is a master."""
        if consumer.pull is not None:
            return
        node = self._any_master(injection)
        if node is None:
            return
        if injection.rng.randrange(100) < _AGAIN_PERCENT:
            consumer.offset = _BEGINNING
        self._pulls += 1
        pull, broker, offset = PullId(self._pulls), node.id, consumer.offset
        consumer.pull, consumer.injection = pull, injection
        injection.note(f"consumer {consumer.number} pulls from {broker_address(broker)}")
        self._send(injection, "the request", lambda: self._ask(broker, pull, offset))

        def give_up() -> None:
            if consumer.pull == pull:
                consumer.pull = None

        self._cluster.scheduler.after(self._cluster.plan.patience_ms, give_up)

    def _ask(self, broker: BrokerId, pull: PullId, offset: Offset) -> None:
        if self._cluster.nodes[broker].state is not None:
            self._cluster.call(broker, PullRequested(pull=pull, offset=offset))

    def pull_answered(self, broker: BrokerId, answer: AnswerPull) -> None:
        """Carry what a broker shows to its consumer."""
        epoch = self._cluster.nodes[broker].running().ha.known_epoch
        for consumer in self.consumers:
            if consumer.pull == answer.pull and consumer.injection is not None:
                see = partial(self._see, consumer, broker, epoch, answer)
                self._send(consumer.injection, "the answer", see)

    def _see(self, consumer: Consumer, broker: BrokerId, epoch: Epoch, answer: AnswerPull) -> None:
        if consumer.pull != answer.pull:
            return  # the consumer gave up
        consumer.pull = None
        for message in logged_messages(answer.data or b"", answer.offset):
            self._events.append(
                Seen(
                    consumer=consumer.number,
                    at_ms=self._cluster.now_ms,
                    broker=broker,
                    epoch=epoch,
                    message=message,
                )
            )
        consumer.offset = Offset(answer.offset + len(answer.data or b""))

    # ---- both ----

    def _any_master(self, injection: Injection) -> Node[GroupBroker] | None:
        masters = [node for node in self._cluster.up() if node.running().is_master]
        return injection.rng.choice(masters) if masters else None

    def _send(self, injection: Injection, what: str, deliver: Callable[[], None]) -> None:
        percent = self._cluster.plan.client_loss_percent if self.is_lossy else 0
        if percent and injection.rng.randrange(100) < percent:
            words = f"{what} of {injection.point.whose} is lost"
            if injection.part(Fault.CLIENT_LOSS, words):
                self._cluster.counts.add(Fault.CLIENT_LOSS)
                return
        self._cluster.scheduler.after(1 + injection.rng.randrange(_LATENCY_MAX_MS), deliver)
