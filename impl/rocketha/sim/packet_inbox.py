"""The packets of replication with epochs, taken out of the bytes of a connection."""

from __future__ import annotations

from dataclasses import dataclass

from rocketha.formats.ha_packets import MasterPacket, SlavePacket
from rocketha.formats.packet_stream import PacketStream, master_stream, slave_stream
from rocketha.ha.events import PacketReceived
from rocketha.sim.network import End
from rocketha.types import ConnectionId

__all__ = ["PacketInbox", "packet_inbox"]


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


def packet_inbox(end: End, conn: ConnectionId) -> PacketInbox:
    """Begin to hear a master, or a slave."""
    return PacketInbox(conn, master_stream() if end is End.CLIENT else slave_stream())
