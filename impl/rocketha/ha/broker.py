"""The core of a broker: one event in, the new state, effects, and at most one action out.

This module has what concerns the broker as a whole; `master` and `slave` have the two ends of a
connection. A slave has one connection to its master; a master has one for each slave, and a stale
one beside it until it notices.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import assert_never

from rocketha.epoch.cache import NOTHING_KNOWN, EpochCache
from rocketha.formats.ha_packets import Ack, Handshake, HandshakeReply, Transfer
from rocketha.ha import master, slave
from rocketha.ha.effects import ActionName, Effect, SpecAction, Stepped
from rocketha.ha.events import (
    Event,
    MasterAddressLearnt,
    MasterLearnt,
    MessagePut,
    PacketReceived,
    Restarted,
)
from rocketha.ha.state import (
    BrokerState,
    LogView,
    MasterConnection,
    Phase,
    Role,
    SlaveConnection,
)
from rocketha.runtime.effects import (
    AppendMessage,
    CloseConnection,
    StoreEpochs,
    TruncateLog,
)
from rocketha.runtime.events import (
    ConnectionLost,
    LogFlushed,
    MessageAppended,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
    TimerFired,
    TransferDue,
)
from rocketha.types import ConnectionId, TimestampMs

__all__ = [
    "become_master",
    "become_slave",
    "learn_epoch",
    "next_timer_ms",
    "put_message",
    "restart",
    "step",
]


def step(state: BrokerState, event: Event, *, now_ms: TimestampMs, log: LogView) -> Stepped:
    """Take one event.

    Events for connections that the core has closed change nothing. Nothing is raised, whatever a
    peer sends: the connection is closed.
    """
    match event:
        case Restarted():
            return restart(state, event, now_ms=now_ms, log=log)
        case MasterLearnt():
            return _master_learnt(state, event, now_ms=now_ms, log=log)
        case MasterAddressLearnt():
            if event.address == state.master_address:
                return Stepped(state)
            elsewhere = replace(state, master_address=event.address, elected_epoch=NOTHING_KNOWN)
            return Stepped(elsewhere)
        case MessagePut():
            return put_message(state, event, now_ms=now_ms)
        case PeerConnected():
            return slave.connected(state, event.conn, event.peer, now_ms=now_ms)
        case PeerAccepted():
            return master.accept(state, event.conn, now_ms=now_ms)
        case PacketReceived():
            return _packet_received(state, event, now_ms=now_ms, log=log)
        case PacketRefused():
            return _refuse(state, event.conn, str(event.error), now_ms=now_ms)
        case ConnectionLost():
            return _connection_lost(state, event.conn, now_ms=now_ms)
        case TransferDue():
            if event.conn not in state.servers:
                return Stepped(state)
            return master.transfer(state, event.conn, now_ms=now_ms, log=log)
        case TimerFired():
            return _timer_fired(state, now_ms=now_ms, log=log)
        case LogFlushed():
            return Stepped(state, (), SpecAction(name=ActionName.FLUSH))
        case MessageAppended():
            return Stepped(state)
        case _ as unreachable:
            assert_never(unreachable)


def next_timer_ms(state: BrokerState) -> TimestampMs | None:
    """Return when `TimerFired` will have something to do, `None` if only an event can tell.

    The heartbeats of a master are not in it: they are sent when `TransferDue` says so.
    """
    options = state.options
    reads = [c.last_read_ms for c in state.servers.values()]
    times = [TimestampMs(read_ms + options.housekeeping_ms) for read_ms in reads]
    client = state.client
    if client is not None:
        times.append(TimestampMs(client.last_read_ms + options.housekeeping_ms))
        if client.phase is Phase.TRANSFER:
            times.append(TimestampMs(client.last_write_ms + options.heartbeat_ms))
    elif state.role is Role.SLAVE and state.master_address is not None:
        times.append(state.connect_at_ms)
    return min(times, default=None)


def restart(state: BrokerState, event: Restarted, *, now_ms: TimestampMs, log: LogView) -> Stepped:
    """Come back as a slave, with an epoch cache that fits the log that recovery found.

    Spec: EpochTruncation!Restart
    Source: AutoSwitchHAService.init, EpochFileCache.initCacheFromFile
    """
    rules = state.options.rules
    found = EpochCache(event.entries)
    cache = rules.recover_epochs(found, log.max_phy_offset)
    fresh = BrokerState(
        broker_id=state.broker_id,
        options=state.options,
        incarnation=event.incarnation,
        known_epoch=rules.known_at_restart(cache),
        cache=cache,
        connect_at_ms=now_ms,
    )
    changed = cache.starts() != found.starts()
    return Stepped(
        fresh,
        (StoreEpochs(entries=cache.entries),) if changed else (),
        SpecAction(name=ActionName.RESTART),
    )


def _master_learnt(
    state: BrokerState, event: MasterLearnt, *, now_ms: TimestampMs, log: LogView
) -> Stepped:
    """Act on the controller's answer; it may be old, or known already."""
    if event.master is None or event.epoch < state.known_epoch:
        return Stepped(state)
    if event.epoch > state.known_epoch:
        if event.master == state.broker_id:
            return become_master(state, event, log=log)
        client = state.client
        is_elected = client is not None and client.is_to_elected and client.peer == event.address
        if client is not None and state.options.rules.may_keep_link(is_elected):
            return learn_epoch(state, event)
        return become_slave(state, event, now_ms=now_ms)
    if state.role is Role.SLAVE and event.master != state.broker_id and event.address is not None:
        # Known from the epoch file or from the master itself; only its address is new.
        known = replace(state, master_address=event.address, elected_epoch=event.epoch)
        return Stepped(known if known.client is None else known.with_client(known.client))
    return Stepped(state)


