"""What happens to a broker group: clients, an operator, the controller's scans, and faults.

Everything that comes by itself is drawn from the seed, so a seed is a run; a schedule can leave
some of it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from random import Random
from typing import Final

from rocketha.broker.state import GroupBroker
from rocketha.controller.dledger_controller import DLedgerController
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import ElectMaster
from rocketha.formats.remoting_frame import push_command
from rocketha.histories.clients import GroupClients
from rocketha.histories.history import History, Outcome, Put, Seen
from rocketha.sim.engine.clock import TRUE_TIME
from rocketha.sim.engine.fault_injector import NO_FAULT_PLAN, FaultInjector
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection, InjectionPoint, PerPurposeStreams
from rocketha.sim.replica_group.channels import CALM_CHANNELS
from rocketha.sim.replica_group.cleaning import Cleaning
from rocketha.sim.replica_group.clients import Clients, Consumer
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.history import HistoryRecorder
from rocketha.sim.replica_group.outsiders import Outsiders
from rocketha.sim.replica_group.plan import GroupPlan
from rocketha.types import BrokerId

__all__ = ["GroupWorkload"]

_PARTITION_MS: Final = (100, 1_200)
_CONTROLLER_DOWN_MS: Final = (5, 600)
_SLOW_DISK_MS: Final = (200, 1_500)
_SLOWNESS_MS: Final = (50, 900)
_BEHIND_PERCENT: Final = 40
_BEHIND_MAX_MS: Final = 600
"""A controller's clock may be behind the last entry of its log when it comes back."""
_AGAIN_PERCENT: Final = 90
_AGAIN_MAX_MS: Final = 12
_DEAF_PERCENT: Final = 60
"""How often the one who is wanted again hears nothing in between."""
"""An operator takes an election back so soon that the master has not heard of it, perhaps."""
_IDLE_MS: Final = (200, 1_500)
_LAST_WHOLE_PERCENT: Final = 2
"""How often the last member with a whole log may lose its power: then nobody can be elected."""
_OUTSIDE_GAP_MS: Final = 150
_PROBE_MS: Final = 100
_PROBER: Final = 0


