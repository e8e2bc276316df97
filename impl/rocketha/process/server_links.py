"""The connections of a server: those that others have opened, and its own to brokers.

It tells a broker of changes at the address that this has registered, on a connection of its own.

Source: controller `ControllerManager`, namesrv `NamesrvController`; `BrokerHousekeepingService` of
both; remoting/netty `NettyRemotingServer`, `NettyRemotingClient`
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from rocketha.formats.remoting_frame import frame_stream
from rocketha.process.clock import ProcessClock
from rocketha.process.event_loop import EventLoop, Link
from rocketha.process.packets import PacketHandler
from rocketha.types import ConnectionId

__all__ = ["ServerLinks"]

_SILENT_MAX_S: Final = 120.0
"""Source: `NettyServerConfig.serverChannelMaxIdleTimeSeconds`"""

_NOTIFIED_MAX: Final = 1024


class ServerLinks:
    """All of them (rocketha.controller.host.Channels).

    What a step sends and closes waits for `release`: it leaves the process when it was recorded.
    """

    def __init__(
        self,
        loop: EventLoop,
        clock: ProcessClock,
        *,
        received: Callable[[ConnectionId, bytes], None],
        gone: Callable[[ConnectionId], None],
        notified_max: int = _NOTIFIED_MAX,
    ) -> None:
        """Take who hears frames, and of channels that are gone and were not closed here.

        No more than `notified_max` brokers are told of changes.
        """
        self._loop = loop
        self._clock = clock
        self._received = received
        self._gone = gone
        self._channels: dict[ConnectionId, Link] = {}
        self._heard_ms: dict[ConnectionId, int] = {}
        self._last_channel = 0
        self._notices: dict[str, Link] = {}
        self._notified_max = notified_max
        self._outbox: list[Callable[[], None]] = []

    def release(self) -> None:
        """Do what waits."""
        outbox, self._outbox = self._outbox, []
        for leave in outbox:
            leave()

    # ---- whoever connects ----

    def accept(self, link: Link) -> PacketHandler[bytes]:
        """Hear a connection that speaks with this server alone."""
        channel = self.opened(link)
        return PacketHandler(
            frame_stream(),
            received=lambda _, frame: self.received(channel, frame),
            lost=lambda *_: self.lost(channel),
        )

    def opened(self, link: Link) -> ConnectionId:
        """Number a connection."""
        self._last_channel += 1
        channel = ConnectionId(self._last_channel)
        self._channels[channel] = link
        self._heard_ms[channel] = self._clock.now_ms()
        return channel

    def received(self, channel: ConnectionId, frame: bytes) -> None:
        """Pass a frame on."""
        self.heard(channel)
        self._received(channel, frame)

    def heard(self, channel: ConnectionId) -> None:
        """Note that something has come."""
        self._heard_ms[channel] = self._clock.now_ms()

    def lost(self, channel: ConnectionId) -> None:
        """Forget a connection that is gone: why, the loop has said."""
        self._forget(channel)
        self._gone(channel)

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        """Send an answer, unless the channel is gone then."""
        self._outbox.append(partial(self._answer, channel, data))

    def _answer(self, channel: ConnectionId, data: bytes) -> None:
        link = self._channels.get(channel)
        if link is not None:
            link.send(data)

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        """Close a channel."""
        self._outbox.append(partial(self._close, channel, reason))

    def _close(self, channel: ConnectionId, reason: str) -> None:
        link = self._forget(channel)
        if link is not None:
            self._loop.log(f"{link.peer} is closed: {reason}")
            link.close()

    def close_silent(self) -> None:
        """Close channels on which nothing came for long; brokers say more often how they are."""
        now_ms = self._clock.now_ms()
        for channel, heard_ms in list(self._heard_ms.items()):
            if now_ms - heard_ms > _SILENT_MAX_S * 1000:
                self._close(channel, f"nothing came in {_SILENT_MAX_S:.0f} s")
                self._gone(channel)

    def _forget(self, channel: ConnectionId) -> Link | None:
        self._heard_ms.pop(channel, None)
        return self._channels.pop(channel, None)

    # ---- brokers that are told ----

    def notify(self, address: str, data: bytes) -> None:
        """Tell a broker; what does not reach it, it asks for soon."""
        self._outbox.append(partial(self._notify, address, data))

    def _notify(self, address: str, data: bytes) -> None:
        link = self._notices.get(address)
        if link is None:
            if len(self._notices) >= self._notified_max:
                self._loop.log(f"{address} is not told: {self._notified_max} brokers are connected")
                return
            link = self._loop.connect(address, _NoticeHandler(partial(self._notice_lost, address)))
            self._notices[address] = link
        link.send(data)

    def _notice_lost(self, address: str, reason: str) -> None:
        self._notices.pop(address, None)
        self._loop.log(f"{address}, where a broker is told of changes: {reason}")


class _NoticeHandler:
    """The handler of a link to a broker, of which nothing is to be heard."""

    def __init__(self, lost: Callable[[str], None]) -> None:
        self._lost = lost

    def connected(self, link: Link) -> None:
        pass

    def received(self, link: Link, data: bytes) -> None:
        pass

    def lost(self, link: Link, reason: str) -> None:
        del link
        self._lost(reason)
