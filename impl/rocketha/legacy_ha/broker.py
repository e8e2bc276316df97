"""The core of a broker of the legacy service: one event in, the new state and effects out."""

from __future__ import annotations

from typing import TypeVar, assert_never

from rocketha.ha.state import LogView
from rocketha.legacy_ha import group_transfer, master, slave
from rocketha.legacy_ha.effects import LegacyAction, LegacyActionName, LegacyStepped
from rocketha.legacy_ha.events import (
    BatchReceived,
    GroupTransferDue,
    LegacyEvent,
    PutRequested,
    ReportReceived,
    Started,
)
from rocketha.legacy_ha.state import LegacyMaster, LegacySlave, LegacyState, SlaveEnd
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
from rocketha.types import TimestampMs

__all__ = ["next_timer_ms", "restart", "step", "step_master", "step_slave"]

S = TypeVar("S", LegacyMaster, LegacySlave)


def step(
    state: LegacyState, event: LegacyEvent, *, now_ms: TimestampMs, log: LogView
) -> LegacyStepped[LegacyMaster] | LegacyStepped[LegacySlave]:
    """Take one event.

    Events of connections that the core does not have, and those that its role does not know, change
    nothing. Nothing is raised, whatever a peer sends: the connection is closed.
    """
    match state:
        case LegacyMaster():
            return step_master(state, event, now_ms=now_ms, log=log)
        case LegacySlave():
            return step_slave(state, event, now_ms=now_ms, log=log)
        case _ as unreachable:
            assert_never(unreachable)


def next_timer_ms(state: LegacyState) -> TimestampMs | None:
    """Return when `TimerFired` will have something to do, `None` if only an event can tell.

    The heartbeats of a master are not in it: they are sent when `TransferDue` says so.
    """
    match state:
        case LegacyMaster():
            return min(map(TimestampMs, _master_times(state)), default=None)
        case LegacySlave():
            return min(map(TimestampMs, _slave_times(state)))
        case _ as unreachable:
            assert_never(unreachable)


def _master_times(state: LegacyMaster) -> list[int]:
    housekeeping_ms = state.options.housekeeping_ms
    silence_ends = (end.last_read_ms + housekeeping_ms for end in state.ends.values())
    return [*silence_ends, *(request.deadline_ms for request in state.waiting)]


def _slave_times(state: LegacySlave) -> list[int]:
    options = state.options
    match state.client:
        case None:
            return [state.connect_at_ms]
        case SlaveEnd(last_read_ms=heard_ms, last_write_ms=said_ms):
            return [heard_ms + options.housekeeping_ms, said_ms + options.heartbeat_ms]
        case _ as unreachable:
            assert_never(unreachable)


def restart(state: S, *, log: LogView) -> LegacyStepped[S]:
    """Come back in the same role, with a log that ends with a whole message.

    Spec: LegacyReplication!Restart
    Source: DefaultMessageStore.recover
    """
    action = LegacyAction(name=LegacyActionName.RESTART)
    return LegacyStepped(state, slave.whole_messages(log), action)


def flushed(state: S) -> LegacyStepped[S]:
    """Note that the log is on the disk. Spec: LegacyReplication!Flush"""
    return LegacyStepped(state, (), LegacyAction(name=LegacyActionName.FLUSH))


def step_master(
    state: LegacyMaster, event: LegacyEvent, *, now_ms: TimestampMs, log: LogView
) -> LegacyStepped[LegacyMaster]:
    """Take one event as the master."""
    match event:
        case Started():
            return restart(state, log=log)
        case PutRequested():
            return group_transfer.put(state, event, now_ms=now_ms)
        case MessageAppended():
            return group_transfer.put_message(state, event, now_ms=now_ms)
        case LogFlushed():
            return flushed(state)
        case GroupTransferDue():
            return group_transfer.answer_next(state, now_ms=now_ms)
        case TimerFired():
            answered = group_transfer.answer_next(state, now_ms=now_ms)
            if answered.action is not None:
                return answered
            return master.close_silent(state, now_ms=now_ms)
        case PeerAccepted():
            return master.accept(state, event, now_ms=now_ms)
        case ReportReceived() | TransferDue() | PacketRefused() | ConnectionLost():
            if event.conn not in state.ends:
                return LegacyStepped(state)
            return _on_connection_of_master(state, event, now_ms=now_ms, log=log)
        case BatchReceived() | PeerConnected():
            return LegacyStepped(state)
        case _ as unreachable:
            assert_never(unreachable)


def _on_connection_of_master(
    state: LegacyMaster,
    event: ReportReceived | TransferDue | PacketRefused | ConnectionLost,
    *,
    now_ms: TimestampMs,
    log: LogView,
) -> LegacyStepped[LegacyMaster]:
    match event:
        case ReportReceived():
            report = event.max_phy_offset
            return master.receive_report(state, event.conn, report, now_ms=now_ms, log=log)
        case TransferDue():
            return master.transfer(state, event.conn, now_ms=now_ms, log=log)
        case PacketRefused():
            return master.close(state, event.conn, str(event.error))
        case ConnectionLost():
            return master.lost(state, event.conn)
        case _ as unreachable:
            assert_never(unreachable)


def step_slave(
    state: LegacySlave, event: LegacyEvent, *, now_ms: TimestampMs, log: LogView
) -> LegacyStepped[LegacySlave]:
    """Take one event as a slave."""
    match event:
        case Started():
            return restart(state, log=log)
        case PeerConnected():
            return slave.connected(state, event, now_ms=now_ms, log=log)
        case BatchReceived() | PacketRefused() | ConnectionLost():
            if state.client is None or state.client.id != event.conn:
                return LegacyStepped(state)
            return _on_connection_of_slave(state, event, now_ms=now_ms, log=log)
        case LogFlushed():
            return flushed(state)
        case TimerFired():
            return _slave_timer(state, now_ms=now_ms, log=log)
        case (
            ReportReceived()
            | PutRequested()
            | MessageAppended()
            | GroupTransferDue()
            | PeerAccepted()
            | TransferDue()
        ):
            return LegacyStepped(state)
        case _ as unreachable:
            assert_never(unreachable)


def _on_connection_of_slave(
    state: LegacySlave,
    event: BatchReceived | PacketRefused | ConnectionLost,
    *,
    now_ms: TimestampMs,
    log: LogView,
) -> LegacyStepped[LegacySlave]:
    match event:
        case BatchReceived():
            return slave.receive_transfer(state, event.batch, now_ms=now_ms, log=log)
        case PacketRefused():
            return slave.disconnect(state, now_ms=now_ms, reason=str(event.error))
        case ConnectionLost():
            return slave.disconnect(state, now_ms=now_ms)
        case _ as unreachable:
            assert_never(unreachable)


def _slave_timer(
    state: LegacySlave, *, now_ms: TimestampMs, log: LogView
) -> LegacyStepped[LegacySlave]:
    options = state.options
    match state.client:
        case None if now_ms >= state.connect_at_ms:
            return slave.connect(state, now_ms=now_ms, log=log)
        case SlaveEnd(last_read_ms=at_ms) if now_ms - at_ms >= options.housekeeping_ms:
            return slave.disconnect(state, now_ms=now_ms, reason="the master is silent")
        case SlaveEnd(last_write_ms=at_ms) if now_ms - at_ms >= options.heartbeat_ms:
            return slave.report(state, now_ms=now_ms, log=log)
        case _:
            return LegacyStepped(state)
