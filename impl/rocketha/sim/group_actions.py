"""What an observer of a simulated group is told: all that its brokers and its controller do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from rocketha.broker.effects import GroupAction
from rocketha.controller.applied import ControllerEvent
from rocketha.controller.entry import Entry
from rocketha.ha.effects import SpecAction
from rocketha.sim.actions import Crashed
from rocketha.types import BrokerId, ConnectionId

if TYPE_CHECKING:
    from rocketha.sim.group_cluster import GroupCluster

__all__ = ["ControllerActed", "GroupClusterAction", "GroupObserver", "NullGroupObserver"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerActed:
    """The controller applied an entry of its log, whatever came of it."""

    entry: Entry
    events: tuple[ControllerEvent, ...]


GroupClusterAction: TypeAlias = SpecAction | GroupAction | Crashed | ControllerActed


class GroupObserver(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: GroupCluster) -> None:
        """Look at the cluster: all brokers are registered, and nobody was ever elected."""
        ...

    def sent(
        self, cluster: GroupCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Hear one packet that a broker sends, before `acted` tells in which action."""
        ...

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        """Look at the cluster after an action of a broker, or of the controller (None).

        The effects of the step are performed, but what they ask for (`Then`) is still to come.
        """
        ...

    def stepped(self, cluster: GroupCluster, broker: BrokerId) -> None:
        """Look at the cluster after any step of a broker, and `acted` if it was an action.

        Also after what the network did to a connection of a broker without asking it.
        """
        ...


class NullGroupObserver:
    """An observer that does not look."""

    def started(self, cluster: GroupCluster) -> None:
        """Do nothing."""

    def sent(
        self, cluster: GroupCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Do nothing."""

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        """Do nothing."""

    def stepped(self, cluster: GroupCluster, broker: BrokerId) -> None:
        """Do nothing."""
