"""A cluster of simulated brokers that a controller elects masters of; `shell` moves them.

What the cluster adds to the shell:

* It has the controller's present answer.
* It resolves addresses, and may be wrong about them (stale route).
* It reports a `Disconnect` when a master ends a connection, since what was in flight is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from rocketha.bugs import Bug, Bugs
from rocketha.errors import EpochFileError
from rocketha.ha.broker import next_timer_ms, step
from rocketha.ha.effects import ActionName, SpecAction, Stepped
from rocketha.ha.events import Event, Restarted
from rocketha.ha.state import NOT_YET, BrokerState, Role
from rocketha.runtime.effects import StoreEpochs
from rocketha.sim.actions import ClusterAction, Crashed, Elected, Observer
from rocketha.sim.chances import OneStream
from rocketha.sim.faults import Fault, FaultCounts
from rocketha.sim.network import End, Network
from rocketha.sim.node import Node, broker_address, new_node
from rocketha.sim.options import RunPlan
from rocketha.sim.packet_inbox import PacketInbox, packet_inbox
from rocketha.sim.scheduler import Scheduler
from rocketha.sim.shell import OwnEffect, Sender, Shell, ShellEvent
from rocketha.storage.epoch_store import EpochStore, EpochStoreOptions
from rocketha.types import BrokerId, ConnectionId, Epoch, EpochEntry, HaAddress, Offset, TimestampMs

__all__ = ["Cluster", "EpochFile", "ha_senders", "store_options"]

_ROLE_CHANGES: Final = frozenset({ActionName.BECOME_MASTER, ActionName.BECOME_SLAVE})


@dataclass(slots=True)
class EpochFile:
    """The epoch file of a broker."""

    store: EpochStore
    version: int = 0
    """Grows when the file may have changed."""

    def recover(self) -> tuple[EpochEntry, ...]:
        """Read the file; one that nobody can read is empty.

        Source: EpochFileCache.initCacheFromFile
        """
        self.version += 1
        try:
            return self.store.load().entries
        except EpochFileError:
            return ()


def store_options(bugs: Bugs) -> EpochStoreOptions:
    """Return how brokers keep their epochs."""
    return EpochStoreOptions(skip_empty_write=Bug.B06 in bugs, in_place=Bug.B86 in bugs)


def ha_senders(state: BrokerState, end: Offset) -> Iterator[Sender]:
    """Yield the connections over which a master may send, whose log ends at `end`."""
    for conn, server in state.servers.items():
        if server.next_offset != NOT_YET and server.cur is not None:
            yield Sender(
                conn=conn,
                behind=server.next_offset < min(end, server.cur.end_offset),
                heartbeat_at_ms=server.last_write_ms + state.options.heartbeat_ms,
            )


class Cluster:
    """The brokers, what connects them, and the controller's present answer."""

    def __init__(
        self,
        *,
        brokers: int,
        plan: RunPlan,
        scheduler: Scheduler,
        network: Network,
        rng: Random,
        counts: FaultCounts,
        observer: Observer,
    ) -> None:
        """Make a cluster whose brokers run and know nothing."""
        self.plan = plan
        bugs = plan.ha.bugs
        self.nodes: dict[BrokerId, Node[BrokerState]] = {
            broker: new_node(broker, self._fresh(broker), bugs)
            for broker in map(BrokerId, range(1, brokers + 1))
        }
        self.epoch_files = {
            node.id: EpochFile(EpochStore(node.disk, store_options(bugs)))
            for node in self.nodes.values()
        }
        self.master: BrokerId | None = None
        self.epoch = Epoch(0)
        self.scheduler = scheduler
        self.network = network
        self.counts = counts
        self.actions = 0
        self.stale_route_percent = plan.faults.stale_route_percent
        self._rng = rng
        self._observer = observer
        self._shell: Shell[BrokerState, Event, SpecAction] = Shell(
            self, self.nodes, scheduler=scheduler, network=network, chances=OneStream(rng)
        )
        observer.started(self)

    def _fresh(self, broker: BrokerId) -> BrokerState:
        return BrokerState(broker_id=broker, options=self.plan.ha)

    @property
    def now_ms(self) -> int:
        """Return the virtual time."""
        return self.scheduler.now_ms

    def up(self) -> list[Node[BrokerState]]:
        """Return the brokers that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    # ---- what happens from outside ----

    def elect(self, broker: BrokerId) -> None:
        """Elect a master; brokers learn it when they ask."""
        self.master = broker
        self.epoch = Epoch(self.epoch + 1)
        self._report(None, Elected(master=broker))

    def crash(self, node: Node[BrokerState], *, silent: bool = False) -> None:
        """Stop a broker of which the disk is already what survives."""
        self._shell.stop(node, silent=silent)
        self.epoch_files[node.id].version += 1
        self._report(node.id, Crashed(broker=node.id))

    def restart(self, node: Node[BrokerState]) -> None:
        """Let a broker come back that is down."""
        assert node.state is None
        node.recover()
        entries = self.epoch_files[node.id].recover()
        node.state = self._fresh(node.id)
        self.deliver(node, Restarted(incarnation=node.incarnation, entries=entries))

    def flush(self, node: Node[BrokerState]) -> None:
        """Run the flush service of a broker that runs.

        Spec: EpochTruncation!Flush
        Source: CommitLog.FlushRealTimeService
        """
        if node.log.flushed_offset < node.log.max_phy_offset:
            node.log.flush()
            node.log_version += 1
            self._report(node.id, SpecAction(name=ActionName.FLUSH))

    def deliver(self, node: Node[BrokerState], event: Event) -> None:
        """Let a broker take one event and perform what its core says.

        Raises: StorageFailure
        """
        self._shell.deliver(node, event)

    # ---- what the shell asks (rocketha.sim.shell.Cores) ----

    def step(self, node: Node[BrokerState], event: Event, now_ms: TimestampMs) -> Stepped:
        """Let the core of a broker take an event."""
        return step(node.running(), event, now_ms=now_ms, log=node.log)

    def next_timer_ms(self, state: BrokerState) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        return next_timer_ms(state)

    def senders(self, node: Node[BrokerState]) -> Iterator[Sender]:
        """Yield the connections over which a master may send."""
        return ha_senders(node.running(), node.log.max_phy_offset)

    def inbox(self, end: End, conn: ConnectionId) -> PacketInbox:
        """Begin to hear a master, or a slave."""
        return packet_inbox(end, conn)

    def perform(self, node: Node[BrokerState], effect: OwnEffect) -> None:
        """Write an epoch file."""
        assert isinstance(effect, StoreEpochs), effect
        file = self.epoch_files[node.id]
        file.version += 1
        file.store.replace(effect.entries)

    def resolve(self, node: Node[BrokerState], peer: HaAddress) -> BrokerId:
        """Find the broker at an address; a stale route leads to another one."""
        others = [n for n in self.nodes.values() if n is not node]
        [server] = [n.id for n in others if broker_address(n.id) == peer]
        stale = [n for n in others if n.id != server]
        if stale and self._rng.randrange(100) < self.stale_route_percent:
            self.counts.add(Fault.STALE_ROUTE)
            zombies = [n for n in stale if n.state is not None and n.state.role is Role.MASTER]
            return self._rng.choice(zombies or stale).id
        return server

    def lingers(self, action: SpecAction | None, end: End) -> bool:
        """Tell whether what was sent over connections that an action closes still arrives."""
        del end
        return action is not None and action.name in _ROLE_CHANGES

    def sent(self, node: Node[BrokerState], conn: ConnectionId, data: bytes) -> None:
        """Tell the observer of a packet."""
        self._observer.sent(self, node.id, conn, data)

    def acted(self, broker: BrokerId, action: SpecAction) -> None:
        """Tell the observer of an action."""
        self._report(broker, action)

    def ended_by_server(self, conn: ConnectionId, client: BrokerId) -> None:
        """Report that nothing more comes to a slave over a connection that it still holds."""
        self._report(client, SpecAction(name=ActionName.DISCONNECT, conn=conn))

    def stepped(self, node: Node[BrokerState], event: Event | ShellEvent) -> None:
        """Do nothing: the actions say all."""

    def _report(self, broker: BrokerId | None, action: ClusterAction) -> None:
        self.actions += 1
        self._observer.acted(self, broker, action)
