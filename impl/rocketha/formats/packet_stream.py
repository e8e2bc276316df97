"""Packets out of a byte stream that arrives in pieces of any size.

```
stream = slave_stream()                  # what a master reads
stream.feed(received)                    # any fragmentation
while (packet := stream.next_packet()) is not None:
    ...                                  # PacketError: close the connection
```

The packets before damaged bytes are handed out, then the error is raised, at the same byte whether
the stream arrived at once or byte by byte. A stream that failed stays failed. It keeps at most one
packet that is not complete and what was fed since the last call of `next_packet`.

Source: `AbstractHAReader.processReadResult` in `AutoSwitchHAClient` and `AutoSwitchHAConnection`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from rocketha.errors import PacketError
from rocketha.formats.ha_packets import (
    HANDSHAKE_BODY_MAX,
    HANDSHAKE_SIZE,
    TRANSFER_BODY_MAX,
    TRANSFER_HEADER_SIZE,
    Expecting,
    Handshake,
    MasterPacket,
    SlavePacket,
    pull_master_packet,
    pull_slave_packet,
)
from rocketha.formats.legacy_ha_packets import (
    LEGACY_BODY_MAX,
    LEGACY_HEADER_SIZE,
    LegacyTransfer,
    pull_legacy_transfer,
)
from rocketha.types import SizeBytes

__all__ = ["PacketStream", "legacy_master_stream", "master_stream", "slave_stream"]

P = TypeVar("P")

_FEED_MAX: Final = 4 << 20
"""Bytes that may be fed on top of an incomplete packet before a packet must be taken."""

_UNTIL_THE_REPLY: Final = Expecting.HANDSHAKE | Expecting.TRANSFER
"""A slave that has not all of the reply yet sends its handshake again, any other an ack."""


def _transfers(_: object) -> Expecting:
    return Expecting.TRANSFER


class PacketStream(Generic[P]):
    """The receiving half of a connection: bytes in, packets out."""

    __slots__ = ("_buffer", "_buffer_max", "_expecting", "_failure", "_pull", "_taken", "_then")

    def __init__(
        self,
        pull: Callable[[bytes | bytearray, Expecting], tuple[P, SizeBytes] | None],
        *,
        packet_max: int,
        expecting: Expecting,
        then: Callable[[P], Expecting] = _transfers,
    ) -> None:
        """Make a stream of which nothing has arrived; `packet_max` is in bytes.

        `then` says what follows a packet.
        """
        self._pull = pull
        self._then = then
        self._buffer_max = packet_max + _FEED_MAX
        self._expecting = expecting
        self._buffer = bytearray()
        self._taken = 0
        self._failure: PacketError | None = None

    @property
    def expecting(self) -> Expecting:
        """Return the kind, or the kinds, of the next packet."""
        return self._expecting

    @property
    def buffered(self) -> SizeBytes:
        """Return the number of bytes that are kept."""
        return SizeBytes(len(self._buffer))

    @property
    def failure(self) -> PacketError | None:
        """Return why the stream failed, if it did."""
        return self._failure

    def feed(self, data: bytes) -> None:
        """Add bytes that arrived. Those for a stream that failed are dropped.

        Raises: PacketError if packets are not taken and too much piles up.
        """
        if self._failure is not None:
            return
        if len(self._buffer) + len(data) > self._buffer_max:
            reason = f"{len(self._buffer) + len(data)} bytes wait, over {self._buffer_max}"
            raise self._fail(PacketError("stream", offset=self._taken, reason=reason))
        self._buffer += data

    def next_packet(self) -> P | None:
        """Take the next packet; `None` if it is not complete yet.

        The error's offset counts from the beginning of the stream.

        Raises: PacketError, and again whenever the stream is asked afterwards.
        """
        if self._failure is not None:
            raise self._failure
        try:
            pulled = self._pull(self._buffer, self._expecting)
        except PacketError as error:
            where = self._taken + error.offset
            raise self._fail(PacketError(error.what, offset=where, reason=error.reason)) from None
        if pulled is None:
            return None
        packet, size = pulled
        del self._buffer[:size]
        self._taken += size
        self._expecting = self._then(packet)
        return packet

    def _fail(self, error: PacketError) -> PacketError:
        self._failure = error
        self._buffer.clear()
        return error


def slave_stream(expecting: Expecting = Expecting.HANDSHAKE) -> PacketStream[SlavePacket]:
    """Make the stream in which a master hears a slave: a handshake, perhaps repeated, then acks.

    Source: AutoSwitchHAClient.handshakeWithMaster
    """

    def then(packet: SlavePacket) -> Expecting:
        return _UNTIL_THE_REPLY if isinstance(packet, Handshake) else Expecting.TRANSFER

    return PacketStream(
        pull_slave_packet, packet_max=HANDSHAKE_SIZE, expecting=expecting, then=then
    )


def master_stream(expecting: Expecting = Expecting.HANDSHAKE) -> PacketStream[MasterPacket]:
    """Make the stream in which a slave hears its master: a handshake reply, then transfers."""
    packet_max = TRANSFER_HEADER_SIZE + max(HANDSHAKE_BODY_MAX, TRANSFER_BODY_MAX)
    return PacketStream(pull_master_packet, packet_max=packet_max, expecting=expecting)


def legacy_master_stream() -> PacketStream[LegacyTransfer]:
    """Make the stream in which a slave of the legacy service hears its master."""

    def pull(data: bytes | bytearray, _: Expecting) -> tuple[LegacyTransfer, SizeBytes] | None:
        return pull_legacy_transfer(data)

    return PacketStream(
        pull, packet_max=LEGACY_HEADER_SIZE + LEGACY_BODY_MAX, expecting=Expecting.TRANSFER
    )
