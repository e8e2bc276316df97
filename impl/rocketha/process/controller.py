"""A controller as a process: `python -m rocketha.process.controller -c CONFIGURATION`.

It serves brokers and tools of RocketMQ over remoting, and tells brokers at the addresses that they
registered who is master. It is alone: its log is agreed on when it is on the disk. Killed and
started again, it goes on from its files.

The configuration is that of `controller_configuration`. It ends with 0 when it is told to
(SIGTERM, SIGINT), with 1 when its disk fails or is damaged, with 2 when it cannot begin.

Source: controller `ControllerStartup`, `ControllerManager`, `BrokerHousekeepingService`;
remoting/netty `NettyRemotingServer`
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from rocketha.controller.applied import ControllerEvent
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import Entry
from rocketha.controller.host import ControllerHost, ControllerPorts
from rocketha.controller.state import ChannelId
from rocketha.formats.remoting_frame import frame_stream
from rocketha.process.clock import ProcessClock
from rocketha.process.command_line import serve
from rocketha.process.controller_configuration import ControllerConfiguration, read_configuration
from rocketha.process.controller_records import ControllerRecords
from rocketha.process.event_loop import EventLoop, Link, Log
from rocketha.process.packets import PacketHandler
from rocketha.recording.recorder import NOT_RECORDED
from rocketha.storage.disk import RealDisk

__all__ = ["ControllerProcess", "main"]

_SILENT_MAX_S: Final = 120.0
"""Source: `NettyServerConfig.serverChannelMaxIdleTimeSeconds`"""

"""Of its command line: as RocketMQ's own programs have it."""

_NOTIFIED_MAX: Final = 1024
"""Connections to brokers."""


class ControllerProcess:
    """A controller, and the ports that it has in a process."""

    def __init__(self, configuration: ControllerConfiguration, *, log: Log) -> None:
        """Listen, and begin nothing yet. Raises: ListenError, RecordError, OSError"""
        self._configuration = configuration
        self._log = log
        self._clock = ProcessClock()
        self._loop = EventLoop(log=log)
        self._channels: dict[ChannelId, Link] = {}
        self._heard_ms: dict[ChannelId, int] = {}
        self._last_channel = 0
        self._notices: dict[str, Link] = {}
        self._outbox: list[Callable[[], None]] = []
        self._scans_soon = False
        self._listener = self._loop.listen(configuration.address, self._accept)
        self._records: ControllerRecords | None = None
        if configuration.records is not None:
            self._records = ControllerRecords(
                configuration.records,
                elect_unclean=configuration.elect_unclean,
                state=lambda: self.host.state,
                shows_ms=self._clock.now_ms,
            )
        ports = ControllerPorts(
            clock=self._clock,
            channels=self,
            timer=self,
            recorder=self,
            steps=self._records or NOT_RECORDED,
        )
        options = ControllerOptions(
            metadata=configuration.metadata,
            settings=configuration.said,
            elect_unclean=configuration.elect_unclean,
        )
        self.host = ControllerHost(RealDisk(configuration.store), options, ports)

    def run(self) -> None:
        """Serve until it is told to stop.

        Raises: ControllerLogError, SnapshotGapError, DiskError, OSError
        """
        self._step(self.host.start)
        self._log(f"serves {self._listener.address}, {len(self.host.state.groups)} groups")
        self._loop.stop_on_signals(signal.SIGTERM, signal.SIGINT)
        self._scan_later()
        try:
            self._loop.run()
        finally:
            self.host.stop()
            if self._records is not None:
                self._records.close()

    # ---- what the host asks (rocketha.controller.host) ----

    def close(self, channel: ChannelId, *, reason: str) -> None:
        """Close a channel when the step is over."""
        self._outbox.append(partial(self._drop, channel, reason))

    def answer(self, channel: ChannelId, data: bytes) -> None:
        """Send an answer when the step is over."""
        link = self._channels.get(channel)
        if link is not None:
            self._outbox.append(partial(link.send, data))

    def notify(self, address: str, data: bytes) -> None:
        """Tell a broker when the step is over; what does not reach it, it asks for soon."""
        self._outbox.append(partial(self._notify, address, data))

    def scan_soon(self) -> None:
        """Scan right after what is done now."""
        if not self._scans_soon:
            self._scans_soon = True
            self._loop.soon(self._scan)

    def applied(self, entry: Entry, events: tuple[ControllerEvent, ...]) -> None:
        """Say what has happened."""
        del entry
        for event in events:
            self._log(str(event))

    # ---- channels ----

    def _accept(self, link: Link) -> PacketHandler[bytes]:
        self._last_channel += 1
        channel = ChannelId(self._last_channel)
        self._channels[channel] = link
        self._heard_ms[channel] = self._clock.now_ms()
        return PacketHandler(
            frame_stream(),
            received=lambda _, frame: self._received(channel, frame),
            lost=lambda _, reason: self._lost(channel, reason),
        )

    def _received(self, channel: ChannelId, frame: bytes) -> None:
        self._heard_ms[channel] = self._clock.now_ms()
        self._step(partial(self.host.received, channel, frame))

    def _lost(self, channel: ChannelId, reason: str) -> None:
        del reason  # the loop has said it
        self._forget(channel)
        self._step(partial(self.host.channel_closed, channel))

    def _drop(self, channel: ChannelId, reason: str) -> None:
        link = self._forget(channel)
        if link is not None:
            self._log(f"{link.peer} is closed: {reason}")
            link.close()

    def _forget(self, channel: ChannelId) -> Link | None:
        self._heard_ms.pop(channel, None)
        return self._channels.pop(channel, None)

    def _step(self, step: Callable[[], None]) -> None:
        """Let the host take a step; what leaves the process does so when it was recorded."""
        step()
        outbox, self._outbox = self._outbox, []
        for leave in outbox:
            leave()

    # ---- brokers that are told ----

    def _notify(self, address: str, data: bytes) -> None:
        link = self._notices.get(address)
        if link is None:
            if len(self._notices) >= _NOTIFIED_MAX:
                self._log(f"{address} is not told: {_NOTIFIED_MAX} brokers are connected")
                return
            link = self._loop.connect(address, _NoticeHandler(partial(self._notice_lost, address)))
            self._notices[address] = link
        link.send(data)

    def _notice_lost(self, address: str, reason: str) -> None:
        self._notices.pop(address, None)
        self._log(f"{address}, where a broker is told who is master: {reason}")

    # ---- time ----

    def _scan_later(self) -> None:
        def scan() -> None:
            self._scan_later()
            self._close_silent()
            self._step(self.host.scan)

        self._loop.after(self._configuration.scan_ms / 1000, scan)

    def _scan(self) -> None:
        self._scans_soon = False
        self._step(self.host.scan)

    def _close_silent(self) -> None:
        """Close channels on which nothing came for long; brokers say more often how they are."""
        now_ms = self._clock.now_ms()
        for channel, heard_ms in list(self._heard_ms.items()):
            if now_ms - heard_ms > _SILENT_MAX_S * 1000:
                self._drop(channel, f"nothing came in {_SILENT_MAX_S:.0f} s")
                self._step(partial(self.host.channel_closed, channel))


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


def main(arguments: list[str]) -> int:
    """Run a controller; return its exit code."""
    return serve(
        "controller",
        arguments,
        lambda path, log: ControllerProcess(read_configuration(path), log=log),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
