"""What happens to the replication of the log, and what a master concludes from it.

Source: AutoSwitchHAConnection (`AbstractHAReader`), AutoSwitchHAService
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from rocketha.broker.effects import GroupAction, GroupActionName, GroupEffect, GroupStepped
from rocketha.broker.events import ConfirmDue, ExpandDue, StaleConnection
from rocketha.broker.replicas import connection_of, slaves
from rocketha.broker.state import FlushedLogView, GroupBroker
from rocketha.broker.sync_state_set import see_caught_up
from rocketha.formats.controller_requests import Incarnation
from rocketha.formats.ha_packets import Handshake
from rocketha.ha import master
from rocketha.ha.broker import step
from rocketha.ha.effects import ActionName, SpecAction, Stepped
from rocketha.ha.events import Event, PacketReceived
from rocketha.ha.state import BrokerState
from rocketha.runtime.effects import Then
from rocketha.types import BrokerId, ConnectionId, Offset, TimestampMs

__all__ = ["close_stale", "replicate"]


def replicate(
    state: GroupBroker, event: Event, *, now_ms: TimestampMs, log: FlushedLogView
) -> GroupStepped:
    """Let the replication take an event; a report that a master hears may move what it promises.

    A slave's side is that of the replication alone: it shakes hands, copies, hears of epochs.

    Spec: ReplicaGroup!Handshake, ReplicaGroup!Replicate, ReplicaGroup!HearEpoch
    Source: AutoSwitchHAConnection.HAServerReader
    """
    stepped = step(state.ha, event, now_ms=now_ms, log=log)
    after = _with_replication(state, stepped.state)
    action = stepped.action
    if action is None or action.slave is None:
        return GroupStepped(after, stepped.effects, action)
    if action.name is ActionName.HANDSHAKE and isinstance(event, PacketReceived):
        return _introduced(after, event, stepped)
    if action.name is ActionName.RECEIVE_ACK:
        is_news = _acks(after.ha) != _acks(state.ha)  # else it is no step of the specification
        told = action if is_news else None
        return _reported(after, action.slave, told, now_ms=now_ms, log=log)
    return GroupStepped(after, stepped.effects, action)


def _with_replication(state: GroupBroker, after: BrokerState) -> GroupBroker:
    """Take the new state of the replication, and forget slaves that are not connected any more.

    Spec: ReplicaGroup!Disconnect
    """
    connected = slaves(after)
    left = {s: i for s, i in state.slave_incarnations.items() if s in connected}
    return replace(state, ha=after, slave_incarnations=MappingProxyType(left))


def _introduced(state: GroupBroker, event: PacketReceived, stepped: Stepped) -> GroupStepped:
    """Note which incarnation a slave is in; all its connections but the newest are dropped next.

    What it sent on an older connection, before a crash perhaps, may arrive after that.
    """
    packet = event.packet
    assert isinstance(packet, Handshake)
    slave = packet.broker_id
    newest = slaves(state.ha)[slave]
    if event.conn == newest.id:
        told = {**state.slave_incarnations, slave: Incarnation(packet.incarnation)}
        state = replace(state, slave_incarnations=MappingProxyType(told))
    effects = (
        *stepped.effects,
        *(
            Then(event=StaleConnection(conn=end.id))
            for end in state.ha.servers.values()
            if end.slave_id == slave and end is not newest
        ),
    )
    return GroupStepped(state, effects, stepped.action)


def _acks(ha: BrokerState) -> Mapping[ConnectionId, Offset]:
    """Return what was reported over each connection: a report is a step if it changes that.

    Spec: ReplicaGroup!ReceiveAck
    """
    return {conn: end.slave_ack for conn, end in ha.servers.items()}


def _reported(
    state: GroupBroker,
    slave: BrokerId,
    action: SpecAction | None,
    *,
    now_ms: TimestampMs,
    log: FlushedLogView,
) -> GroupStepped:
    """Conclude from a report: the slave may be caught up, a message safe, the slave may join.

    Spec: ReplicaGroup!Settled
    Source: AutoSwitchHAService.updateConfirmOffsetWhenSlaveAck
    """
    state = see_caught_up(state, now_ms=now_ms, log=log)
    follow: tuple[GroupEffect, ...] = (Then(event=ConfirmDue()), Then(event=ExpandDue(slave=slave)))
    return GroupStepped(state, follow, action)


def close_stale(state: GroupBroker, event: StaleConnection) -> GroupStepped:
    """Drop a connection whose slave has introduced itself on a newer one.

    In the source it stays until it is silent for long, and counts as a slave of its own (B23).

    Spec: ReplicaGroup!CloseConnection, SyncStateSet!Disconnect
    Source: AutoSwitchHAService.removeConnection
    """
    stale = state.ha.servers.get(event.conn)
    slave = None if stale is None else stale.slave_id
    if slave is None or connection_of(state.ha, slave) is stale:
        return GroupStepped(state)
    reason = "the slave has shaken hands on a newer connection"
    stepped = master.refuse(state.ha, event.conn, reason)
    action = GroupAction(name=GroupActionName.CLOSE_CONNECTION, slaves=frozenset({slave}))
    return GroupStepped(_with_replication(state, stepped.state), stepped.effects, action)
