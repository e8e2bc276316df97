"""The host of a controller: frames and closed channels go in, and it performs the effects, once.

An entry is on the disk and applied before anybody hears of it. The effects are performed in their
order, before the answer to the frame is returned; a port must not hand the next frame to the host
from within.

Source: controller `ControllerManager`, `BrokerHousekeepingService`;
controller/processor `ControllerRequestProcessor`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, assert_never

from rocketha.controller.applied import (
    ChannelExpired,
    ControllerEffect,
    ControllerEvent,
    NotifyBroker,
    ScanSoon,
)
from rocketha.controller.dispatch import Arrival, ControllerOptions
from rocketha.controller.entry import ChannelClosed, Entry, InactiveScanned, Started
from rocketha.controller.node import ControllerNode
from rocketha.controller.state import NO_CHANNEL, ChannelId
from rocketha.formats.controller_request_codec import push_role_changed
from rocketha.formats.remoting_frame import push_command
from rocketha.runtime.ports import Clock
from rocketha.storage.disk import Disk

__all__ = ["Channels", "ControllerHost", "ControllerPorts", "ControllerRecorder", "ScanTimer"]


class Channels(Protocol):
    """Connections with brokers."""

    def close(self, channel: ChannelId) -> None:
        """Close a channel; of one that the host closes it is not told `channel_closed`."""
        ...

    def notify(self, address: str, data: bytes) -> None:
        """Send a frame to the broker at an address, on whatever channel it has."""
        ...


class ScanTimer(Protocol):
    """What calls `ControllerHost.scan` besides the service that does it every few seconds."""

    def scan_soon(self) -> None:
        """Let a scan come as soon as possible."""
        ...


class ControllerRecorder(Protocol):
    """Whoever notes what a controller does. It changes nothing."""

    def applied(self, entry: Entry, events: tuple[ControllerEvent, ...]) -> None:
        """Hear that an entry was applied, before the effects are performed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerPorts:
    """All that a controller needs."""

    clock: Clock
    channels: Channels
    timer: ScanTimer
    recorder: ControllerRecorder


class ControllerHost:
    """Runs one controller: its node, on its disk, through its ports."""

    __slots__ = ("_disk", "_node", "_options", "_ports", "is_up")

    def __init__(self, disk: Disk, options: ControllerOptions, ports: ControllerPorts) -> None:
        """Make a controller that is down."""
        self.is_up = False
        self._node: ControllerNode | None = None
        self._disk = disk
        self._options = options
        self._ports = ports

    @property
    def node(self) -> ControllerNode:
        """Return the controller; while it is down, the one that it was."""
        assert self._node is not None, "the controller was never up"
        return self._node

    # ---- what befalls it ----

    def start(self) -> None:
        """Come up with what the disk says, and begin to hear brokers.

        Raises: ControllerLogError, SnapshotGapError, DiskError
        """
        assert not self.is_up, "the controller is up"
        self._node, _ = ControllerNode.open(self._disk, self._options)
        self.is_up = True
        self._commit(Started())

    def stop(self) -> None:
        """Hear nothing more; what was answered is on the disk."""
        self.is_up = False

    def received(self, channel: ChannelId, data: bytes) -> bytes | None:
        """Serve a frame; return the answer, if there is one and the controller is up.

        Raises: DiskError
        """
        if not self.is_up:
            return None
        arrival = Arrival(at_ms=self._ports.clock.now_ms(), channel=channel)
        served = self.node.serve(data, arrival)
        if served.close is not None:
            self._ports.channels.close(channel)
        if served.entry is not None:
            self._applied(served.entry, served.events, served.effects)
        return served.out

    def channel_closed(self, channel: ChannelId) -> None:
        """Hear that a channel is gone. Raises: DiskError"""
        if self.is_up:
            self._commit(ChannelClosed(), channel)

    def scan(self) -> None:
        """Look for groups whose master is gone: every few seconds, and soon if an effect says so.

        Raises: DiskError
        """
        if self.is_up:
            self._commit(InactiveScanned())

    # ---- what comes of it ----

    def _commit(
        self,
        change: ChannelClosed | InactiveScanned | Started,
        channel: ChannelId = NO_CHANNEL,
    ) -> None:
        entry = Entry(
            at_ms=self._ports.clock.now_ms(),
            change=change,
            channel=channel,
            elect_unclean=self._options.elect_unclean and isinstance(change, InactiveScanned),
        )
        applied = self.node.commit(entry)
        self._applied(entry, applied.events, applied.effects)

    def _applied(
        self,
        entry: Entry,
        events: tuple[ControllerEvent, ...],
        effects: tuple[ControllerEffect, ...],
    ) -> None:
        self._ports.recorder.applied(entry, events)
        for effect in effects:
            self._perform(effect)

    def _perform(self, effect: ControllerEffect) -> None:
        match effect:
            case NotifyBroker(address=address, notice=notice):
                data = push_command(push_role_changed(notice, opaque=0))
                self._ports.channels.notify(address, data)
            case ChannelExpired(channel=channel):
                self._ports.channels.close(channel)
            case ScanSoon():
                self._ports.timer.scan_soon()
            case _ as unreachable:
                assert_never(unreachable)
