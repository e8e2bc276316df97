"""A master, its slaves, and a net that loses and delays packets."""

from __future__ import annotations

from collections import Counter
from typing import Final, Protocol

from rocketha.runtime.node_host import NodeHost, no_files
from rocketha.runtime.performer import Performer
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import InjectionPoint
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.toy.plan import ToyPlan
from rocketha.toy.core import (
    Packet,
    SendDue,
    SendPacketTo,
    ToyAction,
    ToyCore,
    ToyEvent,
    ToyState,
)
from rocketha.types import BrokerId, TimestampMs

__all__ = ["NullToyObserver", "ToyCluster", "ToyObserver"]

_MASTER: Final = BrokerId(1)
_LATENCY_MAX_MS: Final = 6


class ToyObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: ToyCluster) -> None:
        """Look at the cluster before anything happens."""
        ...

    def acted(self, cluster: ToyCluster, action: ToyAction) -> None:
        """Look at the cluster after an action."""
        ...


class NullToyObserver:
    """Whoever looks away."""

    def started(self, cluster: ToyCluster) -> None:
        """Do nothing."""

    def acted(self, cluster: ToyCluster, action: ToyAction) -> None:
        """Do nothing."""


class ToyCluster:
    """All nodes."""

    def __init__(self, environment: Environment, plan: ToyPlan, observer: ToyObserver) -> None:
        """Make nodes that are up; nothing happens yet."""
        self.scheduler = environment.scheduler
        self.actions = 0
        self.calm = False
        """Nothing is lost, nothing is late."""
        self._environment = environment
        self._plan = plan
        self._observer = observer
        self._numbers: Counter[tuple[Fault, str]] = Counter()
        members = [BrokerId(number) for number in range(1, plan.brokers + 1)]
        self.slaves = tuple(members[1:])
        self._nodes = {id_: _Node(id_, self) for id_ in members}
        for id_, node in self._nodes.items():
            acked = dict.fromkeys(self.slaves if id_ == _MASTER else (), 0)
            node.host.state = ToyState(id=id_, rules=plan.rules, acked=acked)
        observer.started(self)

    def start(self) -> None:
        """Let the master send."""
        for slave in self.slaves:
            self._nodes[_MASTER].host.take(SendDue(slave))

    @property
    def master(self) -> ToyState:
        """Return what the master knows."""
        return self._nodes[_MASTER].state

    def copies(self) -> dict[BrokerId, tuple[int, ...]]:
        """Return the logs of the slaves."""
        return {slave: self._nodes[slave].state.copy for slave in self.slaves}

    def acted(self, action: ToyAction) -> None:
        """Count an action, and tell the observer."""
        self.actions += 1
        self._observer.acted(self, action)

    # ---- the net ----

    def carry(self, sender: BrokerId, receiver: BrokerId, packet: Packet) -> None:
        """Carry a packet, or lose it."""
        faults, rng = self._plan.faults, self._environment.streams.of("network", sender, receiver)
        wait_ms = 1 + rng.randrange(_LATENCY_MAX_MS)
        lost = rng.randrange(100) < self._plan.loss_percent
        late_ms = rng.randrange(faults.delay_max_ms)
        delayed = rng.randrange(100) < faults.delay_percent
        way = f"{broker_address(sender)}>{broker_address(receiver)}"
        if lost and self._strikes(Fault.RESET, way, f"{packet} is lost"):
            return
        if delayed and self._strikes(Fault.DELAY, way, f"{packet} comes {late_ms} ms later"):
            wait_ms += late_ms
        self.scheduler.after(wait_ms, lambda: self._nodes[receiver].host.take(packet))

    def _strikes(self, fault: Fault, way: str, words: str) -> bool:
        """Tell whether a fault that was drawn comes to pass: a schedule may leave it out."""
        if self.calm:
            return False
        self._numbers[fault, way] += 1
        point = InjectionPoint(fault, way, self._numbers[fault, way])
        if not self._environment.streams.allows(point):
            return False
        self._environment.streams.note(point, f"{way}: {words}")
        self._environment.counts.add(fault)
        return True


class _Node(Performer[ToyEvent, ToyAction]):
    """A node's host, its ports, and what performs its one effect."""

    effects = (SendPacketTo,)

    def __init__(self, id_: BrokerId, cluster: ToyCluster) -> None:
        self.id = id_
        self._cluster = cluster
        self.host: NodeHost[ToyState, ToyEvent, ToyAction] = NodeHost(
            ToyCore(), (self,), clock=self, recorder=self, see=no_files, alarms=self
        )

    @property
    def state(self) -> ToyState:
        assert self.host.state is not None
        return self.host.state

    def perform(self, effect: SendPacketTo, action: ToyAction | None) -> None:
        del action
        self._cluster.carry(self.id, effect.receiver, effect.packet)

    def now_ms(self) -> TimestampMs:
        return TimestampMs(self._cluster.scheduler.now_ms)

    def after(self, wait_ms: int, event: ToyEvent) -> None:
        self._cluster.scheduler.after(wait_ms, lambda: self.host.take(event))

    def stepped(self, event: ToyEvent, action: ToyAction | None) -> None:
        del event
        if action is not None:
            self._cluster.acted(action)
