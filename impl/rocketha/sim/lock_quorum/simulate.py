"""One simulated run of queue locks: a seed, a cluster, faults, and then a world without."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.histories.ordered import Processed
from rocketha.locks.state import LockManagerState
from rocketha.sim.engine.fault_injector import FaultInjector
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.phases import run_phases
from rocketha.sim.engine.random_source import Injection, SingleStream
from rocketha.sim.engine.report import SimReport
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.lock_quorum.cluster import Consumer, LockCluster, LockObserver
from rocketha.sim.lock_quorum.plan import LIFE_MS, LockPlan, draw_lock_run

__all__ = ["LockRun", "simulate_locks"]

_HEALING_ACTIONS: Final = 500
_CUT_OFF_MS: Final = (100, 2 * LIFE_MS)
_WANTING_NOTHING_PERCENT: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRun:
    """What came out of a run."""

    report: SimReport
    history: tuple[Processed, ...]


def simulate_locks(seed: int, options: SimOptions, observer: LockObserver) -> LockRun:
    """Run a cluster; the same seed and options give the same run, always and everywhere."""
    rng = Random(seed)
    plan = draw_lock_run(rng, options)
    scheduler, counts = Scheduler(), FaultCounts()
    cluster = LockCluster(
        plan=plan,
        scheduler=scheduler,
        network=Network(scheduler, SingleStream(rng), counts=counts, plan=plan.faults),
        rng=rng,
        counts=counts,
        observer=observer,
    )
    world = _World(cluster, plan, rng)
    failure = run_phases(
        scheduler,
        steps=plan.steps,
        begin=world.begin,
        heal=world.heal,
        actions=lambda: cluster.actions,
        converged=world.converged,
        healing_actions=_HEALING_ACTIONS,
    )
    report = SimReport(
        seed=seed,
        actions=cluster.actions,
        virtual_ms=scheduler.now_ms,
        faults=counts.by_name(),
        converged=failure is None and world.converged(),
        failure=failure,
    )
    return LockRun(report=report, history=tuple(cluster.history))


class _World:
    """What consumers want, their messages, and faults around a cluster."""

    def __init__(self, cluster: LockCluster, plan: LockPlan, rng: Random) -> None:
        self._cluster = cluster
        self._plan = plan
        self._rng = rng
        self._eager = list(cluster.consumers.values())[: plan.eager]
        self._wanted = cluster.queues[: plan.wanted]
        self._finished_before: dict[MessageQueue, int] | None = None
        self._injector: FaultInjector[LockManagerState] = FaultInjector(
            cluster, SingleStream(rng), is_master=lambda node: node.id == min(cluster.nodes)
        )

    def begin(self) -> None:
        plan, cluster = self._plan, self._cluster
        handlers = self._injector.handlers()
        if Fault.CLOCK_SKEW in plan.faults:
            cluster.counts.add(Fault.CLOCK_SKEW)
        for consumer in self._eager:
            name = consumer.state.client_id
            cluster.want(consumer, frozenset(self._wanted))
            cluster.lock_later(consumer, 1 + self._rng.randrange(plan.retry_ms))
            self._injector.every(plan.process_ms, partial(self._process, consumer), "process", name)
            change = partial(self._change, consumer)
            self._injector.sometimes(plan.change_ms, change, "change", name)
        for fault, gap_ms in plan.faults.mean_gap_ms:
            self._injector.sometimes(gap_ms, handlers[fault], fault)
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

    def converged(self) -> bool:
        """Tell whether somebody has gone on with each wanted queue since the faults ended."""
        before = self._finished_before
        finished = self._cluster.finished
        return before is not None and all(finished[q] > before[q] for q in self._wanted)

    def _process(self, consumer: Consumer) -> None:
        for queue in self._wanted:
            self._cluster.process(consumer, queue)

    def _change(self, consumer: Consumer, injection: Injection) -> None:
        queues = self._wanted
        if injection.rng.randrange(100) < _WANTING_NOTHING_PERCENT:
            wanted = frozenset(injection.rng.sample(queues, len(queues) - 1))
        else:
            wanted = frozenset(queues)
        self._cluster.want(consumer, wanted)

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

        cluster.scheduler.after(injection.rng.randrange(*_CUT_OFF_MS), end)
