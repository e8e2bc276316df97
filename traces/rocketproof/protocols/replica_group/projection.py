"""Runs of a whole broker group as behaviours of ReplicaGroup: sees both sides, and judges neither.

After every action the whole state of the specification is read from the real one: from the
controller's state, the states of the brokers' cores, the bytes of their logs, and what recovery
would find on their disks. Nothing is computed from the action, so a core that does something else
than the specification says gives a trace that the specification does not allow.

| specification | implementation                                                              |
|---------------|-----------------------------------------------------------------------------|
| ctl, views    | the controller's state for this group, and what it ever was                 |
| alive         | whom the controller has heard, see below                                    |
| role, known   | the core's; a broker is "Down" until the controller has registered it       |
| log, epochs   | epochs that the bodies of the records name; the core's epoch cache          |
| torn          | brokers whose log was longer before their last crash                        |
| local, pend, confirm | of a master, what its core has                                       |
| link          | the master of a slave over whose connection bytes may still come            |
| conn          | the master's newest connection of each slave, once the slave has reported   |
| alters        | all proposals that brokers ever sent                                        |
| acked, seen   | the longest log that was confirmed, and that a consumer was shown: by what  |
|               | producers and consumers are answered                                        |

Whom the controller may take for alive follows from the frames that it has received, and when
(`rocketha.obligations.signs_of_life`): who is gone and silent is evicted, and heard again when
something comes late that it had said. A healthy broker that is silent, or whose channel broke,
stays in `alive`: the specification has no such errors, but an operator's election has the same
effect, so the one that follows is a `DesignateMaster`. Without such a reason, and without an
operator's request, an election is an `ElectMaster`, whether the group needs one or not, and of who
is the best candidate by what was heard. So is a proposal taken if nothing speaks against it.

Whom the controller hears and does not notify of an election is `Unnotified`.
What the controller answers shows `ctl`, what a producer is answered `acked`, what a consumer is
answered `seen`; what else clients hear, and what is missed of a broker, `owed` says. A request of a
master shows `alters`, and a slave's packet what it has reported. Where they show something else
than there is, that is a step of its own.

A step of the implementation may be several of the specification: a batch of several records, and
the loss of a connection that shows beside something else. They are written one after the other.
"""

from __future__ import annotations

from typing import Final, assert_never

from rocketha.broker.effects import AnswerPull, AnswerPut, GroupAction, GroupActionName, PutStatus
from rocketha.broker.events import CommandReceived
from rocketha.broker.state import Registration
from rocketha.controller.entry import InactiveScanned
from rocketha.controller.state import Group
from rocketha.errors import PacketError
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ControllerRequest,
    ElectMaster,
    RegisterBroker,
)
from rocketha.formats.ha_packets import Ack, Expecting, pull_slave_packet
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.ha.events import PacketReceived
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.sim.replica_group.actions import (
    ChannelEnded,
    ClientAnswered,
    ClientAsked,
    ControllerActed,
    ControllerFrame,
    EventTaken,
    Exchanged,
    GroupClusterAction,
)
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.recorders import command_in
from rocketha.types import BrokerId, ConnectionId, Offset
from rocketproof.protocols.epoch_truncation.values import NONE, broker_name, index
from rocketproof.protocols.replica_group.frames import asks_who_lives, request_of
from rocketproof.protocols.replica_group.heard import HeardByBrokers, NoticesOwed
from rocketproof.protocols.replica_group.heard_by_controller import (
    HeardByController,
    HeardByControllerGroup,
)
from rocketproof.protocols.replica_group.losses import losses
from rocketproof.protocols.replica_group.owed_by_group import OwedByGroup
from rocketproof.protocols.replica_group.parts import ALIVE, GroupStateReader, Key
from rocketproof.protocols.replica_group.values import known, longer, names
from tlatrace.trace import Event
from tlatrace.values import Fcn, Value

__all__ = ["GROUP_SPEC", "GroupProjection"]

GROUP_SPEC: Final = "ReplicaGroup"

