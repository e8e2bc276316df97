"""The slave's side of a connection: it reports its log end, and appends what the master sends.

Source: `DefaultHAClient`.
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.formats.legacy_ha_packets import LegacyTransfer, push_report
from rocketha.ha.slave import message_end
from rocketha.ha.state import LogView
from rocketha.legacy_ha.effects import (
    LegacyAction,
    LegacyActionName,
    LegacyEffect,
    LegacyStepped,
)
from rocketha.legacy_ha.state import LegacySlave, SlaveEnd
from rocketha.runtime.effects import AppendLog, CloseConnection, Connect, SendPacket, TruncateLog
from rocketha.runtime.events import PeerConnected
from rocketha.types import Offset, SizeBytes, TimestampMs

__all__ = ["connect", "connected", "disconnect", "receive_transfer", "report", "whole_messages"]


def whole_messages(log: LogView) -> tuple[LegacyEffect, ...]:
    """Cut off a record that is not there as a whole, and a filler without a record behind it.

    The source keeps it, and appends to it what may be a part of another record.
    """
    end = message_end(log)
    return (TruncateLog(offset=end),) if end < log.max_phy_offset else ()


def connect(state: LegacySlave, *, now_ms: TimestampMs, log: LogView) -> LegacyStepped[LegacySlave]:
    """Ask for a connection to the master.

    Source: DefaultHAClient.connectMaster
    """
    retry_at = TimestampMs(now_ms + state.options.reconnect_ms)
    effects = (*whole_messages(log), Connect(peer=state.master_address))
    return LegacyStepped(replace(state, connect_at_ms=retry_at), effects)


def connected(
    state: LegacySlave, event: PeerConnected, *, now_ms: TimestampMs, log: LogView
) -> LegacyStepped[LegacySlave]:
    """Report where the log ends; the source waits with it for a heartbeat.

    Spec: LegacyReplication!Connect
    Source: DefaultHAClient.reportSlaveMaxOffset
    """
    assert state.client is None, "the host asks for one connection at a time"
    end = log.max_phy_offset
    client = SlaveEnd(id=event.conn, last_read_ms=now_ms, last_write_ms=now_ms)
    return LegacyStepped(
        replace(state, client=client),
        (SendPacket(conn=event.conn, data=push_report(end)),),
        LegacyAction(name=LegacyActionName.CONNECT, conn=event.conn, offset=end),
    )


def disconnect(
    state: LegacySlave, *, now_ms: TimestampMs, reason: str | None = None
) -> LegacyStepped[LegacySlave]:
    """Give the connection up; without a reason it is closed already.

    Spec: LegacyReplication!Disconnect
    Source: DefaultHAClient.closeMasterAndWait
    """
    client = state.client
    assert client is not None
    retry_at = TimestampMs(now_ms + state.options.reconnect_ms)
    return LegacyStepped(
        replace(state, client=None, connect_at_ms=retry_at),
        () if reason is None else (CloseConnection(conn=client.id, reason=reason),),
        LegacyAction(name=LegacyActionName.DISCONNECT, conn=client.id),
    )


def receive_transfer(
    state: LegacySlave, batch: LegacyTransfer, *, now_ms: TimestampMs, log: LogView
) -> LegacyStepped[LegacySlave]:
    """Append a batch that continues the log, and report the log end.

    Spec: LegacyReplication!ReceiveTransfer
    Source: DefaultHAClient.dispatchReadRequest
    """
    client = state.client
    assert client is not None
    begins = log.max_phy_offset == 0 and batch.offset % log.segment_size == 0  # at any file
    offset = state.options.rules.continues_at(batch.offset, log.max_phy_offset, begins)
    if offset is None:
        reason = f"the batch is for {batch.offset}, the log ends at {log.max_phy_offset}"
        return disconnect(state, now_ms=now_ms, reason=reason)
    effects: list[LegacyEffect] = []
    end = log.max_phy_offset
    if batch.body:
        effects.append(AppendLog(offset=offset, data=batch.body))
        end = Offset(offset + len(batch.body))
    effects.append(SendPacket(conn=client.id, data=push_report(end)))
    client = replace(client, last_read_ms=now_ms, last_write_ms=now_ms)
    return LegacyStepped(
        replace(state, client=client),
        tuple(effects),
        LegacyAction(
            name=LegacyActionName.RECEIVE_TRANSFER,
            conn=client.id,
            offset=batch.offset,
            size=SizeBytes(len(batch.body)),
        ),
    )


def report(state: LegacySlave, *, now_ms: TimestampMs, log: LogView) -> LegacyStepped[LegacySlave]:
    """Report the log end again: the slave's heartbeat.

    Spec: LegacyReplication!Report
    Source: DefaultHAClient.isTimeToReportOffset
    """
    client = state.client
    assert client is not None
    end = log.max_phy_offset
    client = replace(client, last_write_ms=now_ms)
    return LegacyStepped(
        replace(state, client=client), (SendPacket(conn=client.id, data=push_report(end)),)
    )
