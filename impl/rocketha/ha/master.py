"""The master's side of a connection: it answers a handshake and sends its log, epoch by epoch.

```
READY --handshake, answered--> TRANSFER: first ack fixes the next offset --> batches, heartbeats
```

The handshake may be repeated until the first ack, which may come late: RocketMQ's slave sends it on
the handshake only if its log is longer than where it was cut, which a log without epochs may be;
else when it has written nothing for `heartbeat_ms`.

Whatever else arrives closes the connection. A broker that was replaced as master and does not know
it yet goes on like any master.
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.epoch.cache import EpochCache
from rocketha.formats.ha_packets import (
    Ack,
    Handshake,
    HandshakeReply,
    Transfer,
    push_handshake_reply,
    push_transfer,
)
from rocketha.ha.effects import ActionName, SpecAction, Stepped
from rocketha.ha.state import (
    NOT_YET,
    BrokerState,
    HaOptions,
    LogView,
    MasterConnection,
    Phase,
)
from rocketha.runtime.effects import CloseConnection, SendPacket
from rocketha.types import ConnectionId, EpochEntry, Offset, SizeBytes, TimestampMs

__all__ = [
    "accept",
    "handshake",
    "receive_ack",
    "refreshed_connection",
    "refuse",
    "silent_connections",
    "transfer",
]


def accept(state: BrokerState, conn: ConnectionId, *, now_ms: TimestampMs) -> Stepped:
    """Take a new connection, whatever the role: the request decides.

    Source: AutoSwitchHAService.AutoSwitchAcceptSocketService
    """
    assert conn not in state.servers
    connection = MasterConnection(id=conn, last_read_ms=now_ms, last_write_ms=now_ms)
    return Stepped(state.with_server(connection))


def refuse(state: BrokerState, conn: ConnectionId, reason: str) -> Stepped:
    """Close a connection from the master's end.

    Of one that was silent, or sent what no honest slave sends; the slave sees it later.

    Spec: EpochTruncation!CloseConnection
    Source: AutoSwitchHAConnection.AbstractWriteSocketService, AutoSwitchHAService.removeConnection
    """
    return Stepped(state.without_server(conn), (CloseConnection(conn=conn, reason=reason),))


def handshake(
    state: BrokerState,
    connection: MasterConnection,
    packet: Handshake,
    *,
    now_ms: TimestampMs,
    log: LogView,
) -> Stepped:
    """Answer a slave's handshake request with the epoch cache and the log end.

    Spec: EpochTruncation!Handshake
    Source: AutoSwitchHAConnection.HAServerReader, AutoSwitchHAConnection.buildHandshakeBuffer
    """
    conn = connection.id
    if packet.broker_id == state.broker_id:
        return refuse(state, conn, "the slave is this broker itself")
    if not state.options.rules.may_answer(state.role):
        return refuse(state, conn, "this broker is not a master")
    if connection.phase is not Phase.READY:
        return _handshake_again(state, connection, packet, now_ms=now_ms)

    reply = HandshakeReply(max_phy_offset=log.max_phy_offset, entries=state.cache.entries)
    connection = replace(
        connection,
        phase=Phase.TRANSFER,
        introduced=packet,
        last_read_ms=now_ms,
        last_write_ms=now_ms,
    )
    return Stepped(
        state.with_server(connection),
        (SendPacket(conn=conn, data=push_handshake_reply(reply)),),
        SpecAction(
            name=ActionName.HANDSHAKE,
            conn=conn,
            slave=packet.broker_id,
            epoch=state.cache.last_epoch,
            offset=log.max_phy_offset,
        ),
    )


def _handshake_again(
    state: BrokerState, connection: MasterConnection, packet: Handshake, *, now_ms: TimestampMs
) -> Stepped:
    """Take a handshake that the slave repeats because the answer has not reached it yet.

    The answer is under way, and one is enough: a slave that has had it refuses another. RocketMQ's
    master sends another.

    Source: AutoSwitchHAClient.handshakeWithMaster
    """
    if packet != connection.introduced:
        return refuse(state, connection.id, "a second handshake, unlike the first")
    if connection.slave_ack != NOT_YET:
        return refuse(state, connection.id, "a handshake after an ack")
    return Stepped(state.with_server(replace(connection, last_read_ms=now_ms)))


def receive_ack(
    state: BrokerState,
    connection: MasterConnection,
    packet: Ack,
    *,
    now_ms: TimestampMs,
    log: LogView,
) -> Stepped:
    """Note what the slave has; the first report says where the transfer starts.

    A report beyond the master's own log, or beyond what was sent, cannot be true: in RocketMQ 5
    it lets a producer's message count as replicated (#3015).

    Spec: EpochTruncation!ReceiveAck
    Source: AutoSwitchHAConnection.HAServerReader
    """
    conn = connection.id
    ack = packet.max_phy_offset
    if connection.phase is not Phase.TRANSFER:
        return refuse(state, conn, "an ack before the handshake")
    if ack > log.max_phy_offset:
        return refuse(state, conn, f"the ack {ack} is beyond the log end {log.max_phy_offset}")
    if ack < connection.slave_ack:
        return refuse(state, conn, f"the ack {ack} follows {connection.slave_ack}")

    if connection.next_offset == NOT_YET:
        start = _transfer_start(connection, ack, log)
        if start < log.min_offset:
            return refuse(state, conn, f"the log begins at {log.min_offset}, behind {start}")
        cur = state.cache.find_epoch_entry_by_offset(start)
        connection = replace(connection, next_offset=start, cur=cur)
    elif ack > connection.next_offset:
        return refuse(state, conn, f"the ack {ack} is beyond {connection.next_offset}, sent so far")
    connection = replace(connection, slave_ack=ack, last_read_ms=now_ms)
    return Stepped(
        state.with_server(connection),
        (),
        SpecAction(name=ActionName.RECEIVE_ACK, conn=conn, slave=connection.slave_id, offset=ack),
    )


def _transfer_start(connection: MasterConnection, ack: Offset, log: LogView) -> Offset:
    """Return where the transfer starts. Source: AutoSwitchHAConnection (slaveRequestOffset)."""
    return ack or (log.last_segment if connection.sync_from_last_file else log.min_offset)


def transfer(
    state: BrokerState, conn: ConnectionId, *, now_ms: TimestampMs, log: LogView
) -> Stepped:
    """Send the next bytes, all of one epoch, or a heartbeat if nothing was sent for long.

    Nothing is sent before the first ack, nor when no epoch is known for the next byte: the slave
    gives up then and shakes hands again.

    Spec: EpochTruncation!Transfer, EpochTruncation!Heartbeat
    Source: AutoSwitchHAConnection.AbstractWriteSocketService.transferToSlave
    """
    options = state.options
    connection = state.servers[conn]
    at, cur = connection.next_offset, connection.cur
    if at == NOT_YET or cur is None:
        return Stepped(state)
    size = _batch_size(at, cur.end_offset, options, log)
    if size == 0 and now_ms - connection.last_write_ms < options.heartbeat_ms:
        return Stepped(state)

    uncut = min(log.max_phy_offset - at, options.transfer_batch_bytes)
    entry = options.rules.batch_entry(cur, state.cache, Offset(at + uncut))
    end = Offset(at + size)
    batch = Transfer(
        offset=at,
        epoch=entry.epoch,
        epoch_start_offset=entry.start_offset,
        # Without acks of the whole SyncStateSet, RocketMQ's default, everything is confirmed.
        confirm_offset=log.max_phy_offset,
        body=log.read(at, size),
    )
    connection = replace(
        connection,
        next_offset=end,
        cur=_advanced_entry(cur, state.cache, end),
        last_write_ms=now_ms,
    )
    return Stepped(
        state.with_server(connection),
        (SendPacket(conn=conn, data=push_transfer(batch)),),
        SpecAction(
            name=ActionName.TRANSFER,
            conn=conn,
            slave=connection.slave_id,
            epoch=entry.epoch,
            offset=at,
            size=SizeBytes(size),
        ),
    )


def _batch_size(at: Offset, epoch_end: Offset, options: HaOptions, log: LogView) -> int:
    """Return how many bytes the next batch has; it ends with the epoch at the latest.

    Spec: EpochTruncation!Transfer
    """
    return min(log.max_phy_offset - at, epoch_end - at, options.transfer_batch_bytes)


def _advanced_entry(cur: EpochEntry, cache: EpochCache, at: Offset) -> EpochEntry | None:
    """Go to the next epoch when the last byte of this one was sent.

    Spec: EpochTruncation!Transfer
    """
    return cache.find_epoch_entry_by_offset(at) if cur.end_offset == at else cur


def refreshed_connection(state: BrokerState, connection: MasterConnection) -> MasterConnection:
    """Let a connection follow the cache, to which an epoch was appended.

    Spec: EpochTruncation!RefreshedLink
    Source: AutoSwitchHAService.changeToMasterWhenLastRoleIsMaster
    """
    if connection.next_offset == NOT_YET:
        return connection
    rules = state.options.rules
    cur = rules.refreshed_entry(connection.cur, state.cache, connection.next_offset)
    return replace(connection, cur=cur)


def silent_connections(state: BrokerState, *, now_ms: TimestampMs) -> tuple[ConnectionId, ...]:
    """Return the connections of slaves that said nothing for too long.

    Source: AutoSwitchHAConnection.AbstractHAReader (haHousekeepingInterval)
    """
    silence_ms = state.options.housekeeping_ms
    return tuple(c.id for c in state.servers.values() if now_ms - c.last_read_ms >= silence_ms)
