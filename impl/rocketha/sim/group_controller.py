"""The controller of a simulated group: the real one, on a disk of its own."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, assert_never

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
from rocketha.sim.clock import Clock
from rocketha.sim.group_actions import ControllerActed
from rocketha.sim.scheduler import Scheduler
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import TimestampMs

__all__ = ["SimController"]

_SOON_MAX_MS: Final = 4


class SimController:
    """Serves frames while it is up, and does what its state machine asks for."""

    def __init__(
        self,
        options: ControllerOptions,
        *,
        clock: Clock,
        scheduler: Scheduler,
        rng: Random,
        acted: Callable[[ControllerActed], None],
        refuse: Callable[[ChannelId], None],
        notify: Callable[[str, bytes], None],
    ) -> None:
        """Begin with an empty log.

        `acted` hears what was applied, `refuse` ends a channel, `notify` sends to an address.
        """
        self.options = options
        self.clock = clock
        self.is_up = True
        self._disk = MemoryDisk()
        self._scheduler = scheduler
        self._rng = rng
        self._acted = acted
        self._refuse = refuse
        self._notify = notify
        self.node, _ = ControllerNode.open(self._disk, options)
        self._commit(Started())

    @property
    def now_ms(self) -> TimestampMs:
        """Return what its clock shows."""
        return self.clock.shows(self._scheduler.now_ms)

    def asked(self, channel: ChannelId, data: bytes) -> bytes | None:
        """Serve a frame; return the answer."""
        if not self.is_up:
            return None
        served = self.node.serve(data, Arrival(at_ms=self.now_ms, channel=channel))
        if served.close is not None:
            self._refuse(channel)
        if served.entry is not None:
            self._applied(served.entry, served.events, served.effects)
        return served.out

    def closed(self, channel: ChannelId) -> None:
        """Hear that a channel is gone."""
        if self.is_up:
            self._commit(ChannelClosed(), channel)

    def scan(self) -> None:
        """Look for groups whose master is gone."""
        if self.is_up:
            self._commit(InactiveScanned())

    def crash(self) -> None:
        """Stop; what was answered is on the disk."""
        self.is_up = False
        self._disk.lose_unsynced()

    def restart(self) -> None:
        """Come back with what the log says."""
        assert not self.is_up
        self.is_up = True
        self.node, _ = ControllerNode.open(self._disk, self.options)
        self._commit(Started())

    def _commit(
        self,
        change: ChannelClosed | InactiveScanned | Started,
        channel: ChannelId = NO_CHANNEL,
    ) -> None:
        entry = Entry(
            at_ms=self.now_ms,
            change=change,
            channel=channel,
            elect_unclean=self.options.elect_unclean and isinstance(change, InactiveScanned),
        )
        applied = self.node.commit(entry)
        self._applied(entry, applied.events, applied.effects)

    def _applied(
        self,
        entry: Entry,
        events: tuple[ControllerEvent, ...],
        effects: tuple[ControllerEffect, ...],
    ) -> None:
        self._acted(ControllerActed(entry=entry, events=events))
        for effect in effects:
            self._perform(effect)

    def _perform(self, effect: ControllerEffect) -> None:
        match effect:
            case NotifyBroker(address=address, notice=notice):
                self._notify(address, push_command(push_role_changed(notice, opaque=0)))
            case ChannelExpired(channel=channel):
                self._refuse(channel)
            case ScanSoon():
                self._scheduler.after(1 + self._rng.randrange(_SOON_MAX_MS), self.scan)
            case _ as unreachable:
                assert_never(unreachable)