_CONTROLLER: Final = "controller"
_ELECTIONS: Final = ("ElectMaster", "DesignateMaster")
_ROLE_CHANGES: Final = frozenset({ActionName.BECOME_MASTER, ActionName.BECOME_SLAVE})


class GroupProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._cluster: GroupCluster | None = None
        self._parts: GroupStateReader
        self._controller = HeardByController()
        self._heard = HeardByBrokers(answers_within_ms=0)
        self._notices = NoticesOwed()
        self._owed: OwedByGroup

    @property
    def brokers(self) -> tuple[BrokerId, ...]:
        """Return the brokers of the group."""
        return self._parts.brokers

    # ---- the observer ----

    def started(self, cluster: GroupCluster) -> None:
        """Record the initial state: everybody is registered, nobody is elected."""
        self._cluster, self._parts = cluster, GroupStateReader(cluster)
        self._owed = OwedByGroup(cluster)
        if cluster.controllers is not None:
            self._controller = HeardByControllerGroup()
        self._controller.started(cluster)
        self._heard.answers_within_ms = cluster.plan.broker.request_timeout_ms
        self._record(cluster, None, "Init", ())

    def healed(self) -> None:
        """Record that the run has ended, some time after the last fault."""
        assert self._cluster is not None, "the run has not begun"
        if self.events[-1].action != "Healed":  # said once, however often the traces are asked for
            self._record(self._cluster, None, "Healed", ())

    def sent(
        self, cluster: GroupCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Note what a slave reports: the specification has no other packets."""
        if not self.events or self._parts.server_of(cluster, conn) in (None, broker):
            return
        try:
            pulled = pull_slave_packet(data, Expecting.HANDSHAKE | Expecting.TRANSFER)
        except PacketError:
            return
        if pulled is not None and isinstance(pulled[0], Ack):
            self._parts.note_report(conn, index(pulled[0].max_phy_offset))

    def exchanged(self, cluster: GroupCluster, what: Exchanged) -> None:
        """Note what nodes say to each other and to clients."""
        if isinstance(what, EventTaken):
            self._record_unnotified(cluster)
            self._taken(cluster, what)
            return
        if self.events:
            self._owed.hear(cluster, what)
        if not (isinstance(what, ControllerFrame) and what.by_controller):
            self._record_unnotified(cluster)
        match what:
            case ChannelEnded(channel=channel):
                self._controller.channel_ended(cluster, channel)
            case ClientAnswered(broker=broker, answer=answer):
                if isinstance(answer, AnswerPut | AnswerPull):
                    self._client_answered(cluster, broker, answer)
            case ControllerFrame(by_controller=True):
                self._controller_said(cluster, what)
            case ControllerFrame(has_arrived=True):
                self._controller.heard(cluster, what)
            case ControllerFrame(broker=broker) if broker is not None:
                command = command_in(what.data)
                request = request_of(what.data)
                shows_ms = cluster.nodes[broker].shows_ms(cluster.scheduler)
                self._heard.asked(broker, request, command, shows_ms)
                if self.events and isinstance(request, AlterSyncStateSet):
                    self._parts.add_proposal(broker, request)
            case ControllerFrame() | ClientAsked():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def stepped(self, cluster: GroupCluster, broker: BrokerId) -> None:
        """Record connections that are gone, and whatever else changed without an action."""
        if self.events:
            self._record_unnotified(cluster)
            self._parts.look(cluster)
            if self._parts.changes:
                self._record_losses(cluster, None)
                self._record_rest(cluster, broker)

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        """Record an action, if the specification can see it, and the state after it."""
        if not self.events:
            return
        self._record_unnotified(cluster)
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

    # ---- what brokers hear ----

    def _taken(self, cluster: GroupCluster, taken: EventTaken) -> None:
        """Record what a broker must have done that is done with an event."""
        node, known = cluster.nodes[taken.broker], self._heard
        match taken.event:
            case CommandReceived(command=command):
                known.heard(node.id, command, node.shows_ms(cluster.scheduler))
            case PacketReceived(conn=conn, packet=Ack()):
                connection = cluster.network.find(conn)
                if connection is not None:
                    known.reported(node.id, connection.client)
            case _:
                pass
        if not self.events:
            return
        is_down = self._parts.is_down(node.id)
        connected = self._parts.is_connected
        for shows in self._owed.after(cluster, taken, connected, is_down=is_down):
            params: tuple[Value, ...] = (broker_name(node.id),)
            if shows.action == "KeepMember":
                assert shows.argument is not None
                params = (*params, broker_name(BrokerId(shows.argument)))
            elif shows.argument is not None:
                params = (*params, shows.argument)
            self._record(cluster, node.id, shows.action, params)
        if taken.is_continued:
            return
        views, slave = known.take_views(node.id), known.take_reporter(node.id)
        state, me = node.state, broker_name(node.id)
        if state is None or is_down:
            return
        if state.registration is Registration.REGISTERED:
            for set_epoch in views:
                self._record(cluster, node.id, "Heard", (me, set_epoch))
        joins = slave is not None and slave not in state.local.members
        if self._parts.has_moved(node.id) or joins:
            self._record(cluster, node.id, "Settled", (me, broker_name(slave or node.id)))

    # ---- what goes over the wire ----

    def _client_answered(
        self, cluster: GroupCluster, broker: BrokerId, answer: AnswerPut | AnswerPull
    ) -> None:
        if not self.events:
            return
        record_epochs = self._parts.record_epochs(cluster.nodes[broker])
        match answer:
            case AnswerPut(status=PutStatus.PUT_OK, end=end) if end is not None:
                self._parts.promised.append(record_epochs[: index(end)])
            case AnswerPull(data=bytes() as data, offset=offset) if data:
                shown = record_epochs[: index(Offset(offset + len(data)))]
                self._parts.seen = longer(self._parts.seen, shown)
            case _:
                pass

    def _controller_said(self, cluster: GroupCluster, frame: ControllerFrame) -> None:
        """Record what the controller says of the group, if it is not what it has."""
        said = self._controller.said(frame)
        if frame.channel is None:
            self._notices.given(frame.broker)
        if said is not None and self.events:
            self._parts.hear_of_controller(said)
            self._record_rest(cluster, None)

    # ---- the controller's actions ----

    def _controller_acted(self, cluster: GroupCluster, action: ControllerActed) -> None:
        parts, before = self._parts, self._parts.group
        present = cluster.group or before
        heard = self._controller.applied(cluster, action.entry)
        request = None if heard is None else heard[1]
        self._notice_silence(cluster, request)
        restarted = None if heard is None else self._registered(present, *heard)
        parts.look(cluster)
        if restarted is not None:
            self._record(cluster, restarted, "Restart", (broker_name(restarted),))
            if before.master is not None and present.master is None:
                self._controller.lost_master.lost(cluster.now_ms)
        else:
            scans = isinstance(action.entry.change, InactiveScanned)
            if (
                scans
                and self._controller.lost_master.is_late(cluster.now_ms)
                and self._controller.choices.owed(known(before))
            ):
                self._record(cluster, None, "NoElection", (), only=())
            decision = self._controller.choices.decision(
                request, known(before), known(present), scans=scans
            )
            self._decided(cluster, decision, before.master, request)
        self._record_rest(cluster, None)

    def _registered(
        self, present: Group, channel: ConnectionId, request: ControllerRequest
    ) -> BrokerId | None:
        """Note who has registered; return who is back in an incarnation that was not known."""
        if not isinstance(request, RegisterBroker):
            return None
        broker, incarnation = request.broker_id, request.incarnation
        replica = present.replicas.get(broker)
        if incarnation is None or replica is None or replica.incarnation != incarnation:
            return None
        of, parts = self._parts.of[broker], self._parts
        restarted = int(incarnation) not in of.starts
        self._controller.signs.registered(broker_name(broker), channel, restarted=restarted)
        if not restarted:
            return None
        self._controller.choices.restarted(broker)
        of.starts[int(incarnation)] = of.crashes
        of.registered_epoch = int(present.master_epoch)
        parts.torn -= {broker}
        parts.alive |= {broker}
        return broker

    def _decided(
        self,
        cluster: GroupCluster,
        decision: tuple[str, int | None] | None,
        master: BrokerId | None,
        request: ControllerRequest | None,
    ) -> None:
        """Record what must be decided, and an election by the reason that there is for it."""
        if decision is None:
            return
        action, who = decision[0], None if decision[1] is None else BrokerId(decision[1])
        if action == "CleanBrokerData":
            self._controller.signs.forget()
        elif action == "ElectMaster" and who is not None:
            is_silent = master is not None and not self._controller.choices.lives(master)
            if not self._controller.choices.lives(who):
                self._record_alive(cluster, who, "EvictBroker")
            is_asked = isinstance(request, ElectMaster) and request.designate_elect
            needed = master is None or master not in self._parts.alive
            action = "DesignateMaster" if not needed and (is_silent or is_asked) else action
        self._record(cluster, None, action, () if who is None else (broker_name(who),))
        if action in _ELECTIONS and self._controller.owes_notices:
            self._notices.owed = {b for b in self.brokers if self._controller.choices.lives(b)}

    def _notice_silence(self, cluster: GroupCluster, request: ControllerRequest | None) -> None:
        """Record who is gone and silent, and who is heard although it is gone."""
        parts = self._parts
        for broker in self.brokers:
            is_gone = parts.incarnations.get(broker, 0) != parts.of[broker].crashes
            is_heard = self._controller.signs.is_alive(broker_name(broker))
            if is_gone and is_heard and broker not in parts.alive:
                self._record_alive(cluster, broker, "HearAgain")
            elif is_gone and not is_heard and broker in parts.alive and asks_who_lives(request):
                self._record_alive(cluster, broker, "EvictBroker")

    def _record_unnotified(self, cluster: GroupCluster) -> None:
        """Record whom the last election was not notified to though the controller hears it."""
        if not self._notices.owed:
            return
        for broker in self._notices.take():
            self._record(cluster, None, "Unnotified", (broker_name(broker),))

    def _record_alive(self, cluster: GroupCluster, broker: BrokerId, action: str) -> None:
        parts = self._parts
        parts.alive = parts.alive | {broker} if action == "HearAgain" else parts.alive - {broker}
        parts.look_at_alive()
        params: tuple[Value, ...] = (broker_name(broker), parts.incarnations.get(broker, 0))
        self._record(cluster, None, action, params, only=(ALIVE,))

    # ---- a broker's actions ----

    def _crashed(self, cluster: GroupCluster, broker: BrokerId) -> None:
        parts, of = self._parts, self._parts.of[broker]
        parts.crashed(broker)
        self._heard.stopped(broker)
        self._owed.stopped(broker)
        kept = len(parts.record_epochs(cluster.nodes[broker]))
        if kept < of.length:
            parts.torn |= {broker}
        parts.look(cluster)
        self._record_losses(cluster, broker)
        self._record(cluster, broker, "Crash", (broker_name(broker), kept))

    def _replica_acted(self, cluster: GroupCluster, broker: BrokerId, action: SpecAction) -> None:
        me = broker_name(broker)
        self._parts.look(cluster)
        if not self._parts.changes:
            return
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
        if action.name is GroupActionName.ACKNOWLEDGE:
            confirmed = index(node.running().confirm)
            parts.acked = longer(parts.acked, parts.record_epochs(node)[:confirmed])
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
        for loss in losses(self._parts, but):
            self._record(cluster, loss.broker, loss.action, loss.params, only=loss.only)

    # ---- the trace ----

    def _record_rest(self, cluster: GroupCluster, broker: BrokerId | None) -> None:
        """Record what no action explains, if there is something: as what has such an effect."""
        changes = self._parts.changes
        me = () if broker is None else (broker_name(broker),)
        if ("ctl", "", "") in changes:
            shown = changes["ctl", "", ""]
            assert isinstance(shown, Fcn)
            self._record(cluster, broker, "ElectMaster", (shown.fields()["master"],))
        elif ("acked", "", "") in changes and me:
            self._record(cluster, broker, "Acknowledge", me)
        elif ("seen", "", "") in changes and me:
            self._record(cluster, broker, "Consume", me)
        elif changes:
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
