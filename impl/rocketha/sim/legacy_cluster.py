"""A cluster of the legacy service: broker 1 is its master for ever, the others are slaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol, TypeAlias

from rocketha.formats.legacy_ha_packets import LegacyReports, LegacyTransfer, feed_reports
from rocketha.formats.packet_stream import PacketStream, legacy_master_stream
from rocketha.ha.state import NOT_YET
from rocketha.legacy_ha.broker import next_timer_ms, step
from rocketha.legacy_ha.effects import (
    AnswerPut,
    LegacyAction,
    LegacyActionName,
    LegacyStepped,
    PutStatus,
)
from rocketha.legacy_ha.events import (
    BatchReceived,
    GroupTransferDue,
    LegacyEvent,
    MessageAppended,
    ReportReceived,
    Started,
)
from rocketha.legacy_ha.state import LegacyMaster, LegacySlave, LegacyState
from rocketha.sim.actions import Crashed
from rocketha.sim.chances import OneStream
from rocketha.sim.faults import FaultCounts
from rocketha.sim.legacy_options import LegacyPlan
from rocketha.sim.network import End, Network
from rocketha.sim.node import Node, broker_address, new_node
from rocketha.sim.records import ghost_message
from rocketha.sim.scheduler import Scheduler
from rocketha.sim.shell import OwnEffect, Sender, Shell, ShellEvent
from rocketha.types import BrokerId, ConnectionId, Epoch, HaAddress, Offset, PutId, TimestampMs

__all__ = ["MASTER", "LegacyCluster", "LegacyClusterAction", "LegacyObserver", "Put"]

MASTER: Final = BrokerId(1)
_GROUP_TRANSFER_MAX_MS: Final = 3
"""After a report, the service looks after so long at the latest."""

LegacyClusterAction: TypeAlias = LegacyAction | Crashed


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A producer's call: which record it became, and for how many slaves it waits."""

    offset: Offset
    incarnation: int
    """Of the master."""
    need: int


class LegacyObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: LegacyCluster) -> None:
        """Look at the cluster before anything happens."""
        ...

    def sent(
        self, cluster: LegacyCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Hear one packet that a broker sends, before `acted` tells in which action."""
        ...

    def acted(self, cluster: LegacyCluster, broker: BrokerId, action: LegacyClusterAction) -> None:
        """Look at the cluster after an action of a broker."""
        ...


@dataclass(slots=True)
class _ReportInbox:
    """Of the reports that arrived since the last look, only the newest is handed over."""

    conn: ConnectionId
    partial: bytes = b""
    fed: list[bytes] = field(default_factory=list)

    def feed(self, data: bytes) -> None:
        self.fed.append(data)

    def next_event(self) -> ReportReceived | None:
        data = b"".join(self.fed)
        self.fed.clear()
        reports = feed_reports(LegacyReports(partial=self.partial), data)
        self.partial = reports.partial
        if reports.newest is None:
            return None
        return ReportReceived(conn=self.conn, max_phy_offset=reports.newest)


@dataclass(frozen=True, slots=True)
class _BatchInbox:
    conn: ConnectionId
    stream: PacketStream[LegacyTransfer]

    def feed(self, data: bytes) -> None:
        self.stream.feed(data)

    def next_event(self) -> BatchReceived | None:
        batch = self.stream.next_packet()
        return None if batch is None else BatchReceived(conn=self.conn, batch=batch)


class LegacyCluster:
    """The master, its slaves, and the producers' calls."""

    def __init__(
        self,
        *,
        brokers: int,
        plan: LegacyPlan,
        scheduler: Scheduler,
        network: Network,
        rng: Random,
        counts: FaultCounts,
        observer: LegacyObserver,
    ) -> None:
        """Make a cluster whose brokers run and have empty logs."""
        self.plan = plan
        self.scheduler = scheduler
        self.network = network
        self.counts = counts
        self.actions = 0
        self.answered_ok: list[Put] = []
        """The calls that heard PUT_OK after they had waited."""
        self._rng = rng
        self._observer = observer
        self._puts: list[Put] = []
        self._looks_at_ms: int | None = None
        self.nodes: dict[BrokerId, Node[LegacyState]] = {
            broker: new_node(broker, self._fresh(broker), plan.options.bugs)
            for broker in map(BrokerId, range(1, brokers + 1))
        }
        self._shell: Shell[LegacyState, LegacyEvent, LegacyAction] = Shell(
            self, self.nodes, scheduler=scheduler, network=network, chances=OneStream(rng)
        )
        observer.started(self)

    def _fresh(self, broker: BrokerId) -> LegacyState:
        """Make the state of a broker that comes up; slaves connect when they like."""
        if broker == MASTER:
            return LegacyMaster(options=self.plan.options)
        return LegacySlave(
            master_address=broker_address(MASTER),
            options=self.plan.options,
            connect_at_ms=TimestampMs(
                self.scheduler.now_ms + 1 + self._rng.randrange(self.plan.late_ms)
            ),
        )

    @property
    def now_ms(self) -> int:
        """Return the virtual time."""
        return self.scheduler.now_ms

    def up(self) -> list[Node[LegacyState]]:
        """Return the brokers that run."""
        return [node for node in self.nodes.values() if node.state is not None]

    def master(self) -> LegacyMaster | None:
        """Return the master's state, None while it is down."""
        state = self.nodes[MASTER].state
        assert not isinstance(state, LegacySlave)
        return state

    # ---- what happens from outside ----

    def begin(self) -> None:
        """Wake everybody for the first time."""
        for node in self.nodes.values():
            self._shell.arm(node)

    def put(self, need: int) -> None:
        """Append a producer's message, and let the producer wait."""
        node = self.nodes[MASTER]
        number = len(self._puts)
        record = node.log.append(ghost_message(Epoch(node.incarnation + 1), number))
        node.log_version += 1
        self._puts.append(Put(offset=record.offset, incarnation=node.incarnation, need=need))
        end = Offset(record.offset + record.size)
        appended = MessageAppended(put=PutId(number), offset=record.offset, end=end, need=need)
        self._shell.deliver(node, appended)
        self._look_soon()

    def crash(self, node: Node[LegacyState], *, silent: bool = False) -> None:
        """Stop a broker of which the disk is already what survives."""
        self._shell.stop(node, silent=silent)
        if node.id == MASTER:
            self._looks_at_ms = None
        self._report(node.id, Crashed(broker=node.id))

    def restart(self, node: Node[LegacyState]) -> None:
        """Let a broker come back that is down."""
        assert node.state is None
        node.recover()
        node.state = self._fresh(node.id)
        self._shell.deliver(node, Started())

    def flush(self, node: Node[LegacyState]) -> None:
        """Run the flush service of a broker that runs.

        Spec: LegacyReplication!Flush
        Source: CommitLog.FlushRealTimeService
        """
        if node.log.flushed_offset < node.log.max_phy_offset:
            node.log.flush()
            node.log_version += 1
            self._report(node.id, LegacyAction(name=LegacyActionName.FLUSH))

    def _look_soon(self) -> None:
        """Let GroupTransferService look at the producers that wait."""
        if self._looks_at_ms is not None:
            return
        wait_ms = 1 + self._rng.randrange(_GROUP_TRANSFER_MAX_MS)
        at_ms = self._looks_at_ms = self.now_ms + wait_ms

        def look() -> None:
            if self._looks_at_ms == at_ms:
                self._looks_at_ms = None
                node, before = self.nodes[MASTER], None
                while node.state is not None and node.state is not before:
                    before = node.state
                    self._shell.deliver(node, GroupTransferDue())

        self.scheduler.after(wait_ms, look)

    # ---- what the shell asks (rocketha.sim.shell.Cores) ----

    def step(
        self, node: Node[LegacyState], event: LegacyEvent, now_ms: TimestampMs
    ) -> LegacyStepped[LegacyMaster] | LegacyStepped[LegacySlave]:
        """Let the core of a broker take an event."""
        return step(node.running(), event, now_ms=now_ms, log=node.log)

    def next_timer_ms(self, state: LegacyState) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        return next_timer_ms(state)

    def senders(self, node: Node[LegacyState]) -> Iterator[Sender]:
        """Yield the connections over which the master may send."""
        state = node.running()
        if isinstance(state, LegacyMaster):
            for end in state.ends.values():
                if end.next_offset != NOT_YET:
                    yield Sender(
                        conn=end.id,
                        behind=end.next_offset < node.log.max_phy_offset,
                        heartbeat_at_ms=end.last_write_ms + state.options.heartbeat_ms,
                    )

    def inbox(self, end: End, conn: ConnectionId) -> _ReportInbox | _BatchInbox:
        """Begin to hear the master, or a slave."""
        if end is End.CLIENT:
            return _BatchInbox(conn, legacy_master_stream())
        return _ReportInbox(conn)

    def perform(self, node: Node[LegacyState], effect: OwnEffect) -> None:
        """Answer a producer."""
        assert isinstance(effect, AnswerPut), effect
        assert node.id == MASTER
        put = self._puts[effect.put]
        if effect.status is PutStatus.PUT_OK and put.need > 0:
            self.answered_ok.append(put)

    def resolve(self, node: Node[LegacyState], peer: HaAddress) -> BrokerId:
        """Find the broker at an address: there is only one that is asked for."""
        assert peer == broker_address(MASTER)
        assert node.id != MASTER
        return MASTER

    def lingers(self, action: LegacyAction | None, end: End) -> bool:
        """Tell that nothing arrives that was sent over a connection that an action closes."""
        del action, end  # there are no role changes
        return False

    def sent(self, node: Node[LegacyState], conn: ConnectionId, data: bytes) -> None:
        """Tell the observer of a packet."""
        self._observer.sent(self, node.id, conn, data)

    def acted(self, broker: BrokerId, action: LegacyAction) -> None:
        """Tell the observer of an action; a report wakes GroupTransferService."""
        self._report(broker, action)
        if action.name is LegacyActionName.RECEIVE_REPORT:
            self._look_soon()

    def ended_by_server(self, conn: ConnectionId, client: BrokerId) -> None:
        """Say nothing: `CloseConnection` was the action."""

    def stepped(self, node: Node[LegacyState], event: LegacyEvent | ShellEvent) -> None:
        """Do nothing: the actions say all."""

    def _report(self, broker: BrokerId, action: LegacyClusterAction) -> None:
        self.actions += 1
        self._observer.acted(self, broker, action)
