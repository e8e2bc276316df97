"""What happens to brokers with queue locks: consumers, their messages, and faults."""

from __future__ import annotations

from functools import partial
from typing import Final

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.histories.clients import OrderlyConsumers
from rocketha.locks.state import LockManagerState
from rocketha.sim.engine.fault_injector import FaultInjector
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.random_source import Injection, PerPurposeStreams
from rocketha.sim.lock_quorum.borders import Borders
from rocketha.sim.lock_quorum.cluster import Consumer, LockCluster
from rocketha.sim.lock_quorum.plan import LIFE_MS, LockPlan

__all__ = ["LockWorkload"]

_CUT_OFF_MS: Final = (100, 2 * LIFE_MS)
_WANTING_NOTHING_PERCENT: Final = 25
_OUTSIDER_GAP_MS: Final = 1_000


class LockWorkload:
    """What consumers want, their messages, and faults around a cluster."""

    def __init__(self, cluster: LockCluster, plan: LockPlan, streams: PerPurposeStreams) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._streams = streams
        self._eager = list(cluster.consumers.values())[: plan.eager]
        self._wanted = cluster.queues[: plan.wanted]
        self._finished_before: dict[MessageQueue, int] | None = None
        self._borders = Borders(cluster, self._eager)
        self._injector: FaultInjector[LockManagerState] = FaultInjector(
            cluster, streams, is_master=lambda node: node.id == min(cluster.nodes)
        )

    def begin(self) -> None:
        """Let consumers want queues, and start everything that repeats."""
        plan, cluster = self._plan, self._cluster
        handlers = self._injector.handlers()
        if Fault.CLOCK_SKEW in plan.faults:
            cluster.counts.add(Fault.CLOCK_SKEW)
        for consumer in self._eager:
            name = consumer.state.client_id
            cluster.want(consumer, frozenset(self._wanted))
            rng = self._streams.of("first lock", name)
            cluster.lock_later(consumer, 1 + rng.randrange(plan.retry_ms))
            self._injector.every(plan.process_ms, partial(self._process, consumer), "process", name)
            change = partial(self._change, consumer)
            self._injector.sometimes(plan.change_ms, change, "change", name)
        for fault, gap_ms in plan.faults.mean_gap_ms:
            self._injector.sometimes(gap_ms, handlers[fault], fault)
        if plan.border_ms is not None:
            self._injector.sometimes(plan.border_ms, self._borders.meet, "end")
        self._injector.sometimes(_OUTSIDER_GAP_MS, self._ask_from_outside, "outsider")
        if plan.client_loss_ms is not None:
            self._injector.sometimes(plan.client_loss_ms, self._cut_off, Fault.CLIENT_LOSS)

    def heal(self) -> None:
        """End all faults; who wants queues wants all of them."""
        cluster = self._cluster
        cluster.calm = True
        self._injector.calm_network()
        self._injector.restart_all()
        for consumer in self._eager:
            cluster.want(consumer, frozenset(self._wanted))
        self._finished_before = cluster.finished.copy()

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def converged(self) -> bool:
        """Tell whether somebody has gone on with each wanted queue since the faults ended."""
        before = self._finished_before
        finished = self._cluster.finished
        return before is not None and all(finished[q] > before[q] for q in self._wanted)

    def unavailable_because(self) -> str | None:
        """Return None: a majority is there."""
        return None

    def clients(self, *, converged: bool) -> OrderlyConsumers:
        """Return what consumers have processed."""
        del converged
        return OrderlyConsumers(tuple(self._cluster.history))

    # ---- what happens ----

    def _process(self, consumer: Consumer) -> None:
        for queue in self._wanted:
            self._cluster.process(consumer, queue)

    def _change(self, consumer: Consumer, injection: Injection) -> None:
        queues = self._wanted
        if injection.rng.randrange(100) < _WANTING_NOTHING_PERCENT:
            wanted = frozenset(injection.rng.sample(queues, len(queues) - 1))
        else:
            wanted = frozenset(queues)
        numbers = ", ".join(str(queue.queue_id) for queue in queues if queue in wanted)
        injection.note(f"{consumer.state.client_id} wants queues {numbers or 'no more'}")
        self._cluster.want(consumer, wanted)

    def _ask_from_outside(self, injection: Injection) -> None:
        injection.note("an outsider asks for what is refused")
        self._cluster.ask_from_outside(injection.rng)

    def _cut_off(self, injection: Injection) -> None:
        """Let a consumer and the brokers not hear each other for a while."""
        cluster = self._cluster
        consumer = injection.rng.choice(self._eager)
        cluster.counts.add(Fault.CLIENT_LOSS)
        for broker in cluster.nodes:
            cluster.network.block(consumer.id, broker)
            cluster.network.block(broker, consumer.id)

        def end() -> None:
            for broker in cluster.nodes:
                cluster.network.unblock(consumer.id, broker)
                cluster.network.unblock(broker, consumer.id)

        wait_ms = injection.rng.randrange(*_CUT_OFF_MS)
        name = consumer.state.client_id
        injection.note(f"nothing comes through {name} <-> brokers for {wait_ms} ms")
        cluster.scheduler.after(wait_ms, end)
