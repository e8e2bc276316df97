"""One simulated run: a seed, a cluster, a world full of faults, and then a world without."""

from __future__ import annotations

from random import Random

from rocketha.ha.state import Role
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.phases import run_phases
from rocketha.sim.engine.random_source import SingleStream
from rocketha.sim.engine.report import SimReport
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.epoch_truncation.cluster import Cluster, Observer
from rocketha.sim.epoch_truncation.plan import draw_run
from rocketha.sim.epoch_truncation.workload import Driver

__all__ = ["simulate"]


def simulate(seed: int, options: SimOptions, observer: Observer) -> SimReport:
    """Run a cluster; the same seed and options give the same run, always and everywhere."""
    rng = Random(seed)
    plan = draw_run(rng, options)
    scheduler, counts = Scheduler(), FaultCounts()
    network = Network(scheduler, SingleStream(rng), counts=counts, plan=plan.faults)
    cluster = Cluster(
        brokers=options.brokers,
        plan=plan,
        scheduler=scheduler,
        network=network,
        rng=rng,
        counts=counts,
        observer=observer,
    )
    driver = Driver(cluster, plan, rng)
    failure = run_phases(
        scheduler,
        steps=plan.steps,
        begin=driver.begin,
        heal=driver.heal,
        actions=lambda: cluster.actions,
        converged=lambda: converged(cluster),
    )
    return SimReport(
        seed=seed,
        actions=cluster.actions,
        virtual_ms=scheduler.now_ms,
        faults=counts.by_name(),
        converged=failure is None and converged(cluster),
        failure=failure,
    )


def converged(cluster: Cluster) -> bool:
    """Tell whether all brokers have the bytes of the current master's log, and it knows."""
    if cluster.master is None or len(cluster.up()) < len(cluster.nodes):
        return False
    node = cluster.nodes[cluster.master]
    state = node.running()
    if state.role is not Role.MASTER or state.known_epoch != cluster.epoch:
        return False
    end = node.log.max_phy_offset
    acks = {c.slave_id: c.slave_ack for c in state.servers.values()}
    others = [other for other in cluster.nodes.values() if other is not node]
    if any(acks.get(other.id) != end or other.log.max_phy_offset != end for other in others):
        return False
    bytes_of_master = node.log.read(node.log.min_offset, end)
    return all(other.log.read(other.log.min_offset, end) == bytes_of_master for other in others)
