"""A cluster of the legacy service: broker 1 is its master for ever, the others are slaves."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from rocketha.formats.legacy_ha_packets import (
    LegacyReports,
    LegacyTransfer,
    feed_reports,
    push_legacy_transfer,
    push_report,
)
from rocketha.formats.packet_stream import legacy_master_stream
from rocketha.ha.state import NOT_YET
from rocketha.legacy_ha.connections import LegacyCore
from rocketha.legacy_ha.effects import (
    AnswerPut,
    LegacyAction,
    PutStatus,
)
from rocketha.legacy_ha.events import (
    BatchReceived,
    GroupTransferDue,
    LegacyEvent,
    PutRequested,
    ReportReceived,
    Started,
)
from rocketha.legacy_ha.state import LegacyMaster, LegacySlave, LegacyState, MasterEnd
from rocketha.recording.recorder import NOT_RECORDED, Recording, StepRecorder
from rocketha.runtime.effects import AnswerClient
from rocketha.runtime.events import HostEvent, MessageAppended, TransferDue
from rocketha.sim.engine.crash_points import CrashPoints
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.hosts import HostedCluster, Hosts
from rocketha.sim.engine.network import End, Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import RandomSource
from rocketha.sim.engine.records import RECORD_SIZE, SEGMENT_SIZE, message_of_epoch
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.legacy_replication.plan import LegacyPlan
from rocketha.sim.legacy_replication.readers import Readers
from rocketha.sim.legacy_replication.recorders import LegacyRecorders
from rocketha.types import BrokerId, ConnectionId, Epoch, HaAddress, Offset, PutId, TimestampMs

__all__ = [
    "MASTER",
    "Asked",
    "LegacyCluster",
    "LegacyObserver",
    "NullLegacyObserver",
]

MASTER: Final = BrokerId(1)
_GROUP_TRANSFER_MAX_MS: Final = 3
"""After a report, the service looks after so long at the latest."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A producer's call, as records have it: for how many slaves it waits."""

    put: PutId
    need: int


class LegacyObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: LegacyCluster) -> None:
        """Look at the cluster before anything happens."""
        ...

    def sent(
        self, cluster: LegacyCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Hear one packet that a broker sends, before `took` says in which step."""
        ...

    def forged(self, cluster: LegacyCluster, conn: ConnectionId) -> None:
        """Hear that the step to come takes a packet that nobody has sent."""
        ...

    def answered(self, cluster: LegacyCluster, answer: AnswerPut) -> None:
        """Hear an answer to a producer, in the step under way."""
        ...

    def took(
        self,
        cluster: LegacyCluster,
        broker: BrokerId,
        event: LegacyEvent | HostEvent,
        action: LegacyAction | None,
    ) -> None:
        """Look at the cluster after a step of a broker, whatever its core calls it."""
        ...

    def acted(self, cluster: LegacyCluster, broker: BrokerId, action: Crashed) -> None:
        """Look at the cluster after a broker has stopped."""
        ...


class NullLegacyObserver:
    """An observer that does not look."""

    def started(self, cluster: LegacyCluster) -> None:
        """Do nothing."""

    def sent(
        self, cluster: LegacyCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Do nothing."""

    def forged(self, cluster: LegacyCluster, conn: ConnectionId) -> None:
        """Do nothing."""

    def answered(self, cluster: LegacyCluster, answer: AnswerPut) -> None:
        """Do nothing."""

    def took(
        self,
        cluster: LegacyCluster,
        broker: BrokerId,
        event: LegacyEvent | HostEvent,
        action: LegacyAction | None,
    ) -> None:
        """Do nothing."""

    def acted(self, cluster: LegacyCluster, broker: BrokerId, action: Crashed) -> None:
        """Do nothing."""


class LegacyCluster(HostedCluster[LegacyState, LegacyEvent, LegacyAction]):
    """The master, its slaves, and the producers' calls."""

    closes_are_shown = True

    def __init__(
        self,
        *,
        brokers: int,
        plan: LegacyPlan,
        scheduler: Scheduler,
        network: Network,
        random_source: RandomSource,
        counts: FaultCounts,
        observer: LegacyObserver,
        recording: Recording = NOT_RECORDED,
        crash_points: CrashPoints | None = None,
    ) -> None:
        """Make a cluster whose brokers run and have empty logs."""
        self.plan = plan
        self.scheduler = scheduler
        self.network = network
        self.counts = counts
        self.actions = 0
        self._random_source = random_source
        self.readers = Readers()
        self._observer = observer
        self.crash_points = crash_points or CrashPoints()
        self._puts: dict[PutId, int] = {}
        """Each producer's call, and for how many slaves it waits."""
        self._offsets: dict[PutId, Offset] = {}
        """Of the records that they became."""
        self._numbers = 0
        self._looks_at_ms: int | None = None
        self.partly_sent: deque[Callable[[], None]] = deque()
        """What happens while the master has sent a slave a part of its log, one thing each time."""
        self.partly_taken: deque[Callable[[], None]] = deque()
        """What happens while a slave has a part of a record."""
        self.nodes: dict[BrokerId, Node[LegacyState]] = {
            broker: Node(broker, plan.bugs) for broker in map(BrokerId, range(1, brokers + 1))
        }
        self._recorders = LegacyRecorders(self.nodes, plan, scheduler, recording, master=MASTER)
        self._hosts: Hosts[LegacyState, LegacyEvent, LegacyAction] = Hosts(
            LegacyCore(),
            self,
            self.nodes,
            scheduler=scheduler,
            network=network,
            random_source=random_source,
            crash_points=self.crash_points,
        )
        for node in self.nodes.values():
            node.state = self._fresh(node.id)
            self._recorders.of(node.id).started()
        observer.started(self)

    def _fresh(self, broker: BrokerId) -> LegacyState:
        """Make the state of a broker that comes up; slaves connect when they like."""
        if broker == MASTER:
            return LegacyMaster(options=self.plan.options)
        late_ms = self._random_source.of("late", broker).randrange(self.plan.late_ms)
        return LegacySlave(
            master_address=broker_address(MASTER),
            options=self.plan.options,
            connect_at_ms=TimestampMs(self.scheduler.now_ms + 1 + late_ms),
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
            self._hosts.arm(node)

    def put(self, need: int) -> None:
        """Append a producer's message, and let the producer wait."""
        node, number = self.nodes[MASTER], self._numbers
        self._numbers += 1
        epoch = Epoch(node.incarnation + 1)
        message = message_of_epoch(epoch, number)
        self.readers.wrote(message.body, epoch)
        self._puts[PutId(number)] = need
        requested = PutRequested(put=PutId(number), message=message, need=need)
        self._recorders.of(MASTER).heard(Asked(requested.put, need))
        self._hosts.deliver(node, requested)
        self._look_soon()

    def crash(self, node: Node[LegacyState], *, silent: bool = False) -> None:
        """Stop a broker of which the disk is already what survives."""
        self._recorders.stopped(node)
        self._hosts.stop(node, silent=silent)
        if node.id == MASTER:
            self._looks_at_ms = None
        else:
            self.readers.stopped(node)
        self.actions += 1
        self._observer.acted(self, node.id, Crashed(broker=node.id))

    def restart(self, node: Node[LegacyState]) -> None:
        """Let a broker come back that is down."""
        assert node.state is None
        node.files.recover()
        if node.id == MASTER:
            self.readers.came_back(node, self.nodes)
        node.state = self._fresh(node.id)
        self._recorders.of(node.id).started()
        self._hosts.deliver(node, Started())

    def flush(self, node: Node[LegacyState]) -> None:
        """Run the flush service of a broker that runs.

        Spec: LegacyReplication!Flush
        Source: CommitLog.FlushRealTimeService
        """
        self._hosts.flush(node)

    def has(self, conn: ConnectionId, broker: BrokerId) -> bool:
        """Tell whether a broker runs and listens to a connection."""
        state = self.nodes[broker].state
        if isinstance(state, LegacyMaster):
            return conn in state.ends
        return state is not None and state.client is not None and state.client.id == conn

    def forge(self, conn: ConnectionId, broker: BrokerId, which: int) -> None:
        """Let a broker take one of the packets that no honest peer sends."""
        state, end = self.nodes[broker].running(), self.nodes[broker].log.max_phy_offset
        if isinstance(state, LegacyMaster):
            forged = _to_master(end, state.ends[conn])
        else:
            forged = _to_slave(end)
        self._observer.forged(self, conn)
        self._hosts.forge(broker, conn, forged[which % len(forged)])

    def _look_soon(self) -> None:
        """Let GroupTransferService look at the producers that wait."""
        if self._looks_at_ms is not None:
            return
        wait_ms = 1 + self._random_source.of("look").randrange(_GROUP_TRANSFER_MAX_MS)
        at_ms = self._looks_at_ms = self.now_ms + wait_ms

        def look() -> None:
            if self._looks_at_ms == at_ms:
                self._looks_at_ms = None
                node, before = self.nodes[MASTER], None
                while node.state is not None and node.state is not before:
                    before = node.state
                    self._hosts.deliver(node, GroupTransferDue())

        self.scheduler.after(wait_ms, look)

    # ---- what is around the hosts (rocketha.sim.hosts.HostedCluster) ----

    def answer_client(self, node: Node[LegacyState], answer: AnswerClient) -> None:
        """Answer a producer."""
        assert isinstance(answer, AnswerPut), answer
        assert node.id == MASTER
        need = self._puts[answer.put]
        if need and answer.status is PutStatus.PUT_OK:
            # Who is answered at once has the last record: nothing came in between.
            offset = self._offsets.get(answer.put, node.log.record_offsets()[-1])
            self.readers.heard(node, offset, need, self.now_ms)

    def client_answered(self, node: Node[LegacyState], answer: AnswerClient) -> None:
        """Tell the observer of an answer."""
        del node
        assert isinstance(answer, AnswerPut), answer
        self._observer.answered(self, answer)

    def recorder_of(self, node: Node[LegacyState]) -> StepRecorder:
        """Return what writes down what a broker sees and does."""
        return self._recorders.of(node.id)

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

    def shown(self, data: bytes, *, of_server: bool) -> Mapping[str, object]:
        """Return what a packet says."""
        if not of_server:
            return {"report": feed_reports(LegacyReports(), data).newest}
        stream = legacy_master_stream()
        stream.feed(data)
        batch = stream.next_packet()
        assert batch is not None, data
        return {"offset": batch.offset, "size": len(batch.body)}

    def took(
        self,
        node: Node[LegacyState],
        event: LegacyEvent | HostEvent,
        action: LegacyAction | None,
    ) -> None:
        """Tell the observer of a step; a report wakes GroupTransferService."""
        if isinstance(event, MessageAppended):
            self._offsets[event.put] = event.offset
        self._observer.took(self, node.id, event, action)
        if isinstance(event, ReportReceived) and self.network.holds(event.conn, End.SERVER):
            self._look_soon()

    def acted(self, broker: BrokerId, action: LegacyAction) -> None:
        """Count an action."""
        del broker, action
        self.actions += 1

    def stepped(self, node: Node[LegacyState], event: LegacyEvent | HostEvent) -> None:
        """Read what slaves have got."""
        if node.id != MASTER:
            self.readers.read(node)
        state, end = node.state, node.log.max_phy_offset
        if isinstance(event, BatchReceived) and end % SEGMENT_SIZE % RECORD_SIZE:
            self._strike(self.partly_taken)
        if isinstance(state, LegacyMaster) and isinstance(event, TransferDue):
            sent = state.ends.get(event.conn)
            if sent is not None and sent.next_offset < end:
                self._strike(self.partly_sent)

    def _strike(self, waiting: deque[Callable[[], None]]) -> None:
        if waiting:
            self.scheduler.after(0, waiting.popleft())


def _to_master(log_end: Offset, end: MasterEnd) -> tuple[bytes, ...]:
    """Return reports that no slave makes over a connection to a master with such a log.

    They are beyond what was sent while not all was; else below 0, beyond the log, or less than the
    last one.
    """
    if NOT_YET < end.next_offset < log_end:
        return (push_report(log_end),)
    reports = [-2, log_end + 1, 1 << 62]
    if end.slave_ack > 0:
        reports.append(end.slave_ack - 1)
    return tuple(push_report(Offset(report)) for report in reports)


def _to_slave(end: Offset) -> tuple[bytes, ...]:
    """Return batches that no master sends to a slave of which the log ends here."""
    # An empty log may begin at any file, so for one it is within a file.
    file = Offset(end - end % SEGMENT_SIZE + SEGMENT_SIZE) if end else Offset(1)
    beyond = LegacyTransfer(offset=file, body=b"forged")
    header = push_legacy_transfer(replace(beyond, body=b""))
    return (
        push_legacy_transfer(beyond),
        push_legacy_transfer(replace(beyond, offset=Offset(end + 1), body=b"")),
        header[:8] + b"\xff\xff\xff\xff",
        b"\xff" * 8 + header[8:],
    )
