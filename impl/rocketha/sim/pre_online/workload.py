"""What happens to a group: consumers that commit, messages that are due, brokers that stop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from rocketha.formats.offset_tables import QueueKey, TableKind
from rocketha.histories.clients import OffsetClients
from rocketha.sim.engine.fault_injector import NO_FAULT_PLAN, FaultInjector
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.forged_packets import forge_packet
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import Injection, PerPurposeStreams
from rocketha.sim.pre_online.cluster import RESTART_MS, PreOnlineCluster
from rocketha.sim.pre_online.outsiders import draw_request
from rocketha.sim.pre_online.plan import QUEUES, PreOnlinePlan
from rocketha.types import MASTER, BrokerId

__all__ = ["PreOnlineWorkload"]

_LOOK_MS: Final = 5
"""How often it is looked whether all are there for the first time."""

_OUTSIDER_GAP_MS: Final = 300


class PreOnlineWorkload:
    """Consumers and faults around a cluster, from when all are there for the first time."""

    def __init__(
        self, cluster: PreOnlineCluster, plan: PreOnlinePlan, streams: PerPurposeStreams
    ) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._streams = streams
        self._is_healed = False
        self._is_begun = False
        cluster.network.plan = NO_FAULT_PLAN
        self._injector: FaultInjector[Any] = FaultInjector(
            cluster, streams, is_master=lambda node: node.id == MASTER
        )

    def begin(self) -> None:
        """Start the name server and the slaves, and then everything that repeats."""
        self._cluster.start_name_server()
        for slave in self._cluster.slaves:
            self._cluster.start_broker(slave)
        self._cluster.scheduler.after(_LOOK_MS, self._look)

    def _look(self) -> None:
        """Start the master when its slaves are there, and the rest when it is online."""
        cluster = self._cluster
        master_is_up = cluster.is_up(MASTER)
        if not master_is_up and cluster.group() == frozenset(cluster.slaves):
            cluster.start_broker(MASTER)
        elif master_is_up and self._all_are_there() and self._all_are_connected():
            self._begin()
            return
        cluster.scheduler.after(_LOOK_MS, self._look)

    def _begin(self) -> None:
        plan, injector, cluster = self._plan, self._injector, self._cluster
        self._is_begun = True
        cluster.begin()
        if self._is_healed:
            return
        cluster.network.plan = plan.faults
        handlers: dict[Fault, Callable[[Injection], None]] = {
            **injector.handlers(),
            Fault.FORGED_PACKET: partial(forge_packet, cluster),
        }
        for fault, gap_ms in plan.faults.mean_gap_ms:
            injector.sometimes(gap_ms, handlers[fault], fault)
        injector.sometimes(plan.stop_ms, self._stop, "stop")
        if plan.leave_ms is not None:
            injector.sometimes(plan.leave_ms, self._leave, "leave")
        injector.sometimes(_OUTSIDER_GAP_MS, self._ask_from_outside, "outsider")
        for queue in QUEUES[TableKind.CONSUMER]:
            commit = partial(self._commit, queue)
            injector.sometimes(plan.client_ms, commit, "consumer", f"{queue[0]}:{queue[1]}")
        for _, level in QUEUES[TableKind.DELAY]:
            injector.sometimes(plan.client_ms, partial(self._deliver, level), "message", str(level))

    def heal(self) -> None:
        """End all faults."""
        self._is_healed = self._cluster.is_calm = True
        self._injector.calm_network()
        if self._is_begun:
            self._injector.restart_all()

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def converged(self) -> bool:
        """Tell whether all are there and connected, and the master serves."""
        is_over = self._is_healed and self._is_begun
        return is_over and self._all_are_there() and self._all_are_connected()

    def _all_are_there(self) -> bool:
        cluster = self._cluster
        if len(cluster.up()) < len(cluster.nodes) or cluster.group() != frozenset(cluster.brokers):
            return False
        master = cluster.brokers[MASTER].running()
        slaves = [cluster.brokers[slave].running() for slave in cluster.slaves]
        return master.serves and all(
            not slave.serves and slave.master_address is not None for slave in slaves
        )

    def _all_are_connected(self) -> bool:
        cluster = self._cluster
        links = cluster.brokers[MASTER].running().links
        return all(
            slave in links and cluster.brokers[slave].running().ha.has_reply
            for slave in cluster.slaves
        )

    def unavailable_because(self) -> str | None:
        """Return None: everybody comes back."""
        return None

    def clients(self, *, converged: bool) -> OffsetClients:
        """Return what consumers were told."""
        del converged
        return OffsetClients(tuple(self._cluster.history))

    # ---- what happens ----

    def _brokers_up(self) -> list[BrokerId]:
        return [number for number, node in self._cluster.brokers.items() if node.state is not None]

    def _commit(self, queue: QueueKey, injection: Injection) -> None:
        """Let a consumer commit at a broker of which it has the address."""
        up = self._brokers_up()
        if up:
            broker = injection.rng.choice(up)
            injection.note(f"a consumer commits at {broker_address(broker)}")
            self._cluster.hosted[broker].commit(queue)

    def _deliver(self, level: int, injection: Injection) -> None:
        up = self._brokers_up()
        if up:
            broker = injection.rng.choice(up)
            injection.note(f"a message is due at {broker_address(broker)}")
            self._cluster.hosted[broker].deliver(level)

    def _ask_from_outside(self, injection: Injection) -> None:
        up = self._brokers_up()
        if up:
            broker = injection.rng.choice(up)
            injection.note(f"an outsider asks {broker_address(broker)}")
            self._cluster.hosted[broker].ask_from_outside(draw_request(injection.rng))

    def _stop(self, injection: Injection) -> None:
        """Stop a broker, every other time the master, or a slave that it waits for."""
        cluster, rng = self._cluster, injection.rng
        up = self._brokers_up()
        if not up:
            return
        drawn, is_meant = rng.choice(up), rng.randrange(2) > 0
        broker = MASTER if is_meant and MASTER in up else drawn
        if broker == MASTER and cluster.brokers[MASTER].running().isolated:
            broker = max(up) if is_meant else MASTER
        wait_ms = 1 + rng.randrange(RESTART_MS)
        injection.note(f"{broker_address(broker)} stops, and is back after {wait_ms} ms")
        cluster.stop_for(cluster.brokers[broker], wait_ms)

    def _leave(self, injection: Injection) -> None:
        """Stop a slave that has given its tables to a master that still waits for another one.

        What the master asks the other one fails. So the next answer that it gets of a name server
        lacks who has given its tables, and has who has not.
        """
        cluster = self._cluster
        master = cluster.brokers[MASTER].state
        if master is None or not master.isolated or not master.wanted:
            return
        gave = sorted(master.done.intersection(self._brokers_up()))
        if not gave:
            return
        slave, wait_ms = injection.rng.choice(gave), 1 + injection.rng.randrange(RESTART_MS)
        name = broker_address(slave)
        others = ", ".join(broker_address(other) for other in sorted(master.wanted))
        words = f"{name} has given its tables and stops, connections with {others} break"
        injection.note(f"{words}; {name} is back after {wait_ms} ms")
        cluster.stop_for(cluster.brokers[slave], wait_ms)
        for connection in cluster.network.connections():
            ends = {connection.client, connection.server}
            if MASTER in ends and ends & master.wanted:
                cluster.network.reset(connection, half_open=False)
