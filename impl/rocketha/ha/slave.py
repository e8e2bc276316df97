"""The slave's side of a connection: it cuts its log where the master's differs, copies the rest.

```
READY: drop a torn tail --connected--> HANDSHAKE --reply: cut, report--> TRANSFER: append, report
```

Whatever else arrives closes the connection; after a while the slave connects again.

Source: `AutoSwitchHAClient`.
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.epoch.cache import NOTHING_KNOWN, EpochCache
from rocketha.epoch.consistent_point import consistent_point
from rocketha.formats.ha_packets import (
    INCARNATION_MAX,
    Ack,
    Handshake,
    HandshakeReply,
    Transfer,
    push_ack,
    push_handshake,
)
from rocketha.ha.effects import ActionName, Effect, SpecAction, Stepped
from rocketha.ha.state import NOT_YET, BrokerState, LogView, Phase, Role, SlaveConnection
from rocketha.runtime.effects import (
    AppendLog,
    CloseConnection,
    Connect,
    FlushLog,
    SendPacket,
    StoreEpochs,
    TruncateLog,
)
from rocketha.types import INT64_MAX, ConnectionId, Epoch, HaAddress, Offset, SizeBytes, TimestampMs

__all__ = [
    "connect",
    "connected",
    "disconnect",
    "message_end",
    "receive_handshake",
    "receive_transfer",
    "report",
]


def connect(state: BrokerState, *, now_ms: TimestampMs, log: LogView) -> Stepped:
    """Ask for a connection to the master, and cut off a record that did not arrive as a whole.

    A filler without a record behind it goes, too: otherwise an epoch that begins before it would
    count as one with records. The epoch cache stays: no epoch begins inside a record.

    Source: AutoSwitchHAClient.run (READY), AutoSwitchHAService.truncateInvalidMsg
    """
    assert state.client is None
    peer = state.master_address
    if state.role is not Role.SLAVE or peer is None:
        return Stepped(state)
    effects: list[Effect] = []
    end = message_end(log)
    if end < log.max_phy_offset:
        effects.append(TruncateLog(offset=end))
    effects.append(Connect(peer=peer))
    retry_at = TimestampMs(now_ms + state.options.reconnect_ms)
    return Stepped(replace(state, connect_at_ms=retry_at), tuple(effects))


def message_end(log: LogView) -> Offset:
    """Return the end of the last whole message, before a filler.

    A filler alone is no record: an epoch that begins behind it, or a log that ends there, would
    differ from one with the same messages.
    """
    end = log.aligned_end()
    # A segment ends with a filler, and only there.
    if end == log.min_offset or end % log.segment_size:
        return end
    offsets = log.record_offsets()
    if not offsets:
        return end
    last = offsets[-1]
    return Offset(last + int.from_bytes(log.read(last, 4)))


def connected(
    state: BrokerState, conn: ConnectionId, peer: HaAddress, *, now_ms: TimestampMs
) -> Stepped:
    """Introduce oneself on the new connection, if it is still wanted.

    Source: AutoSwitchHAClient.sendHandshakeHeader
    """
    if state.role is not Role.SLAVE or state.client is not None or peer != state.master_address:
        return Stepped(state, (CloseConnection(conn=conn, reason="it is not wanted any more"),))
    client = SlaveConnection(
        id=conn, peer=peer, phase=Phase.HANDSHAKE, last_read_ms=now_ms, last_write_ms=now_ms
    )
    options = state.options
    request = Handshake(
        broker_id=state.broker_id,
        sync_from_last_file=options.is_sync_from_last_file,
        async_learner=options.is_async_learner,
        incarnation=_told_incarnation(state),
    )
    send = SendPacket(conn=conn, data=push_handshake(request))
    return Stepped(replace(state, client=client), (send,))


def _told_incarnation(state: BrokerState) -> int:
    """Return what a handshake says of the number of starts; beside a flag there is no room."""
    options = state.options
    flagged = options.is_sync_from_last_file or options.is_async_learner
    if not options.tells_incarnation or flagged or state.incarnation > INCARNATION_MAX:
        return 0
    return state.incarnation


def disconnect(state: BrokerState, *, now_ms: TimestampMs, reason: str | None = None) -> Stepped:
    """Give the connection up; without a reason it is closed already.

    Spec: EpochTruncation!Disconnect, EpochTruncation!CloseConnection
    Source: AutoSwitchHAClient.closeMasterAndWait
    """
    client = state.client
    assert client is not None

    retry_at = TimestampMs(now_ms + state.options.reconnect_ms)
    return Stepped(
        replace(state, client=None, connect_at_ms=retry_at),
        () if reason is None else (CloseConnection(conn=client.id, reason=reason),),
        SpecAction(name=ActionName.DISCONNECT, conn=client.id),
    )


def receive_handshake(
    state: BrokerState,
    client: SlaveConnection,
    reply: HandshakeReply,
    *,
    now_ms: TimestampMs,
    log: LogView,
) -> Stepped:
    """Cut the log and the cache at the consistent point, and report the log end.

    RocketMQ's slave reports now only if its log is longer than the point, else with its next
    heartbeat; a slave without epochs has no point, and reports now if it has a log.

    Spec: EpochTruncation!ReceiveHandshake, EpochTruncation!RefuseHandshake
    Source: AutoSwitchHAClient.doTruncate, AutoSwitchHAClient.reportSlaveMaxOffset
    """
    rules = state.options.rules
    master_epoch = Epoch(max(reply.last_epoch, NOTHING_KNOWN))
    if client.phase is not Phase.HANDSHAKE:
        return disconnect(state, now_ms=now_ms, reason="a second handshake")
    if not rules.may_follow(state.known_epoch, master_epoch):
        reason = f"its epoch is {master_epoch}, {state.known_epoch} is known"
        return disconnect(state, now_ms=now_ms, reason=reason)
    if reply.entries and reply.entries[-1].start_offset > reply.max_phy_offset:
        return disconnect(state, now_ms=now_ms, reason="its last epoch begins behind its log")

    own_end = log.max_phy_offset
    point = consistent_point(
        state.cache, own_end, EpochCache(reply.entries), reply.max_phy_offset, rules
    )
    if point < log.min_offset:
        point = Offset(0)  # nothing of what is here is common: start over
    elif not log.is_record_boundary(min(point, own_end)):
        reason = f"the consistent point {point} is inside a record"
        return disconnect(state, now_ms=now_ms, reason=reason)

    cache = rules.truncate_suffix_by_offset(state.cache, point)
    effects: list[Effect] = []
    if point < own_end:
        effects += [TruncateLog(offset=point), FlushLog()]
    if cache.starts() != state.cache.starts():
        effects.append(StoreEpochs(entries=cache.entries))
    reported = rules.report_after_truncate(point, min(point, own_end))
    effects.append(SendPacket(conn=client.id, data=push_ack(Ack(max_phy_offset=reported))))
    accepted = replace(
        client,
        phase=Phase.TRANSFER,
        reported=reported,
        answered_epoch=master_epoch,
        last_read_ms=now_ms,
        last_write_ms=now_ms,
    )
    return Stepped(
        replace(
            state,
            cache=cache,
            known_epoch=max(state.known_epoch, master_epoch),
            received_epoch=rules.received_after_handshake(state.received_epoch, cache),
        ).with_client(accepted),
        tuple(effects),
        SpecAction(
            name=ActionName.RECEIVE_HANDSHAKE, conn=client.id, epoch=master_epoch, offset=point
        ),
    )


def receive_transfer(
    state: BrokerState,
    client: SlaveConnection,
    batch: Transfer,
    *,
    now_ms: TimestampMs,
    log: LogView,
) -> Stepped:
    """Append a batch, note its epoch if that is new, and report the log end.

    A master of RocketMQ on an empty disk has no offset yet: its heartbeats, and nothing else, say
    -1, which an empty log takes for its end.

    Spec: EpochTruncation!ReceiveTransfer
    Source: AutoSwitchHAClient.HAClientReader
    """
    rules = state.options.rules
    if client.phase is not Phase.TRANSFER:
        return disconnect(state, now_ms=now_ms, reason="a transfer before the handshake")
    if batch.offset == NOT_YET:
        batch = replace(batch, offset=log.min_offset)
    offset = rules.continues_at(batch.offset, log.max_phy_offset, _may_begin(state, batch, log))
    if offset is None:
        reason = f"the batch is for {batch.offset}, the log ends at {log.max_phy_offset}"
        return disconnect(state, now_ms=now_ms, reason=reason)
    if batch.offset + len(batch.body) > INT64_MAX:
        return disconnect(state, now_ms=now_ms, reason="the batch ends behind every offset")
    if not rules.epoch_may_follow(state.cache, batch):
        reason = f"epoch {batch.epoch} from {batch.epoch_start_offset} on cannot follow"
        return disconnect(state, now_ms=now_ms, reason=reason)

    cache = state.cache
    if batch.epoch != state.received_epoch:
        cache = rules.append_epoch(cache, batch.epoch, batch.epoch_start_offset)
    effects: list[Effect] = []
    if cache.starts() != state.cache.starts():
        effects.append(StoreEpochs(entries=cache.entries))
    if batch.body:
        effects.append(AppendLog(offset=offset, data=batch.body))
    # A heartbeat at an offset where nothing is yet must not let an empty log begin there.
    end = Offset(offset + len(batch.body)) if batch.body else log.max_phy_offset
    effects.append(SendPacket(conn=client.id, data=push_ack(Ack(max_phy_offset=end))))
    client = replace(client, reported=end, last_read_ms=now_ms, last_write_ms=now_ms)
    known = rules.known_after_batch(state.known_epoch, batch.epoch)
    return Stepped(
        replace(state, cache=cache, known_epoch=known, received_epoch=batch.epoch, client=client),
        tuple(effects),
        SpecAction(
            name=ActionName.RECEIVE_TRANSFER,
            conn=client.id,
            epoch=batch.epoch,
            offset=batch.offset,
            size=SizeBytes(len(batch.body)),
        ),
    )


def _may_begin(state: BrokerState, batch: Transfer, log: LogView) -> bool:
    """Tell whether an empty log may begin with a batch: who skips the past begins at a segment."""
    if log.max_phy_offset or batch.offset % log.segment_size:
        return False
    return state.options.is_sync_from_last_file


def report(
    state: BrokerState, client: SlaveConnection, *, now_ms: TimestampMs, log: LogView
) -> Stepped:
    """Report the log end again: the slave's heartbeat.

    Spec: EpochTruncation!Report
    Source: AutoSwitchHAClient.isTimeToReportOffset, AutoSwitchHAClient.reportSlaveMaxOffset
    """
    ack = Ack(max_phy_offset=log.max_phy_offset)
    client = replace(client, reported=ack.max_phy_offset, last_write_ms=now_ms)
    return Stepped(replace(state, client=client), (SendPacket(conn=client.id, data=push_ack(ack)),))
