"""What happens to a cluster of the legacy service: producers, flush services and faults."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from rocketha.histories.clients import ReplicaReaders
from rocketha.legacy_ha.state import LegacyMaster, LegacyState
from rocketha.sim.engine.fault_injector import FaultInjector
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.forged_packets import forge_packet
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection, PerPurposeStreams
from rocketha.sim.engine.records import record_count
from rocketha.sim.legacy_replication.cluster import MASTER, LegacyCluster
from rocketha.sim.legacy_replication.plan import LegacyPlan
from rocketha.types import BrokerId

__all__ = ["LegacyWorkload"]

_IDLE_MS: Final = (500, 3_000)
_IN_TRANSFER_SHARE: Final = 0.5


class LegacyWorkload:
    """Producers, flush services and faults around a cluster."""

    def __init__(
        self, cluster: LegacyCluster, plan: LegacyPlan, streams: PerPurposeStreams
    ) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._idle_until_ms = 0
        self._compared: dict[BrokerId, tuple[tuple[int, int], bool]] = {}
        """Slave -> versions of the master's log and its own, and whether it has other bytes."""
        self._injector: FaultInjector[LegacyState] = FaultInjector(
            cluster, streams, is_master=lambda node: isinstance(node.state, LegacyMaster)
        )

    def begin(self) -> None:
        """Wake everybody and start everything that repeats."""
        plan = self._plan
        handlers: dict[Fault, Callable[[Injection], None]] = {
            **self._injector.handlers(),
            Fault.IDLE_GROUP: self._be_idle,
            Fault.FORGED_PACKET: partial(forge_packet, self._cluster),
        }
        if not plan.bugs:  # each bug has a seed that shows it, whose run stays as it is
            cluster = self._cluster
            moments = {Fault.RESET: cluster.partly_taken, Fault.FORGED_PACKET: cluster.partly_sent}
            for fault, moment in moments.items():
                handlers[fault] = partial(self._now_or_then, moment, handlers[fault])
        self._cluster.begin()
        for node in self._cluster.nodes.values():
            self._injector.every(plan.flush_ms, partial(self._flush, node), "flush", node.id)
        self._injector.sometimes(plan.put_gap_ms, self._put, "put")
        for fault, gap_ms in plan.faults.mean_gap_ms:
            self._injector.sometimes(gap_ms, handlers[fault], fault)

    def heal(self) -> None:
        """End all faults: what is down comes back, everybody hears everybody."""
        self._injector.calm_network()
        self._injector.restart_all()

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def converged(self) -> bool:
        """Tell whether no producer waits, and each slave has the end of the master's log.

        The master must know it. A slave that has other bytes than the master was ahead of it once;
        nothing brings it back.

        Spec: LegacyReplication!Healed
        """
        cluster, master = self._cluster, self._cluster.master()
        if master is None or master.waiting or len(cluster.up()) < len(cluster.nodes):
            return False
        log = cluster.nodes[MASTER].log
        acks = {end.host: end.slave_ack for end in master.ends.values()}
        for node in cluster.nodes.values():
            end = node.log.max_phy_offset
            in_sync = end == log.max_phy_offset and acks.get(broker_address(node.id)) == end
            if node.id != MASTER and not in_sync and not self._is_ahead(node):
                return False
        return True

    def _is_ahead(self, node: Node[LegacyState]) -> bool:
        """Tell whether a slave has other bytes than the master; read when a log has changed."""
        master = self._cluster.nodes[MASTER]
        versions = (master.files.log_version, node.files.log_version)
        known = self._compared.get(node.id)
        if known is None or known[0] != versions:
            begin, end = node.log.min_offset, node.log.max_phy_offset
            is_ahead = end > master.log.max_phy_offset or (
                node.log.read(begin, end - begin) != master.log.read(begin, end - begin)
            )
            known = self._compared[node.id] = versions, is_ahead
        return known[1]

    def unavailable_because(self) -> str | None:
        """Return None: the master comes back."""
        return None

    def clients(self, *, converged: bool) -> ReplicaReaders:
        """Read all logs, and say what producers heard."""
        del converged
        return ReplicaReaders(
            self._cluster.readers.reads(self._cluster.nodes, self._cluster.now_ms)
        )

    # ---- what happens ----

    def _put(self, injection: Injection) -> None:
        node = self._cluster.nodes[MASTER]
        full = record_count(node.log.max_phy_offset) >= self._plan.records_max
        if node.state is not None and not full and self._cluster.now_ms >= self._idle_until_ms:
            need = injection.rng.choice(self._plan.needs)
            injection.note(f"a producer writes, and waits for {need} slaves")
            self._cluster.put(need)

    def _now_or_then(
        self,
        moment: deque[Callable[[], None]],
        strike: Callable[[Injection], None],
        injection: Injection,
    ) -> None:
        """Let something happen now, or when the next moment of that kind comes."""

        def unless_healed() -> None:
            if not self._injector.healed:
                strike(injection)

        if injection.rng.random() < _IN_TRANSFER_SHARE:
            moment.append(unless_healed)
        else:
            strike(injection)

    def _be_idle(self, injection: Injection) -> None:
        self._cluster.counts.add(Fault.IDLE_GROUP)
        wait_ms = injection.rng.randrange(*_IDLE_MS)
        injection.note(f"nobody writes for {wait_ms} ms")
        self._idle_until_ms = self._cluster.now_ms + wait_ms

    def _flush(self, node: Node[LegacyState]) -> None:
        if node.state is not None:
            self._cluster.flush(node)