def become_master(state: BrokerState, event: MasterLearnt, *, log: LogView) -> Stepped:
    """Begin a master epoch: it starts at the end of the last message, which is on the disk.

    A master that is elected again keeps the connections of its slaves.

    Spec: EpochTruncation!BecomeMaster
    Source: AutoSwitchHAService.changeToMaster, changeToMasterWhenLastRoleIsMaster
    """
    assert event.master == state.broker_id
    assert event.epoch > state.known_epoch
    rules = state.options.rules
    was_master = state.role is Role.MASTER

    effects: list[Effect] = [] if was_master else list(_closed(state))
    start = slave.message_end(log)
    if start < log.max_phy_offset:
        effects.append(TruncateLog(offset=start))
    effects += rules.flushed_at_become_master()
    older = rules.truncate_suffix_by_epoch(state.cache, event.epoch)
    cache = rules.append_epoch(older, event.epoch, start)
    effects.append(StoreEpochs(entries=cache.entries))
    elected = replace(
        state,
        role=Role.MASTER,
        known_epoch=event.epoch,
        cache=cache,
        received_epoch=NOTHING_KNOWN,
        client=None,
    )
    kept = [master.refreshed_connection(elected, c) for c in state.servers.values()]
    servers = MappingProxyType({c.id: c for c in kept} if was_master else {})
    return Stepped(
        replace(elected, servers=servers),
        tuple(effects),
        SpecAction(name=ActionName.BECOME_MASTER, epoch=event.epoch, offset=start),
    )


def become_slave(state: BrokerState, event: MasterLearnt, *, now_ms: TimestampMs) -> Stepped:
    """Learn of a new master: drop all connections, and connect to it soon.

    Spec: EpochTruncation!BecomeSlave
    Source: AutoSwitchHAService.changeToSlave
    """
    assert event.master != state.broker_id
    assert event.epoch > state.known_epoch

    demoted = replace(
        state,
        role=Role.SLAVE,
        known_epoch=event.epoch,
        received_epoch=NOTHING_KNOWN,
        master_address=event.address,
        elected_epoch=event.epoch,
        connect_at_ms=now_ms,
        client=None,
        servers=MappingProxyType({}),
    )
    action = SpecAction(name=ActionName.BECOME_SLAVE, epoch=event.epoch)
    return Stepped(demoted, _closed(state), action)


