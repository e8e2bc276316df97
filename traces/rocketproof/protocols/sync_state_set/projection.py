"""The master epochs of a simulated group as behaviours of SyncStateSet.

A run of a group is a trace for each master epoch. It begins when the broker that the controller has
elected becomes master, and ends when that broker follows another one or becomes master anew, when
somebody is elected after its crash, or when the controller elects the same broker once more.

After every action the whole state is read from the real one (`master_epoch`):

| specification | implementation                                                               |
|---------------|------------------------------------------------------------------------------|
| ctl, views    | the controller's state, until another broker is elected                      |
| local, sssE, pend, confirm | what the master's core has; `Fenced` without it                 |
| queue, alters | proposals of which no request has left the master; the requests that have   |
| conn          | the master's newest connection of each slave, once the slave has reported    |
| up            | whether it runs and the controller has registered it                         |
| inc           | registrations since the election that said that the log is torn              |
| torn, end     | by the bytes of its log, or what recovery would find on its disk             |
| acked, visible| what producers were answered PUT_OK, and the messages consumers were sent     |
| conn.ready    | kept here, by the rule of the specification                                  |

A run whose faults have ended is Healed.

The implementation knows brokers; their incarnations as members come from the handshake of who
joins and from the controller's registrations. A broker that returns with a whole log is the member
that it was, so it is the same incarnation here, although it counts its starts.

Some steps of the implementation are two here (a proposal is made, and sent), and some that follow
each other at once are one: with a report, a message or a new set, confirmOffset moves. That a
producer hears of it is a step: Acknowledge.
"""

from __future__ import annotations

from typing import Final, assert_never

from rocketha.broker.effects import AnswerPull, AnswerPut, GroupAction, GroupActionName, PutStatus
from rocketha.broker.events import CommandReceived
from rocketha.broker.state import GroupBroker, Registration
from rocketha.controller.applied import (
    BrokerRegistered,
    ControllerEvent,
    DataCleaned,
    MasterElected,
)
from rocketha.formats.controller_requests import AlterSyncStateSet, RegisterBroker
from rocketha.formats.ha_packets import Ack
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.ha.events import PacketReceived
from rocketha.known_bugs.storage import file_options
from rocketha.runtime.effects import AnswerClient
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.record_epochs import RecordEpochReader, RecordEpochs
from rocketha.sim.engine.records import SEGMENT_SIZE
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
from rocketproof.protocols.epoch_truncation.values import index
from rocketproof.protocols.replica_group.frames import request_of
from rocketproof.protocols.replica_group.heard import HeardByBrokers
from rocketproof.protocols.replica_group.owed_by_group import OwedByGroup
from rocketproof.protocols.sync_state_set.decisions import Decision, Decisions
from rocketproof.protocols.sync_state_set.master_epoch import MasterEpochTrace
from rocketproof.protocols.sync_state_set.memory import Memory
from tlatrace.values import Value, tla_set

__all__ = ["SET_SPEC", "SetProjection"]

SET_SPEC: Final = "SyncStateSet"

_CONFIRMING: Final = frozenset({"PutMessage", "ReceiveAck", "Learn"})
"""Steps in which confirmOffset moves."""


