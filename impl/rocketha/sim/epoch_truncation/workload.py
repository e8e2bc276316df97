"""What happens to a cluster: the controller's elections, producers, flushes, and faults.

The controller is abstract: it may elect any broker, and a broker that asks it hears and acts in one
step. Producers write to every broker that believes to be master.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from rocketha.errors import EpochFileError
from rocketha.ha.events import MasterAddressLearnt, MessagePut
from rocketha.ha.state import BrokerState, Role
from rocketha.histories.clients import ReplicaReaders
from rocketha.histories.replicas import ReplicaReads
from rocketha.sim.engine.fault_injector import FaultInjector
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.forged_packets import forge_packet
from rocketha.sim.engine.log_reader import messages_of, shown_body
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection, InjectionPoint, PerPurposeStreams
from rocketha.sim.engine.records import message_of_epoch, record_count, record_offset
from rocketha.sim.epoch_truncation.cluster import Cluster
from rocketha.sim.epoch_truncation.needless import disturb
from rocketha.sim.epoch_truncation.plan import RunPlan
from rocketha.storage.epoch_store import EPOCH_FILE
from rocketha.types import BrokerId, Epoch, PutId

__all__ = ["EpochWorkload"]

_WATCH_MS: Final = 150
"""How often the controller looks whether its master can act."""
_PATIENCE: Final = 3
"""After so many looks at a master that cannot act, another one is elected."""
_MISROUTE_GAP_MS: Final = 800
_NEEDLESS_GAP_MS: Final = 60
_VACANCIES: Final = 4
"""One of so many needless elections finds nobody."""
_IDLE_MS: Final = (500, 3_000)


def is_master(node: Node[BrokerState]) -> bool:
    """Tell whether a broker runs and believes to be master."""
    return node.state is not None and node.state.role is Role.MASTER


class EpochWorkload:
    """The world around a cluster; `begin` puts it in motion, `heal` makes it kind."""

    def __init__(self, cluster: Cluster, plan: RunPlan, streams: PerPurposeStreams) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._streams = streams
        self._injector: FaultInjector[BrokerState] = FaultInjector(
            cluster, streams, is_master=is_master
        )
        self._messages = 0
        self._idle_until_ms = 0
        self._deaf_until_ms: dict[BrokerId, int] = {}
        self._late_answers: Counter[BrokerId] = Counter()
        self._written: dict[str, Epoch] = {}
        self._vacancies: dict[BrokerId, Epoch] = {}
        """Broker -> the last election of nobody that it heard of."""
        self._stuck = 0
        self._unclean_after_put = False

    def begin(self) -> None:
        """Elect the first master and start everything that repeats."""
        plan, handlers = self._plan, self._handlers()
        self._cluster.elect(self._streams.of("elect").choice(list(self._cluster.nodes)))
        for node in self._cluster.nodes.values():
            self._injector.every(plan.poll_ms, partial(self._poll, node), "poll", node.id)
            self._injector.every(plan.flush_ms, partial(self._flush, node), "flush", node.id)
        self._injector.every(_WATCH_MS, self._watch, "watch")
        self._injector.sometimes(plan.put_gap_ms, self._put, "put")
        self._injector.sometimes(plan.failover_gap_ms, self._fail_over, "failover")
        if Fault.STALE_ROUTE in plan.faults and not plan.bugs:
            self._injector.sometimes(_MISROUTE_GAP_MS, self._misroute, Fault.STALE_ROUTE)
        for fault, gap_ms in plan.faults.mean_gap_ms:
            self._injector.sometimes(gap_ms, handlers[fault], fault)
        if Fault.FORGED_PACKET in plan.faults:
            act = partial(disturb, self._cluster)
            self._injector.sometimes(_NEEDLESS_GAP_MS, act, "needless")

    def heal(self) -> None:
        """End all faults: what is down comes back, everybody hears everybody."""
        self._deaf_until_ms.clear()
        self._injector.calm_network()
        self._cluster.stale_route_percent = 0
        self._injector.restart_all()

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def converged(self) -> bool:
        """Tell whether all brokers have the bytes of the current master's log, and it knows.

        Spec: EpochTruncation!Healed
        """
        if not self._all_acked():
            return False
        first, *others = (n.log.read(n.log.min_offset, n.log.max_phy_offset) for n in self._all())
        return all(log == first for log in others)

    def _all(self) -> Iterable[Node[BrokerState]]:
        return self._cluster.nodes.values()

    def _all_acked(self) -> bool:
        """Tell whether the current master knows that all brokers have the end of its log."""
        cluster = self._cluster
        if cluster.master is None or len(cluster.up()) < len(cluster.nodes):
            return False
        node = cluster.nodes[cluster.master]
        state = node.running()
        if state.role is not Role.MASTER or state.known_epoch != cluster.epoch:
            return False
        end = node.log.max_phy_offset
        acks = {c.slave_id: c.slave_ack for c in state.servers.values()}
        others = [other for other in self._all() if other is not node]
        return all(acks.get(n.id) == n.log.max_phy_offset == end for n in others)

    def unavailable_because(self) -> str | None:
        """Return None: an abstract controller always finds somebody."""
        return None

    def clients(self, *, converged: bool) -> ReplicaReaders:
        """Read the logs of brokers that run."""
        del converged
        cluster = self._cluster
        return ReplicaReaders(
            ReplicaReads(
                written=frozenset(self._written),
                epochs=self._written,
                logs={node.id: messages_of(node.log) for node in cluster.up()},
                alike=self._all_acked(),
                at_ms=cluster.now_ms,
            )
        )

    # ---- controller ----

    def _poll(self, node: Node[BrokerState]) -> None:
        """A broker asks the controller who is master, and acts on the answer."""
        cluster, state = self._cluster, node.state
        if state is None:
            return
        if cluster.now_ms < self._deaf_until_ms.get(node.id, 0):
            return
        news = cluster.epoch > state.known_epoch
        if news and Fault.SLOW_POLL in self._plan.faults and not self._injector.healed:
            if node.id not in self._deaf_until_ms and self._hears_late(node.id):
                return  # when the answer comes it is acted on, or the broker would stay deaf
            self._deaf_until_ms.pop(node.id, None)
        if cluster.master is None:
            if news and self._vacancies.get(node.id) != cluster.epoch:
                self._vacancies[node.id] = cluster.epoch
                cluster.tell_master(node)
            return
        address = broker_address(cluster.master)
        knows = state.master_address is not None
        if not self._plan.bugs:
            knows = state.master_address == address
        stranger = state.role is Role.SLAVE and not knows
        if news or (stranger and cluster.master != node.id):
            cluster.tell_master(node)

    def _hears_late(self, broker: BrokerId) -> bool:
        """Tell whether the controller's answer comes late, and draw how late."""
        rng = self._streams.of("poll", broker)
        if not rng.randrange(2):
            return False
        wait_ms, name = rng.randrange(self._plan.slow_poll_ms), broker_address(broker)
        self._late_answers[broker] += 1
        point = InjectionPoint(Fault.SLOW_POLL, name, self._late_answers[broker])
        if not self._streams.allows(point):
            return False
        self._streams.note(point, f"{name} hears the controller {wait_ms} ms late")
        self._cluster.counts.add(Fault.SLOW_POLL)
        self._deaf_until_ms[broker] = self._cluster.now_ms + wait_ms
        return True

    def _watch(self) -> None:
        """Elect another broker when the elected one cannot act on its election."""
        cluster = self._cluster
        state = None if cluster.master is None else cluster.nodes[cluster.master].state
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

    def _elect(self, injection: Injection, broker: BrokerId, why: str) -> None:
        injection.note(f"the controller elects {broker_address(broker)}{why}")
        self._cluster.elect(broker)

    def _fail_over(self, injection: Injection) -> None:
        """A clean election: of a broker with everything that the master has."""
        cluster = self._cluster
        is_unclean = Fault.UNCLEAN_ELECTION in self._plan.faults and not self._plan.bugs
        if is_unclean and self._streams.of("vacancy").randrange(_VACANCIES) == 0:
            injection.note("the controller finds nobody to elect")
            cluster.elect(None)
        elif self._may_elect():
            best = cluster.nodes[self._best()]
            equals = [n.id for n in cluster.up() if self._rank(n)[:2] == self._rank(best)[:2]]
            self._elect(injection, injection.rng.choice(equals or [best.id]), "")

    def _re_elect(self, injection: Injection) -> None:
        cluster = self._cluster
        if cluster.master is None:
            return
        state = cluster.nodes[cluster.master].state
        if self._may_elect() and state is not None and state.role is Role.MASTER:
            cluster.counts.add(Fault.RE_ELECTION)
            self._elect(injection, cluster.master, " again")

    def _elect_unclean(self, injection: Injection) -> None:
        """Elect a broker that lacks records, rather one that has some; wait for one if need be.

        One of whose last record only a piece has arrived comes first.
        """
        cluster = self._cluster
        nodes = [node for node in cluster.nodes.values() if node.id != cluster.master]
        longest = max(node.log.max_phy_offset for node in cluster.nodes.values())
        behind = [n for n in nodes if n.state is None or n.log.max_phy_offset < longest]
        partly = [n for n in behind if n.state is not None and n.log.max_phy_offset > 0]
        rng = injection.rng
        self._unclean_after_put = not partly and not (behind and rng.randrange(4) == 0)
        if self._unclean_after_put or cluster.epoch > self._plan.elections_max:
            return
        cluster.counts.add(Fault.UNCLEAN_ELECTION)
        torn = [n for n in partly if n.log.aligned_end() < n.log.max_phy_offset]
        elected = rng.choice((not self._plan.bugs and torn) or partly or behind)
        self._elect(injection, elected.id, ", which lacks messages")
        # It is notified at once; until it asked by itself it would have caught up.
        self._poll(elected)

    # ---- producers and the flush service ----

    def _put(self, injection: Injection) -> None:
        if self._cluster.now_ms < self._idle_until_ms:
            return
        masters = [n for n in self._cluster.up() if n.running().role is Role.MASTER]
        if not masters:
            return
        node = injection.rng.choice(masters)
        end, start = node.log.max_phy_offset, node.running().cache.entries[-1].start_offset
        of_epoch = record_count(end) - record_count(start)
        if record_count(end) < self._plan.records_max and of_epoch < self._plan.records_per_epoch:
            self._messages += 1
            epoch = node.running().known_epoch
            message = message_of_epoch(epoch, self._messages)
            self._written[shown_body(message.body)] = epoch
            injection.note(f"{broker_address(node.id)} gets message {self._messages}")
            put = MessagePut(message=message, put=PutId(self._messages))
            self._cluster.deliver(node, put)
            if self._unclean_after_put:
                self._elect_unclean(injection)

    def _be_idle(self, injection: Injection) -> None:
        self._cluster.counts.add(Fault.IDLE_GROUP)
        wait_ms = injection.rng.randrange(*_IDLE_MS)
        injection.note(f"nobody writes for {wait_ms} ms")
        self._idle_until_ms = self._cluster.now_ms + wait_ms

    def _misroute(self, injection: Injection) -> None:
        """Let a slave hear a wrong address from a name server; the next poll puts it right.

        One that is connecting comes first: it wants that connection no more.
        """
        slaves = [n for n in self._cluster.up() if n.running().role is Role.SLAVE]
        if slaves:
            asking = [node for node in slaves if node.asked is not None]
            node = injection.rng.choice(asking or slaves)
            others = [other for other in self._cluster.nodes if other != node.id]
            address = broker_address(injection.rng.choice(others))
            self._cluster.counts.add(Fault.STALE_ROUTE)
            injection.note(f"{broker_address(node.id)} hears that the master is at {address}")
            self._cluster.deliver(node, MasterAddressLearnt(address=address))

    def _lose_log(self, injection: Injection) -> None:
        """Let the disk of a broker that is down lose some of its last records, or its epoch file.

        A master that is still elected would begin its epoch again: the model `loss_of_master`.
        """
        cluster = self._cluster
        others = [node for node in cluster.nodes.values() if node.id != cluster.master]
        down = [node for node in others if node.state is None]
        holding = [(node, n) for node in down if (n := record_count(cluster.left_on_disk(node)))]
        if holding:
            node, present = injection.rng.choice(holding)
            kept = injection.rng.randrange(present)
            cluster.counts.add(Fault.DAMAGED_FILE)
            if injection.rng.random() < 0.5 and node.disk.exists(EPOCH_FILE):
                self._damage_epochs(injection, node)
                return
            injection.note(f"{broker_address(node.id)} has {kept} messages left on its disk")
            cluster.lose_log(node, record_offset(kept))

    def _damage_epochs(self, injection: Injection, node: Node[BrokerState]) -> None:
        """Damage a byte of an epoch file; who starts it must empty the store of the broker."""
        disk, at = node.disk, injection.rng.randrange(node.disk.size(EPOCH_FILE))
        disk.write(EPOCH_FILE, at, b"?")
        disk.fsync(EPOCH_FILE)
        injection.note(f"{broker_address(node.id)} has a damaged epoch file")
        try:
            self._cluster.restart(node)
        except EpochFileError:
            self._cluster.lose_store(node)
            self._cluster.restart(node)

    def _flush(self, node: Node[BrokerState]) -> None:
        if node.state is not None:
            self._cluster.flush(node)

    # ---- faults that come by themselves ----

    def _handlers(self) -> dict[Fault, Callable[[Injection], None]]:
        return {
            **self._injector.handlers(),
            Fault.RE_ELECTION: self._re_elect,
            Fault.UNCLEAN_ELECTION: self._elect_unclean,
            Fault.IDLE_GROUP: self._be_idle,
            Fault.FORGED_PACKET: partial(forge_packet, self._cluster),
            Fault.DAMAGED_FILE: self._lose_log,
        }
