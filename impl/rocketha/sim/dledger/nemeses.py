"""What DLedger's Jepsen test does to a group, by its names.

| nemesis                  | what it does for a while                                              |
|--------------------------|-----------------------------------------------------------------------|
| partition-random-node    | one node hears nobody, and nobody hears it                            |
| partition-random-halves  | two halves do not hear each other                                     |
| kill-random-processes    | a minority of the processes ends; what they wrote is on their disks.  |
|                          | At every other time they end in order (SIGTERM), as there             |
| crash-random-nodes       | a minority of the machines loses power                                |
| hammer-time              | a minority of the processes is stopped: it hears and says nothing     |
| bridge                   | two halves do not hear each other, but for one node that hears all    |
| partition-majorities-ring | each node hears a majority, and no two of them the same one          |

Source: the Jepsen test of openmessaging/dledger, in the design of its snapshots (RIP-59)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rocketha.dledger.node_state import NodeState
from rocketha.sim.dledger.cluster import DLedgerCluster
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection
from rocketha.types import BrokerId

__all__ = ["Nemeses"]

_LASTS_MS = (300, 2_500)
_Pairs = Iterable[tuple[BrokerId, BrokerId]]


class Nemeses:
    """What strikes a group."""

    def __init__(self, cluster: DLedgerCluster) -> None:
        """Take the group."""
        self._cluster = cluster

    def handlers(self) -> dict[Fault, Callable[[Injection], None]]:
        """Return what each of these does when it strikes."""
        return {
            Fault.PARTITION_RANDOM_NODE: self._partition_node,
            Fault.PARTITION_RANDOM_HALVES: self._partition_halves,
            Fault.KILL_RANDOM_PROCESSES: lambda i: self._stop(i, Fault.KILL_RANDOM_PROCESSES),
            Fault.CRASH_RANDOM_NODES: lambda i: self._stop(i, Fault.CRASH_RANDOM_NODES),
            Fault.HAMMER_TIME: self._hammer_time,
            Fault.BRIDGE: self._bridge,
            Fault.PARTITION_MAJORITIES_RING: self._ring,
        }

    # ---- who does not hear whom ----

    def _partition_node(self, injection: Injection) -> None:
        one = injection.rng.choice(list(self._cluster.nodes))
        others = [node for node in self._cluster.nodes if node != one]
        self._cut(injection, Fault.PARTITION_RANDOM_NODE, [(one, other) for other in others])

    def _partition_halves(self, injection: Injection) -> None:
        left, right = self._halves(injection)
        pairs = [(one, other) for one in left for other in right]
        self._cut(injection, Fault.PARTITION_RANDOM_HALVES, pairs)

    def _bridge(self, injection: Injection) -> None:
        left, right = self._halves(injection)
        bridge = left[0]
        pairs = [(one, other) for one in left for other in right if one != bridge]
        self._cut(injection, Fault.BRIDGE, pairs)

    def _ring(self, injection: Injection) -> None:
        nodes = list(self._cluster.nodes)
        injection.rng.shuffle(nodes)
        count = len(nodes)
        reach = (count // 2 + 1) // 2  # so many on each side of a node are a majority with it
        far = [
            (nodes[i], nodes[k])
            for i in range(count)
            for k in range(i + 1, count)
            if min(k - i, count - k + i) > reach
        ]
        if count == 3:  # a ring of three has no far ones: one link is gone
            far = [(nodes[0], nodes[1])]
        self._cut(injection, Fault.PARTITION_MAJORITIES_RING, far)

    def _halves(self, injection: Injection) -> tuple[list[BrokerId], list[BrokerId]]:
        nodes = list(self._cluster.nodes)
        injection.rng.shuffle(nodes)
        half = (len(nodes) + 1) // 2
        return nodes[:half], nodes[half:]

    def _cut(self, injection: Injection, fault: Fault, pairs: _Pairs) -> None:
        cluster = self._cluster
        cut = [*pairs]
        if not cut:
            return
        cluster.counts.add(fault)
        for one, other in cut:
            cluster.network.block(one, other)
            cluster.network.block(other, one)

        def end() -> None:
            for one, other in cut:
                cluster.network.unblock(one, other)
                cluster.network.unblock(other, one)

        wait_ms = injection.rng.randrange(*_LASTS_MS)
        names = ", ".join(f"{broker_address(a)} <-> {broker_address(b)}" for a, b in cut)
        injection.note(f"{fault.value}: nothing comes through {names} for {wait_ms} ms")
        cluster.scheduler.after(wait_ms, end)

    # ---- who stops ----

    def _minority(self, injection: Injection) -> list[Node[NodeState]]:
        up = self._cluster.up()
        most = (len(self._cluster.nodes) - 1) // 2
        count = min(len(up), 1 + injection.rng.randrange(max(most, 1)))
        return injection.rng.sample(up, count)

    def _stop(self, injection: Injection, fault: Fault) -> None:
        cluster, rng = self._cluster, injection.rng
        in_order = fault is Fault.KILL_RANDOM_PROCESSES and injection.point.number % 2 == 1
        for node in self._minority(injection):
            cluster.counts.add(fault)
            if fault is Fault.CRASH_RANDOM_NODES:
                node.lose_power(rng)
            elif in_order:
                cluster.members[node.id].close_files()
            cluster.crash(node)
            self._restart_later(injection, fault, node, "ends in order" if in_order else "stops")

    def _restart_later(
        self, injection: Injection, fault: Fault, node: Node[NodeState], ends: str
    ) -> None:
        incarnation, cluster = node.incarnation, self._cluster

        def restart() -> None:
            if node.state is None and node.incarnation == incarnation:
                cluster.restart(node)

        wait_ms = injection.rng.randrange(*_LASTS_MS)
        name = broker_address(node.id)
        injection.note(f"{fault.value}: {name} {ends}, and comes back after {wait_ms} ms")
        cluster.scheduler.after(wait_ms, restart)

    def _hammer_time(self, injection: Injection) -> None:
        for node in self._minority(injection):
            self._cluster.counts.add(Fault.HAMMER_TIME)
            wait_ms = injection.rng.randrange(*_LASTS_MS)
            name = broker_address(node.id)
            injection.note(f"{Fault.HAMMER_TIME.value}: {name} stands still for {wait_ms} ms")
            self._cluster.members[node.id].stand_still(wait_ms)
