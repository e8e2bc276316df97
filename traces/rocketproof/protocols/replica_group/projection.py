"""Runs of a whole broker group as behaviours of ReplicaGroup: sees both sides, and judges neither.

After every action the whole state of the specification is read from the real one: from the
controller's state, the states of the brokers' cores, the bytes of their logs, and what recovery
would find on their disks. Nothing is computed from the action, so a core that does something else
than the specification says gives a trace that the specification does not allow.

| specification | implementation                                                              |
|---------------|-----------------------------------------------------------------------------|
| ctl, views    | the controller's state for this group, and what it ever was                 |
| alive         | whom the controller counts as alive, see below                              |
| role, known   | the core's; a broker is "Down" until the controller has registered it       |
| log, epochs   | epochs that the bodies of the records name; the core's epoch cache          |
| torn          | brokers whose log was longer before their last crash                        |
| local, pend, confirm | of a master, what its core has                                       |
| link          | the master of a slave over whose connection bytes may still come            |
| conn          | the master's newest connection of each slave, once the slave has reported   |
| alters        | all proposals that were ever made                                           |
| acked, seen   | the longest log that was confirmed, and that a consumer was shown           |

A controller may count a healthy broker as dead because it did not hear it in time, or because its
channel broke. The specification has no such errors: an operator's election has the same effect, so
the broker stays in `alive`, and the election that follows is a `DesignateMaster`. Only the close of
an old channel of a broker that is heard on another one evicts it here, too: that is an error (B28).
Nor can one that was evicted be heard again: see `evictions`.

A step of the implementation may be several of the specification: a batch of several records, and
the loss of a connection that shows beside something else. They are written one after the other.
"""

from __future__ import annotations

from typing import Final, assert_never

from rocketha.broker.effects import GroupAction, GroupActionName
from rocketha.controller.applied import (
    BrokerEvicted,
    BrokerIdAssigned,
    BrokerRegistered,
    ControllerEvent,
    DataCleaned,
    MasterElected,
    SetAltered,
    SetKept,
)
from rocketha.controller.state import Group
from rocketha.formats.controller_requests import AlterSyncStateSet
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.sim.engine.record_epochs import RecordEpochs
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.replica_group.actions import ControllerActed, GroupClusterAction
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.types import BrokerId, ConnectionId
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name, index
from rocketproof.protocols.replica_group.evictions import without_eviction
from rocketproof.protocols.replica_group.parts import ALIVE, GroupStateReader, Key
from rocketproof.protocols.replica_group.values import NO_CONN, names
from tlatrace.trace import Event
from tlatrace.values import Value

__all__ = ["GROUP_SPEC", "GroupProjection"]

GROUP_SPEC: Final = "ReplicaGroup"

_CONTROLLER: Final = "controller"
_ROLE_CHANGES: Final = frozenset({ActionName.BECOME_MASTER, ActionName.BECOME_SLAVE})


class GroupProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._parts_or_none: GroupStateReader | None = None

    @property
    def brokers(self) -> tuple[BrokerId, ...]:
        """Return the brokers of the group."""
        return self._parts.brokers

    @property
    def _parts(self) -> GroupStateReader:
        assert self._parts_or_none is not None, "the run has not begun"
        return self._parts_or_none

    # ---- the observer ----

    def started(self, cluster: GroupCluster) -> None:
        """Record the initial state: everybody is registered, nobody is elected."""
        self._parts_or_none = GroupStateReader(cluster)
        self._record(cluster, None, "Init", ())

    def sent(
        self, cluster: GroupCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Do nothing: the specification has no packets."""

    def stepped(self, cluster: GroupCluster, broker: BrokerId) -> None:
        """Record connections that are gone, and whatever else changed without an action."""
        if self.events:
            self._parts.look(cluster)
            self._record_losses(cluster, None)
            self._record_rest(cluster, broker)

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        """Record an action, if the specification can see it, and the state after it."""
        if not self.events:
            return
        match action:
            case ControllerActed():
                self._controller_acted(cluster, action)
            case Crashed(broker=crashed):
                self._crashed(cluster, crashed)
            case SpecAction():
                assert broker is not None
                self._replica_acted(cluster, broker, action)
            case GroupAction():
                assert broker is not None
                self._broker_acted(cluster, broker, action)
            case _ as unreachable:
                assert_never(unreachable)

    # ---- the controller's actions ----

    def _controller_acted(self, cluster: GroupCluster, action: ControllerActed) -> None:
        parts, before, present = self._parts, self._parts.group, cluster.group
        assert present is not None
        for event in action.events:
            if isinstance(event, BrokerRegistered) and event.restarted:
                of = parts.of[event.broker_id]
                of.starts[int(event.incarnation)] = of.crashes
                of.registered_epoch, of.is_torn = int(present.master_epoch), False
                parts.alive |= {event.broker_id}
        parts.look(cluster)
        for event in action.events:
            self._controller_event(cluster, before, event, action)
        self._record_rest(cluster, None)

    def _controller_event(
        self, cluster: GroupCluster, before: Group, event: ControllerEvent, action: ControllerActed
    ) -> None:
        parts = self._parts
        match event:
            case MasterElected(master=master):
                if master not in parts.alive:
                    self._forget_eviction(master)
                needed = before.master is None or before.master not in parts.alive
                name = "ElectMaster" if needed else "DesignateMaster"
                self._record(cluster, None, name, (broker_name(master),))
            case SetAltered() | SetKept():
                name = "AlterSyncStateSet" if isinstance(event, SetAltered) else "RefuseAlter"
                request = action.entry.change
                assert isinstance(request, AlterSyncStateSet)
                self._record(cluster, None, name, (broker_name(request.master_broker_id),))
            case BrokerEvicted(broker_id=broker, incarnation=incarnation):
                if not self._is_false_alarm(cluster, event, action):
                    parts.alive -= {broker}
                    parts.look_at_alive()
                    crashes = parts.of[broker].starts[int(incarnation)]
                    params: tuple[Value, ...] = (broker_name(broker), crashes)
                    self._record(cluster, None, "EvictBroker", params, only=(ALIVE,))
            case BrokerRegistered(broker_id=broker, restarted=True):
                self._record(cluster, broker, "Restart", (broker_name(broker),))
            case DataCleaned():
                self._evict_late(cluster, before.master)
                self._record(cluster, None, "CleanBrokerData", ())
            case BrokerRegistered() | BrokerIdAssigned():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _forget_eviction(self, broker: BrokerId) -> None:
        """Take back that a broker was evicted, as the controller has heard it again."""
        events = without_eviction(self.events, broker_name(broker))
        if events is not None:
            self.events[:] = events
            self._parts.alive |= {broker}
            self._parts.look_at_alive()

    def _evict_late(self, cluster: GroupCluster, master: BrokerId | None) -> None:
        """Record that a master is gone that was healthy when it was taken for dead."""
        parts = self._parts
        if master is None or master not in parts.alive:
            return
        of = parts.of[master]
        known = parts.incarnations[master]
        if known == of.crashes:
            return
        parts.alive -= {master}
        parts.look_at_alive()
        self._record(cluster, None, "EvictBroker", (broker_name(master), known), only=(ALIVE,))

    def _is_false_alarm(
        self, cluster: GroupCluster, event: BrokerEvicted, action: ControllerActed
    ) -> bool:
        """Tell whether the specification cannot see that a broker is taken for dead."""
        broker = event.broker_id
        if broker not in self._parts.alive:
            return True
        of = self._parts.of[broker]
        has_crashed = of.starts[int(event.incarnation)] < of.crashes
        return not has_crashed and not cluster.heard_elsewhere(broker, action.entry)

    # ---- a broker's actions ----

    def _crashed(self, cluster: GroupCluster, broker: BrokerId) -> None:
        parts, of = self._parts, self._parts.of[broker]
        of.crashes += 1
        kept = len(parts.record_epochs(cluster.nodes[broker]))
        of.is_torn = of.is_torn or kept < of.length
        parts.look(cluster)
        self._record_losses(cluster, broker)
        self._record(cluster, broker, "Crash", (broker_name(broker), kept))

    def _replica_acted(self, cluster: GroupCluster, broker: BrokerId, action: SpecAction) -> None:
        me = broker_name(broker)
        self._parts.look(cluster)
        self._record_losses(cluster, broker if action.name in _ROLE_CHANGES else None)
        if not self._parts.changes:
            return
        match action.name:
            case ActionName.BECOME_MASTER | ActionName.BECOME_SLAVE | ActionName.PUT_MESSAGE:
                self._record(cluster, broker, action.name.value, (me,))
            case ActionName.RECEIVE_TRANSFER:
                self._replicated(cluster, broker)
            case ActionName.RECEIVE_HANDSHAKE:
                peer = self._parts.changes.get(("link", me, ""), NONE)
                self._record(cluster, broker, "Handshake", (peer, me))
            case ActionName.RECEIVE_ACK:
                assert action.slave is not None
                self._record(cluster, broker, "ReceiveAck", (me, broker_name(action.slave)))
            case _:
                self._record_rest(cluster, broker)

    def _replicated(self, cluster: GroupCluster, slave: BrokerId) -> None:
        """Record what a batch brought: one step a record, or an epoch without records."""
        parts, me = self._parts, broker_name(slave)
        if ("log", me, "") not in parts.changes:
            self._record(cluster, slave, "HearEpoch", (me,))
            return
        before = parts.recorded("log", slave)
        assert isinstance(before, tuple)
        for length in range(len(before) + 1, len(parts.record_epochs_seen(slave)) + 1):
            parts.shorten(slave, length)
            self._record(cluster, slave, "Replicate", (me,))

    def _broker_acted(self, cluster: GroupCluster, broker: BrokerId, action: GroupAction) -> None:
        parts, node, me = self._parts, cluster.nodes[broker], broker_name(broker)
        pending = node.running().pending
        if action.name in (GroupActionName.MAYBE_SHRINK, GroupActionName.MAYBE_EXPAND):
            assert pending is not None
            parts.add_proposal(broker, pending)
        if action.offset is not None:
            shown = parts.record_epochs(node)[: index(action.offset)]
            if action.name is GroupActionName.ACKNOWLEDGE:
                parts.acked = _longer(parts.acked, shown)
            else:
                parts.seen = _longer(parts.seen, shown)
        parts.look(cluster)
        own = broker if action.name is GroupActionName.BECOME_SLAVE else None
        self._record_losses(cluster, own)
        if not parts.changes:
            return
        params: tuple[Value, ...] = (me,)
        if action.name is GroupActionName.MAYBE_SHRINK:
            params = (me, names(action.slaves))
        elif action.slaves:
            (slave,) = action.slaves
            params = (me, broker_name(slave))
        self._record(cluster, broker, action.name.value, params)

    # ---- connections that are gone ----

    def _record_losses(self, cluster: GroupCluster, but: BrokerId | None) -> None:
        """Record the ends of connections that go, but for those that go with the role of `but`."""
        parts = self._parts
        if not parts.changes:
            return
        for slave in self.brokers:
            for master in self.brokers:
                if master not in (but, slave):
                    self._record_closed(cluster, master, slave)
            link: Key = ("link", broker_name(slave), "")
            was, now = parts.recorded("link", slave), parts.changes.get(link)
            if now is None or was == NONE or but == slave:
                continue
            if but is not None and was == broker_name(but):
                continue
            parts.changes[link] = NONE
            self._record(cluster, slave, "Disconnect", (broker_name(slave),), only=(link,))
            if now != NONE:
                parts.changes[link] = now

    def _record_closed(self, cluster: GroupCluster, master: BrokerId, slave: BrokerId) -> None:
        """Record that a master has dropped its end, and with it what the slave may still hear."""
        parts, peer, me = self._parts, broker_name(master), broker_name(slave)
        conn: Key = ("conn", peer, me)
        link: Key = ("link", me, "")
        if parts.changes.get(conn) != NO_CONN:
            return
        with_link = parts.recorded("link", slave) == peer and parts.changes.get(link) == NONE
        only = (conn, link) if with_link else (conn,)
        self._record(cluster, master, "CloseConnection", (peer, me), only=only)

    # ---- the trace ----

    def _record_rest(self, cluster: GroupCluster, broker: BrokerId | None) -> None:
        """Record what no action explains, if there is something."""
        if self._parts.changes:
            self._record(cluster, broker, None, ())

    def _record(
        self,
        cluster: GroupCluster,
        broker: BrokerId | None,
        action: str | None,
        params: tuple[Value, ...],
        *,
        only: tuple[Key, ...] | None = None,
    ) -> None:
        """Write an event; its state has the changes, or `only` some of them."""
        self.events.append(
            Event(
                step=len(self.events),
                action=action,
                params=params,
                node=_CONTROLLER if broker is None else broker_name(broker),
                state=self._parts.take(only),
                clock=cluster.now_ms,
            )
        )


def _longer(one: RecordEpochs, other: RecordEpochs) -> RecordEpochs:
    """Return the first log if it has all of the second, else the second.

    Spec: Prefixes!Longer
    """
    return one if one[: len(other)] == other else other
