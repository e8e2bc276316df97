"""The very millisecond at which something ends: a vote, a lease, patience, the wait after a start.

Chance seldom meets it. So messages are held up and delivered in that millisecond, or in the one
beside it, and a consumer does then what it may do no more, or may do again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.locks.consumer import LockWanted, UnlockWanted
from rocketha.locks.state import LockManagerState
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection
from rocketha.sim.lock_quorum.cluster import Consumer, LockCluster
from rocketha.types import BrokerId

__all__ = ["Borders"]

_BEFORE_MS: Final = 30
"""So long before the end a consumer asks, whose request or answer is held up."""


class Borders:
    """Lets something happen when something else ends."""

    def __init__(self, cluster: LockCluster, eager: Sequence[Consumer]) -> None:
        """Take the consumers that want queues."""
        self._cluster = cluster
        self._eager = eager

    def meet(self, injection: Injection) -> None:
        """Choose an end that comes, and what happens then."""
        rng = injection.rng
        happens = (
            self._patience,
            self._wait,
            self._vote,
            self._lease,
            self._renew,
            self._unlock,
        )
        rng.choice(happens)(injection)

    # ---- ends, and a lease that is renewed or given up long before its end ----

    def _patience(self, injection: Injection) -> None:
        """Let an answer arrive when its consumer's patience ends; it may want others before.

        In the millisecond in which it is too late it comes before the alarm.
        """
        rng, cluster = injection.rng, self._cluster
        consumer = rng.choice(self._eager)
        if consumer.state.attempt is not None or not consumer.wanted:
            return
        patience_ms = cluster.plan.consumer.patience_ms
        end_ms = cluster.now_ms + patience_ms + rng.randrange(2)
        self._hold(cluster.nodes, [consumer.id], until_ms=end_ms)
        cluster.lock(consumer)
        wishes = (UnlockWanted(consumer.wanted), LockWanted(consumer.wanted))
        wish, wait_ms = rng.choice(wishes), rng.randrange(patience_ms)
        cluster.scheduler.after(wait_ms, lambda: cluster.consume(consumer, wish))
        injection.note(f"{_name(consumer)} hears nobody until {end_ms} ms")

    def _wait(self, injection: Injection) -> None:
        """Let a broker be asked when it votes again after its start."""
        life_ms = self._cluster.plan.locks.life_ms
        ends = [
            (node, node.clock.when(node.running().started_ms + life_ms))
            for node in self._cluster.up()
        ]
        coming = [(node, at_ms) for node, at_ms in ends if at_ms > self._soon_ms]
        if coming:
            node, at_ms = injection.rng.choice(coming)
            at_ms -= injection.rng.randrange(2)
            consumer = injection.rng.choice(self._eager)
            self._ask_at(consumer, node, at_ms)
            injection.note(f"{_name(consumer)} asks {broker_address(node.id)} at {at_ms} ms")

    def _vote(self, injection: Injection) -> None:
        """Let a vote come to its end, and its broker be asked by another consumer then."""
        rng = injection.rng
        voters = [node for node in self._cluster.up() if node.running().votes]
        if not voters:
            return
        node = rng.choice(voters)
        vote = rng.choice(list(node.running().votes.values()))
        end_ms = node.clock.when(vote.voted_ms + self._cluster.plan.locks.life_ms)
        others = [one for one in self._eager if one.state.client_id != vote.client_id]
        if end_ms <= self._soon_ms or not others:
            return
        end_ms -= rng.randrange(2)
        holders = [one.id for one in self._eager if one.state.client_id == vote.client_id]
        self._hold(holders, self._cluster.nodes, until_ms=end_ms + 1)
        self._ask_at(rng.choice(others), node, end_ms)
        words = f"nothing of {vote.client_id} comes through until a vote is over at {end_ms} ms"
        injection.note(words)

    def _lease(self, injection: Injection) -> None:
        """Let a lease come to its end, and its consumer do something then."""
        rng, now_ms = injection.rng, self._cluster.now_ms
        found = [
            (consumer, queue, lease.ends_ms)
            for consumer in self._eager
            for queue, lease in consumer.state.leases.items()
            if lease.ends_ms > now_ms + 2 * self._cluster.plan.consumer.patience_ms
        ]
        if not found:
            return
        consumer, queue, ends_ms = rng.choice(found)
        end_ms = ends_ms - rng.randrange(2)
        self._hold(self._cluster.nodes, [consumer.id], until_ms=end_ms)
        what = rng.choice(("processes", "unlocks", "gives up", "hears an answer"))
        self._at_end(what, consumer, queue, end_ms)
        injection.note(f"{_name(consumer)} {what} when its lease ends at {end_ms} ms")

    def _renew(self, injection: Injection) -> None:
        """Let a consumer renew a lease under which it has processed nothing."""
        now_ms = self._cluster.now_ms
        found = [
            consumer
            for consumer in self._eager
            if any(not one.begun and one.ends_ms > now_ms for one in consumer.state.leases.values())
        ]
        if found:
            consumer = injection.rng.choice(found)
            injection.note(f"{_name(consumer)} renews its leases at once")
            self._cluster.lock(consumer)

    def _unlock(self, injection: Injection) -> None:
        """Let a consumer give up what it holds."""
        cluster, now_ms = self._cluster, self._cluster.now_ms
        found = [
            consumer
            for consumer in self._eager
            if any(lease.ends_ms > now_ms for lease in consumer.state.leases.values())
        ]
        if found:
            consumer = injection.rng.choice(found)
            injection.note(f"{_name(consumer)} gives up its queues at once")
            cluster.consume(consumer, UnlockWanted(frozenset(cluster.queues)))

    def _at_end(self, what: str, consumer: Consumer, queue: MessageQueue, end_ms: int) -> None:
        cluster = self._cluster
        left_ms = end_ms - cluster.now_ms
        match what:
            case "processes":
                cluster.scheduler.after(left_ms, lambda: cluster.process(consumer, queue))
            case "unlocks":
                wish = UnlockWanted(frozenset({queue}))
                cluster.scheduler.after(left_ms, lambda: cluster.consume(consumer, wish))
            case "gives up":
                cluster.lock_later(consumer, left_ms - cluster.plan.consumer.patience_ms - 1)
            case _:
                cluster.lock_later(consumer, left_ms - _BEFORE_MS)

    # ---- how ----

    @property
    def _soon_ms(self) -> int:
        return self._cluster.now_ms + 2 * _BEFORE_MS

    def _ask_at(self, consumer: Consumer, node: Node[LockManagerState], at_ms: int) -> None:
        """Let a consumer ask, and whatever is sent to a broker arrive at a time."""
        cluster = self._cluster

        def ask() -> None:
            self._hold((*cluster.nodes, *cluster.consumers), [node.id], until_ms=at_ms)
            cluster.lock(consumer)

        cluster.scheduler.after(at_ms - _BEFORE_MS - cluster.now_ms, ask)

    def _hold(
        self, senders: Iterable[BrokerId], receivers: Iterable[BrokerId], *, until_ms: int
    ) -> None:
        """Let nothing through until a time, and all that has waited at once then."""
        network, receivers = self._cluster.network, tuple(receivers)
        if self._cluster.calm:
            return
        ways = [(one, other) for one in senders for other in receivers if one != other]
        for way in ways:
            network.block(*way)

        def release() -> None:
            for way in ways:
                network.unblock(*way)

        self._cluster.scheduler.after(until_ms - self._cluster.now_ms, release)


def _name(consumer: Consumer) -> str:
    return consumer.state.client_id