def learn_epoch(state: BrokerState, event: MasterLearnt) -> Stepped:
    """Learn that the master that this slave follows was elected again: the connection stays.

    RocketMQ compares broker ids, and keeps a connection that is not established yet, too. Here its
    other end must be known to be that master: an address may lead to another broker.

    Spec: EpochTruncation!LearnEpoch
    Source: ReplicasManager.changeToSlave, AutoSwitchHAService.changeToSlaveWhenMasterNotChange
    """
    assert state.role is Role.SLAVE
    assert event.epoch > state.known_epoch

    learnt = replace(
        state,
        known_epoch=event.epoch,
        master_address=event.address,
        elected_epoch=event.epoch,
    )
    action = SpecAction(name=ActionName.LEARN_EPOCH, epoch=event.epoch)
    return Stepped(learnt, (), action)


def _closed(state: BrokerState) -> tuple[CloseConnection, ...]:
    """Close everything. Source: AutoSwitchHAService.destroyConnections."""
    client = () if state.client is None else (state.client.id,)
    return tuple(
        CloseConnection(conn=conn, reason="the role or the master changed")
        for conn in (*client, *state.servers)
    )


def put_message(state: BrokerState, event: MessagePut, *, now_ms: TimestampMs) -> Stepped:
    """Append a producer's message; a slave takes none.

    Spec: EpochTruncation!PutMessage
    Source: CommitLog.asyncPutMessage
    """
    if state.role is not Role.MASTER:
        return Stepped(state)

    append = AppendMessage(message=event.message, store_timestamp_ms=now_ms, put=event.put)
    return Stepped(state, (append,), SpecAction(name=ActionName.PUT_MESSAGE))


def _packet_received(
    state: BrokerState, event: PacketReceived, *, now_ms: TimestampMs, log: LogView
) -> Stepped:
    conn = event.conn
    client = _client_at(state, conn)
    server = state.servers.get(conn)
    match client, server, event.packet:
        case (SlaveConnection(), _, HandshakeReply() as reply):
            return slave.receive_handshake(state, client, reply, now_ms=now_ms, log=log)
        case (SlaveConnection(), _, Transfer() as batch):
            return slave.receive_transfer(state, client, batch, now_ms=now_ms, log=log)
        case (_, MasterConnection(), Handshake() as request):
            return master.handshake(state, server, request, now_ms=now_ms, log=log)
        case (_, MasterConnection(), Ack() as ack):
            return master.receive_ack(state, server, ack, now_ms=now_ms, log=log)
        case _:
            return _refuse(state, conn, "a packet of the other direction", now_ms=now_ms)


def _client_at(state: BrokerState, conn: ConnectionId) -> SlaveConnection | None:
    return state.client if state.client is not None and state.client.id == conn else None


def _refuse(state: BrokerState, conn: ConnectionId, reason: str, *, now_ms: TimestampMs) -> Stepped:
    """Close a connection over which something impossible came."""
    if _client_at(state, conn) is not None:
        return slave.disconnect(state, now_ms=now_ms, reason=reason)
    if conn in state.servers:
        return master.refuse(state, conn, reason)
    return Stepped(state)


def _connection_lost(state: BrokerState, conn: ConnectionId, *, now_ms: TimestampMs) -> Stepped:
    if _client_at(state, conn) is not None:
        return slave.disconnect(state, now_ms=now_ms)
    return Stepped(state.without_server(conn))


def _timer_fired(state: BrokerState, *, now_ms: TimestampMs, log: LogView) -> Stepped:
    """Close connections that are silent, then say something or connect, whatever is due."""
    effects: list[Effect] = []
    for conn in master.silent_connections(state, now_ms=now_ms):
        refused = master.refuse(state, conn, "the slave is silent")
        state = refused.state
        effects += refused.effects
    stepped = _client_timer(state, now_ms=now_ms, log=log)
    effects += stepped.effects
    return replace(stepped, effects=tuple(effects))


def _client_timer(state: BrokerState, *, now_ms: TimestampMs, log: LogView) -> Stepped:
    client, options = state.client, state.options
    if client is None:
        due = now_ms >= state.connect_at_ms
        return slave.connect(state, now_ms=now_ms, log=log) if due else Stepped(state)
    if now_ms - client.last_read_ms >= options.housekeeping_ms:
        return slave.disconnect(state, now_ms=now_ms, reason="the master is silent")
    if client.phase is Phase.TRANSFER and now_ms - client.last_write_ms >= options.heartbeat_ms:
        return slave.report(state, client, now_ms=now_ms, log=log)
    return Stepped(state)
