"""Whole packets out of what a link hears: the handler of a link whose bytes are packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from rocketha.formats.packet_stream import PacketStream
from rocketha.process.event_loop import Link

__all__ = ["PacketHandler"]

P = TypeVar("P")


class PacketHandler(Generic[P]):
    """Cuts what arrives into packets, and tells them one by one."""

    def __init__(
        self,
        stream: PacketStream[P],
        *,
        received: Callable[[Link, P], None],
        lost: Callable[[Link, str], None],
        connected: Callable[[Link], None] | None = None,
    ) -> None:
        """Take a fresh stream, and who hears of packets and of the link."""
        self._stream = stream
        self._received = received
        self._lost = lost
        self._connected = connected

    def connected(self, link: Link) -> None:
        """Hear that the link stands."""
        if self._connected is not None:
            self._connected(link)

    def received(self, link: Link, data: bytes) -> None:
        """Tell each packet that is complete, unless the link is closed meanwhile.

        Raises: PacketError, and whatever the hearer of packets raises
        """
        self._stream.feed(data)
        while not link.is_closed and (packet := self._stream.next_packet()) is not None:
            self._received(link, packet)

    def lost(self, link: Link, reason: str) -> None:
        """Hear that the link is gone."""
        self._lost(link, reason)
