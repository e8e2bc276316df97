"""What the controller of a simulated group hears, from the frames that reach it, and its clock.

Whom it may take for alive, and what it must decide, follows from this; what it says of itself is
not asked.
"""

from __future__ import annotations

from typing import Final

from rocketha.controller.entry import Change, ChannelClosed, InactiveScanned, Started
from rocketha.controller.state import ChannelId
from rocketha.formats.controller_requests import ControllerRequest, Heartbeat, RegisterBroker
from rocketha.obligations.controller_choices import ControllerChoices
from rocketha.obligations.signs_of_life import SignsOfLife
from rocketha.sim.replica_group.actions import ControllerFrame
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.recorders import command_in
from rocketproof.protocols.epoch_truncation.values import broker_name
from rocketproof.protocols.replica_group.frames import (
    SaidOfGroup,
    request_of,
    said_in_answer,
    said_in_notice,
)

__all__ = ["HeardByController", "LostMaster"]

_SOON_MS: Final = 10
"""After the loss of a master the controller scans so soon, by the true time."""


class LostMaster:
    """Since when a group has lost its master, and no scan has looked for another."""

    def __init__(self) -> None:
        """Begin with nothing lost."""
        self._since_ms: int | None = None

    def lost(self, now_ms: int) -> None:
        """Note that the master is heard no more, or has started again."""
        if self._since_ms is None:
            self._since_ms = now_ms

    def is_late(self, now_ms: int) -> bool:
        """Tell whether a scan comes later than it should; it has looked then."""
        since_ms, self._since_ms = self._since_ms, None
        return since_ms is not None and now_ms > since_ms + _SOON_MS

    def stopped(self) -> None:
        """Forget it: the controller has started again."""
        self._since_ms = None


class HeardByController:
    """Follows what reaches the controller of a group."""

    def __init__(self) -> None:
        """Begin with a group of which nothing was heard."""
        self.signs = SignsOfLife()
        self.choices = ControllerChoices(self.signs)
        self.lost_master = LostMaster()
        self._has_begun = False
        self._request: tuple[ChannelId, ControllerRequest] | None = None
        """What was received, until it is applied."""
        self._codes: dict[tuple[ChannelId, int], int] = {}
        """Channel and number of a request -> what it asks."""

    def started(self, cluster: GroupCluster) -> None:
        """Look at a group whose brokers are registered."""
        self._has_begun = True
        self.choices.broker_name = cluster.plan.broker.broker_name
        self.choices.elects_unclean = cluster.plan.controller.elect_unclean

    def heard(self, cluster: GroupCluster, frame: ControllerFrame) -> None:
        """Note a frame that has reached the controller."""
        command, channel = command_in(frame.data), frame.channel
        request = request_of(frame.data)
        if request is None or channel is None:
            return
        self.signs.note_time(cluster.controller_shows_ms)
        self._codes[channel, command.opaque] = command.code
        self._request = (channel, request)
        match request:
            case Heartbeat(broker_id=broker, incarnation=incarnation):
                group = cluster.group
                replica = None if group is None else group.replicas.get(broker)
                if replica is not None and replica.incarnation == incarnation:
                    self.signs.beat(broker_name(broker), channel, request.timeout_ms)
                    self.choices.beat(request)
            case RegisterBroker(broker_id=broker) if not self._has_begun:
                self.signs.registered(broker_name(broker), channel, restarted=False)
            case _:
                pass

    def channel_ended(self, cluster: GroupCluster, channel: ChannelId) -> None:
        """Note a channel that is gone, and with it the master perhaps."""
        self.signs.note_time(cluster.controller_shows_ms)
        master = None if cluster.group is None else cluster.group.master
        lived = master is not None and self.choices.lives(master)
        self.signs.closed(channel)
        if lived and master is not None and not self.choices.lives(master):
            self.lost_master.lost(cluster.now_ms)

    def said(self, frame: ControllerFrame) -> SaidOfGroup | None:
        """Return what a frame of the controller says of the group, if it says something."""
        command = command_in(frame.data)
        if frame.channel is None:
            return said_in_notice(command)
        code = self._codes.pop((frame.channel, command.opaque), None)
        return None if code is None else said_in_answer(command, code)

    def applied(
        self, cluster: GroupCluster, change: Change
    ) -> tuple[ChannelId, ControllerRequest] | None:
        """Note that an entry is applied; return the request that it is, and its channel."""
        heard, self._request = self._request, None
        if isinstance(change, ChannelClosed | InactiveScanned | Started):
            heard = None  # what was heard before asked for no entry, and was answered
        if isinstance(change, Started):
            self.signs.started(cluster.controller_shows_ms)
            self.lost_master.stopped()
        self.signs.applied(cluster.controller_shows_ms)
        return heard
