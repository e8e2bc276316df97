"""The legacy service, as the host of a node sees it: its core, and what connections carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never, get_args

from rocketha.formats.legacy_ha_packets import LegacyReports, LegacyTransfer, feed_reports
from rocketha.formats.packet_stream import PacketStream, legacy_master_stream
from rocketha.ha.state import NOT_YET
from rocketha.legacy_ha import broker
from rocketha.legacy_ha.effects import LegacyAction, LegacyEffect, LegacyStepped
from rocketha.legacy_ha.events import BatchReceived, LegacyEvent, ReportReceived
from rocketha.legacy_ha.state import LegacyMaster, LegacySlave, LegacyState
from rocketha.runtime.core import Core, Sender
from rocketha.storage.commit_log import CommitLog
from rocketha.types import ConnectionId, TimestampMs

__all__ = ["BatchInbox", "LegacyCore", "ReportInbox"]


@dataclass(slots=True)
class ReportInbox:
    """Of the reports that arrived since the last look, only the newest is handed over."""

    conn: ConnectionId
    pending: bytes = b""

    def feed(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self.pending += data

    def next_event(self) -> ReportReceived | None:
        """Take the newest report. Raises: PacketError"""
        reports = feed_reports(LegacyReports(), self.pending)
        self.pending = reports.partial
        if reports.newest is None:
            return None
        return ReportReceived(conn=self.conn, max_phy_offset=reports.newest)


@dataclass(frozen=True, slots=True)
class BatchInbox:
    """The bytes of the master that are no whole packet yet."""

    conn: ConnectionId
    stream: PacketStream[LegacyTransfer]

    def feed(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self.stream.feed(data)

    def next_event(self) -> BatchReceived | None:
        """Take the next batch. Raises: PacketError"""
        batch = self.stream.next_packet()
        return None if batch is None else BatchReceived(conn=self.conn, batch=batch)


class LegacyCore(Core[LegacyState, LegacyEvent, LegacyAction, CommitLog]):
    """The core of a broker of the legacy service."""

    effects = get_args(LegacyEffect)

    def step(
        self, state: LegacyState, event: LegacyEvent, *, now_ms: TimestampMs, log: CommitLog
    ) -> LegacyStepped[LegacyMaster] | LegacyStepped[LegacySlave]:
        """Take one event."""
        return broker.step(state, event, now_ms=now_ms, log=log)

    def next_timer_ms(self, state: LegacyState) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        return broker.next_timer_ms(state)

    def senders(self, state: LegacyState, log: CommitLog) -> Iterator[Sender]:
        """Yield the connections over which the master may send."""
        match state:
            case LegacyMaster(ends=ends, options=options):
                for end in ends.values():
                    if end.next_offset != NOT_YET:
                        yield Sender(
                            conn=end.id,
                            behind=end.next_offset < log.max_phy_offset,
                            heartbeat_at_ms=end.last_write_ms + options.heartbeat_ms,
                        )
            case LegacySlave():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> ReportInbox | BatchInbox:
        """Begin to hear a slave, which was accepted, or the master."""
        return ReportInbox(conn) if accepted else BatchInbox(conn, legacy_master_stream())