class SetProjection:
    """An observer of a simulated run that records a trace for each master epoch."""

    def __init__(self) -> None:
        """Begin without a master epoch."""
        self.epoch_traces: list[MasterEpochTrace] = []
        """In the order of their beginnings."""
        self.brokers: tuple[BrokerId, ...] = ()
        self._open: list[MasterEpochTrace] = []
        self._decisions = Decisions()
        self._heard = HeardByBrokers(answers_within_ms=0)
        self._owed: OwedByGroup | None = None
        self._cluster: GroupCluster | None = None
        self._memory_or_none: Memory | None = None
        self._reader: RecordEpochReader | None = None
        self._logs: dict[BrokerId, tuple[tuple[int, bool], RecordEpochs]] = {}

    @property
    def _memory(self) -> Memory:
        assert self._memory_or_none is not None, "the run has not begun"
        return self._memory_or_none

    # ---- the observer ----

    def started(self, cluster: GroupCluster) -> None:
        """Look at a group whose brokers are registered; nobody is master yet."""
        group = cluster.group
        assert group is not None
        self._cluster = cluster
        self._decisions.started(cluster)
        self._owed = OwedByGroup(cluster)
        self._heard.answers_within_ms = cluster.plan.broker.request_timeout_ms
        self.brokers = tuple(cluster.nodes)
        self._reader = RecordEpochReader(file_options(SEGMENT_SIZE, cluster.plan.bugs).log)
        losses = {b: {replica.incarnation: 0} for b, replica in group.replicas.items()}
        registered = dict.fromkeys(cluster.nodes, 0)
        self._memory_or_none = Memory(
            record_epochs=self._record_epochs, losses=losses, registered=registered
        )

    def healed(self, healed_ms: int) -> None:
        """Say of the last master epoch that its run has ended, some time after the last fault."""
        assert self._cluster is not None, "the run has not begun"
        for epoch_trace in self.epoch_traces[-1:]:
            if epoch_trace.is_healed:
                continue  # it is said once, however often it is asked for
            had = epoch_trace.records_at(healed_ms)
            epoch_trace.look(self._cluster)
            epoch_trace.record(self._cluster, None, "Healed", (had,))

    def sent(
        self, cluster: GroupCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Do nothing: the specification has no packets."""

    def exchanged(self, cluster: GroupCluster, what: Exchanged) -> None:
        """Note what masters ask the controller for, and tell producers and consumers."""
        if self._owed is not None:
            self._owed.hear(cluster, what)
        match what:
            case ClientAnswered(broker=broker, answer=answer):
                for epoch_trace in self._of_master(broker):
                    _record_answer(epoch_trace, cluster, answer)
            case ControllerFrame(has_arrived=True):
                self._decisions.heard(cluster, what)
            case ControllerFrame(by_controller=False, broker=broker) if broker is not None:
                self._asked(cluster, broker, what.data)
            case ControllerFrame() | ClientAsked():
                pass
            case ChannelEnded():
                self._decisions.ended(cluster, what)
            case EventTaken():
                self._taken(cluster, what)
            case _ as unreachable:
                assert_never(unreachable)

    def _asked(self, cluster: GroupCluster, broker: BrokerId, data: bytes) -> None:
        """Note what a broker asks the controller for."""
        request, frame = request_of(data), command_in(data)
        now_ms = cluster.nodes[broker].shows_ms(cluster.scheduler)
        self._heard.asked(broker, request, frame, now_ms)
        if isinstance(request, AlterSyncStateSet):
            for epoch_trace in self._of_master(broker):
                epoch_trace.note_sent(request)

    def _taken(self, cluster: GroupCluster, taken: EventTaken) -> None:
        """Record what a master must know, and have done, when it is done with an event."""
        node = cluster.nodes[taken.broker]
        match taken.event:
            case CommandReceived(command=command):
                self._heard.heard(node.id, command, node.shows_ms(cluster.scheduler))
            case PacketReceived(conn=conn, packet=Ack()):
                connection = cluster.network.find(conn)
                if connection is not None:
                    self._heard.reported(node.id, connection.client)
            case _:
                pass
        is_down = node.state is None or cluster.is_starting(node)
        self._record_owed(cluster, taken, is_down=is_down)
        if taken.is_continued:
            return
        views, slave = self._heard.take_views(node.id), self._heard.take_reporter(node.id)
        if node.state is None or is_down:
            return
        for epoch_trace in self._of_master(node.id):
            if epoch_trace.is_master(node):
                if node.state.registration is Registration.REGISTERED:
                    epoch_trace.record_heard(cluster, views)
                if slave is not None and slave not in node.state.local.members:
                    epoch_trace.record_settled(cluster, slave)

    def _record_owed(self, cluster: GroupCluster, taken: EventTaken, *, is_down: bool) -> None:
        """Record what a step of a master shows to clients, and what is missed of it."""
        assert self._owed is not None
        masters = [
            one for one in self._of_master(taken.broker) if one.is_master(cluster.nodes[one.master])
        ]

        def is_connected(_: BrokerId, slave: BrokerId) -> bool:
            return all(one.hears(slave) for one in masters)

        for shows in self._owed.after(cluster, taken, is_connected, is_down=is_down):
            for epoch_trace in masters:
                epoch_trace.record_shown(cluster, shows.action, shows.argument)

    def _of_master(self, broker: BrokerId | None) -> list[MasterEpochTrace]:
        """Return the master epochs of a broker that have not ended."""
        return [epoch_trace for epoch_trace in self._open if epoch_trace.master == broker]

    def stepped(self, cluster: GroupCluster, broker: BrokerId) -> None:
        """Record connections that are gone, and whatever else changed without an action."""
        self._look(cluster)
        for epoch_trace in self._of_master(broker):
            epoch_trace.record_sent(cluster)
        for epoch_trace in self._open:
            _record_rest(epoch_trace, cluster, broker)

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        """Record an action in the master epochs that can see it, and the state after it."""
        match action:
            case ControllerActed():
                decision = self._decisions.applied(cluster, action)
                for event in action.events:
                    self._controller_event(cluster, event, action)
                if decision is not None:
                    self._decided(cluster, decision)
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

    def _look(self, cluster: GroupCluster) -> None:
        self._memory.look(cluster)
        for epoch_trace in self._open:
            epoch_trace.look(cluster)

    def _record_epochs(self, node: Node[GroupBroker]) -> RecordEpochs:
        assert self._reader is not None
        version = (node.files.log_version, node.state is None)
        known = self._logs.get(node.id)
        if known is None or known[0] != version:
            is_down = node.state is None
            found = self._reader.on_disk(node.disk) if is_down else self._reader.in_log(node.log)
            known = self._logs[node.id] = (version, found)
        return known[1]

    def _end(self, epoch_trace: MasterEpochTrace) -> None:
        self._open.remove(epoch_trace)

    # ---- the controller ----

    def _controller_event(
        self, cluster: GroupCluster, event: ControllerEvent, action: ControllerActed
    ) -> None:
        group, request = cluster.group, action.entry.change
        match event:
            case MasterElected(master=master):
                assert group is not None
                self._elected(cluster, master)
            case BrokerRegistered(broker_id=broker, incarnation=incarnation, restarted=True):
                assert isinstance(request, RegisterBroker)
                self._memory.register(broker, incarnation, torn=request.log_torn)
                for epoch_trace in self._open:
                    self._registered(epoch_trace, cluster, broker)
            case DataCleaned():
                self._open.clear()
            case _:
                pass

    def _decided(self, cluster: GroupCluster, decision: Decision) -> None:
        """Record what must become of a proposal, with what the controller has behind it."""
        group = cluster.group
        for epoch_trace in self._present() if group is not None else ():
            assert group is not None
            epoch_trace.note_set(group, decision.request.joining)
            epoch_trace.look(cluster)
            epoch_trace.record(cluster, None, decision.action, decision.params)

    def _present(self) -> list[MasterEpochTrace]:
        """Return the master epoch that the controller has not ended, if there is one."""
        return [epoch_trace for epoch_trace in self._open if not epoch_trace.is_over]

    def _elected(self, cluster: GroupCluster, master: BrokerId) -> None:
        group = cluster.group
        assert group is not None
        for epoch_trace in self._present():
            if epoch_trace.master == master:
                self._end(epoch_trace)
                continue
            epoch_trace.note_election(group)
            epoch_trace.look(cluster)
            epoch_trace.record(cluster, None, "Elect", (epoch_trace.names[master],))
            if not epoch_trace.is_master(cluster.nodes[epoch_trace.master]):
                self._end(epoch_trace)

    def _registered(
        self, epoch_trace: MasterEpochTrace, cluster: GroupCluster, broker: BrokerId
    ) -> None:
        epoch_trace.note_start(broker)
        if epoch_trace.has_left(broker):
            return
        epoch_trace.look(cluster)
        if broker == epoch_trace.master:
            epoch_trace.record(cluster, broker, "RestartMaster")
        else:
            epoch_trace.record(cluster, broker, "Restart", (epoch_trace.names[broker],))

    # ---- brokers ----

    def _crashed(self, cluster: GroupCluster, broker: BrokerId) -> None:
        self._heard.stopped(broker)
        if self._owed is not None:
            self._owed.stopped(broker)
        record_epochs = self._record_epochs(cluster.nodes[broker])
        for epoch_trace in list(self._open):
            if epoch_trace.has_left(broker):
                continue
            kept = epoch_trace.note_stop(broker, record_epochs)
            epoch_trace.look(cluster)
            if broker != epoch_trace.master:
                epoch_trace.record(cluster, broker, "Crash", (epoch_trace.names[broker], kept))
                continue
            epoch_trace.record(cluster, broker, "CrashMaster", (kept,))
            if epoch_trace.is_over:
                self._end(epoch_trace)

    def _replica_acted(self, cluster: GroupCluster, broker: BrokerId, action: SpecAction) -> None:
        if action.name in (ActionName.BECOME_MASTER, ActionName.BECOME_SLAVE):
            self._role_changed(cluster, broker)
            return
        self._memory.look(cluster)
        for epoch_trace in self._open:
            self._replicated(epoch_trace, cluster, broker, action)

    def _replicated(
        self,
        epoch_trace: MasterEpochTrace,
        cluster: GroupCluster,
        broker: BrokerId,
        action: SpecAction,
    ) -> None:
        name = epoch_trace.names[broker]
        if action.name is ActionName.RECEIVE_ACK and broker == epoch_trace.master:
            assert action.slave is not None
            report = epoch_trace.note_report(cluster.nodes[broker].running(), action.slave)
            if epoch_trace.look(cluster):
                params: tuple[Value, ...] = (epoch_trace.names[action.slave], report)
                epoch_trace.record(cluster, broker, "ReceiveAck", params)
        elif not epoch_trace.look(cluster):
            return
        elif action.name is ActionName.PUT_MESSAGE and broker == epoch_trace.master:
            epoch_trace.record(cluster, broker, "PutMessage")
        elif broker == epoch_trace.master or not epoch_trace.hears(broker):
            _record_rest(epoch_trace, cluster, broker)
        elif action.name is ActionName.RECEIVE_HANDSHAKE:
            epoch_trace.record(cluster, broker, "Connect", (name,))
        elif action.name is ActionName.RECEIVE_TRANSFER:
            epoch_trace.record(cluster, broker, "Copy", (name, epoch_trace.end_of(broker)))
        else:
            _record_rest(epoch_trace, cluster, broker)

    def _role_changed(self, cluster: GroupCluster, broker: BrokerId) -> None:
        for epoch_trace in [one for one in self._open if one.master == broker]:
            self._end(epoch_trace)
        self._look(cluster)
        for epoch_trace in self._open:
            _record_rest(epoch_trace, cluster, broker)
        group, ha = cluster.group, cluster.nodes[broker].running().ha
        if group is None or (group.master, group.master_epoch) != (broker, ha.known_epoch):
            return
        epoch_trace = MasterEpochTrace(cluster, self._memory, broker)
        self.epoch_traces.append(epoch_trace)
        self._open.append(epoch_trace)

    def _broker_acted(self, cluster: GroupCluster, broker: BrokerId, action: GroupAction) -> None:
        if action.name is GroupActionName.BECOME_SLAVE:
            self._role_changed(cluster, broker)
            return
        self._look(cluster)
        for epoch_trace in self._open:
            if epoch_trace.master == broker:
                self._master_acted(epoch_trace, cluster, action)
            else:
                _record_rest(epoch_trace, cluster, broker)

    def _master_acted(
        self, epoch_trace: MasterEpochTrace, cluster: GroupCluster, action: GroupAction
    ) -> None:
        master = epoch_trace.master
        match action.name:
            case GroupActionName.ACKNOWLEDGE:
                epoch_trace.amend(cluster, _CONFIRMING)
                _record_rest(epoch_trace, cluster, master)
            case GroupActionName.MAYBE_EXPAND:
                (slave,) = action.slaves
                epoch_trace.record_proposal(cluster, "Expand", (epoch_trace.names[slave],))
            case GroupActionName.MAYBE_SHRINK:
                removed = tla_set(epoch_trace.names[slave] for slave in action.slaves)
                is_due = epoch_trace.is_due(cluster, action.slaves)
                epoch_trace.record_proposal(cluster, "Shrink", (removed, is_due))
            case GroupActionName.LEARN_SYNC_STATE_SET:
                if epoch_trace.look(cluster):
                    epoch_trace.record(cluster, master, "Learn", (epoch_trace.known_set,))
            case (
                GroupActionName.CONSUME
                | GroupActionName.CLOSE_CONNECTION
                | GroupActionName.BECOME_SLAVE
            ):
                _record_rest(epoch_trace, cluster, master)
            case _ as unreachable:
                assert_never(unreachable)


def _record_answer(
    epoch_trace: MasterEpochTrace, cluster: GroupCluster, answer: AnswerClient
) -> None:
    """Record what a producer or a consumer hears from a master, if it is news."""
    match answer:
        case AnswerPut(status=PutStatus.PUT_OK, end=end) if end is not None:
            action, count = "Acknowledge", index(end)
            epoch_trace.acked = max(epoch_trace.acked, count)
        case AnswerPull(data=bytes() as data, offset=offset) if data:
            action, count = "Consume", index(Offset(offset + len(data)))
            epoch_trace.visible = max(epoch_trace.visible, count)
        case _:
            return
    epoch_trace.look(cluster)
    epoch_trace.amend(cluster, _CONFIRMING)
    if epoch_trace.look(cluster):
        epoch_trace.record(cluster, epoch_trace.master, action, (count,))


def _record_rest(epoch_trace: MasterEpochTrace, cluster: GroupCluster, broker: BrokerId) -> None:
    """Record what no action explains: connections that are lost, and what slaves hear elsewhere."""
    if epoch_trace.look(cluster):
        epoch_trace.record_losses(cluster)
        epoch_trace.record_elsewhere(cluster)
    if epoch_trace.look(cluster):
        epoch_trace.record(cluster, broker, None)
