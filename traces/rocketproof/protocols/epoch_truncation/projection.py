"""Runs of `rocketha` as behaviours of EpochTruncation: this sees both sides, and judges neither.

After every action of the cluster the whole state of the specification is read from the real one:
from the bytes of the logs, what recovery would find on the disks, the packets that were sent and
received, and the ends of connections; of the states of the cores only what no packet and no file
shows. Nothing is computed from the action, so a core that does something else than the
specification says gives a trace that the specification does not allow. A packet that is taken is an
event, whatever the core calls it; one that is refused is only where the specification refuses it.

| specification | implementation                                                              |
|---------------|-----------------------------------------------------------------------------|
| log, disk     | epochs that the bodies of the records name, in memory and after a recovery; |
|               | a piece of a record is none, but at the end of a master's log               |
| flushed       | whole records below the CommitLog's flushed offset                          |
| epochs        | the core's cache; of a broker that is down, what its epoch file says        |
| epochsDisk    | what the epoch file says                                                    |
| role, known,  | the core: nothing else shows them                                           |
| received      |                                                                             |
| link          | packets, and the ends that the network has: see `links`                     |
| acted         | masters that acted on the controller's present epoch                        |
| `due`         | when packets came and went, and what was forged: `occasions`                |

Actions that the specification cannot see are left out: acks, transfers and losses on a connection
that the slave has given up, and flushes that complete no record. A run whose faults have ended is
Healed.
"""

from __future__ import annotations

from typing import Final, assert_never

from rocketha.formats.ha_packets import (
    Ack,
    Expecting,
    HandshakeReply,
    MasterPacket,
    SlavePacket,
    Transfer,
    pull_master_packet,
    pull_slave_packet,
)
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.ha.events import Event as BrokerEvent
from rocketha.ha.events import MessagePut, PacketReceived
from rocketha.ha.state import BrokerState, Role
from rocketha.known_bugs.storage import file_options
from rocketha.runtime.events import ConnectionLost, HostEvent, PeerAccepted, PeerConnected
from rocketha.sim.engine.network import Connection, End
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.record_epochs import RecordEpochReader, RecordEpochs
from rocketha.sim.engine.records import RECORD_SIZE, SEGMENT_SIZE
from rocketha.sim.epoch_truncation.actions import (
    ClusterAction,
    Crashed,
    Elected,
    LogLost,
    StoreLost,
)
from rocketha.sim.epoch_truncation.cluster import Cluster
from rocketha.storage.commit_log import CommitLog
from rocketha.types import BrokerId, ConnectionId, Epoch, Offset
from rocketproof.known_values import KnownValues
from rocketproof.occasions import Occasions, Waits
from rocketproof.protocols.epoch_truncation.links import Link, Links
from rocketproof.protocols.epoch_truncation.values import (
    NONE,
    broker_name,
    entries_value,
    handshake_value,
    index,
    starts_value,
    transfer_value,
)
from tlatrace.trace import Event
from tlatrace.values import State, Value, record

__all__ = ["SPEC", "EpochProjection"]

SPEC: Final = "EpochTruncation"

_CONTROLLER: Final = "controller"
_PIECE: Final = -1
"""The epoch of what is no record."""
_OF_BROKERS: Final = (
    "role",
    "known",
    "inc",
    "log",
    "epochs",
    "received",
    "disk",
    "flushed",
    "epochsDisk",
    "link",
)


class EpochProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self.brokers: tuple[BrokerId, ...] = ()
        self._cluster: Cluster | None = None
        self._values: dict[str, dict[str, Value]] = {name: {} for name in _OF_BROKERS}
        self._known = KnownValues()
        self._state: dict[str, Value] = {}
        self._changed: set[str] = set()
        self._seen: dict[BrokerId, tuple[BrokerState | None, int, int]] = {}
        self._logs: dict[BrokerId, tuple[tuple[int, bool], RecordEpochs, RecordEpochs]] = {}
        self._links = Links()
        self._acted = 0
        self._sent: MasterPacket | None = None
        """By a master, in the step under way."""
        self._occasions: dict[BrokerId, Occasions] = {}
        self._speaks_in_time = False
        """Who has sent something last had said nothing over that connection for some time."""
        self._reports: list[Link] = []
        """Over which a slave has reported its log end in the step under way."""
        self._under_way: tuple[BrokerId, BrokerEvent | HostEvent] | None = None
        """Who took which event last."""
        self._taken: MasterPacket | SlavePacket | None = None
        """By a broker, in the last step."""
        self._said_unheld = False
        """A broker has sent something over a connection that it had closed, in this step."""
        self._reader: RecordEpochReader | None = None

    # ---- the observer ----

    def started(self, cluster: Cluster) -> None:
        """Record the initial state."""
        self._cluster = cluster
        self.brokers = tuple(cluster.nodes)
        bugs = cluster.plan.bugs
        self._reader = RecordEpochReader(file_options(SEGMENT_SIZE, bugs).log)
        options = cluster.plan.ha
        waits = Waits(heartbeat_ms=options.heartbeat_ms, housekeeping_ms=options.housekeeping_ms)
        self._occasions = {broker: Occasions(waits) for broker in cluster.nodes}
        self._record(cluster, None, "Init", ())

    def healed(self) -> None:
        """Record that the run has ended, some time after the last fault."""
        assert self._cluster is not None, "the run has not begun"
        if self.events[-1].action != "Healed":  # said once, however often the traces are asked for
            self._record(self._cluster, None, "Healed", ())

    def sent(self, cluster: Cluster, broker: BrokerId, conn: ConnectionId, data: bytes) -> None:
        """Note an acknowledgement; keep a master's packet for the step that it belongs to."""
        connection = cluster.network.find(conn)
        own = None if connection is None else _end_of(connection, broker)
        if connection is None or own is None or not connection.is_open(own):
            self._said_unheld = True
            return
        occasions, now_ms = self._occasions[broker], _now_ms(cluster, broker)
        self._speaks_in_time = occasions.may_speak(conn, now_ms)
        occasions.said(conn, now_ms)
        either = Expecting.HANDSHAKE | Expecting.TRANSFER
        if own is End.SERVER:
            pulled = pull_master_packet(data, either)
            assert pulled is not None, "a packet is sent as a whole"
            self._sent = pulled[0]
            return
        found, pulled_ack = self._links.on(conn), pull_slave_packet(data, either)
        assert pulled_ack is not None, "a packet is sent as a whole"
        if found is not None and isinstance(pulled_ack[0], Ack):
            found[1].acknowledged(pulled_ack[0].max_phy_offset)
            self._reports.append(found[1])

    def took(
        self,
        cluster: Cluster,
        broker: BrokerId,
        event: BrokerEvent | HostEvent,
        action: SpecAction | None,
    ) -> None:
        """Keep the packet that a step takes; record what a core does not call an action."""
        self._taken = event.packet if isinstance(event, PacketReceived) else None
        self._under_way = (broker, event)
        reports, self._reports = self._reports, []
        if isinstance(event, PeerAccepted | PeerConnected):
            self._occasions[broker].opened(event.conn, _now_ms(cluster, broker))
        elif isinstance(event, PacketReceived):
            self._occasions[broker].heard(event.conn, _now_ms(cluster, broker))
        else:
            for _ in reports:
                params = (broker_name(broker), self._speaks_in_time)
                self._record(cluster, broker, "Report", params)
        if isinstance(event, PacketReceived) and (found := self._links.on(event.conn)) is not None:
            slave, link = found
            if broker == slave:
                self._slave_took(cluster, slave, link, action)
            elif isinstance(event.packet, Ack):
                self._master_took(cluster, slave, link, event.packet.max_phy_offset, action)
        if action is None:
            self._sent = None
            if (
                isinstance(event, MessagePut)
                and self._values["role"][broker_name(broker)] == "Master"
            ):
                self._record(cluster, broker, "PutMessage", (broker_name(broker),))
        self._refuse_impossible(cluster, broker)

    def _refuse_impossible(self, cluster: Cluster, broker: BrokerId) -> None:
        """Record what no broker does, as a step that the specification has not.

        Whoever has closed a connection says nothing over it, and a packet that no honest peer sends
        ends its connection: so a broker that does otherwise has given up what it still holds.
        """
        forged = None if cluster.forged is None else cluster.network.find(cluster.forged)
        if forged is not None and forged.is_open(_end_of(forged, broker)):
            self._record(cluster, broker, "Disconnect", (broker_name(forged.client),))
        if self._said_unheld:
            self._said_unheld = False
            self._record(cluster, broker, "ReceiveTransfer", (broker_name(broker),))

    def _slave_took(
        self, cluster: Cluster, slave: BrokerId, link: Link, action: SpecAction | None
    ) -> None:
        """Record a packet of the master that a slave refuses, or takes without a word."""
        packet = self._taken
        is_own = [one for one, _ in link.down[:1]] == [packet]
        is_reply = isinstance(packet, HandshakeReply)
        if not link.is_held(cluster):
            if is_own:
                # A batch that the master has sent is never refused.
                self._links.drop(slave)
                name = "RefuseHandshake" if is_reply else "ReceiveTransfer"
                self._record(cluster, slave, name, (broker_name(slave),))
        elif action is None:
            link.took()
            name = "ReceiveHandshake" if is_reply else "ReceiveTransfer"
            self._record(cluster, slave, name, (broker_name(slave),))

    def _master_took(
        self,
        cluster: Cluster,
        slave: BrokerId,
        link: Link,
        ack: Offset,
        action: SpecAction | None,
    ) -> None:
        """Record an acknowledgement of a slave; none that it has sent is refused."""
        is_open = link.is_open(cluster)
        if is_open:
            link.ack = ack
        if (is_open and action is None) or (not is_open and ack in link.reports):
            params = (broker_name(link.master), broker_name(slave), index(ack))
            self._record(cluster, link.master, "ReceiveAck", params)

    def acted(self, cluster: Cluster, broker: BrokerId | None, action: ClusterAction) -> None:
        """Record an action, if the specification can see it, and the state after it."""
        match action:
            case Elected(master=master):
                self._acted = 0
                if master is None:
                    self._record(cluster, None, "ElectNobody", ())
                else:
                    self._record(cluster, None, "ElectMaster", (broker_name(master),))
            case Crashed(broker=down) | LogLost(broker=down):
                self._occasions[down].clear()
                kept = len(self._read(cluster.nodes[down])[0])
                name = "Crash" if isinstance(action, Crashed) else "LoseLog"
                self._record(cluster, down, name, (broker_name(down), kept))
            case StoreLost(broker=down):
                self._record(cluster, down, "LoseStore", (broker_name(down),))
            case SpecAction():
                assert broker is not None
                self._broker_acted(cluster, broker, action)
            case _ as unreachable:
                assert_never(unreachable)

    def _broker_acted(self, cluster: Cluster, broker: BrokerId, action: SpecAction) -> None:
        me = broker_name(broker)
        match action.name:
            case ActionName.BECOME_MASTER:
                if cluster.nodes[broker].running().known_epoch == cluster.epoch:
                    self._acted += 1
                self._record(cluster, broker, action.name, (me,))
            case (
                ActionName.BECOME_SLAVE
                | ActionName.LEARN_EPOCH
                | ActionName.RESTART
                | ActionName.PUT_MESSAGE
            ):
                self._record(cluster, broker, action.name, (me,))
            case ActionName.FLUSH:
                flushed = index(cluster.nodes[broker].log.flushed_offset)
                if flushed != self._values["flushed"][me]:
                    self._record(cluster, broker, action.name, (me,))
            case ActionName.HANDSHAKE | ActionName.RECEIVE_ACK | ActionName.TRANSFER:
                assert action.conn is not None
                self._master_acted(cluster, broker, action, action.conn)
            case ActionName.RECEIVE_HANDSHAKE | ActionName.RECEIVE_TRANSFER | ActionName.DISCONNECT:
                assert action.conn is not None
                self._slave_acted(cluster, broker, action, action.conn)
            case _ as unreachable:
                assert_never(unreachable)

    def _master_acted(
        self, cluster: Cluster, master: BrokerId, action: SpecAction, conn: ConnectionId
    ) -> None:
        """Record what a master has sent or received over a link."""
        me, (packet, self._sent) = broker_name(master), (self._sent, None)
        if isinstance(packet, HandshakeReply):
            self._links.answered(cluster, conn, master)
        found = self._links.on(conn)
        if found is None:
            return
        slave, link = found
        params: tuple[Value, ...] = (me, broker_name(slave))
        if packet is not None:
            link.down.append((packet, self._packet_value(cluster, master, packet)))
        name: str = action.name
        match action.name:
            case ActionName.TRANSFER:
                sent = 0
                if isinstance(packet, Transfer):
                    link.sent_end = Offset(packet.offset + len(packet.body))
                    sent = index(link.sent_end) - index(packet.offset)
                    if not packet.body:
                        name, sent = "Heartbeat", self._speaks_in_time
                params = (*params, sent)
            case ActionName.RECEIVE_ACK:
                params = (*params, index(link.ack))
            case _:
                pass
        self._record(cluster, master, name, params)

    def _slave_acted(
        self, cluster: Cluster, slave: BrokerId, action: SpecAction, conn: ConnectionId
    ) -> None:
        found = self._links.on(conn)
        if action.name is ActionName.DISCONNECT:
            if found is None:
                return
            if not (found[1].is_held(cluster) and found[1].is_open(cluster)):
                self._links.drop(slave)
            self._given_up(cluster, slave, conn)
            return
        if found is not None:
            found[1].took()
        self._record(cluster, slave, action.name, (broker_name(slave),))

    def _given_up(self, cluster: Cluster, slave: BrokerId, conn: ConnectionId) -> None:
        """Record that a slave has lost a connection, or that an end has closed it."""
        assert self._under_way is not None
        closer, event = self._under_way
        if isinstance(event, ConnectionLost) and event.conn == conn:
            self._record(cluster, slave, "Disconnect", (broker_name(slave),))
            return
        silent = self._occasions[closer].is_silent(conn, _now_ms(cluster, closer))
        due = silent or conn == cluster.forged
        self._record(cluster, slave, "CloseConnection", (broker_name(slave), due))

    def _packet_value(self, cluster: Cluster, master: BrokerId, packet: MasterPacket) -> Value:
        """Return a packet; a batch has the log's records if it has its bytes, else unreadable."""
        if isinstance(packet, HandshakeReply):
            return handshake_value(
                epoch=packet.last_epoch, end=packet.max_phy_offset, entries=packet.entries
            )
        node, end = cluster.nodes[master], Offset(packet.offset + len(packet.body))
        begins, ends = index(packet.offset), index(end)
        recs = self._read(node)[0][begins:ends]
        log = node.log
        is_there = end <= log.max_phy_offset
        if not is_there or log.read(packet.offset, len(packet.body)) != packet.body:
            recs = (-1,) * (ends - begins)
        return transfer_value(
            epoch=packet.epoch,
            start=packet.epoch_start_offset,
            offset=packet.offset,
            recs=recs,
        )

    # ---- the state ----

    def _record(
        self, cluster: Cluster, broker: BrokerId | None, action: str, params: tuple[Value, ...]
    ) -> None:
        self._links.drop_given_up(cluster)
        for node in cluster.nodes.values():
            self._look_at(node)
            self._put("link", broker_name(node.id), self._links.value(cluster, node.id))
        for name in _OF_BROKERS:
            if name in self._changed:
                self._state[name] = record(self._values[name])
        self._changed.clear()
        elected = (cluster.master, cluster.epoch)
        self._state["ctl"] = self._known.of("ctl", elected, _control_value)
        self._state["acted"] = self._acted
        state: State = dict(self._state)
        self.events.append(
            Event(
                step=len(self.events),
                action=str(action),
                params=params,
                node=_CONTROLLER if broker is None else broker_name(broker),
                state=state,
                clock=cluster.now_ms,
            )
        )

    def _put(self, name: str, broker: str, value: Value) -> None:
        values = self._values[name]
        known = values.get(broker)
        # Most values are the same object as before; comparing two means writing both as text.
        if known is not value and (known is None or known != value):
            values[broker] = value
            self._changed.add(name)

    def _look_at(self, node: Node[BrokerState]) -> None:
        """Read what may have changed of a broker since it was looked at."""
        now = (node.state, node.files.log_version, node.files.epochs_version)
        before = self._seen.get(node.id)
        if before is not None and before[0] is now[0] and before[1:] == now[1:]:
            return
        me, state = broker_name(node.id), node.state
        record_epochs, on_disk = self._read(node)
        if state is not None and state.role is Role.MASTER and not _is_whole(node.log):
            record_epochs = (*record_epochs, _PIECE)
        self._seen[node.id] = now
        self._put("log", me, record_epochs)
        self._put("disk", me, on_disk)
        self._put("inc", me, node.incarnation)
        if before is None or before[2] != now[2] or state is None:
            on_file = node.files.epochs.load()
            self._put("epochsDisk", me, starts_value(on_file))
        if state is None:
            self._put("role", me, "Down")
            self._put("known", me, 0)
            self._put("received", me, 0)
            self._put("flushed", me, len(on_disk))
            self._put("epochs", me, entries_value(node.files.epochs.load()))
            return
        self._put("role", me, state.role.value)
        self._put("known", me, int(state.known_epoch))
        self._put("received", me, int(state.received_epoch))
        self._put("flushed", me, index(node.log.flushed_offset))
        if before is None or before[0] is None or before[0].cache is not state.cache:
            self._put("epochs", me, entries_value(state.cache.entries))

    def _read(self, node: Node[BrokerState]) -> tuple[RecordEpochs, RecordEpochs]:
        """Return what the log has and what is on the disk; the same for a broker that is down."""
        assert self._reader is not None
        version = (node.files.log_version, node.state is None)
        known = self._logs.get(node.id)
        if known is not None and known[0] == version:
            return known[1], known[2]
        on_disk = self._reader.on_disk(node.disk)
        in_log = on_disk if node.state is None else self._reader.in_log(node.log)
        self._logs[node.id] = (version, in_log, on_disk)
        return in_log, on_disk


def _control_value(elected: tuple[BrokerId | None, Epoch]) -> Value:
    master, epoch = elected
    return record({"master": NONE if master is None else broker_name(master), "epoch": int(epoch)})


def _now_ms(cluster: Cluster, broker: BrokerId) -> int:
    """Return what the clock of a broker shows."""
    return cluster.nodes[broker].clock.shows(cluster.scheduler.now_ms)


def _end_of(connection: Connection, broker: BrokerId) -> End:
    return End.SERVER if connection.server == broker else End.CLIENT


def _is_whole(log: CommitLog) -> bool:
    """Tell whether a log ends with a record: a master begins no epoch behind a piece of one."""
    in_segment = log.max_phy_offset % SEGMENT_SIZE
    return log.max_phy_offset == 0 or (in_segment > 0 and in_segment % RECORD_SIZE == 0)
