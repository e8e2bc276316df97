"""One master epoch as a trace of SyncStateSet: its state, read from a simulated group.

The state is read as a whole whenever something may have changed. What a broker does that knows of
a later master epoch is left to ReplicaGroup: it has left, and what was read of it last stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Final

from rocketha.broker.state import GroupBroker
from rocketha.controller.state import Group
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_requests import AlterSyncStateSet, Incarnation
from rocketha.ha.state import Role
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.record_epochs import RecordEpochs
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.types import BrokerId, ConnectionId, Epoch
from rocketproof.known_values import KnownValues, itself
from rocketproof.protocols.epoch_truncation.values import NONE, index, index_or_minus_one
from rocketproof.protocols.sync_state_set.lags import Lags
from rocketproof.protocols.sync_state_set.memory import Memory, change_key, common_length
from rocketproof.protocols.sync_state_set.values import (
    MASTER,
    NO_CONN,
    ConnParts,
    Members,
    conn_value,
    control_value,
    members_value,
    names_of,
    proposal_value,
)
from tlatrace.trace import Event
from tlatrace.values import Fcn, State, TlaSet, Value, canonical, record, tla_set

__all__ = ["MasterEpochTrace"]

_CONTROLLER: Final = "controller"

_ANOTHERS: Final = -1
"""What a request expects that is not of this master and its master epoch: no epoch."""


@dataclass(slots=True)
class _Broker:
    """What a master epoch has of a broker; of one that has left, what was read last."""

    born: int
    """Losses when the master epoch began: incarnations count those since."""
    up: bool = True
    inc: int = 0
    torn: bool = False
    end: int = 0
    has_left: bool = False


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a proposal asks for, in the master or on its way."""

    sync_state_set: SyncStateSet
    joining: Mapping[BrokerId, Incarnation]
    is_own: bool
    """It is of the master, in this epoch."""


