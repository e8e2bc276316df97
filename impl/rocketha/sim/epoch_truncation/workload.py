"""What happens to a cluster: the controller's elections, producers, flushes, and faults.

Everything that comes by itself is drawn from one random generator, so a seed is a run. The
controller is abstract: it may elect any broker, and a broker that asks it hears and acts in one
step. Producers write to every broker that believes to be master.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from rocketha.ha.events import MasterLearnt, MessagePut
from rocketha.ha.state import BrokerState, Role
from rocketha.sim.engine.fault_injector import FaultInjector
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection, SingleStream
from rocketha.sim.engine.records import message_of_epoch, record_count
from rocketha.sim.epoch_truncation.cluster import Cluster
from rocketha.sim.epoch_truncation.plan import RunPlan
from rocketha.types import BrokerId

__all__ = ["Driver"]

_WATCH_MS: Final = 150
"""How often the controller looks whether its master can act."""
_PATIENCE: Final = 3
"""After so many looks at a master that cannot act, another one is elected."""
_IDLE_MS: Final = (500, 3_000)


def is_master(node: Node[BrokerState]) -> bool:
    """Tell whether a broker runs and believes to be master."""
    return node.state is not None and node.state.role is Role.MASTER


class Driver:
    """The world around a cluster; `begin` puts it in motion, `heal` makes it kind."""

    def __init__(self, cluster: Cluster, plan: RunPlan, rng: Random) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._rng = rng
        self._injector: FaultInjector[BrokerState] = FaultInjector(
            cluster, SingleStream(rng), is_master=is_master
        )
        self._messages = 0
        self._idle_until_ms = 0
        self._deaf_until_ms: dict[BrokerId, int] = {}
        self._stuck = 0
        self._unclean_after_put = False

    def begin(self) -> None:
        """Elect the first master and start everything that repeats."""
        plan, handlers = self._plan, self._handlers()
        self._cluster.elect(self._rng.choice(list(self._cluster.nodes)))
        for node in self._cluster.nodes.values():
            self._injector.every(plan.poll_ms, partial(self._poll, node), "poll", node.id)
            self._injector.every(plan.flush_ms, partial(self._flush, node), "flush", node.id)
        self._injector.every(_WATCH_MS, self._watch, "watch")
        self._injector.sometimes(plan.put_gap_ms, lambda _: self._put(), "put")
        self._injector.sometimes(plan.failover_gap_ms, lambda _: self._fail_over(), "failover")
        for fault, gap_ms in plan.faults.mean_gap_ms:
            self._injector.sometimes(gap_ms, handlers[fault], fault)

    def heal(self) -> None:
        """End all faults: what is down comes back, everybody hears everybody."""
        self._deaf_until_ms.clear()
        self._injector.calm_network()
        self._cluster.stale_route_percent = 0
        self._injector.restart_all()

    # ---- controller ----

    def _poll(self, node: Node[BrokerState]) -> None:
        """A broker asks the controller who is master, and acts on the answer."""
        cluster, state = self._cluster, node.state
        if state is None or cluster.master is None:
            return
        if cluster.now_ms < self._deaf_until_ms.get(node.id, 0):
            return
        address = broker_address(cluster.master)
        news = cluster.epoch > state.known_epoch
        if news and Fault.SLOW_POLL in self._plan.faults and not self._injector.healed:
            if node.id not in self._deaf_until_ms and self._rng.randrange(2):
                # The answer is late; when it comes it is acted on, or the broker would stay deaf.
                cluster.counts.add(Fault.SLOW_POLL)
                wait_ms = self._rng.randrange(self._plan.slow_poll_ms)
                self._deaf_until_ms[node.id] = cluster.now_ms + wait_ms
                return
            self._deaf_until_ms.pop(node.id, None)
        stranger = state.role is Role.SLAVE and state.master_address is None
        if news or (stranger and cluster.master != node.id):
            cluster.deliver(
                node, MasterLearnt(epoch=cluster.epoch, master=cluster.master, address=address)
            )

    def _watch(self) -> None:
        """Elect another broker when the elected one cannot act on its election."""
        cluster = self._cluster
        assert cluster.master is not None
        state = cluster.nodes[cluster.master].state
        able = state is not None and (
            state.role is Role.MASTER or state.known_epoch < cluster.epoch
        )
        self._stuck = 0 if able else self._stuck + 1
        if self._stuck >= _PATIENCE:
            self._stuck = 0
            cluster.elect(self._best())

    def _best(self) -> BrokerId:
        """Return a broker with the newest epoch and, among those, the longest log; up if any is."""
        nodes = self._cluster.up() or list(self._cluster.nodes.values())
        return max(nodes, key=self._rank).id

    def _rank(self, node: Node[BrokerState]) -> tuple[int, int, int]:
        last = node.state.cache.last_epoch if node.state is not None else 0
        return last, node.log.max_phy_offset, -node.id

    def _may_elect(self) -> bool:
        return self._cluster.epoch < self._plan.elections_max

    def _fail_over(self) -> None:
        """A clean election: of a broker with everything that the master has."""
        cluster = self._cluster
        if self._may_elect():
            best = cluster.nodes[self._best()]
            equals = [n.id for n in cluster.up() if self._rank(n)[:2] == self._rank(best)[:2]]
            cluster.elect(self._rng.choice(equals or [best.id]))

    def _re_elect(self) -> None:
        cluster = self._cluster
        assert cluster.master is not None
        state = cluster.nodes[cluster.master].state
        if self._may_elect() and state is not None and state.role is Role.MASTER:
            cluster.counts.add(Fault.RE_ELECTION)
            cluster.elect(cluster.master)

    def _elect_unclean(self) -> None:
        """Elect a broker that lacks records, rather one that has some; wait for one if need be."""
        cluster = self._cluster
        nodes = [node for node in cluster.nodes.values() if node.id != cluster.master]
        longest = max(node.log.max_phy_offset for node in cluster.nodes.values())
        behind = [n for n in nodes if n.state is None or n.log.max_phy_offset < longest]
        partly = [n for n in behind if n.state is not None and n.log.max_phy_offset > 0]
        self._unclean_after_put = not partly and not (behind and self._rng.randrange(4) == 0)
        if self._unclean_after_put or cluster.epoch > self._plan.elections_max:
            return
        cluster.counts.add(Fault.UNCLEAN_ELECTION)
        elected = self._rng.choice(partly or behind)
        cluster.elect(elected.id)
        # It is notified at once; until it asked by itself it would have caught up.
        self._poll(elected)

    # ---- producers and the flush service ----

    def _put(self) -> None:
        if self._cluster.now_ms < self._idle_until_ms:
            return
        masters = [n for n in self._cluster.up() if n.running().role is Role.MASTER]
        if not masters:
            return
        node = self._rng.choice(masters)
        end, start = node.log.max_phy_offset, node.running().cache.entries[-1].start_offset
        of_epoch = record_count(end) - record_count(start)
        if record_count(end) < self._plan.records_max and of_epoch < self._plan.records_per_epoch:
            self._messages += 1
            message = message_of_epoch(node.running().known_epoch, self._messages)
            self._cluster.deliver(node, MessagePut(message=message))
            if self._unclean_after_put:
                self._elect_unclean()

    def _be_idle(self) -> None:
        self._cluster.counts.add(Fault.IDLE_GROUP)
        self._idle_until_ms = self._cluster.now_ms + self._rng.randrange(*_IDLE_MS)

    def _flush(self, node: Node[BrokerState]) -> None:
        if node.state is not None:
            self._cluster.flush(node)

    # ---- faults that come by themselves ----

    def _handlers(self) -> dict[Fault, Callable[[Injection], None]]:
        return {
            **self._injector.handlers(),
            Fault.RE_ELECTION: lambda _: self._re_elect(),
            Fault.UNCLEAN_ELECTION: lambda _: self._elect_unclean(),
            Fault.IDLE_GROUP: lambda _: self._be_idle(),
        }
