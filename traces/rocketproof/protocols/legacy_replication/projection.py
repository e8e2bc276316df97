"""Runs of `rocketha.legacy_ha` as behaviours of LegacyReplication: this sees both, judges neither.

An event is what a step of a broker has done: a frame that it took, sent or refused, an answer to a
producer, an end of a connection that it closed, a record that it wrote. What its core calls the
step is looked at only where nothing was done: then that is the event, and nothing has changed.
A packet that nobody has sent closes the connection, whatever its broker does.

| specification | read from                                                                   |
|---------------|-----------------------------------------------------------------------------|
| up, inc       | whether the simulator runs the broker, and how often it has stopped it      |
| begin, log    | where the log begins, and the master's lives that its records name; of a    |
|               | broker that is down, what recovery would find                               |
| flushed       | whole records below the CommitLog's flushed offset; each power cut holds it |
|               | against what is left on the disk                                            |
| waiting       | the producers' calls, the records that they became, the answers             |
| link, stale   | frames, and the ends that the network has: see `links`                      |
| acked         | the answers PUT_OK to producers that waited                                 |
| lost, ahead   | kept here, by the rules of the specification                                |
| `due`         | when packets came and went, what broke, what nobody has sent: `occasions`   |

Steps that the specification cannot see are left out: transfers over connections that the slave
has given up, and flushes that complete no record. A run whose faults have ended is Healed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rocketha.formats.legacy_ha_packets import LegacyReports, LegacyTransfer, feed_reports
from rocketha.formats.packet_stream import legacy_master_stream
from rocketha.known_bugs.storage import file_options
from rocketha.legacy_ha.effects import AnswerPut, LegacyAction, LegacyActionName, PutStatus
from rocketha.legacy_ha.events import (
    BatchReceived,
    LegacyEvent,
    PutRequested,
    ReportReceived,
    Started,
)
from rocketha.legacy_ha.state import LegacyState
from rocketha.runtime.events import (
    ConnectionLost,
    HostEvent,
    LogFlushed,
    MessageAppended,
    PeerAccepted,
    PeerConnected,
)
from rocketha.sim.engine.network import End
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.record_epochs import RecordEpochReader, RecordEpochs
from rocketha.sim.engine.records import SEGMENT_SIZE, record_count
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.legacy_replication.cluster import MASTER, LegacyCluster
from rocketha.types import BrokerId, ConnectionId, Offset, PutId
from rocketproof.known_values import KnownValues, itself
from rocketproof.occasions import Occasions, Waits
from rocketproof.protocols.epoch_truncation.values import broker_name, index, index_or_minus_one
from rocketproof.protocols.legacy_replication.links import LegacyLinks, link_value, stale_value
from tlatrace.trace import Event
from tlatrace.values import Fcn, State, Value, record, tla_set

__all__ = ["LEGACY_SPEC", "LegacyProjection"]

LEGACY_SPEC: Final = "LegacyReplication"


class LegacyProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self.slaves: tuple[BrokerId, ...] = ()
        self._links = LegacyLinks()
        self._lost: dict[BrokerId, set[tuple[int, int]]] = {}
        self._ahead: set[BrokerId] = set()
        self._logs: dict[BrokerId, tuple[int, RecordEpochs]] = {}
        self._versions: dict[BrokerId, tuple[int, bool]] = {}
        self._sent: list[tuple[ConnectionId, bytes]] = []
        self._answers: list[AnswerPut] = []
        self._needs: dict[PutId, int] = {}
        """Each producer's call, and for how many slaves it waits."""
        self._waiting: dict[PutId, tuple[int, int, int]] = {}
        """Those that are not answered: record, the master's life, number of slaves."""
        self._acked: list[Value] = []
        self._served: list[ConnectionId] = []
        """Connections of which the master had its end when something was recorded last."""
        self._refused: set[ConnectionId] = set()
        """Those that it has closed with a report that it refused."""
        self._reader: RecordEpochReader | None = None
        self._occasions: dict[BrokerId, Occasions] = {}
        self._forged: ConnectionId | None = None
        """Over which the step under way takes a packet that nobody has sent."""
        self._cluster: LegacyCluster | None = None
        self._values = KnownValues()

    # ---- the observer ----

    def started(self, cluster: LegacyCluster) -> None:
        """Record the initial state."""
        self.slaves = tuple(broker for broker in cluster.nodes if broker != MASTER)
        self._lost = {slave: set() for slave in self.slaves}
        self._reader = RecordEpochReader(file_options(SEGMENT_SIZE, cluster.plan.bugs).log)
        self._cluster, options = cluster, cluster.plan.options
        waits = Waits(
            heartbeat_ms=options.heartbeat_ms,
            housekeeping_ms=options.housekeeping_ms,
            reconnect_ms=options.reconnect_ms,
            slave_timeout_ms=options.slave_timeout_ms,
        )
        self._occasions = {broker: Occasions(waits) for broker in cluster.nodes}
        self._record(cluster, MASTER, "Init")

    def sent(
        self, cluster: LegacyCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Keep the packet that a broker sends for the step that it belongs to."""
        del cluster, broker
        self._sent.append((conn, data))

    def forged(self, cluster: LegacyCluster, conn: ConnectionId) -> None:
        """Keep that the step to come takes a packet that nobody has sent."""
        del cluster
        self._forged = conn

    def answered(self, cluster: LegacyCluster, answer: AnswerPut) -> None:
        """Keep an answer for the step that it belongs to."""
        del cluster
        self._answers.append(answer)

    def took(
        self,
        cluster: LegacyCluster,
        broker: BrokerId,
        event: LegacyEvent | HostEvent,
        action: LegacyAction | None,
    ) -> None:
        """Record what a step has done, as far as the specification can see it."""
        known = len(self.events)
        sent, self._sent = self._sent, []
        answers, self._answers = self._answers, []
        match event:
            case Started():
                self._record(cluster, broker, "Restart", broker_name(broker))
            case LogFlushed():
                if self._flushed(cluster.nodes[broker]) != self._recorded("flushed", broker):
                    self._record(cluster, broker, "Flush", broker_name(broker))
            case _ if broker == MASTER:
                self._master_took(cluster, event, sent, answers)
            case _:
                self._slave_took(cluster, broker, event, sent)
        if action is not None and len(self.events) == known:
            self._claimed(cluster, broker, action, sent)
        if isinstance(event, BatchReceived | ReportReceived):
            self._occasions[broker].heard(event.conn, cluster.now_ms)
        for conn, _ in sent:
            self._occasions[broker].said(conn, cluster.now_ms)
        self._forged = None

    def healed(self) -> None:
        """Record the end of a run whose faults have ended."""
        assert self._cluster is not None, "it has started"
        if self.events[-1].action != "Healed":  # said once, however often the traces are asked for
            self._record(self._cluster, MASTER, "Healed")

    def acted(self, cluster: LegacyCluster, broker: BrokerId, action: Crashed) -> None:
        """Record that a broker has stopped."""
        del action
        self._crashed(cluster, broker)

    # ---- the master ----

    def _master_took(
        self,
        cluster: LegacyCluster,
        event: LegacyEvent | HostEvent,
        sent: Sequence[tuple[ConnectionId, bytes]],
        answers: Sequence[AnswerPut],
    ) -> None:
        occasions, now_ms = self._occasions[MASTER], cluster.now_ms
        if isinstance(event, PeerAccepted):
            occasions.opened(event.conn, now_ms)
        if isinstance(event, PutRequested):
            self._needs[event.put] = event.need
            occasions.asked(event.put, now_ms)
        if isinstance(event, MessageAppended):
            # Who waits for nobody is answered in this step.
            life = cluster.nodes[MASTER].incarnation
            self._waiting[event.put] = (index(event.offset), life, self._needs[event.put])
        heard = [(answer, self._waiting.pop(answer.put, None)) for answer in answers]
        for answer, put in heard:
            if put is not None and put[2] and answer.status is PutStatus.PUT_OK:
                o, life, need = put
                self._acked.append(record({"o": o, "i": life, "need": need}))
        if isinstance(event, MessageAppended):
            self._record(cluster, MASTER, "PutMessage", self._needs[event.put])
        if isinstance(event, ReportReceived):
            self._report_taken(cluster, event)
        for conn, data in sent:
            self._batch_sent(cluster, conn, data)
        for answer, put in heard:
            if put is None or isinstance(event, MessageAppended):
                continue
            if answer.status is PutStatus.PUT_OK:
                self._record(cluster, MASTER, "PutOk", put[0])
            else:
                due = occasions.may_give_up(answer.put, now_ms)
                self._record(cluster, MASTER, "PutTimeout", put[0], due)
        for conn in self._served:
            if conn == self._forged or not cluster.network.holds(conn, End.SERVER):
                self._closed(cluster, conn, due=self._is_over(cluster, MASTER, conn, event))

    def _is_over(
        self,
        cluster: LegacyCluster,
        broker: BrokerId,
        conn: ConnectionId,
        event: LegacyEvent | HostEvent,
    ) -> bool:
        """Tell whether a broker has an occasion to close its end of a connection."""
        lost = isinstance(event, ConnectionLost) and event.conn == conn
        silent = self._occasions[broker].is_silent(conn, cluster.now_ms)
        return lost or silent or conn == self._forged

    def _report_taken(self, cluster: LegacyCluster, event: ReportReceived) -> None:
        """Record a report that the master has taken, or refused by closing the connection."""
        conn, report = event.conn, event.max_phy_offset
        is_refused = not cluster.network.holds(conn, End.SERVER)
        if (found := self._links.on(conn)) is not None:
            slave, link = found
            if not is_refused:
                link.ack = report
                self._record(cluster, MASTER, "ReceiveReport", broker_name(slave), index(report))
            elif report in link.reports and conn in self._served:
                self._refused.add(conn)
                link.down.clear()
                self._record(cluster, MASTER, "RefuseReport", broker_name(slave), index(report))
        elif (stale := self._links.stale_on(conn)) is not None:
            slave, place, link = stale
            if not is_refused:
                link.ack = report
                params = (broker_name(slave), place, index(report))
                self._record(cluster, MASTER, "ReceiveStaleReport", *params)
            elif report in link.reports:
                self._refused.add(conn)

    def _batch_sent(self, cluster: LegacyCluster, conn: ConnectionId, data: bytes) -> None:
        found = self._links.on(conn)
        if found is None and not cluster.network.holds(conn, End.SERVER):
            found = self._links.ended_on(conn)
        if found is None:
            return
        slave, link = found
        stream = legacy_master_stream()
        stream.feed(data)
        batch = stream.next_packet()
        assert batch is not None, "a packet is sent as a whole"
        end = Offset(batch.offset + len(batch.body))
        link.sent_end = end
        link.down.append((batch, self._batch_value(cluster, batch)))
        size = index(end) - index(batch.offset)
        due = bool(batch.body) or self._occasions[MASTER].may_speak(conn, cluster.now_ms)
        self._record(cluster, MASTER, "Transfer", broker_name(slave), size, due)

    def _closed(self, cluster: LegacyCluster, conn: ConnectionId, *, due: bool) -> None:
        """Record that the master has closed its end of a connection."""
        if (found := self._links.on(conn)) is not None and conn not in self._refused:
            slave, link = found
            link.down.clear()
            self._record(cluster, MASTER, "CloseConnection", broker_name(slave), due)
        elif (stale := self._links.stale_on(conn)) is not None:
            slave, place, link = stale
            is_refused = conn in self._refused
            if not cluster.network.holds(conn, End.SERVER):
                self._links.drop_stale(conn)
            self._record(cluster, MASTER, "DropStale", broker_name(slave), place, due or is_refused)

    def _batch_value(self, cluster: LegacyCluster, batch: LegacyTransfer) -> Value:
        """Return a batch; its records are the log's if its bytes are, and unreadable otherwise."""
        log = cluster.nodes[MASTER].log
        begin, end = index(batch.offset), index(Offset(batch.offset + len(batch.body)))
        self._read(cluster.nodes[MASTER])
        recs = self._logs[MASTER][1][begin:end]
        is_there = batch.offset + len(batch.body) <= log.max_phy_offset
        if not is_there or log.read(batch.offset, len(batch.body)) != batch.body:
            recs = (-1,) * (end - begin)
        return record({"offset": begin, "recs": recs})

    # ---- slaves ----

    def _slave_took(
        self,
        cluster: LegacyCluster,
        slave: BrokerId,
        event: LegacyEvent | HostEvent,
        sent: Sequence[tuple[ConnectionId, bytes]],
    ) -> None:
        name, link = broker_name(slave), self._links.of(slave)
        occasions, now_ms = self._occasions[slave], cluster.now_ms
        if isinstance(event, PeerConnected):
            occasions.opened(event.conn, now_ms)
        for conn, data in sent:
            report = feed_reports(LegacyReports(), data).newest
            assert report is not None, "a report is sent as a whole"
            if self._links.reported(cluster, slave, conn, report):
                self._record(cluster, slave, "Connect", name, occasions.may_connect(now_ms))
            elif link is not None and link.conn == conn and not isinstance(event, BatchReceived):
                due = occasions.may_speak(conn, now_ms)
                self._record(cluster, slave, "Report", name, due)
        if link is None:
            return
        took = isinstance(event, BatchReceived) and event.conn == link.conn
        is_own = isinstance(event, BatchReceived) and [one for one, _ in link.down[:1]] == [
            event.batch
        ]
        due = self._is_over(cluster, slave, link.conn, event)
        if self._links.give_up(cluster, slave):
            occasions.left(now_ms)
            # No batch that the master has sent is refused.
            if is_own:
                self._record(cluster, slave, "ReceiveTransfer", name)
            else:
                self._record(cluster, slave, "Disconnect", name, due)
        elif link.conn == self._forged:
            self._record(cluster, slave, "Disconnect", name, due)
        elif took:
            # What it has taken is not in flight any more.
            del link.down[:1]
            self._record(cluster, slave, "ReceiveTransfer", name)

    # ---- what a core says that it does, and has not done ----

    def _claimed(
        self,
        cluster: LegacyCluster,
        broker: BrokerId,
        action: LegacyAction,
        sent: Sequence[tuple[ConnectionId, bytes]],
    ) -> None:
        me = broker_name(broker)
        match action.name:
            case LegacyActionName.PUT_OK:
                assert action.offset is not None
                self._record(cluster, MASTER, action.name, index(action.offset))
            case LegacyActionName.PUT_TIMEOUT:
                assert action.offset is not None
                self._record(cluster, MASTER, action.name, index(action.offset), True)
            case LegacyActionName.CONNECT if not sent:
                self._record(cluster, broker, action.name, me, True)
            case LegacyActionName.DISCONNECT:
                link = self._links.of(broker)
                if link is not None and link.conn == action.conn:
                    self._record(cluster, broker, action.name, me, True)
            case LegacyActionName.CLOSE_CONNECTION | LegacyActionName.TRANSFER:
                assert action.conn is not None
                found = self._links.on(action.conn)
                if found is not None:
                    size = (0,) if action.name is LegacyActionName.TRANSFER else ()
                    self._record(cluster, MASTER, action.name, broker_name(found[0]), *size, True)
                elif (stale := self._links.stale_on(action.conn)) is not None and not sent:
                    slave, place, _ = stale
                    self._record(cluster, MASTER, "DropStale", broker_name(slave), place, True)
            case _:
                pass

    # ---- power cuts ----

    def _crashed(self, cluster: LegacyCluster, broker: BrokerId) -> None:
        begin, before = self._logs[broker]
        self._occasions[broker].clear()
        self._read(cluster.nodes[broker])
        end = self._end(broker)
        if broker == MASTER:
            self._links.drop_all_stale()
            self._waiting.clear()
            for slave in self.slaves:
                link = self._links.of(slave)
                if self._end(slave) > end or (
                    link is not None and index_or_minus_one(link.sent_end) > end
                ):
                    self._ahead.add(slave)
        else:
            self._links.give_up(cluster, broker)
            self._lost[broker] |= {
                (at, life) for at, life in enumerate(before, start=begin) if at >= end
            }
        self._record(cluster, broker, "Crash", broker_name(broker), end)

    # ---- the state ----

    def _record(
        self, cluster: LegacyCluster, broker: BrokerId, action: str, *params: Value
    ) -> None:
        self.events.append(
            Event(
                step=len(self.events),
                action=str(action),
                params=params,
                node=broker_name(broker),
                state=self._state(cluster),
                clock=cluster.now_ms,
            )
        )
        self._served = self._links.served(cluster)

    def _state(self, cluster: LegacyCluster) -> State:
        nodes, slaves, links = cluster.nodes.values(), self.slaves, self._links
        for node in nodes:
            self._read(node)
        logs = [self._logs[node.id] for node in nodes]
        waiting = [(o, need) for o, _, need in self._waiting.values()]
        ends, lost = map(links.stale_ends, slaves), (frozenset(self._lost[s]) for s in slaves)
        of, each = self._values.of, self._values.of_each
        brokers, names = tuple(map(broker_name, cluster.nodes)), tuple(map(broker_name, slaves))
        return {
            "up": each("up", brokers, [node.state is not None for node in nodes], itself),
            "inc": each("inc", brokers, [node.incarnation for node in nodes], itself),
            "begin": each("begin", brokers, [begin for begin, _ in logs], itself),
            "log": each("log", brokers, [log for _, log in logs], itself),
            "flushed": each("flushed", brokers, list(map(self._flushed, nodes)), itself),
            "waiting": of("waiting", waiting, _waiting_value),
            "stale": each("stale", names, list(ends), stale_value),
            "link": each("link", names, [links.parts(cluster, s) for s in slaves], link_value),
            "acked": of("acked", len(self._acked), lambda _: tla_set(self._acked)),
            "lost": each("lost", names, list(lost), _lost_value),
            "ahead": of("ahead", frozenset(self._ahead), _names),
        }

    def _recorded(self, name: str, broker: BrokerId) -> Value:
        state = self.events[-1].state
        assert state is not None
        values = state[name]
        assert isinstance(values, Fcn)
        return values.fields()[broker_name(broker)]

    def _end(self, broker: BrokerId) -> int:
        begin, log = self._logs[broker]
        return begin + len(log)

    def _flushed(self, node: Node[LegacyState]) -> int:
        return self._end(node.id) if node.state is None else index(node.log.flushed_offset)

    def _read(self, node: Node[LegacyState]) -> None:
        """Read where a log begins, and the master's lives that its records name."""
        assert self._reader is not None
        version = (node.files.log_version, node.state is None)
        if self._versions.get(node.id) == version:
            return
        self._versions[node.id] = version
        if node.state is None:
            begin, record_epochs = self._reader.recovered(node.disk)
        else:
            begin, record_epochs = record_count(node.log.min_offset), self._reader.in_log(node.log)
        # A record names the life of the master that took it, counted from 1; 0 is unreadable.
        self._logs[node.id] = begin, tuple(life - 1 for life in record_epochs)


def _names(brokers: Iterable[BrokerId]) -> Value:
    return tla_set(map(broker_name, brokers))


def _waiting_value(waiting: Iterable[tuple[int, int]]) -> Value:
    return tla_set(record({"o": o, "need": need}) for o, need in waiting)


def _lost_value(lost: Iterable[tuple[int, int]]) -> Value:
    return tla_set(record({"o": o, "i": i}) for o, i in lost)