class MasterEpochTrace:
    """A master epoch, and the events of its trace so far."""

    def __init__(self, cluster: GroupCluster, memory: Memory, master: BrokerId) -> None:
        """Look at a group of which a broker has just become the master."""
        group = cluster.group
        assert group is not None
        self.master = master
        self.epoch: Epoch = group.master_epoch
        self.names = names_of(master, cluster.nodes)
        self.events: list[Event] = []
        self.is_over = False
        """The controller has elected another broker."""
        self._memory = memory
        self._log = memory.record_epochs(cluster.nodes[master])
        """The master's; after its crash, what it was."""
        self.acked = self.visible = len(self._log)
        self._base = int(group.sync_state_set.epoch) - 1
        self._of = {b: _Broker(born=memory.registered[b]) for b in cluster.nodes}
        self._members: Members = dict.fromkeys(group.members, 0)
        self._views: list[Members] = [self._members]
        self._after: Value | None = None
        """What the controller had when the master epoch was over."""
        self._alters: dict[str, Value] = {}
        self._proposals: list[tuple[_Asked, Value]] = []
        self._unsent: Value | None = None
        """A proposal that is made, of which no request has left the master."""
        self._sent: list[AlterSyncStateSet] = []
        """Requests that have left the master since the last step of it was over."""
        self._ready: dict[ConnectionId, bool] = {}
        self._lags: Lags[BrokerId] = Lags()
        self._change_key: tuple[object, ...] = ()
        self._glance: tuple[object, ...] = ()
        """What tells at once that nothing has changed since the last look."""
        self._seen: Sequence[object] = ()
        """The controller's group and the brokers' states: another object is another state."""
        self._values = KnownValues()
        self._state: dict[str, Value] = {}
        self._recorded: State = {}
        self.look(cluster)
        self.record(cluster, None, "Init")

    # ---- what there is ----

    def is_master(self, node: Node[GroupBroker]) -> bool:
        """Tell whether a broker is the master of this epoch, even if it does not know its end."""
        state = node.state
        return (
            node.id == self.master
            and state is not None
            and state.ha.role is Role.MASTER
            and state.ha.known_epoch == self.epoch
        )

    def has_left(self, broker: BrokerId) -> bool:
        """Tell whether what a broker does is no step of this master epoch any more."""
        return self._of[broker].has_left

    def hears(self, slave: BrokerId) -> bool:
        """Tell whether the master had a connection of a slave when it was looked at."""
        conns = self._state["conn"]
        assert isinstance(conns, Fcn)
        return conns.fields()[self.names[slave]] != NO_CONN

    def end_of(self, broker: BrokerId) -> int:
        """Return how much of the master's log a broker had when it was looked at."""
        return self._of[broker].end

    def look(self, cluster: GroupCluster) -> bool:
        """Read the state; tell whether it is another one than what was recorded."""
        nodes = cluster.nodes.values()
        noted = (len(self._alters), len(self._ready), self.acked, self.visible)
        glance = (*noted, *[(node.files.log_version, node.incarnation) for node in nodes])
        seen = [cluster.group, *[node.state for node in nodes]]
        if glance != self._glance or not all(map(is_, seen, self._seen)):
            self._glance, self._seen = glance, seen
            keys = tuple(map(change_key, nodes))
            key = (cluster.group, cluster.starting, keys, *noted)
            if key != self._change_key:
                self._change_key = key
                self._read(cluster)
        return self._state != self._recorded

    def _look_again(self) -> None:
        """Let the next look read everything."""
        self._change_key = self._glance = ()

    def _read(self, cluster: GroupCluster) -> None:
        group, master = cluster.group, cluster.nodes[self.master]
        assert group is not None
        epoch_traces = self.is_master(master)
        if epoch_traces:
            self._log = self._memory.record_epochs(master)
        for node in cluster.nodes.values():
            self._read_broker(cluster, node)
        state = master.running() if epoch_traces else None
        local = {} if state is None else self._local(state)
        if state is not None:
            self._note_lags(master, state, cluster.now_ms)
        pending = () if state is None else self._pending(state, local)
        of, slaves = self._values.of, [b for b in self.names if b != self.master]
        conns = [self._conn(state, slave) for slave in slaves]
        self._state = {
            "ctl": self._control(group),
            "views": of("views", list(self._views), self._views_value),
            "alters": of("alters", len(self._alters), lambda _: tla_set(self._alters.values())),
            "role": "Master" if epoch_traces else "Fenced",
            "start": self._recorded.get("start", len(self._log)),
            "local": of("local", local, self._members_value),
            "sssE": 0 if state is None else int(state.local.epoch) - self._base,
            "pend": tla_set(pending),
            "queue": tla_set(() if self._unsent is None or state is None else (self._unsent,)),
            "confirm": 0 if state is None else index(state.confirm),
            "conn": self._values.of_each("conn", self._names(slaves), conns, conn_value),
            "up": self._each("up", [one.up for one in self._of.values()]),
            "inc": self._each("inc", [one.inc for one in self._of.values()]),
            "torn": self._each("torn", [one.torn for one in self._of.values()]),
            "end": self._each("end", [one.end for one in self._of.values()]),
            "acked": self.acked,
            "visible": self.visible,
        }

    def _note_lags(self, master: Node[GroupBroker], state: GroupBroker, now_ms: int) -> None:
        """Note which slaves have everything, by the master's clock."""
        self._lags.note(
            end=master.log.max_phy_offset,
            acks={
                slave: (state.ha.servers[conn].slave_ack, state.ha.servers[conn].last_read_ms)
                for slave in self.names
                if (conn := self.conn_of(state, slave)) is not None
            },
            members=state.local.members - {self.master},
            now_ms=master.clock.shows(now_ms),
        )

    def is_due(self, cluster: GroupCluster, removed: Iterable[BrokerId]) -> bool:
        """Tell whether brokers that the master takes out have not had everything for long."""
        node = cluster.nodes[self.master]
        return self._lags.are_behind(
            removed,
            for_ms=node.running().options.slave_not_catchup_ms,
            now_ms=node.clock.shows(cluster.now_ms),
        )

    def _read_broker(self, cluster: GroupCluster, node: Node[GroupBroker]) -> None:
        of = self._of[node.id]
        runs = node.state is not None and not cluster.is_starting(node)
        if node.id != self.master and runs and node.running().ha.known_epoch > self.epoch:
            of.has_left = True
        if not of.has_left:
            of.up = runs
            of.end = common_length(self._log, self._memory.record_epochs(node))

    def _each(self, variable: str, parts: Sequence[Value]) -> Value:
        return self._values.of_each(variable, self._names(self._of), parts, itself)

    def _names(self, brokers: Iterable[BrokerId]) -> list[str]:
        return [self.names[broker] for broker in brokers]

    def _members_value(self, members: Members) -> Value:
        return members_value(members, self.names)

    def _views_value(self, views: Iterable[Members]) -> Value:
        return tuple(map(self._members_value, views))

    def _control(self, group: Group) -> Value:
        if self._after is not None:
            return self._after
        members = {b: self._members.get(b, self._of[b].inc) for b in group.members}
        master = NONE if group.master is None else self.names[group.master]
        decided = (master, members, int(group.sync_state_set.epoch) - self._base)
        return self._values.of("ctl", decided, self._control_value)

    def _control_value(self, decided: tuple[str, Members, int]) -> Value:
        master, members, epoch = decided
        return control_value(master, self._members_value(members), epoch)

    def _local(self, state: GroupBroker) -> Members:
        """Return the master's set; it knows the brokers, the views their incarnations."""
        at = int(state.local.epoch) - self._base - 1
        view = self._views[at] if 0 <= at < len(self._views) else self._members
        return {b: view.get(b, self._of[b].inc) for b in state.local.members}

    def _pending(self, state: GroupBroker, local: Members) -> tuple[Value, ...]:
        made = state.pending
        if made is None:
            return ()
        is_own = made.master_epoch == self.epoch
        asked = _Asked(SyncStateSet(made.members, made.expected), made.joining, is_own)
        return (self._proposal(asked, local),)

    def _sent_proposal(self, cluster: GroupCluster, request: AlterSyncStateSet) -> Value:
        """Return what a request asks for that has left the master."""
        state = cluster.nodes[self.master].running()
        by_whom = (request.broker_name, request.master_broker_id, request.master_epoch)
        is_own = by_whom == (cluster.plan.broker.broker_name, self.master, self.epoch)
        asked = _Asked(request.sync_state_set, request.joining, is_own)
        return self._proposal(asked, self._local(state))

    def _proposal(self, asked: _Asked, local: Members) -> Value:
        """Return what is asked for; it was made from the set that the master knows then."""
        for known, value in self._proposals:
            if known == asked:
                return value
        proposed = asked.sync_state_set
        members = {
            b: local[b] if b in local else self._joining(asked.joining, b) for b in proposed.members
        }
        value = proposal_value(
            members_value(members, self.names),
            int(proposed.epoch) - self._base if asked.is_own else _ANOTHERS,
            members_value(local, self.names),
        )
        self._proposals.append((asked, value))
        return value

    def _joining(self, told: Mapping[BrokerId, Incarnation], broker: BrokerId) -> int:
        """Return the incarnation in which a broker is to join; without one it is the present."""
        of = self._of[broker]
        if broker not in told:
            return of.inc
        return self._memory.losses[broker][told[broker]] - of.born

    def conn_of(self, state: GroupBroker, slave: BrokerId) -> ConnectionId | None:
        """Return the master's newest connection of a slave, once that has reported."""
        ends = [end.id for end in state.ha.servers.values() if end.slave_id == slave]
        newest = max(ends, default=None)
        return newest if newest in self._memory.reported else None

    def _conn(self, state: GroupBroker | None, slave: BrokerId) -> ConnParts | None:
        conn = None if state is None else self.conn_of(state, slave)
        if state is None or conn is None:
            return None
        known = state.slave_incarnations.get(slave, Incarnation(0))
        return (
            self._memory.losses[slave].get(known, 0) - self._of[slave].born,
            index_or_minus_one(state.ha.servers[conn].slave_ack),
            self._memory.reported[conn],
            self._ready.get(conn, False),
        )

    # ---- what others tell ----

    def note_report(self, state: GroupBroker, slave: BrokerId) -> int:
        """Note whether a slave could be added when it reported; return its report."""
        conn = self.conn_of(state, slave)
        if conn is None:
            return -1
        ack = state.ha.servers[conn].slave_ack
        self._ready[conn] = ack >= state.confirm
        self._look_again()
        return index_or_minus_one(ack)

    def note_stop(self, broker: BrokerId, record_epochs: RecordEpochs) -> int:
        """Note that a broker stopped; return how much of the master's log is left to it."""
        of, kept = self._of[broker], common_length(self._log, record_epochs)
        of.torn = kept < of.end
        return kept

    def note_start(self, broker: BrokerId) -> None:
        """Note that the controller knows of a start, and the broker of the present master epoch."""
        of = self._of[broker]
        if self.is_over and broker != self.master:
            of.has_left = True
            return
        of.inc = self._memory.registered[broker] - of.born
        of.torn = False

    def note_set(self, group: Group, joining: Mapping[BrokerId, Incarnation]) -> None:
        """Note the set that the controller has now: some members stay, others joined."""
        if int(group.sync_state_set.epoch) - self._base <= len(self._views):
            return  # it is the one of before
        was = self._members
        self._members = {
            b: was[b] if b in was else self._joining(joining, b) for b in group.members
        }
        self._views.append(self._members)

    def note_election(self, group: Group) -> None:
        """Note that another broker was elected: the controller goes on without this epoch."""
        self._members = {b: self._of[b].inc for b in group.members}
        self._after = self._control(group)
        self.is_over = True

    # ---- the trace ----

    @property
    def is_healed(self) -> bool:
        """Tell whether it is written that the run has ended."""
        return self.events[-1].action == "Healed"

    def records_at(self, at_ms: int) -> int:
        """Return how many records the master had at a time, or when the master epoch began."""
        first, *later = self.events
        *_, last = (first, *(e for e in later if e.clock is not None and e.clock <= at_ms))
        assert last.state is not None
        ends = last.state["end"]
        assert isinstance(ends, Fcn)
        count = ends.fields()[MASTER]
        assert isinstance(count, int)
        return count

    @property
    def known_set(self) -> Value:
        """Return the epoch of the set that the master knows, as it was looked at."""
        return self._state["sssE"]

    def record(
        self,
        cluster: GroupCluster,
        broker: BrokerId | None,
        action: str | None,
        params: tuple[Value, ...] = (),
    ) -> None:
        """Write an event with the state that was read."""
        self._write(cluster, broker, action, params, self._state)

    def record_proposal(
        self, cluster: GroupCluster, action: str, params: tuple[Value, ...]
    ) -> None:
        """Write that a proposal was made, and that a request for it has left the master, if so."""
        made = self._state["pend"]
        assert isinstance(made, TlaSet)
        self._unsent = next(iter(made), None)
        self._state = {**self._state, "queue": made}
        self.record(cluster, self.master, action, params)
        self.record_sent(cluster)

    def note_sent(self, request: AlterSyncStateSet) -> None:
        """Note a request that has left the master."""
        self._sent.append(request)

    def record_sent(self, cluster: GroupCluster) -> None:
        """Write which requests have left the master for the first time."""
        sent, self._sent = self._sent, []
        node = cluster.nodes[self.master]
        if not self.is_master(node):
            return
        for request in sent:
            proposal = self._sent_proposal(cluster, request)
            is_made = self._unsent is not None and canonical(self._unsent) == canonical(proposal)
            if canonical(proposal) in self._alters and not is_made:
                continue  # sent again
            self._alters[canonical(proposal)] = proposal
            self._unsent = None
            self._look_again()
            self.look(cluster)
            self.record(cluster, self.master, "SendAlter")

    def record_heard(self, cluster: GroupCluster, set_epochs: Iterable[int]) -> None:
        """Write of which sets of this epoch the master has heard."""
        for set_epoch in set_epochs:
            number = set_epoch - self._base
            if 0 < number <= len(self._views):
                self.record(cluster, self.master, "Knows", (number,))

    def record_settled(self, cluster: GroupCluster, slave: BrokerId) -> None:
        """Write that the master has done what follows from the report of a slave."""
        self.record(cluster, self.master, "Settled", (self.names[slave],))

    def record_shown(self, cluster: GroupCluster, action: str, argument: int | None) -> None:
        """Write what the master has shown to a client, or that something is missed of it."""
        params: tuple[Value, ...] = () if argument is None else (argument,)
        if action == "KeepMember":
            assert argument is not None
            params = (self.names[BrokerId(argument)],)
        self.record(cluster, self.master, action, params)

    def record_losses(self, cluster: GroupCluster) -> None:
        """Write that the master has lost connections, one after the other."""
        was, now = self._recorded["conn"], self._state["conn"]
        assert isinstance(was, Fcn)
        assert isinstance(now, Fcn)
        conns = was.fields()
        for slave, end in now.fields().items():
            if end == NO_CONN != conns[slave]:
                conns[slave] = end
                state = {**self._recorded, "conn": record(conns)}
                self._write(cluster, self.master, "Disconnect", (slave,), state)

    def record_elsewhere(self, cluster: GroupCluster) -> None:
        """Write that slaves without a connection have more of the log, or less: from elsewhere."""
        for slave, name in self.names.items():
            end, was = self._of[slave].end, self._recorded["end"]
            assert isinstance(was, Fcn)
            if slave != self.master and not self.hears(slave) and was.fields()[name] != end:
                state = {**self._recorded, "end": record({**was.fields(), name: end})}
                self._write(cluster, slave, "CopyElsewhere", (name, end), state)

    def _write(
        self,
        cluster: GroupCluster,
        broker: BrokerId | None,
        action: str | None,
        params: tuple[Value, ...],
        state: State,
    ) -> None:
        self._recorded = state
        self.events.append(
            Event(
                step=len(self.events),
                action=action,
                params=params,
                node=_CONTROLLER if broker is None else self.names[broker],
                state=state,
                clock=cluster.now_ms,
            )
        )

    def amend(self, cluster: GroupCluster, causes: frozenset[str]) -> None:
        """Let the last event have the confirmOffset of now, if it was just its cause.

        The implementation moves it in a step of its own that follows at once.
        """
        last = self.events[-1]
        if last.action in causes and last.clock == cluster.now_ms:
            self._recorded = {**self._recorded, "confirm": self._state["confirm"]}
            self.events[-1] = replace(last, state=self._recorded)
