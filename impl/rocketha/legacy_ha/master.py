"""The master's side of a connection: it hears where a slave's log ends, and sends what follows.

There is no handshake. The first report fixes where the transfer starts; whatever cannot be true
closes the connection.
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.formats.legacy_ha_packets import LegacyTransfer, push_legacy_transfer
from rocketha.ha.state import NOT_YET, LogView
from rocketha.legacy_ha.effects import (
    LegacyAction,
    LegacyActionName,
    LegacyEffect,
    LegacyStepped,
)
from rocketha.legacy_ha.state import LegacyMaster, MasterEnd
from rocketha.runtime.effects import CloseConnection, SendPacket
from rocketha.runtime.events import PeerAccepted
from rocketha.types import ConnectionId, Offset, SizeBytes, TimestampMs

__all__ = ["accept", "close", "close_silent", "lost", "receive_report", "transfer"]


def accept(
    state: LegacyMaster, event: PeerAccepted, *, now_ms: TimestampMs
) -> LegacyStepped[LegacyMaster]:
    """Take a new connection; older ones of the same slave stay until they are seen to be dead.

    Source: DefaultHAService.DefaultAcceptSocketService, DefaultHAService.addConnection
    """
    assert event.conn not in state.ends
    end = MasterEnd(id=event.conn, host=event.host, last_read_ms=now_ms, last_write_ms=now_ms)
    return LegacyStepped(state.with_end(end))


def lost(state: LegacyMaster, conn: ConnectionId) -> LegacyStepped[LegacyMaster]:
    """Forget a connection that is gone.

    Spec: LegacyReplication!DropStale
    Source: DefaultHAService.removeConnection
    """
    action = LegacyAction(name=LegacyActionName.CLOSE_CONNECTION, conn=conn)
    return LegacyStepped(state.without_end(conn), (), action)


def close(state: LegacyMaster, conn: ConnectionId, reason: str) -> LegacyStepped[LegacyMaster]:
    """Close a connection.

    Spec: LegacyReplication!CloseConnection
    Source: DefaultHAConnection.ReadSocketService.run
    """
    effects: tuple[LegacyEffect, ...] = (CloseConnection(conn=conn, reason=reason),)
    return replace(lost(state, conn), effects=effects)


def close_silent(state: LegacyMaster, *, now_ms: TimestampMs) -> LegacyStepped[LegacyMaster]:
    """Close the first connection that said nothing for too long.

    Source: DefaultHAConnection.ReadSocketService.run (haHousekeepingInterval)
    """
    for end in state.ends.values():
        if now_ms - end.last_read_ms >= state.options.housekeeping_ms:
            return close(state, end.id, "the slave is silent")
    return LegacyStepped(state)


def receive_report(
    state: LegacyMaster, conn: ConnectionId, report: Offset, *, now_ms: TimestampMs, log: LogView
) -> LegacyStepped[LegacyMaster]:
    """Note where the slave's log ends; the first report says where the transfer starts.

    Spec: LegacyReplication!ReceiveReport, LegacyReplication!ReceiveStaleReport
    Spec: LegacyReplication!RefuseReport
    Source: DefaultHAConnection.ReadSocketService.processReadEvent
    """
    end = state.ends[conn]
    if not state.options.rules.accepts_report(report, log.max_phy_offset, end.slave_ack):
        reason = f"the report {report} is beyond the log end {log.max_phy_offset}"
        return close(state, conn, reason)
    if report < end.slave_ack:
        return close(state, conn, f"the report {report} follows {end.slave_ack}")
    if end.next_offset == NOT_YET:
        start = report or _start_for_empty(state, log)
        if start < log.min_offset:
            return close(state, conn, f"the log begins at {log.min_offset}, behind {start}")
        end = replace(end, next_offset=start)
    elif report > end.next_offset:
        return close(state, conn, f"the report {report} is beyond {end.next_offset}, sent so far")
    end = replace(end, slave_ack=report, last_read_ms=now_ms)
    return LegacyStepped(
        state.with_end(end),
        (),
        LegacyAction(name=LegacyActionName.RECEIVE_REPORT, conn=conn, offset=report),
    )


def _start_for_empty(state: LegacyMaster, log: LogView) -> Offset:
    """Return where the transfer to a slave without a log starts: at a file."""
    waited_for = [Offset(r.offset - r.offset % log.segment_size) for r in state.waiting]
    return state.options.rules.start_for_empty(log.last_segment, waited_for)


def transfer(
    state: LegacyMaster, conn: ConnectionId, *, now_ms: TimestampMs, log: LogView
) -> LegacyStepped[LegacyMaster]:
    """Send the next bytes, all of one file, or a heartbeat if there are none.

    The host says when: at once where there are bytes, after a time of silence where there are none.

    Spec: LegacyReplication!Transfer
    Source: DefaultHAConnection.WriteSocketService.run
    """
    end = state.ends[conn]
    at = end.next_offset
    assert at != NOT_YET, "the host asks for those that are ready"
    batch = LegacyTransfer(offset=at, body=_next_bytes(at, state.options.transfer_batch_bytes, log))
    size = SizeBytes(len(batch.body))
    end = replace(end, next_offset=Offset(at + size), last_write_ms=now_ms)
    return LegacyStepped(
        state.with_end(end),
        (SendPacket(conn=conn, data=push_legacy_transfer(batch)),),
        LegacyAction(name=LegacyActionName.TRANSFER, conn=conn, offset=at, size=size),
    )


def _next_bytes(at: Offset, limit: SizeBytes, log: LogView) -> bytes:
    """Return what is to be sent next; nothing to a slave that has as much, or more.

    Spec: LegacyReplication!Sendable
    """
    rest_of_file = log.segment_size - at % log.segment_size
    return log.read(min(at, log.max_phy_offset), min(rest_of_file, limit))
