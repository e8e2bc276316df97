"""What happens around a slave that acts: clients, faults, and who is there in the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rocketha.formats.due_messages import ROLLED_BACK, key_of
from rocketha.histories.clients import EscapeClients
from rocketha.histories.escaped import Again, MessageRead, Outcome
from rocketha.sim.engine.fault_injector import NO_FAULT_PLAN, FaultInjector
from rocketha.sim.engine.node import FIRST_PRODUCER, Node, broker_address
from rocketha.sim.engine.random_source import Injection, PerPurposeStreams
from rocketha.sim.escape.clients import EscapeConsumers
from rocketha.sim.escape.cluster import EscapeCluster
from rocketha.sim.escape.logged import Logged, LoggedKind
from rocketha.sim.escape.plan import NEIGHBOUR, SLAVE, EscapePlan
from rocketha.types import MASTER, BrokerId

__all__ = ["EscapeWorkload"]

_RESTART_MS: Final = 900
_LOOK_MS: Final = 5
"""How often it is looked whether all are there for the first time."""
_THERE_MS: Final = 900
"""How long somebody else may act."""
_OUTSIDER_GAP_MS: Final = 300


class EscapeWorkload:
    """Clients and faults around a cluster, from when all are there for the first time."""

    def __init__(
        self, cluster: EscapeCluster, plan: EscapePlan, streams: PerPurposeStreams
    ) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._streams = streams
        self._is_healed = False
        self._is_begun = False
        self._consumers = EscapeConsumers(cluster, plan)
        cluster.network.plan = NO_FAULT_PLAN
        self._injector: FaultInjector[Any] = FaultInjector(
            cluster,
            streams,
            is_master=lambda node: node.id == SLAVE,
            may_stop=lambda node: node.id != FIRST_PRODUCER,
            may_lose_power=lambda node, _: node.id not in cluster.local,
        )

    def begin(self) -> None:
        """Start all but the slave, and then everything that repeats."""
        cluster = self._cluster
        cluster.start_name_server()
        cluster.start_producer()
        cluster.start_registering(NEIGHBOUR)
        for number in cluster.masters:
            cluster.start_master(number)
        for number in cluster.others:
            cluster.start_registering(number)
        cluster.scheduler.after(_LOOK_MS, self._look)

    def _look(self) -> None:
        """Start the slave when its neighbour and masters are there, and the rest when it is."""
        cluster = self._cluster
        if cluster.slave.state is None:
            if self._all_are_registered():
                cluster.start_slave()
        elif cluster.slave.running().known == frozenset(self._plan.slave.masters):
            self._begin()
            return
        cluster.scheduler.after(_LOOK_MS, self._look)

    def _all_are_registered(self) -> bool:
        cluster = self._cluster
        registered = all(MASTER in cluster.registered(name) for name in self._plan.slave.masters)
        own = cluster.registered(self._plan.slave.acting.broker_name)
        return registered and NEIGHBOUR in own

    def _begin(self) -> None:
        plan, injector, cluster = self._plan, self._injector, self._cluster
        self._is_begun = True
        cluster.begin()
        cluster.crash(cluster.neighbour)
        if self._is_healed:
            self._settle()
            return
        cluster.network.plan = plan.faults
        handlers = injector.handlers()
        for fault, gap_ms in plan.faults.mean_gap_ms:
            injector.sometimes(gap_ms, handlers[fault], fault)
        injector.sometimes(plan.stop_ms, self._stop, "stop")
        injector.sometimes(plan.neighbour_ms, self._neighbour, "neighbour")
        injector.sometimes(plan.client_ms, self._consumers.pop, "consumer")
        injector.sometimes(2 * plan.client_ms, self._consumers.decide, "producer")
        injector.sometimes(_OUTSIDER_GAP_MS, self._ask_from_outside, "outsider")

    def heal(self) -> None:
        """End all faults: all come back but the neighbour, and who stays away."""
        self._is_healed = True
        self._injector.calm_network()
        if self._is_begun:
            self._settle()

    def _settle(self) -> None:
        cluster, gone = self._cluster, self._plan.gone
        cluster.away = frozenset({NEIGHBOUR} if gone is None else {NEIGHBOUR, gone})
        for node in cluster.nodes.values():
            if node.id in cluster.away and node.state is not None:
                cluster.crash(node)
            else:
                cluster.restart(node)
        self._consumers.decide_all()
        self._consumers.settle()

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def converged(self) -> bool:
        """Tell whether what is due was delivered, or lies with who stays away."""
        if not (self._is_healed and self._is_begun):
            return False
        cluster = self._cluster
        if any(
            cluster.nodes[number].state is None for number in cluster.nodes.keys() - cluster.away
        ):
            return False
        slave = cluster.slave.running()
        if not slave.acts or slave.pops or cluster.hosted_slave.has_waiting:
            return False
        if any(one.progress != one.saved for one in slave.services):
            return False
        if not (self._all_is_passed() and self._consumers.are_served()):
            return False
        return self._halves_are_done() and self._pops_are_done()

    def _all_is_passed(self) -> bool:
        """Tell whether all is passed, but for what nobody may be given."""
        slave = self._cluster.slave.running()
        waits = self._plan.released and not slave.targets
        return all(
            not one.under and (one.progress == len(one.records) or (waits and not one.is_half))
            for one in slave.services
        )

    def _halves_are_done(self) -> bool:
        read = {one.key for one in self._consumers.events if isinstance(one, MessageRead)}
        decided = self._cluster.producer.running().decided
        done = read | self._with_gone() | self._lost(decided.keys())
        return decided.keys() >= self._consumers.open_halves and all(
            how == ROLLED_BACK or key in done for key, how in decided.items()
        )

    def _lost(self, halves: Iterable[str]) -> frozenset[str]:
        """Return half messages that are passed and no master has: released programs do that."""
        if not self._plan.released:
            return frozenset()
        has = [self._logged(number, LoggedKind.HALF) for number in self._cluster.masters]
        return frozenset(halves).difference(*has)

    def _pops_are_done(self) -> bool:
        """Tell whether each check point of the slave has an ACK, or is revived."""
        again = {one.pop for one in self._consumers.events if isinstance(one, Again)}
        gone = self._with_gone()
        ours = f"@{self._plan.slave.acting.broker_name}"
        for number in self._cluster.masters:
            if number != self._plan.gone:
                acks = self._logged(number, LoggedKind.ACK)
                points = self._logged(number, LoggedKind.CHECK_POINT)
                if any(one.endswith(ours) for one in points - acks - again - gone):
                    return False
        return True

    def unavailable_because(self) -> str | None:
        """Return None: everything that is due is done with."""
        return None

    def clients(self, *, converged: bool) -> EscapeClients:
        """Return what clients saw."""
        acks = [self._logged(number, LoggedKind.ACK) for number in self._cluster.masters]
        excused = self._with_gone().union(self._not_passed(), *acks)
        outcome = Outcome(is_well=converged, excused=excused)
        return EscapeClients(tuple(self._consumers.events), outcome)

    def _with_gone(self) -> frozenset[str]:
        """Return what lies with the master that stays away: half messages and check points."""
        gone = self._plan.gone
        if gone is None:
            return frozenset()
        return self._logged(gone, LoggedKind.HALF, LoggedKind.CHECK_POINT)

    def _not_passed(self) -> frozenset[str]:
        """Return what the slave has not passed: its own master puts that when it is back."""
        slave = self._cluster.slave.state
        services = () if slave is None else slave.services
        return frozenset(
            key_of(one.message) or ""
            for service in services
            for one in service.records[service.progress :]
        )

    def _logged(self, master: BrokerId, *kinds: LoggedKind) -> frozenset[str]:
        """Return of what there are records of these kinds in the log of a master."""
        items = self._cluster.hosted_masters[master].log().items
        return frozenset(one.of for one in items if isinstance(one, Logged) and one.kind in kinds)

    # ---- what happens ----

    def _stop(self, injection: Injection) -> None:
        """Stop the slave, or a master, and let it come back."""
        cluster, rng = self._cluster, injection.rng
        masters = [number for number, node in cluster.masters.items() if node.state is not None]
        drawn, is_slave = rng.randrange(1 << 16), rng.randrange(3) == 0
        wait_ms = 1 + rng.randrange(_RESTART_MS)
        if is_slave and cluster.slave.state is not None:
            self._stop_for(SLAVE, wait_ms, injection)
        elif masters:
            self._stop_for(masters[drawn % len(masters)], wait_ms, injection)

    def _neighbour(self, injection: Injection) -> None:
        """Let a slave with a smaller brokerId be there for a while."""
        cluster = self._cluster
        wait_ms = 200 + injection.rng.randrange(_THERE_MS)
        if cluster.neighbour.state is not None:
            return
        injection.note(f"{broker_address(NEIGHBOUR)} is there for {wait_ms} ms")
        cluster.start_registering(NEIGHBOUR)
        incarnation = cluster.neighbour.incarnation

        def stop() -> None:
            node = cluster.neighbour
            if node.state is not None and node.incarnation == incarnation:
                cluster.crash(node)

        cluster.scheduler.after(wait_ms, stop)

    def _ask_from_outside(self, injection: Injection) -> None:
        asked = self._cluster.ask_from_outside(injection.rng)
        injection.note(f"an outsider asks {broker_address(asked)} for what is refused")

    def _stop_for(self, number: BrokerId, wait_ms: int, injection: Injection) -> None:
        cluster = self._cluster
        injection.note(f"{broker_address(number)} stops, and is back after {wait_ms} ms")
        node: Node[Any] = cluster.nodes[number]
        cluster.crash(node)
        incarnation = node.incarnation

        def restart() -> None:
            if node.state is None and node.incarnation == incarnation:
                cluster.restart(node)

        cluster.scheduler.after(wait_ms, restart)
