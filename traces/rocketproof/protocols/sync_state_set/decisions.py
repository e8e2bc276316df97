"""What the controller of a simulated group must decide about a proposal, by what it has heard.

Whether it takes one follows from the frames that reached it, from its clock and from its log; what
it says that it did is not asked. A controller that does something else has another state than the
one after the step that is named here.
"""

from __future__ import annotations

from dataclasses import dataclass

from rocketha.controller.entry import ChannelClosed, InactiveScanned, Started
from rocketha.controller.state import ChannelId, Group
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    CleanBrokerData,
    ControllerRequest,
    Heartbeat,
    RegisterBroker,
)
from rocketha.obligations.controller_choices import ControllerChoices
from rocketha.obligations.recorded_frames import request_in
from rocketha.obligations.signs_of_life import SignsOfLife
from rocketha.sim.replica_group.actions import ChannelEnded, ControllerActed, ControllerFrame
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.recorders import command_in
from rocketproof.protocols.epoch_truncation.values import broker_name
from rocketproof.protocols.replica_group.values import known
from tlatrace.values import Value

__all__ = ["Decision", "Decisions"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What must become of a proposal that reached the controller."""

    request: AlterSyncStateSet
    action: str
    params: tuple[Value, ...] = ()


class Decisions:
    """Follows what reaches the controller of a group."""

    def __init__(self) -> None:
        """Begin with a group of which nothing was heard."""
        self._signs = SignsOfLife()
        self._choices = ControllerChoices(self._signs)
        self._group: Group | None = None
        """What the controller knew of it when it had applied the last entry."""
        self._request: tuple[ChannelId, ControllerRequest] | None = None
        """What was received, until it is applied."""

    def started(self, cluster: GroupCluster) -> None:
        """Look at a group whose brokers are registered."""
        self._choices.broker_name = cluster.plan.broker.broker_name
        self._group = cluster.group

    def heard(self, cluster: GroupCluster, frame: ControllerFrame) -> None:
        """Note a frame that has reached the controller."""
        request = request_in(command_in(frame.data))
        if request is None or frame.channel is None:
            return
        self._signs.note_time(cluster.controller_shows_ms)
        self._request = (frame.channel, request)
        match request:
            case Heartbeat(broker_id=broker, incarnation=incarnation):
                replica = None if cluster.group is None else cluster.group.replicas.get(broker)
                if replica is not None and replica.incarnation == incarnation:
                    self._signs.beat(broker_name(broker), frame.channel, request.timeout_ms)
            case RegisterBroker(broker_id=broker) if self._group is None:
                self._signs.registered(broker_name(broker), frame.channel, restarted=False)
            case _:
                pass

    def ended(self, cluster: GroupCluster, what: ChannelEnded) -> None:
        """Note a channel that is gone."""
        self._signs.note_time(cluster.controller_shows_ms)
        self._signs.closed(what.channel)

    def applied(self, cluster: GroupCluster, action: ControllerActed) -> Decision | None:
        """Note that an entry was applied; return what must be decided in it about a proposal."""
        before, present = self._group, cluster.group
        self._group = present
        heard, self._request = self._request, None
        if isinstance(action.entry.change, ChannelClosed | InactiveScanned | Started):
            heard = None  # what was heard before asked for no entry, and was answered
        if isinstance(action.entry.change, Started):
            self._signs.started(cluster.controller_shows_ms)
        self._signs.applied(cluster.controller_shows_ms)
        match heard:
            case (channel, RegisterBroker() as request):
                self._registered(before, present, channel, request)
            case (_, AlterSyncStateSet() as request) if before is not None:
                return self._decided(before, present or before, request)
            case (_, CleanBrokerData()) if present is None:
                self._signs.forget()
            case _:
                pass
        return None

    def _registered(
        self,
        before: Group | None,
        present: Group | None,
        channel: ChannelId,
        request: RegisterBroker,
    ) -> None:
        """Note that a broker has registered, if that was taken."""
        broker = request.broker_id
        replica = None if present is None else present.replicas.get(broker)
        if replica is None or replica.incarnation != request.incarnation:
            return
        was = None if before is None else before.replicas.get(broker)
        restarted = was is None or was.incarnation != replica.incarnation
        self._signs.registered(broker_name(broker), channel, restarted=restarted)

    def _decided(
        self, before: Group, present: Group, request: AlterSyncStateSet
    ) -> Decision | None:
        decision = self._choices.decision(request, known(before), known(present), scans=False)
        match decision:
            case "AlterSyncStateSet", _:
                return Decision(request, "ApplyAlter")
            case "RefuseAlter", _:
                amiss = self._choices.is_amiss(request, known(before))
                return Decision(request, "RefuseAlter", (amiss,))
            case _:
                return None
