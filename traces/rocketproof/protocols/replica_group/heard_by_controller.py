"""What the controller of a simulated group hears, from the frames that reach it, and its clock.

Whom it may take for alive, and what it must decide, follows from this; what it says of itself is
not asked.
"""

from __future__ import annotations

from typing import Final

from rocketha.controller.entry import Change, ChannelClosed, Entry, InactiveScanned, Started
from rocketha.formats.controller_requests import ControllerRequest, Heartbeat, RegisterBroker
from rocketha.obligations.controller_choices import ControllerChoices
from rocketha.obligations.signs_of_life import SignsOfLife
from rocketha.sim.replica_group.actions import ControllerFrame
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.recorders import command_in
from rocketha.types import ConnectionId
from rocketproof.protocols.epoch_truncation.values import broker_name
from rocketproof.protocols.replica_group.frames import (
    SaidOfGroup,
    request_of,
    said_in_answer,
    said_in_notice,
)

__all__ = ["HeardByController", "HeardByControllerGroup", "LostMaster"]

_SOON_MS: Final = 10
"""After the loss of a master the controller scans so soon, by the true time."""
_LATE_MS: Final = 1 << 60
"""A controller group may be without a leader for as long as it likes."""


class LostMaster:
    """Since when a group has lost its master, and no scan has looked for another."""

    def __init__(self, soon_ms: int = _SOON_MS) -> None:
        """Begin with nothing lost; a scan that comes later than `soon_ms` is late."""
        self._soon_ms = soon_ms
        self._since_ms: int | None = None

    def lost(self, now_ms: int) -> None:
        """Note that the master is heard no more, or has started again."""
        if self._since_ms is None:
            self._since_ms = now_ms

    def is_late(self, now_ms: int) -> bool:
        """Tell whether a scan comes later than it should; it has looked then."""
        since_ms, self._since_ms = self._since_ms, None
        return since_ms is not None and now_ms > since_ms + self._soon_ms

    def stopped(self) -> None:
        """Forget it: the controller has started again."""
        self._since_ms = None


class HeardByController:
    """Follows what reaches the controller of a group."""

    owes_notices = True
    """Whoever lives is told of an election, in the step in which it is held."""

    def __init__(self) -> None:
        """Begin with a group of which nothing was heard."""
        self.signs = SignsOfLife()
        self.choices = ControllerChoices(self.signs)
        self.lost_master = LostMaster()
        self._has_begun = False
        self._request: tuple[ConnectionId, ControllerRequest] | None = None
        """What was received, until it is applied."""
        self._codes: dict[tuple[ConnectionId, int], int] = {}
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
        self._note(cluster, request, channel)

    def _note(
        self, cluster: GroupCluster, request: ControllerRequest, channel: ConnectionId
    ) -> None:
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

    def channel_ended(self, cluster: GroupCluster, channel: ConnectionId) -> None:
        """Note a channel that is gone, and with it the master perhaps."""
        self.signs.note_time(cluster.controller_shows_ms)
        self._close(cluster, channel)

    def _close(self, cluster: GroupCluster, channel: ConnectionId) -> None:
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
        self, cluster: GroupCluster, entry: Entry
    ) -> tuple[ConnectionId, ControllerRequest] | None:
        """Note that an entry is applied; return the request that it is, and its channel."""
        change: Change = entry.change
        heard, self._request = self._request, None
        if isinstance(change, ChannelClosed | InactiveScanned | Started):
            heard = None  # what was heard before asked for no entry, and was answered
        if isinstance(change, Started):
            self.signs.started(cluster.controller_shows_ms)
            self.lost_master.stopped()
        self.signs.applied(cluster.controller_shows_ms)
        return heard


class HeardByControllerGroup(HeardByController):
    """Follows what a controller group has agreed on: what a member hears counts when it is applied.

    What each member says, and how soon, is not asked here: one that was replaced answers late what
    was agreed on before, and of who has led when an entry was committed brokers may hear nothing.
    """

    owes_notices = False

    def __init__(self) -> None:
        """Begin with a group of which nothing was heard."""
        super().__init__()
        self.lost_master = LostMaster(_LATE_MS)

    def started(self, cluster: GroupCluster) -> None:
        """Look at a group whose brokers are registered: by what was agreed on until then."""
        assert cluster.controllers is not None
        for entry in cluster.controllers.agreed:
            self.applied(cluster, entry)
        super().started(cluster)

    def heard(self, cluster: GroupCluster, frame: ControllerFrame) -> None:
        """Wait until it is agreed on."""

    def channel_ended(self, cluster: GroupCluster, channel: ConnectionId) -> None:
        """Wait until it is agreed on."""

    def said(self, frame: ControllerFrame) -> SaidOfGroup | None:
        """Ask nothing of what a member says."""
        del frame
        return None

    def applied(
        self, cluster: GroupCluster, entry: Entry
    ) -> tuple[ConnectionId, ControllerRequest] | None:
        """Note what an entry says; return the request that it is, and its channel."""
        self.signs.note_time(entry.at_ms)
        request: ControllerRequest | None = None
        match entry.change:
            case Started():
                self.signs.started(entry.at_ms)
                self.lost_master.stopped()
            case ChannelClosed():
                self._close(cluster, entry.channel)
            case InactiveScanned():
                pass
            case asked:
                request = asked
                self._note(cluster, request, entry.channel)
        self.signs.applied(entry.at_ms)
        return None if request is None else (entry.channel, request)
