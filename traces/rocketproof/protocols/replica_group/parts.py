"""The state of ReplicaGroup, read in parts from a simulated group.

A part is the value of a variable, or of a variable for one broker. `look` reads what may have
changed; who records an event takes all changes or some of them, and then asks for the whole state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from rocketha.broker.state import GroupBroker, Proposal, Registration
from rocketha.controller.state import Group
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.ha.state import MasterConnection, Phase, Role
from rocketha.known_bugs.storage import file_options
from rocketha.sim.engine.network import End
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.record_epochs import RecordEpochReader, RecordEpochs
from rocketha.sim.engine.records import SEGMENT_SIZE
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.types import BrokerId, ConnectionId
from rocketproof.known_values import itself
from rocketproof.protocols.epoch_truncation.values import (
    NONE,
    broker_name,
    entries_value,
    index_or_minus_one,
)
from rocketproof.protocols.replica_group.frames import SaidOfGroup
from rocketproof.protocols.replica_group.values import (
    NO_CONN,
    NO_PROPOSAL,
    NO_SET,
    conn_value,
    control_value,
    count_or_none,
    names,
    proposal_value,
    set_value,
    view_value,
)
from tlatrace.values import Fcn, State, Value, record, tla_set

__all__ = ["ALIVE", "BrokerHistory", "GroupStateReader", "Key"]

T = TypeVar("T")

_OF_BROKERS: Final = (
    "role",
    "known",
    "inc",
    "log",
    "epochs",
    "local",
    "pend",
    "confirm",
    "link",
)
_VARIABLES: Final = (
    "ctl",
    "views",
    "alive",
    "role",
    "known",
    "inc",
    "log",
    "epochs",
    "torn",
    "local",
    "pend",
    "confirm",
    "link",
    "conn",
    "alters",
    "acked",
    "seen",
)
_OF_DOWN: Final[tuple[tuple[str, Value], ...]] = (
    ("role", "Down"),
    ("known", 0),
    ("local", NO_SET),
    ("pend", NO_PROPOSAL),
    ("confirm", 0),
)
"""What a broker has that is down, or not registered."""

_NO_GROUP: Final = Group(cluster_name="", broker_name="")
"""Of a controller that knows nobody."""

_Conn: TypeAlias = tuple[int, int, int]
"""(incarnation, reported, ack)"""
_NO_CONN: Final[_Conn] = (0, -1, -1)

Key: TypeAlias = tuple[str, str, str]
"""A part of a state: the variable, a broker or "", a slave or ""."""


@dataclass(slots=True)
class BrokerHistory:
    """What is remembered of one broker."""

    crashes: int = 0
    starts: dict[int, int] = field(default_factory=dict)
    """Registered incarnation -> crashes before it."""
    registered_epoch: int = 0
    """The masterEpoch at its registration: it knows that, or will."""
    length: int = 0
    """Records in its log when it was looked at."""


ALIVE: Final[Key] = ("alive", "", "")

_NEVER_READ: Final = object()

_Glance: TypeAlias = tuple[GroupBroker | None, Group, int, int, bool]
"""What is seen of a broker at once: a core, and the controller, make another state when they change
something. The numbers are the version of its log and its incarnation; then whether it was down."""


class GroupStateReader:
    """What a trace has of a group so far, and what changed since."""

    def __init__(self, cluster: GroupCluster) -> None:
        """Look at a group whose brokers should be registered."""
        self.brokers = tuple(cluster.nodes)
        self.of = {broker: BrokerHistory() for broker in self.brokers}
        self.group = cluster.group or _NO_GROUP
        """The controller's, when it was looked at."""
        for broker, replica in self.group.replicas.items():
            self.of[broker].starts = {int(replica.incarnation): 0}
        self.alive = frozenset(self.brokers)
        self.torn: frozenset[BrokerId] = frozenset()
        """Whose log was longer before their last crash."""
        self.acked: RecordEpochs = ()
        self.seen: RecordEpochs = ()
        self.links: dict[BrokerId, BrokerId | None] = {}
        """slave -> the master that it hears."""
        self.changes: dict[Key, Value] = {}
        self._known: dict[Key, Value] = {}
        self._raw: dict[Key, object] = {}
        """What each part was read from the last time."""
        self._glances: dict[BrokerId, _Glance] = {}
        self._rest: tuple[object, ...] = ()
        """What is no broker's, as it was at the last look."""
        self._built: dict[str, Value] = dict.fromkeys(_VARIABLES, NONE)
        """The variables as they were taken; the first time all are."""
        self._views: tuple[Value, ...] = ()
        self.incarnations: dict[BrokerId, int] = dict.fromkeys(self.brokers, 0)
        """How often each broker had crashed before the last start that the controller heard of; it
        may have been removed since."""
        self._alters: dict[str, Value] = {}
        self._conns: dict[tuple[BrokerId, BrokerId], _Conn] = {}
        self._without_ends: set[BrokerId] = set()
        """Masters that had no connection at the last look."""
        self._newest: dict[tuple[BrokerId, BrokerId], ConnectionId] = {}
        """Master and slave -> the newest connection over which that has reported."""
        self._servers: dict[ConnectionId, BrokerId] = {}
        self._reported: dict[ConnectionId, int] = {}
        """Connection -> the last end of its log that the slave has sent over it."""
        self._has_reports = False
        """One of them said something new since the last look."""
        self.promised: list[RecordEpochs] = []
        """Logs up to messages of which producers were told since the last look that they are
        safe."""
        self._moved: dict[BrokerId, tuple[Value, ...]] = {}
        """Master -> what it might confirm by, when it was asked for last."""
        self._touched: set[str] = set()
        """Brokers of which something was taken since."""
        self._logs: dict[BrokerId, tuple[tuple[int, bool], RecordEpochs]] = {}
        self._reader = RecordEpochReader(file_options(SEGMENT_SIZE, cluster.plan.bugs).log)
        self._look_at_controller(self.group)
        self.look(cluster)

    # ---- what was recorded ----

    def recorded(self, variable: str, broker: BrokerId) -> Value:
        """Return a part as it was recorded last."""
        return self._known[variable, broker_name(broker), ""]

    def take(self, only: Iterable[Key] | None = None) -> State:
        """Take all changes, or those of some parts; return the state with them."""
        stale = set()
        for key in list(self.changes) if only is None else only:
            if key in self.changes:
                self._known[key] = self.changes.pop(key)
                stale.add(key[0])
                self._touched.add(key[1])
        for name in stale:
            self._built[name] = self._built_value(name)
        return dict(self._built)

    def shorten(self, slave: BrokerId, length: int) -> None:
        """Pretend that a slave has, and has reported, no more than so many records so far."""
        me, peer = broker_name(slave), self.links[slave]
        self.changes["log", me, ""] = self.record_epochs_seen(slave)[:length]
        if peer is not None:
            incarnation, reported, ack = self._conns[peer, slave]
            conn = conn_value(incarnation, min(reported, length), ack)
            self.changes["conn", broker_name(peer), me] = conn

    def record_epochs_seen(self, broker: BrokerId) -> RecordEpochs:
        """Return the log of a broker as it was looked at."""
        return self._logs[broker][1]

    def add_proposal(self, master: BrokerId, request: AlterSyncStateSet) -> None:
        """Note that a proposal was sent."""
        proposal = Proposal(
            members=request.sync_state_set.members,
            expected=request.sync_state_set.epoch,
            joining=request.joining,
            master_epoch=request.master_epoch,
        )
        value = self._proposal(master, proposal)
        self._alters[repr(value)] = value

    def note_report(self, conn: ConnectionId, count: int) -> None:
        """Note a slave's packet: it has so many records."""
        if self._reported.get(conn) != count:
            self._reported[conn] = count
            self._has_reports = True

    def has_moved(self, broker: BrokerId) -> bool:
        """Tell whether what a master may confirm can have changed since this was asked last."""
        me = broker_name(broker)
        if me not in self._touched or self._known["role", me, ""] != "Master":
            return False
        self._touched.discard(me)
        own = tuple(self._known[name, me, ""] for name in ("log", "local", "pend", "confirm"))
        ends = tuple(self._known["conn", me, broker_name(slave)] for slave in self.brokers)
        before, self._moved[broker] = self._moved.get(broker), (*own, *ends)
        return before != self._moved[broker]

    def is_connected(self, master: BrokerId, slave: BrokerId) -> bool:
        """Tell whether a master has a connection of a slave that has reported."""
        return self._known["conn", broker_name(master), broker_name(slave)] != NO_CONN

    def hear_of_controller(self, said: SaidOfGroup) -> None:
        """Take what the controller says of the group for what it has."""
        recorded = self._known["ctl", "", ""]
        assert isinstance(recorded, Fcn)
        shown = recorded.fields() | said.fields()
        if shown != recorded.fields():
            self.changes["ctl", "", ""] = record(shown)

    def _built_value(self, name: str) -> Value:
        if name in _OF_BROKERS:
            return record({b: self._known[name, b, ""] for b in map(broker_name, self.brokers)})
        if name == "conn":
            everybody = [broker_name(broker) for broker in self.brokers]
            return record(
                {m: record({s: self._known["conn", m, s] for s in everybody}) for m in everybody}
            )
        return self._known[name, "", ""]

    def _proposal(self, master: BrokerId, proposal: Proposal) -> Value:
        joins = next(iter(proposal.joining), None)
        starts: Mapping[int, int] = {} if joins is None else self.of[joins].starts
        return proposal_value(master, proposal, starts)

    # ---- what there is ----

    def crashed(self, broker: BrokerId) -> None:
        """Note a crash, before the next look."""
        self.of[broker].crashes += 1
        self._glances.pop(broker, None)

    def is_down(self, broker: BrokerId) -> bool:
        """Tell whether a broker was down, or not registered, at the last look."""
        return self._glances[broker][4]

    def look(self, cluster: GroupCluster) -> None:
        """Compare the state with what was recorded; most looks find nothing, and soon."""
        group = cluster.group or _NO_GROUP
        if group is not self.group:
            self._look_at_controller(group)
        self._look_at_brokers(cluster)
        if self.promised:
            for promised in self.promised:
                if self.acked[: len(promised)] != promised:
                    self.acked = promised
            self.promised.clear()
        rest = (self.torn, self.alive, len(self._alters), self.acked, self.seen)
        if rest != self._rest:
            self._rest = rest
            self._note(("torn", "", ""), self.torn, names)
            self.look_at_alive()
            self._note(("alters", "", ""), len(self._alters), self._all_alters)
            self._note(("acked", "", ""), self.acked, itself)
            self._note(("seen", "", ""), self.seen, itself)

    def look_at_alive(self) -> None:
        """Read who counts as alive, alone."""
        self._note(ALIVE, self.alive, names)

    def _note(self, key: Key, raw: T, make: Callable[[T], Value]) -> None:
        """Note a part if it is made of something else than the last time.

        Who looks takes all changes before it looks again.
        """
        before = self._raw.get(key, _NEVER_READ)
        if before is raw or before == raw:
            return
        self._raw[key] = raw
        value = make(raw)
        if key not in self._known or self._known[key] != value:
            self.changes[key] = value

    def _all_alters(self, _: int) -> Value:
        return tla_set(self._alters.values())

    def _look_at_controller(self, group: Group) -> None:
        if group.sync_state_set.epoch != self.group.sync_state_set.epoch:
            self._views = (*self._views, view_value(group))
        self.group = group
        self.incarnations |= {
            broker: self.of[broker].starts.get(int(replica.incarnation), 0)
            for broker, replica in group.replicas.items()
        }
        incarnations = dict(self.incarnations)
        decided = (group.master, group.master_epoch, group.sync_state_set, group.unfit)
        raw = (*decided, *incarnations.items())
        self._note(("ctl", "", ""), raw, lambda _: control_value(group, incarnations))
        self._note(("views", "", ""), len(self._views), lambda _: self._views)

    def _look_at_brokers(self, cluster: GroupCluster) -> None:
        """Read what brokers have of which something has changed, and then all connections."""
        nodes, group, glances = cluster.nodes.values(), self.group, self._glances
        changed = []
        for node in nodes:
            seen = glances.get(node.id)
            if (
                seen is None
                or seen[0] is not node.state
                or seen[1] is not group
                or seen[2] != node.files.log_version
                or seen[3] != node.incarnation
            ) and self._has_changed(cluster, node, seen):
                changed.append(node)
        if not changed and not self._has_reports:
            return
        self._has_reports = False
        for node in changed:
            self._look_at(node)
        for node in nodes:
            self._look_at_link(cluster, node)
            self._look_at_ends(cluster, node)

    def _has_changed(
        self, cluster: GroupCluster, node: Node[GroupBroker], seen: _Glance | None
    ) -> bool:
        """Tell whether a part of a broker may be another one than at the last look."""
        state, version, incarnation = node.state, node.files.log_version, node.incarnation
        is_down = state is None or cluster.is_starting(node)
        self._glances[node.id] = (state, self.group, version, incarnation, is_down)
        if seen is None or seen[2:] != (version, incarnation, is_down):
            return True
        return not _has_same_parts(seen[0], state)

    def _look_at(self, node: Node[GroupBroker]) -> None:
        """Read what a broker has by itself."""
        of, me = self.of[node.id], broker_name(node.id)
        record_epochs = self.record_epochs(node)
        self._note(("log", me, ""), record_epochs, itself)
        self._note(("inc", me, ""), of.crashes, itself)
        state = node.state
        if state is None or self.is_down(node.id):
            for name, value in _OF_DOWN:
                self._note((name, me, ""), value, itself)
            if ("epochs", me, "") not in self._known:
                self._note(("epochs", me, ""), (), entries_value)
            return
        of.length = len(record_epochs)
        ha = state.ha
        self._note(("role", me, ""), ha.role.value, itself)
        registered = 0 if state.registration is Registration.REGISTERED else of.registered_epoch
        self._note(("known", me, ""), max(int(ha.known_epoch), registered), itself)
        self._note(("epochs", me, ""), ha.cache.entries, entries_value)
        self._note(("local", me, ""), state.local, _set_of)
        self._note(
            ("pend", me, ""),
            state.pending,
            lambda one: NO_PROPOSAL if one is None else self._proposal(node.id, one),
        )
        self._note(("confirm", me, ""), count_or_none(state.confirm), itself)

    def _look_at_link(self, cluster: GroupCluster, node: Node[GroupBroker]) -> None:
        """Read a slave's end of its connection."""
        me, state = broker_name(node.id), node.state
        client = None if state is None or self.is_down(node.id) else state.ha.client
        peer: BrokerId | None = None
        if client is not None and client.phase is Phase.TRANSFER:
            server = self.server_of(cluster, client.id)
            other = None if server is None else cluster.nodes[server].state
            if other is not None and client.id in other.ha.servers:
                peer = server
        self.links[node.id] = peer
        self._note(("link", me, ""), NONE if peer is None else broker_name(peer), itself)

    def _look_at_ends(self, cluster: GroupCluster, master: Node[GroupBroker]) -> None:
        """Read what a master has of the connections of all slaves."""
        me, state = broker_name(master.id), master.state
        newest: dict[BrokerId | None, MasterConnection] = {}
        if state is not None and state.ha.role is Role.MASTER:
            for server in sorted(state.ha.servers.values(), key=lambda server: server.id):
                newest[server.slave_id] = server
        if not newest and master.id in self._without_ends:
            return
        self._without_ends.add(master.id)
        for slave in self.brokers:
            end = self._end_at(cluster, master, slave, newest.get(slave))
            if end != _NO_CONN:
                self._without_ends.discard(master.id)
            self._conns[master.id, slave] = end
            self._note(("conn", me, broker_name(slave)), end, lambda one: conn_value(*one))

    def server_of(self, cluster: GroupCluster, conn: ConnectionId) -> BrokerId | None:
        """Return the broker that a connection leads to, also when it is gone."""
        if conn not in self._servers:
            connection = cluster.network.find(conn)
            if connection is None:
                return None
            self._servers[conn] = connection.server
        return self._servers[conn]

    def _end_at(
        self,
        cluster: GroupCluster,
        master: Node[GroupBroker],
        slave: BrokerId,
        newest: MasterConnection | None,
    ) -> _Conn:
        """Return what a master has of its newest connection of a slave, once that has reported.

        One that it has forgotten, and has not closed, is there: as it was.
        """
        state, pair = master.state, (master.id, slave)
        if state is not None and newest is not None:
            if newest.id not in self._reported:
                return _NO_CONN
            self._newest[pair] = newest.id
            incarnation = state.slave_incarnations.get(slave, 0)
            return (
                self.of[slave].starts.get(int(incarnation), 0),
                self._reported[newest.id],
                index_or_minus_one(newest.slave_ack),
            )
        if pair in self._newest and cluster.network.holds(self._newest[pair], End.SERVER):
            return self._conns[pair]
        return _NO_CONN

    def record_epochs(self, node: Node[GroupBroker]) -> RecordEpochs:
        """Return what a log has; of a broker that is down, what recovery would find."""
        assert self._reader is not None
        version = (node.files.log_version, node.state is None)
        known = self._logs.get(node.id)
        if known is not None and known[0] == version:
            return known[1]
        is_down = node.state is None
        record_epochs = (
            self._reader.on_disk(node.disk) if is_down else self._reader.in_log(node.log)
        )
        self._logs[node.id] = (version, record_epochs)
        return record_epochs


def _has_same_parts(one: GroupBroker | None, other: GroupBroker | None) -> bool:
    """Tell whether two states have the same of what parts depend on; timers and requests differ."""
    if one is other or one is None or other is None:
        return one is other
    before, after = one.ha, other.ha
    if before is not after:
        servers, other_servers = before.servers, after.servers
        if (before.role, before.known_epoch, before.cache, before.client) != (
            (after.role, after.known_epoch, after.cache, after.client)
        ):
            return False
        if servers is not other_servers and [*servers.values()] != [*other_servers.values()]:
            return False
    return (one.registration, one.local, one.pending, one.confirm) == (
        (other.registration, other.local, other.pending, other.confirm)
    )


def _set_of(local: SyncStateSet) -> Value:
    return set_value(local.members, local.epoch)
