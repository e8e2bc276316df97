"""What happens to brokers and name servers: elections, clients, brokers that stop, and faults."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from rocketha.histories.clients import RouteClients
from rocketha.sim.engine.fault_injector import FaultInjector
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import Injection, PerPurposeStreams
from rocketha.sim.route.cluster import RouteCluster
from rocketha.sim.route.plan import BROKER_NAME, RoutePlan
from rocketha.types import MASTER

__all__ = ["RouteWorkload"]

_RESTART_MS: Final = 600
_OUTSIDER_GAP_MS: Final = 700
_VERSION_GAP_MS: Final = 500
_OTHERS_GAP_MS: Final = 600
_OWN: Final = (Fault.RE_ELECTION,)


class RouteWorkload:
    """Elections, clients and faults around a cluster."""

    def __init__(self, cluster: RouteCluster, plan: RoutePlan, streams: PerPurposeStreams) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._streams = streams
        self._is_healed = False
        self._injector: FaultInjector[Any] = FaultInjector(
            cluster, streams, is_master=lambda node: node.id == cluster.master
        )

    def begin(self) -> None:
        """Let clients ask, and start everything that repeats."""
        plan, injector = self._plan, self._injector
        handlers = injector.handlers()
        if Fault.SLOW_POLL in plan.faults:
            self._cluster.counts.add(Fault.SLOW_POLL)
        for fault, gap_ms in plan.faults.mean_gap_ms:
            if fault not in _OWN:
                injector.sometimes(gap_ms, handlers[fault], fault)
        if plan.elect_ms is not None:
            injector.sometimes(plan.elect_ms, self._elect, Fault.RE_ELECTION)
        injector.sometimes(plan.stop_ms, self._shut_down, "shutdown")
        injector.sometimes(_OUTSIDER_GAP_MS, self._ask_from_outside, "outsider")
        injector.sometimes(_VERSION_GAP_MS, self._ask_version, "version")
        injector.sometimes(_OTHERS_GAP_MS, self._others, "others")
        for name_server in plan.name_servers:
            ask = partial(self._cluster.ask_route, name_server)
            injector.every(plan.client_ms, ask, "client", broker_address(name_server))

    def heal(self) -> None:
        """End all faults; the master may stay away."""
        cluster = self._cluster
        self._is_healed = True
        self._injector.calm_network()
        if self._plan.ends_without_master:
            cluster.gone = cluster.master
            if cluster.is_up(cluster.master):
                cluster.crash(cluster.nodes[cluster.master])
        self._injector.restart_all()

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def converged(self) -> bool:
        """Tell whether each name server knows who is there, and whoever is to serve does."""
        return self._is_healed and self._routes_are_right() and self._services_are_right()

    def _routes_are_right(self) -> bool:
        cluster = self._cluster
        expected = {
            MASTER if number == cluster.master else number: broker_address(number)
            for number in cluster.brokers
            if number != cluster.gone
        }
        for node in cluster.name_servers.values():
            group = node.running().groups.get(BROKER_NAME)
            if group is None:
                return False
            found = {broker_id: one.address for broker_id, one in group.brokers.items()}
            if found != expected:
                return False
            if cluster.gone is None:
                expects_masked = False
            elif group.acting:
                expects_masked = True
            else:
                continue  # whoever asks for no acting slave keeps what the master said
            if group.masked != expects_masked:
                return False
        return True

    def _services_are_right(self) -> bool:
        cluster = self._cluster
        slaves = [number for number in cluster.brokers if number != cluster.gone]
        acts = None
        if cluster.gone is not None and self._plan.brokers[0].acting:
            acts = min(slaves)
        return all(cluster.serves(number) == (number == acts) for number in slaves)

    def unavailable_because(self) -> str | None:
        """Return None: everybody is there but perhaps a master, for whom a slave acts."""
        return None

    def clients(self, *, converged: bool) -> RouteClients:
        """Return what clients were told."""
        del converged
        cluster = self._cluster
        return RouteClients(
            tuple(cluster.elections),
            tuple(cluster.answers()),
            has_acting=self._plan.name_server.support_acting_master,
        )

    # ---- what happens ----

    def _elect(self, injection: Injection) -> None:
        cluster = self._cluster
        others = [
            number
            for number, node in cluster.brokers.items()
            if node.state is not None and number != cluster.master
        ]
        if others:
            broker = injection.rng.choice(others)
            injection.note(f"{broker_address(broker)} is elected")
            cluster.counts.add(Fault.RE_ELECTION)
            cluster.elect(broker)

    def _ask_from_outside(self, injection: Injection) -> None:
        up = self._cluster.up()
        if up:
            node = injection.rng.choice(up)
            injection.note(f"an outsider asks {broker_address(node.id)} for what is refused")
            self._cluster.ask_from_outside(node.id, injection.rng)

    def _ask_version(self, injection: Injection) -> None:
        up = [one for one in self._plan.name_servers if self._cluster.is_up(one)]
        if up:
            name_server = injection.rng.choice(up)
            injection.note(f"somebody asks {broker_address(name_server)} of a broker's version")
            self._cluster.ask_version(name_server, injection.rng)

    def _others(self, injection: Injection) -> None:
        up = [one for one in self._plan.name_servers if self._cluster.is_up(one)]
        if up:
            name_server = injection.rng.choice(up)
            injection.note(f"brokers of other groups come to {broker_address(name_server)}, or go")
            self._cluster.others_come_or_go(name_server)

    def _shut_down(self, injection: Injection) -> None:
        cluster = self._cluster
        up = [number for number, node in cluster.brokers.items() if node.state is not None]
        if not up:
            return
        broker = injection.rng.choice(up)
        wait_ms = 1 + injection.rng.randrange(_RESTART_MS)
        injection.note(f"{broker_address(broker)} shuts down, and is back after {wait_ms} ms")
        cluster.shut_down(broker)
        node = cluster.brokers[broker]
        incarnation = node.incarnation

        def restart() -> None:
            if node.state is None and node.incarnation == incarnation:
                cluster.restart(node)

        cluster.scheduler.after(wait_ms, restart)
