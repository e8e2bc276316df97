"""Runs of `rocketha.legacy_ha` as behaviours of LegacyReplication.

As in `epoch_truncation`, the whole state is read from the real one after every action:

| specification | implementation                                                              |
|---------------|-----------------------------------------------------------------------------|
| begin, log    | where the log begins, and the master's lives that its records name; of a    |
|               | broker that is down, what recovery would find                               |
| flushed       | whole records below the CommitLog's flushed offset                          |
| waiting       | the producers in the master's core                                          |
| link, stale   | both ends of the connections, see `legacy_links`                            |
| acked         | what producers heard                                                        |
| ghosts        | kept here, by the rules of the specification                                |

Actions that the specification cannot see are left out: transfers over connections that the slave
has given up, and flushes that complete no record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, assert_never

from rocketha.formats.legacy_ha_packets import LegacyTransfer
from rocketha.formats.packet_stream import PacketStream, legacy_master_stream
from rocketha.known_bugs.storage import file_options
from rocketha.legacy_ha.effects import LegacyAction, LegacyActionName
from rocketha.legacy_ha.state import LegacyState
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.record_epochs import RecordEpochReader, RecordEpochs
from rocketha.sim.engine.records import SEGMENT_SIZE, record_count
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.legacy_replication.cluster import MASTER, LegacyCluster, LegacyClusterAction, Put
from rocketha.types import BrokerId, ConnectionId, Offset
from rocketproof.protocols.epoch_truncation.values import broker_name, index
from rocketproof.protocols.legacy_replication.links import LegacyLinks
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
        self._sent: dict[ConnectionId, PacketStream[LegacyTransfer]] = {}
        self._last_sent: LegacyTransfer | None = None
        self._reader: RecordEpochReader | None = None

    # ---- the observer ----

    def started(self, cluster: LegacyCluster) -> None:
        """Record the initial state."""
        self.slaves = tuple(broker for broker in cluster.nodes if broker != MASTER)
        self._lost = {slave: set() for slave in self.slaves}
        self._reader = RecordEpochReader(file_options(SEGMENT_SIZE, cluster.plan.bugs).log)
        self._record(cluster, MASTER, "Init")

    def sent(
        self, cluster: LegacyCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Keep the packet that the master sends for the action that it belongs to."""
        del cluster
        if broker == MASTER:
            stream = self._sent.setdefault(conn, legacy_master_stream())
            stream.feed(data)
            self._last_sent = stream.next_packet()

    def acted(self, cluster: LegacyCluster, broker: BrokerId, action: LegacyClusterAction) -> None:
        """Record an action, if the specification can see it, and the state after it."""
        match action:
            case Crashed():
                self._crashed(cluster, broker)
            case LegacyAction(conn=None):
                self._acted_alone(cluster, broker, action)
            case LegacyAction(conn=conn) if broker == MASTER:
                assert conn is not None
                self._master_acted(cluster, action, conn)
            case LegacyAction(conn=conn):
                assert conn is not None
                self._slave_acted(cluster, broker, action, conn)
            case _ as unreachable:
                assert_never(unreachable)

    def _crashed(self, cluster: LegacyCluster, broker: BrokerId) -> None:
        begin, before = self._logs[broker]
        self._read(cluster.nodes[broker])
        end = self._end(broker)
        if broker == MASTER:
            self._links.drop_all_stale()
            for slave in self.slaves:
                link = self._links.of(slave)
                if self._end(slave) > end or (link is not None and link.next > end):
                    self._ahead.add(slave)
        else:
            self._links.give_up(cluster, broker)
            self._lost[broker] |= {
                (at, life) for at, life in enumerate(before, start=begin) if at >= end
            }
        self._record(cluster, broker, "Crash", broker_name(broker), end)

    def _acted_alone(self, cluster: LegacyCluster, broker: BrokerId, action: LegacyAction) -> None:
        """Record an action that is about no connection."""
        match action.name:
            case LegacyActionName.FLUSH:
                if self._flushed(cluster.nodes[broker]) != self._recorded("flushed", broker):
                    self._record(cluster, broker, action.name, broker_name(broker))
            case LegacyActionName.RESTART:
                self._record(cluster, broker, action.name, broker_name(broker))
            case LegacyActionName.PUT_MESSAGE:
                assert action.need is not None
                self._record(cluster, broker, action.name, action.need)
            case _:
                assert action.offset is not None
                self._record(cluster, broker, action.name, index(action.offset))

    def _master_acted(
        self, cluster: LegacyCluster, action: LegacyAction, conn: ConnectionId
    ) -> None:
        found = self._links.on(conn)
        if found is None:
            self._acted_on_stale(cluster, action, conn)
            return
        slave, link = found
        params: tuple[Value, ...] = (broker_name(slave),)
        match action.name:
            case LegacyActionName.RECEIVE_REPORT:
                assert action.offset is not None
                params = (*params, index(action.offset))
            case LegacyActionName.TRANSFER:
                assert action.offset is not None
                assert action.size is not None
                link.down.append(self._batch_value())
                end = Offset(action.offset + action.size)
                params = (*params, index(end) - index(action.offset))
            case _:
                link.down.clear()
        self._record(cluster, MASTER, action.name, *params)

    def _acted_on_stale(
        self, cluster: LegacyCluster, action: LegacyAction, conn: ConnectionId
    ) -> None:
        """Record what the master does with a connection that its slave has given up."""
        found = self._links.stale_on(conn)
        if found is None:
            return
        slave, place = found
        if action.name is LegacyActionName.RECEIVE_REPORT:
            assert action.offset is not None
            params = (broker_name(slave), place, index(action.offset))
            self._record(cluster, MASTER, "ReceiveStaleReport", *params)
        elif action.name is LegacyActionName.CLOSE_CONNECTION:
            self._links.drop_stale(conn)
            self._record(cluster, MASTER, "DropStale", broker_name(slave), place)

    def _slave_acted(
        self, cluster: LegacyCluster, slave: BrokerId, action: LegacyAction, conn: ConnectionId
    ) -> None:
        match action.name:
            case LegacyActionName.CONNECT:
                seen = self._links.connected(cluster, slave, conn)
            case LegacyActionName.DISCONNECT:
                seen = self._links.give_up(cluster, slave)
            case _:
                link = self._links.of(slave)
                seen = link is not None
                if link is not None:
                    # What it has processed is not in flight any more.
                    del link.down[:1]
        if seen:
            self._record(cluster, slave, action.name, broker_name(slave))

    def _batch_value(self) -> Value:
        batch, self._last_sent = self._last_sent, None
        assert batch is not None, "the action has sent a packet"
        begin, log = self._logs[MASTER]
        assert begin == 0
        end = Offset(batch.offset + len(batch.body))
        recs = log[index(batch.offset) : index(end)]
        return record({"offset": index(batch.offset), "recs": recs})

    # ---- the state ----

    def _record(
        self, cluster: LegacyCluster, broker: BrokerId, action: str, *params: Value
    ) -> None:
        nodes = cluster.nodes.values()
        for node in nodes:
            self._read(node)
        state: State = {
            "up": record({broker_name(n.id): n.state is not None for n in nodes}),
            "inc": record({broker_name(n.id): n.incarnation for n in nodes}),
            "begin": record({broker_name(n.id): self._logs[n.id][0] for n in nodes}),
            "log": record({broker_name(n.id): self._logs[n.id][1] for n in nodes}),
            "flushed": record({broker_name(n.id): self._flushed(n) for n in nodes}),
            "waiting": _waiting(cluster),
            "stale": self._of_slaves(lambda s: self._links.stale_value(cluster, s)),
            "link": self._of_slaves(lambda s: self._links.value(cluster, s)),
            "acked": tla_set(_acked(put) for put in cluster.answered_ok),
            "ghostLost": self._of_slaves(
                lambda s: tla_set(record({"o": o, "i": i}) for o, i in sorted(self._lost[s]))
            ),
            "ghostAhead": tla_set(broker_name(slave) for slave in sorted(self._ahead)),
        }
        self.events.append(
            Event(
                step=len(self.events),
                action=str(action),
                params=params,
                node=broker_name(broker),
                state=state,
                clock=cluster.now_ms,
            )
        )

    def _of_slaves(self, value: Callable[[BrokerId], Value]) -> Value:
        return record({broker_name(slave): value(slave) for slave in self.slaves})

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


def _waiting(cluster: LegacyCluster) -> Value:
    state = cluster.master()
    requests = () if state is None else state.waiting
    return tla_set(record({"o": index(r.offset), "need": r.need}) for r in requests)


def _acked(put: Put) -> Value:
    return record({"o": index(put.offset), "i": put.incarnation, "need": put.need})
