"""What the controller of a simulated group must decide about a proposal, by what it has heard.

Whether it takes one follows from the frames that reached it, from its clock and from its log; what
it says that it did is not asked. A controller that does something else has another state than the
one after the step that is named here.
"""

from __future__ import annotations

from dataclasses import dataclass

from rocketha.controller.state import Group
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    CleanBrokerData,
    RegisterBroker,
)
from rocketha.sim.replica_group.actions import ChannelEnded, ControllerActed, ControllerFrame
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.types import ConnectionId
from rocketproof.protocols.epoch_truncation.values import broker_name
from rocketproof.protocols.replica_group.heard_by_controller import (
    HeardByController,
    HeardByControllerGroup,
)
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
        self._heard = HeardByController()
        self._group: Group | None = None
        """What the controller knew of it when it had applied the last entry."""

    def started(self, cluster: GroupCluster) -> None:
        """Look at a group whose brokers are registered."""
        if cluster.controllers is not None:
            self._heard = HeardByControllerGroup()
        self._heard.started(cluster)
        self._group = cluster.group

    def heard(self, cluster: GroupCluster, frame: ControllerFrame) -> None:
        """Note a frame that has reached the controller."""
        self._heard.heard(cluster, frame)

    def ended(self, cluster: GroupCluster, what: ChannelEnded) -> None:
        """Note a channel that is gone."""
        self._heard.channel_ended(cluster, what.channel)

    def applied(self, cluster: GroupCluster, action: ControllerActed) -> Decision | None:
        """Note that an entry was applied; return what must be decided in it about a proposal."""
        before, present = self._group, cluster.group
        self._group = present
        match self._heard.applied(cluster, action.entry):
            case (channel, RegisterBroker() as request):
                self._registered(before, present, channel, request)
            case (_, AlterSyncStateSet() as request) if before is not None:
                return self._decided(before, present or before, request)
            case (_, CleanBrokerData()) if present is None:
                self._heard.signs.forget()
            case _:
                pass
        return None

    def _registered(
        self,
        before: Group | None,
        present: Group | None,
        channel: ConnectionId,
        request: RegisterBroker,
    ) -> None:
        """Note that a broker has registered, if that was taken."""
        broker = request.broker_id
        replica = None if present is None else present.replicas.get(broker)
        if replica is None or replica.incarnation != request.incarnation:
            return
        was = None if before is None else before.replicas.get(broker)
        restarted = was is None or was.incarnation != replica.incarnation
        self._heard.signs.registered(broker_name(broker), channel, restarted=restarted)

    def _decided(
        self, before: Group, present: Group, request: AlterSyncStateSet
    ) -> Decision | None:
        decision = self._heard.choices.decision(request, known(before), known(present), scans=False)
        match decision:
            case "AlterSyncStateSet", _:
                return Decision(request, "ApplyAlter")
            case "RefuseAlter", _:
                amiss = self._heard.choices.is_amiss(request, known(before))
                return Decision(request, "RefuseAlter", (amiss,))
            case _:
                return None
