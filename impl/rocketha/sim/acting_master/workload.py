"""What happens to groups whose slaves act: clients, brokers that stop, and faults."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any, Final

from rocketha.histories.acting_master import ActingMasterHistory, QueueEvent
from rocketha.histories.clients import ActingMasterClients
from rocketha.histories.escaped import EscapeEvent, Outcome
from rocketha.sim.acting_master.cluster import ActingMasterCluster
from rocketha.sim.acting_master.consumers import READ, Poppers, Readers
from rocketha.sim.acting_master.plan import (
    READERS,
    ActingMasterPlan,
    group_of,
    number_in_group,
)
from rocketha.sim.acting_master.producers import ActingMasterProducers
from rocketha.sim.acting_master.routes import Routes
from rocketha.sim.engine.fault_injector import NO_FAULT_PLAN, FaultInjector
from rocketha.sim.engine.node import FIRST_PRODUCER, Node, broker_address
from rocketha.sim.engine.random_source import Injection, PerPurposeStreams
from rocketha.sim.escape.logged import Logged, LoggedKind
from rocketha.types import MASTER, BrokerId

__all__ = ["ActingMasterWorkload"]

_RESTART_MS: Final = 1_800
_LAST_READS: Final = 5
_FIRST_LOOK_MS: Final = 5
"""How often it is looked whether all are there for the first time."""
_LOOK_MS: Final = 25
"""How often it is looked whether all is well."""


class ActingMasterWorkload:
    """Clients and faults around a cluster."""

    def __init__(
        self, cluster: ActingMasterCluster, plan: ActingMasterPlan, streams: PerPurposeStreams
    ) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        cluster.network.plan = NO_FAULT_PLAN
        self._streams = streams
        self._is_healed = False
        self._is_begun = False
        self._is_well = False
        self._looked_ms = -_LOOK_MS
        self._queues: list[QueueEvent] = []
        self._escaped: list[EscapeEvent] = []
        level_ms = plan.brokers[0][1].services.level_ms
        self._producers = ActingMasterProducers(
            cluster, self._queues, self._escaped, routes=self._routes(), level_ms=level_ms
        )
        self._readers = Readers(cluster, self._queues, self._escaped, self._routes())
        rng = streams.of("acknowledgements")
        self._poppers = Poppers(cluster, plan, self._escaped, self._routes(), rng)
        self._injector: FaultInjector[Any] = FaultInjector(
            cluster,
            streams,
            is_master=lambda node: node.id in cluster.masters,
            may_stop=lambda node: node.id != FIRST_PRODUCER,
        )

    def _routes(self) -> Routes:
        return Routes(self._cluster, poll_ms=self._plan.poll_ms)

    def begin(self) -> None:
        """Start all nodes, and everything that repeats when all are there for the first time."""
        cluster = self._cluster
        for name_server in cluster.name_servers:
            cluster.start_name_server(name_server)
        cluster.start_producer()
        for broker in cluster.brokers:
            cluster.start_broker(broker)
        cluster.scheduler.after(_FIRST_LOOK_MS, self._look)

    def _look(self) -> None:
        if self._all_are_there():
            self._begin()
        else:
            self._cluster.scheduler.after(_FIRST_LOOK_MS, self._look)

    def _begin(self) -> None:
        plan, injector, cluster = self._plan, self._injector, self._cluster
        self._is_begun = True
        for master in cluster.masters:
            group = group_of(master)
            for topic in READ:
                rng = self._streams.of("consumer", group, topic)
                consume = partial(self._consume, group, topic, rng)
                injector.every(plan.client_ms, consume, "consumer", group, topic)
        if self._is_healed:
            return
        cluster.network.plan = plan.faults
        handlers = injector.handlers()
        for fault, gap_ms in plan.faults.mean_gap_ms:
            injector.sometimes(gap_ms, handlers[fault], fault)
        injector.sometimes(plan.stop_ms, self._stop, "stop")
        injector.sometimes(plan.send_ms, self._send, "producer")
        injector.sometimes(plan.pop_ms, self._producers.decide, "decision")
        injector.sometimes(plan.pop_ms, self._poppers.pop, "pop")

    def heal(self) -> None:
        """End all faults, and let producers decide of all that is left; a master may be late."""
        cluster, late = self._cluster, self._plan.late
        self._is_healed = True
        self._injector.calm_network()
        if not self._is_begun:
            return
        if late is not None:
            cluster.away = frozenset({late})
            if cluster.is_up(late):
                cluster.crash(cluster.brokers[late])
            cluster.scheduler.after(_LOOK_MS, self._wait_for_slave)
        self._injector.restart_all()
        self._producers.decide_all()

    def _wait_for_slave(self) -> None:
        """Let the master that is late come back when its slave has nothing left to deliver."""
        cluster = self._cluster
        (late,) = cluster.away
        slave = min(cluster.slaves(late))
        state = cluster.brokers[slave].running().services
        if state.acts and all(one.progress >= len(one.records) for one in state.services):
            cluster.away = frozenset()
            cluster.restart(cluster.brokers[late])
        else:
            cluster.scheduler.after(_LOOK_MS, self._wait_for_slave)

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def converged(self) -> bool:
        """Tell whether all are there, nobody acts, and all that is due was delivered."""
        now_ms = self._cluster.scheduler.now_ms
        if self._is_healed and self._is_begun and now_ms >= self._looked_ms + _LOOK_MS:
            self._looked_ms = now_ms
            self._is_well = (
                self._producers.are_done
                and self._all_are_there()
                and self._all_is_delivered()
                and self._all_is_read()
            )
        return self._is_well

    def _all_are_there(self) -> bool:
        """Tell whether all are registered everywhere, and masters serve and nobody else."""
        cluster = self._cluster
        if len(cluster.up()) < len(cluster.nodes):
            return False
        for master in cluster.masters:
            brokers = [master, *cluster.slaves(master)]
            numbers = frozenset(number_in_group(one) for one in brokers)
            if cluster.registered(group_of(master)) != numbers:
                return False
            end = cluster.brokers[master].files.log.flushed_offset
            for broker in brokers:
                state = cluster.brokers[broker].running()
                if state.services.acts != (broker == master):
                    return False
                if cluster.brokers[broker].files.log.flushed_offset != end:
                    return False
        return True

    def _all_is_delivered(self) -> bool:
        """Tell whether masters have delivered what is due in their logs, and halves have ended."""
        for master in self._cluster.masters:
            state = self._cluster.brokers[master].running()
            if any(one.progress < len(one.records) for one in state.services.services):
                return False
            store = state.store
            if store is None or store.waiting or store.dispatched < state.seen:
                return False
            if any(place >= store.passed_halves for place in store.halves):
                return False
        stored = self._producers.stored & self._producers.committed
        if not stored <= self._readers.read:
            return False
        owed = self._poppers.owed() - self._acknowledged()
        return self._poppers.are_served() and not owed

    def _all_is_read(self) -> bool:
        """Tell whether consumers have read the queues of all masters to their ends."""
        cluster = self._cluster
        for master in cluster.masters:
            tables = cluster.brokers[master].running().tables.tables
            offsets = {
                key: at for one in tables.values() for key, at in one.present.offsets.items()
            }
            for topic in READ:
                at = offsets.get((f"{topic}@{READERS}", 0), 0)
                if at < len(cluster.hosted[master].queue(topic)):
                    return False
        return True

    def unavailable_because(self) -> str | None:
        """Return None: everybody comes back."""
        return None

    def clients(self, *, converged: bool) -> ActingMasterClients:
        """Return what clients saw."""
        excused = frozenset(self._producers.unanswered) | self._acknowledged()
        history = ActingMasterHistory(
            queues=tuple(self._queues),
            escaped=tuple(self._escaped),
            offsets={group: tuple(events) for group, events in self._cluster.history.items()},
            outcome=Outcome(is_well=converged, excused=excused),
            step=self._plan.step,
        )
        return ActingMasterClients(history)

    def _acknowledged(self) -> frozenset[str]:
        """Return the pops of which an ACK is stored."""
        return frozenset(
            one.of
            for master in self._cluster.masters
            for one in self._cluster.hosted[master].log().items
            if isinstance(one, Logged) and one.kind is LoggedKind.ACK
        )

    # ---- what happens ----

    def _consume(self, group: str, topic: str, rng: Random) -> None:
        """Let a consumer process a message, or several when faults are over."""
        for _ in range(_LAST_READS if self._is_healed else 1):
            self._readers.consume(group, topic, rng)

    def _send(self, injection: Injection) -> None:
        if self._producers.sent < self._plan.sends_max:
            self._producers.send(injection)

    def _stop(self, injection: Injection) -> None:
        """Stop a broker, three times out of four a master, and let it come back."""
        cluster, rng = self._cluster, injection.rng
        is_master, drawn = rng.randrange(4) > 0, rng.randrange(1 << 16)
        wait_ms = 1 + rng.randrange(_RESTART_MS)
        up = [
            number
            for number, node in cluster.brokers.items()
            if node.state is not None and (number_in_group(number) == MASTER) == is_master
        ]
        if not up:
            return
        broker: BrokerId = up[drawn % len(up)]
        injection.note(f"{broker_address(broker)} stops, and is back after {wait_ms} ms")
        node: Node[Any] = cluster.brokers[broker]
        cluster.crash(node)
        incarnation = node.incarnation

        def restart() -> None:
            if node.state is None and node.incarnation == incarnation:
                cluster.restart(node)

        cluster.scheduler.after(wait_ms, restart)