class GroupWorkload:
    """The world around a group; `begin` puts it in motion, `heal` makes it kind."""

    def __init__(
        self,
        cluster: GroupCluster,
        plan: GroupPlan,
        streams: PerPurposeStreams,
        recorder: HistoryRecorder,
    ) -> None:
        """Prepare the world; nothing happens yet."""
        self._cluster = cluster
        self._plan = plan
        self._streams = streams
        self._recorder = recorder
        self._events = recorder.events
        self._clients = Clients(cluster, recorder.events)
        self._injector: FaultInjector[GroupBroker] = FaultInjector(
            cluster,
            streams,
            is_master=lambda node: node.state is not None and node.state.is_master,
            # The specification has no crash before the controller knows of a start.
            may_stop=lambda node: not cluster.is_starting(node),
            may_lose_power=self._may_lose_power,
        )
        self._controller_faults: FaultInjector[DLedgerController] | None = None
        if cluster.controllers is not None:
            self._controller_faults = FaultInjector(
                cluster.controllers, streams, is_master=self._serves
            )
        self._cleaning = Cleaning(cluster)
        self._idle_until_ms = 0
        self._compared: tuple[tuple[int, ...], bool] = (), False
        """Versions of all logs, and whether they had the same bytes."""
        self._folded = 0
        """How many events of the history were looked at for what follows."""
        self._probes_put: set[str | None] = set()
        self._bodies_seen: set[str | None] = set()

    def begin(self) -> None:
        """Let all brokers register, and then start everything that repeats."""
        plan, cluster = self._plan, self._cluster
        calm, network = cluster.channels.faults, cluster.network.plan
        self._calm()
        if cluster.controllers is not None:
            cluster.controllers.network.plan = NO_FAULT_PLAN
        try:
            cluster.boot()
        finally:  # where a core fails, too: whom the controller does not know by now is down
            cluster.channels.faults, cluster.network.plan = calm, network
            if cluster.controllers is not None:
                cluster.controllers.network.plan = plan.faults
            cluster.observe()
        for node in cluster.nodes.values():
            self._injector.every(plan.flush_ms, partial(self._flush, node), "flush", node.id)
        self._injector.every(plan.scan_ms, cluster.controller.scan, "scan")
        for producer in range(1, plan.producers + 1):
            self._injector.sometimes(
                plan.put_gap_ms, partial(self._produce, producer), "put", f"p{producer}"
            )
        for consumer in self._clients.consumers:
            pull = partial(self._consume, consumer, count(1))
            self._injector.every(plan.pull_gap_ms, pull, "pull", consumer.number)
        self._injector.sometimes(_OUTSIDE_GAP_MS, Outsiders(cluster).ask, "outsider")
        if plan.away is not None:
            cluster.counts.add(Fault.PROCESS_CRASH)
            cluster.crash(cluster.nodes[plan.away])
        self._begin_controller_faults()
        handlers = self._handlers()
        for fault, gap_ms in (*plan.faults.mean_gap_ms, *plan.mean_gap_ms):
            self._injector.sometimes(gap_ms, handlers[fault], fault)

    def heal(self) -> None:
        """End all faults: what is down comes back, everybody hears everybody; clocks stay wrong.

        The controller starts again, and knows from then on what its disk says.
        """
        cluster = self._cluster
        self._injector.calm_network()
        if self._controller_faults is not None:
            self._controller_faults.calm_network()
        self._calm()
        cluster.slow_disks.clear()
        self._clients.is_lossy = False
        cluster.channels.heal()
        Outsiders(cluster).beat_without_more()
        cluster.controller.calm()
        if cluster.controller.serves:
            self._stop_controller()
        cluster.controller.restart_stopped()
        self._injector.restart_all()
        self._injector.every(_PROBE_MS, partial(self._probe, count(1)), "probe")

    def _serves(self, node: Node[DLedgerController]) -> bool:
        group = self._cluster.controllers
        leader = None if group is None else group.leader()
        return leader is not None and leader.machine is node

    def _begin_controller_faults(self) -> None:
        """Let the members of a controller group have the faults of brokers, each on its own."""
        injector = self._controller_faults
        if injector is None:
            return
        for clock in self._plan.member_clocks:
            if clock != TRUE_TIME:
                self._cluster.counts.add(Fault.CLOCK_SKEW)
        handlers = injector.handlers()
        for fault, gap_ms in self._plan.faults.mean_gap_ms:
            if fault in handlers:
                injector.sometimes(gap_ms, handlers[fault], fault, "controllers")

    def _calm(self) -> None:
        self._cluster.channels.faults = CALM_CHANNELS

    # ---- the end ----

    @property
    def actions(self) -> int:
        """Return the number of actions so far."""
        return self._cluster.actions

    def converged(self) -> bool:
        """Tell whether all is well: one master, everybody in sync, and a message goes through.

        Spec: ReplicaGroup!Healed, SyncStateSet!Healed
        """
        return self._is_in_sync() and self._probe_was_seen()

    def _is_in_sync(self) -> bool:
        cluster = self._cluster
        group, nodes = cluster.group, cluster.nodes
        if group is None or group.master is None or not cluster.controller.has_settled:
            return False
        if len(cluster.up()) < len(nodes) or cluster.starting or group.members != set(nodes):
            return False
        node = nodes[group.master]
        state, end = node.running(), node.log.max_phy_offset
        if not state.is_master or state.ha.known_epoch != group.master_epoch:
            return False
        if state.local.members != group.members or state.pending is not None:
            return False
        if state.confirm != end:
            return False
        if any(other.running().is_master for other in nodes.values() if other is not node):
            return False
        return self._logs_are_equal()

    def _logs_are_equal(self) -> bool:
        """Tell whether all logs have the same bytes; they are read when one has changed."""
        nodes = self._cluster.nodes
        versions = tuple([node.files.log_version for node in nodes.values()])
        if versions != self._compared[0]:
            logs = [node.log for node in nodes.values()]
            begin, end = logs[0].min_offset, logs[0].max_phy_offset
            is_equal = all(log.max_phy_offset == end for log in logs) and (
                len({log.read(begin, end - begin) for log in logs}) == 1
            )
            self._compared = versions, is_equal
        return self._compared[1]

    def _probe(self, numbers: Iterator[int]) -> None:
        point = InjectionPoint("probe", "", next(numbers))
        if self._streams.allows(point) and self._is_in_sync():
            self._clients.produce(_PROBER, Injection(self._streams, point))

    def _probe_was_seen(self) -> bool:
        """Tell whether a consumer has seen a message that was written after the faults."""
        for event in self._events[self._folded :]:
            match event:
                case Put(producer=producer, outcome=Outcome.OK) if producer == _PROBER:
                    self._probes_put.add(event.body)
                case Seen(message=message):
                    self._bodies_seen.add(message.body)
                case _:
                    pass
        self._folded = len(self._events)
        return not self._probes_put.isdisjoint(self._bodies_seen)

    def unavailable_because(self) -> str | None:
        """Return why the group can have no master, if that is so."""
        group = self._cluster.group
        if group is None or self._cluster.starting or self._plan.controller.elect_unclean:
            return None
        if group.master is None and group.members and group.members <= group.unfit:
            return "no member of the SyncStateSet has a whole log"
        return None

    def clients(self, *, converged: bool) -> GroupClients:
        """Return what clients saw."""
        del converged
        self._recorder.finish(self._cluster)
        promises = self._plan.promises
        events = tuple(self._events)
        return GroupClients(History(seed=self._streams.seed, promises=promises, events=events))

    # ---- clients and flush services ----

    def _produce(self, producer: int, injection: Injection) -> None:
        if self._cluster.now_ms >= self._idle_until_ms and self._clients.has_room():
            self._clients.produce(producer, injection)

    def _consume(self, consumer: Consumer, numbers: Iterator[int]) -> None:
        point = InjectionPoint("pull", f"c{consumer.number}", next(numbers))
        if self._streams.allows(point):
            self._clients.consume(consumer, Injection(self._streams, point))

    def _flush(self, node: Node[GroupBroker]) -> None:
        until_ms, _ = self._cluster.slow_disks.get(node.id, (0, 0))
        if self._cluster.now_ms >= until_ms:
            self._cluster.flush(node)

    # ---- faults that come by themselves ----

    def _handlers(self) -> dict[Fault, Callable[[Injection], None]]:
        return {
            **self._injector.handlers(),
            Fault.IDLE_GROUP: self._be_idle,
            Fault.CONTROLLER_PARTITION: self._cut_off,
            Fault.CHANNEL_RESET: self._reset_channel,
            Fault.CONTROLLER_RESTART: self._restart_controller,
            Fault.DESIGNATE: self._designate,
            Fault.SLOW_DISK: self._slow_down,
            Fault.CLEAN_DATA: self._cleaning.begin,
        }

    def _may_lose_power(self, node: Node[GroupBroker], rng: Random) -> bool:
        """Spare the last member with a whole log, mostly, if nobody else can be elected."""
        group = self._cluster.group
        if group is None:
            return False
        whole = group.members - group.unfit
        if whole != {node.id} or self._plan.controller.elect_unclean:
            return True
        return rng.randrange(100) < _LAST_WHOLE_PERCENT

    def _be_idle(self, injection: Injection) -> None:
        self._cluster.counts.add(Fault.IDLE_GROUP)
        wait_ms = injection.rng.randrange(*_IDLE_MS)
        injection.note(f"nobody writes for {wait_ms} ms")
        self._idle_until_ms = self._cluster.now_ms + wait_ms

    def _any_broker(self, rng: Random) -> BrokerId:
        """Choose a broker, often the controller's master."""
        group = self._cluster.group
        if group is not None and group.master is not None and rng.randrange(2):
            return group.master
        return rng.choice(list(self._cluster.nodes))

    def _cut_off(self, injection: Injection) -> None:
        """Let a broker and the controller not hear each other, or one of them not the other."""
        cluster, rng = self._cluster, injection.rng
        broker = self._any_broker(rng)
        cluster.counts.add(Fault.CONTROLLER_PARTITION)
        ways = rng.choice(((True,), (False,), (True, False)))
        for up in ways:
            cluster.channels.block(broker, up=up)

        def end() -> None:
            for up in ways:
                cluster.channels.unblock(broker, up=up)

        wait_ms = rng.randrange(*_PARTITION_MS)
        arrow = "<->" if len(ways) > 1 else "->" if ways[0] else "<-"
        injection.note(
            f"nothing comes through {broker_address(broker)} {arrow} controller for {wait_ms} ms"
        )
        cluster.scheduler.after(wait_ms, end)

    def _reset_channel(self, injection: Injection) -> None:
        broker = self._any_broker(injection.rng)
        if self._cluster.channels.of(broker) is not None:
            self._cluster.counts.add(Fault.CHANNEL_RESET)
            injection.note(f"the channel of {broker_address(broker)} to the controller breaks")
            self._cluster.channels.drop(broker)

    def _restart_controller(self, injection: Injection) -> None:
        cluster = self._cluster
        if cluster.controller.has_stopped:
            return
        cluster.counts.add(Fault.CONTROLLER_RESTART)
        self._stop_controller()

        def restart() -> None:
            if cluster.controller.has_stopped:
                cluster.controller.restart_stopped()

        wait_ms = injection.rng.randrange(*_CONTROLLER_DOWN_MS)
        injection.note(f"the controller stops, and comes back after {wait_ms} ms")
        rng = self._streams.of("clock behind its log")
        behind_ms = rng.randrange(1, _BEHIND_MAX_MS)
        if Fault.CLOCK_SKEW in self._plan.faults and rng.randrange(100) < _BEHIND_PERCENT:
            injection.note(f"its clock is {behind_ms} ms behind then")
            cluster.controller.set_clock_back(behind_ms)
        cluster.scheduler.after(wait_ms, restart)

    def _stop_controller(self) -> None:
        self._cluster.controller.stop_one()
        self._cluster.channels.refuse_all()

    def _designate(self, injection: Injection) -> None:
        """Let an operator ask for another master."""
        cluster, group = self._cluster, self._cluster.group
        if group is None or group.master is None:
            return
        others = [broker for broker in cluster.nodes if broker != group.master]
        members = [broker for broker in others if broker in group.members]
        if not others:
            return
        cluster.counts.add(Fault.DESIGNATE)
        designated = injection.rng.choice(members or others)
        injection.note(f"an operator designates {broker_address(designated)}")
        request = ElectMaster(
            cluster_name=self._plan.broker.cluster_name,
            broker_name=self._plan.broker.broker_name,
            broker_id=designated,
            designate_elect=True,
        )
        cluster.channels.operate(push_command(push_request(request, opaque=0)))
        if self._plan.controller.elect_unclean:
            self._take_back(injection, replace(request, broker_id=group.master), group.master)

    def _take_back(self, injection: Injection, request: ElectMaster, master: BrokerId) -> None:
        """Let the operator want the old master again, which may not have heard of the other one.

        Then it is elected while it still is master.
        """
        channels, rng = self._cluster.channels, self._streams.of("designate again")
        wait_ms = rng.randrange(1, _AGAIN_MAX_MS)
        if rng.randrange(100) >= _AGAIN_PERCENT:
            return
        is_deaf = rng.randrange(100) < _DEAF_PERCENT
        deaf = ", which hears nothing of the other one" if is_deaf else ""
        injection.note(f"and wants the old master again after {wait_ms} ms{deaf}")
        if is_deaf:
            channels.block(master, up=False)

        def again() -> None:
            if is_deaf:
                channels.lose(master)
                channels.unblock(master, up=False)
            channels.operate(push_command(push_request(request, opaque=0)))

        self._cluster.scheduler.after(wait_ms, again)

    def _slow_down(self, injection: Injection) -> None:
        """Let a disk be slow for a while; what is hurt by it is counted then."""
        rng = injection.rng
        lasts_ms, broker = rng.randrange(*_SLOW_DISK_MS), self._any_broker(rng)
        wait_ms = rng.randrange(*_SLOWNESS_MS)
        injection.note(f"the disk of {broker_address(broker)} is slow for {lasts_ms} ms")
        self._cluster.slow_disks[broker] = (self._cluster.now_ms + lasts_ms, wait_ms)
