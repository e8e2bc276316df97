"""One simulated run of the legacy service: a seed, a cluster, faults, and then a world without."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Final

from rocketha.legacy_ha.state import LegacyMaster, LegacyState
from rocketha.sim.engine.fault_injector import FaultInjector
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.phases import run_phases
from rocketha.sim.engine.random_source import Injection, SingleStream
from rocketha.sim.engine.records import record_count
from rocketha.sim.engine.report import SimReport
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.legacy_replication.cluster import MASTER, LegacyCluster, LegacyObserver
from rocketha.sim.legacy_replication.plan import LegacyPlan, draw_legacy_run

__all__ = ["simulate_legacy"]

_HEALING_ACTIONS: Final = 2_000
"""A slave that is ahead tries again and again, while a producer waits until its time is up."""
_IDLE_MS: Final = (500, 3_000)


def simulate_legacy(seed: int, options: SimOptions, observer: LegacyObserver) -> SimReport:
    """Run a cluster; the same seed and options give the same run, always and everywhere."""
    rng = Random(seed)
    plan = draw_legacy_run(rng, options)
    scheduler, counts = Scheduler(), FaultCounts()
    cluster = LegacyCluster(
        brokers=options.brokers,
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
        converged=lambda: _converged(cluster),
        healing_actions=_HEALING_ACTIONS,
    )
    return SimReport(
        seed=seed,
        actions=cluster.actions,
        virtual_ms=scheduler.now_ms,
        faults=counts.by_name(),
        converged=failure is None and _converged(cluster),
        failure=failure,
    )


class _World:
    """Producers, flush services and faults around a cluster."""

    def __init__(self, cluster: LegacyCluster, plan: LegacyPlan, rng: Random) -> None:
        self._cluster = cluster
        self._plan = plan
        self._idle_until_ms = 0
        self._injector: FaultInjector[LegacyState] = FaultInjector(
            cluster, SingleStream(rng), is_master=lambda node: isinstance(node.state, LegacyMaster)
        )

    def begin(self) -> None:
        plan = self._plan
        handlers = {**self._injector.handlers(), Fault.IDLE_GROUP: self._be_idle}
        self._cluster.begin()
        for node in self._cluster.nodes.values():
            self._injector.every(plan.flush_ms, partial(self._flush, node), "flush", node.id)
        self._injector.sometimes(plan.put_gap_ms, self._put, "put")
        for fault, gap_ms in plan.faults.mean_gap_ms:
            self._injector.sometimes(gap_ms, handlers[fault], fault)

    def heal(self) -> None:
        self._injector.calm_network()
        self._injector.restart_all()

    def _put(self, injection: Injection) -> None:
        node = self._cluster.nodes[MASTER]
        full = record_count(node.log.max_phy_offset) >= self._plan.records_max
        if node.state is not None and not full and self._cluster.now_ms >= self._idle_until_ms:
            self._cluster.put(injection.rng.choice(self._plan.needs))

    def _be_idle(self, injection: Injection) -> None:
        self._cluster.counts.add(Fault.IDLE_GROUP)
        self._idle_until_ms = self._cluster.now_ms + injection.rng.randrange(*_IDLE_MS)

    def _flush(self, node: Node[LegacyState]) -> None:
        if node.state is not None:
            self._cluster.flush(node)


def _converged(cluster: LegacyCluster) -> bool:
    """Tell whether no producer waits, and each slave has the end of the master's log, and it knows.

    A slave that has other bytes than the master was ahead of it once; nothing brings it back.
    """
    master = cluster.master()
    if master is None or master.waiting or len(cluster.up()) < len(cluster.nodes):
        return False
    log = cluster.nodes[MASTER].log
    acks = {end.host: end.slave_ack for end in master.ends.values()}
    for node in cluster.nodes.values():
        begin, end = node.log.min_offset, node.log.max_phy_offset
        size = end - begin
        ahead = end > log.max_phy_offset or node.log.read(begin, size) != log.read(begin, size)
        in_sync = end == log.max_phy_offset and acks.get(broker_address(node.id)) == end
        if node.id != MASTER and not ahead and not in_sync:
            return False
    return True
