"""Replication with epochs, as the host of a node sees it: its core, and what connections carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from rocketha.formats.ha_packets import MasterPacket, SlavePacket
from rocketha.formats.packet_stream import PacketStream, master_stream, slave_stream
from rocketha.ha import broker
from rocketha.ha.effects import Effect, SpecAction, Stepped
from rocketha.ha.events import Event, PacketReceived
from rocketha.ha.state import NOT_YET, BrokerState, LogView
from rocketha.runtime.core import Core, Sender
from rocketha.types import ConnectionId, Offset, TimestampMs

__all__ = ["PacketInbox", "ReplicationCore", "packet_inbox", "senders"]


@dataclass(frozen=True, slots=True)
class PacketInbox:
    """The bytes of an open connection that are no whole packet yet."""

    conn: ConnectionId
    stream: PacketStream[MasterPacket] | PacketStream[SlavePacket]

    def feed(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self.stream.feed(data)

    def next_event(self) -> PacketReceived | None:
        """Take the next whole packet. Raises: PacketError"""
        packet = self.stream.next_packet()
        return None if packet is None else PacketReceived(conn=self.conn, packet=packet)


def packet_inbox(conn: ConnectionId, *, accepted: bool) -> PacketInbox:
    """Begin to hear a slave, which was accepted, or a master."""
    return PacketInbox(conn, slave_stream() if accepted else master_stream())


def senders(state: BrokerState, log_end: Offset) -> Iterator[Sender]:
    """Yield the connections over which a master may send."""
    for conn, server in state.servers.items():
        if server.next_offset != NOT_YET and server.cur is not None:
            yield Sender(
                conn=conn,
                behind=server.next_offset < min(log_end, server.cur.end_offset),
                heartbeat_at_ms=server.last_write_ms + state.options.heartbeat_ms,
            )


class ReplicationCore(Core[BrokerState, Event, SpecAction, LogView]):
    """The core of a broker that only replicates."""

    effects = get_args(Effect)

    def step(
        self, state: BrokerState, event: Event, *, now_ms: TimestampMs, log: LogView
    ) -> Stepped:
        """Take one event."""
        return broker.step(state, event, now_ms=now_ms, log=log)

    def next_timer_ms(self, state: BrokerState) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        return broker.next_timer_ms(state)

    def senders(self, state: BrokerState, log: LogView) -> Iterator[Sender]:
        """Yield the connections over which a master may send."""
        return senders(state, log.max_phy_offset)

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> PacketInbox:
        """Begin to hear a master, or a slave."""
        return packet_inbox(conn, accepted=accepted)
